//! What the tests of the C API share.
#![allow(dead_code)]

use std::ffi::{c_char, c_void, CStr, CString};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Once;

use rmw_shoal::sys;

/// The text of the rcutils error state, which is reset; empty when none is set.
pub fn take_error() -> String {
    // SAFETY: thread-local state; the string is returned by value.
    unsafe {
        if !sys::rcutils_error_is_set() {
            return String::new();
        }
        let text = CStr::from_ptr(sys::rcutils_get_error_string().str_.as_ptr()).to_string_lossy().into_owned();
        sys::rcutils_reset_error();
        text
    }
}

/// Ends the process when a test blocks.
pub fn watchdog() {
    static START: Once = Once::new();
    START.call_once(|| {
        std::thread::spawn(|| {
            std::thread::sleep(std::time::Duration::from_secs(60));
            eprintln!("a test blocks");
            std::process::abort();
        });
    });
}

/// The functions that shoal.h declares: `type shoal_name(`, sorted.
pub fn of_shoal_h() -> Vec<String> {
    let code = include_str!("../../include/shoal.h").lines().filter(|line| !line.trim_start().starts_with("//"));
    let called = |line: &str| -> Option<String> {
        let before = line.split_once('(')?.0;
        before.split_whitespace().last().filter(|name| name.starts_with("shoal_")).map(str::to_owned)
    };
    let mut names: Vec<_> = code.filter_map(called).collect();
    names.sort();
    assert!(!names.is_empty(), "shoal.h declares functions");
    names
}

/// A context of its own domain in a directory of this test process, with a node.
pub struct World {
    pub context: Box<sys::rmw_context_t>,
    pub node: *mut sys::rmw_node_t,
}

/// Initialized options for a domain of this test.
pub fn options(enclave: Option<&CStr>) -> sys::rmw_init_options_t {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    watchdog();
    // SAFETY: structs by value and out-parameters that live across the calls.
    unsafe {
        let allocator = sys::rcutils_get_default_allocator();
        let mut options = sys::rmw_get_zero_initialized_init_options();
        assert_eq!(sys::rmw_init_options_init(&mut options, allocator), sys::RMW_RET_OK, "{}", take_error());
        options.domain_id = NEXT.fetch_add(1, Ordering::Relaxed);
        options.discovery_options.automatic_discovery_range = sys::RMW_AUTOMATIC_DISCOVERY_RANGE_LOCALHOST;
        if let Some(enclave) = enclave {
            options.enclave = sys::rcutils_strdup(enclave.as_ptr(), allocator);
        }
        options
    }
}

fn use_own_directory() {
    static START: Once = Once::new();
    START.call_once(|| {
        let root: PathBuf = format!("/dev/shm/shoal-ffi-test-{}", std::process::id()).into();
        std::fs::create_dir_all(&root).expect("a directory in /dev/shm");
        std::env::set_var("SHOAL_DIR", &root);
        // SAFETY: a function that only removes an empty directory tree, called when the tests have ended.
        unsafe { libc::atexit(remove_own_directory) };
    });
}

/// Domains remove what they made; what is left are the directories above them.
extern "C" fn remove_own_directory() {
    let Some(root) = std::env::var_os("SHOAL_DIR").map(PathBuf::from) else { return };
    for user in std::fs::read_dir(&root).into_iter().flatten().flatten() {
        let _ = std::fs::remove_dir(user.path());
    }
    let _ = std::fs::remove_dir(root);
}

impl World {
    pub fn new() -> World {
        use_own_directory();
        let mut options = options(Some(c"/"));
        // SAFETY: as in `options`; the context is boxed because the node keeps its address.
        unsafe {
            let mut context = Box::new(sys::rmw_get_zero_initialized_context());
            assert_eq!(sys::rmw_init(&options, &mut *context), sys::RMW_RET_OK, "{}", take_error());
            assert_eq!(sys::rmw_init_options_fini(&mut options), sys::RMW_RET_OK, "{}", take_error());
            let node = sys::rmw_create_node(&mut *context, c"tester".as_ptr(), c"/".as_ptr());
            assert!(!node.is_null(), "{}", take_error());
            World { context, node }
        }
    }

    pub fn publisher(&self, topic: &CStr) -> *mut sys::rmw_publisher_t {
        let (profile, types) = (default_profile(), string_type());
        // SAFETY: handles and arguments that live across the call.
        let publisher = unsafe {
            let options = sys::rmw_get_default_publisher_options();
            sys::rmw_create_publisher(self.node, types, topic.as_ptr(), &profile, &options)
        };
        assert!(!publisher.is_null(), "{}", take_error());
        publisher
    }

    pub fn subscription(&self, topic: &CStr) -> *mut sys::rmw_subscription_t {
        let (profile, types) = (default_profile(), string_type());
        // SAFETY: as above.
        let subscription = unsafe {
            let options = sys::rmw_get_default_subscription_options();
            sys::rmw_create_subscription(self.node, types, topic.as_ptr(), &profile, &options)
        };
        assert!(!subscription.is_null(), "{}", take_error());
        subscription
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // SAFETY: what `new` made, in the reverse order.
        unsafe {
            assert_eq!(sys::rmw_destroy_node(self.node), sys::RMW_RET_OK, "{}", take_error());
            assert_eq!(sys::rmw_shutdown(&mut *self.context), sys::RMW_RET_OK, "{}", take_error());
            assert_eq!(sys::rmw_context_fini(&mut *self.context), sys::RMW_RET_OK, "{}", take_error());
        }
    }
}

/// Keep last 10, everything else left to the system.
pub fn default_profile() -> sys::rmw_qos_profile_t {
    // SAFETY: integers and a bool.
    let zero: sys::rmw_qos_profile_t = unsafe { std::mem::zeroed() };
    sys::rmw_qos_profile_t { history: sys::RMW_QOS_POLICY_HISTORY_KEEP_LAST, depth: 10, ..zero }
}

/// The address of a symbol of a library of the ROS prefix, which is loaded.
pub fn symbol(library: &str, name: &str) -> *mut c_void {
    let (file, name) = (CString::new(library).unwrap(), CString::new(name).unwrap());
    // SAFETY: NUL-terminated strings; loading a ROS library runs its harmless constructors.
    unsafe {
        let handle = libc::dlopen(file.as_ptr(), libc::RTLD_NOW);
        assert!(!handle.is_null(), "{library}: {:?}", CStr::from_ptr(libc::dlerror()));
        let found = libc::dlsym(handle, name.as_ptr());
        assert!(!found.is_null(), "{name:?} is not in {library}");
        found
    }
}

/// The C type support of `std_msgs/msg/String`.
pub fn string_type() -> *const sys::rosidl_message_type_support_t {
    let get = symbol(
        "libstd_msgs__rosidl_typesupport_introspection_c.so",
        "rosidl_typesupport_introspection_c__get_message_type_support_handle__std_msgs__msg__String",
    );
    // SAFETY: the signature that rosidl_runtime_c/message_type_support_struct.h gives this symbol.
    unsafe { std::mem::transmute::<*mut c_void, extern "C" fn() -> *const sys::rosidl_message_type_support_t>(get)() }
}

/// The C type support of `std_srvs/srv/SetBool`.
pub fn set_bool_type() -> *const sys::rosidl_service_type_support_t {
    let get = symbol(
        "libstd_srvs__rosidl_typesupport_introspection_c.so",
        "rosidl_typesupport_introspection_c__get_service_type_support_handle__std_srvs__srv__SetBool",
    );
    // SAFETY: the signature that rosidl_runtime_c/service_type_support_struct.h gives this symbol.
    unsafe { std::mem::transmute::<*mut c_void, extern "C" fn() -> *const sys::rosidl_service_type_support_t>(get)() }
}

/// A `std_msgs/msg/String`, which is nothing but its string.
pub struct Text(pub sys::rosidl_runtime_c__String);

impl Text {
    pub fn new(text: &str) -> Text {
        let text = CString::new(text).unwrap();
        // SAFETY: an all-zero string is replaced by an initialized one.
        unsafe {
            let mut string: sys::rosidl_runtime_c__String = std::mem::zeroed();
            assert!(sys::rosidl_runtime_c__String__init(&mut string));
            assert!(sys::rosidl_runtime_c__String__assign(&mut string, text.as_ptr()));
            Text(string)
        }
    }

    pub fn as_ptr(&self) -> *const c_void {
        (&raw const self.0).cast()
    }

    pub fn as_mut_ptr(&mut self) -> *mut c_void {
        (&raw mut self.0).cast()
    }

    pub fn text(&self) -> String {
        // SAFETY: an initialized string is NUL-terminated.
        unsafe { CStr::from_ptr(self.0.data.cast::<c_char>()) }.to_string_lossy().into_owned()
    }
}

impl Drop for Text {
    fn drop(&mut self) {
        // SAFETY: initialized.
        unsafe { sys::rosidl_runtime_c__String__fini(&mut self.0) };
    }
}
