//! Type supports found by symbol, and messages in memory.

use std::collections::BTreeMap;
use std::ffi::CString;

use libloading::{Library, Symbol};
use rmw_shoal::sys;
use rmw_shoal::typesupport::MessageType;

use crate::prefix;

pub type Handle = *const sys::rosidl_message_type_support_t;
pub type Members = sys::rosidl_typesupport_introspection_c__MessageMembers;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Language {
    C,
    Cpp,
}

impl Language {
    pub const ALL: [Language; 2] = [Language::C, Language::Cpp];

    pub fn introspection(self) -> &'static std::ffi::CStr {
        match self {
            Self::C => c"rosidl_typesupport_introspection_c",
            Self::Cpp => c"rosidl_typesupport_introspection_cpp",
        }
    }

    fn suffix(self) -> &'static str {
        match self {
            Self::C => "c",
            Self::Cpp => "cpp",
        }
    }
}

/// The type support libraries of all interface packages, loaded for the rest of the process.
pub struct Types {
    libraries: BTreeMap<String, Library>,
    messages: Vec<String>,
}

impl Types {
    pub fn load() -> Types {
        let mut types = Types { libraries: BTreeMap::new(), messages: Vec::new() };
        for entry in prefix::libraries().read_dir().expect("lib").flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Some(stem) = name.strip_prefix("lib").and_then(|name| name.strip_suffix(".so")) else { continue };
            if !stem.contains("__rosidl_typesupport_") || stem.contains("introspection") {
                continue;
            }
            if stem.ends_with("__rosidl_typesupport_c") {
                let bytes = std::fs::read(entry.path()).expect("readable");
                types.messages.extend(symbols(&bytes, b"rosidl_typesupport_c__get_message_type_support_handle__"));
            }
            // SAFETY: initialisers of type support libraries only register types.
            let library = unsafe { Library::new(entry.path()) }.unwrap_or_else(|e| panic!("{name}: {e}"));
            types.libraries.insert(stem.to_owned(), library);
        }
        types.messages.sort();
        types.messages.dedup();
        types
    }

    /// All message types, also the halves of services and actions, as "std_msgs__msg__String".
    pub fn messages(&self) -> Vec<String> {
        self.messages.clone()
    }

    pub fn message(&self, language: Language, name: &str) -> Handle {
        self.handle(&format!("rosidl_typesupport_{}", language.suffix()), "message", name)
    }

    pub fn service(&self, language: Language, name: &str) -> *const sys::rosidl_service_type_support_t {
        self.handle(&format!("rosidl_typesupport_{}", language.suffix()), "service", name)
    }

    /// A handle that knows no other type support.
    pub fn without_introspection(&self, name: &str) -> Handle {
        self.handle("rosidl_typesupport_fastrtps_c", "message", name)
    }

    fn handle<T>(&self, flavour: &str, kind: &str, name: &str) -> *const T {
        let package = name.split("__").next().expect("a package");
        let library = &self.libraries[&format!("{package}__{flavour}")];
        let symbol = CString::new(format!("{flavour}__get_{kind}_type_support_handle__{name}")).expect("no NUL");
        // SAFETY: this is what functions of this name look like.
        unsafe {
            let get: Symbol<unsafe extern "C" fn() -> *const T> =
                library.get(symbol.as_bytes_with_nul()).unwrap_or_else(|e| panic!("{name}: {e}"));
            get()
        }
    }
}

/// What follows `prefix` in the string table of a library.
fn symbols(bytes: &[u8], prefix: &[u8]) -> Vec<String> {
    let starts = bytes.windows(prefix.len()).enumerate().filter(|(_, window)| *window == prefix);
    let name = |(at, _): (usize, &[u8])| {
        let rest = &bytes[at + prefix.len()..];
        let end = rest.iter().position(|byte| *byte == 0)?;
        String::from_utf8(rest[..end].to_vec()).ok()
    };
    starts.filter_map(name).collect()
}

/// A message made and finalised by its own type support.
pub struct Message {
    pub handle: Handle,
    pub members: &'static Members,
    memory: Vec<u128>,
}

impl Message {
    pub fn new(handle: Handle) -> Message {
        let members = introspection(handle);
        let mut memory = vec![0u128; members.size_of_.div_ceil(16)];
        let init = members.init_function.expect("init function");
        // SAFETY: the memory is as large as the type says, and aligned for anything.
        unsafe { init(memory.as_mut_ptr().cast(), sys::ROSIDL_RUNTIME_C_MSG_INIT_ALL) };
        Message { handle, members, memory }
    }

    pub fn ptr(&self) -> *const u8 {
        self.memory.as_ptr().cast()
    }

    pub fn ptr_mut(&mut self) -> *mut u8 {
        self.memory.as_mut_ptr().cast()
    }

    /// Header and body, by the plan.
    pub fn encode(&self, ours: &MessageType) -> Result<Vec<u8>, shoal_rmw::cdr::EncodeError> {
        // SAFETY: this is a message of that type.
        unsafe {
            let size = ours.plan.size(self.ptr())?;
            let mut out = vec![0xa5; size];
            assert_eq!(ours.plan.encode(self.ptr(), &mut out)?, size);
            Ok([&shoal_rmw::cdr::ENCAPSULATION[..], &out].concat())
        }
    }

    /// From header and body, by the plan.
    pub fn decode(&mut self, ours: &MessageType, bytes: &[u8]) -> Result<(), shoal_rmw::cdr::DecodeError> {
        let header = bytes[..4].try_into().expect("4 bytes");
        let body: Box<[u8]> = bytes[4..].into();
        // SAFETY: this is a message of that type.
        unsafe { ours.plan.decode(header, body.as_ptr(), body.len(), self.ptr_mut()) }
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        let fini = self.members.fini_function.expect("fini function");
        // SAFETY: the memory holds an initialised message.
        unsafe { fini(self.ptr_mut().cast()) };
    }
}

fn introspection(handle: Handle) -> &'static Members {
    for language in Language::ALL {
        // SAFETY: the handle's own function; the data of introspection is its members.
        unsafe {
            let found = (*handle).func.expect("func")(handle, language.introspection().as_ptr());
            if let Some(found) = found.as_ref() {
                return &*found.data.cast::<Members>();
            }
            sys::rcutils_reset_error();
        }
    }
    panic!("no introspection");
}
