//! Subscriptions, publishers and filter options as the C API has them.

use std::ffi::{c_char, CStr, CString};
use std::ptr::null_mut;

use rmw_shoal::sys;

use crate::common::{self, take_error, World};
use crate::message::{Handle, Message};

type Options = sys::rmw_subscription_content_filter_options_t;

/// Filter options in C memory.
pub struct Filter(pub Options);

impl Filter {
    pub fn new(expression: &str, parameters: &[&str]) -> Filter {
        let expression = CString::new(expression).unwrap();
        let texts: Vec<CString> = parameters.iter().map(|text| CString::new(*text).unwrap()).collect();
        let mut pointers: Vec<*const c_char> = texts.iter().map(|text| text.as_ptr()).collect();
        // SAFETY: strings and an allocator that live across the call.
        unsafe {
            let allocator = sys::rcutils_get_default_allocator();
            let mut options = sys::rmw_get_zero_initialized_content_filter_options();
            let (count, first) = (pointers.len(), pointers.as_mut_ptr());
            let code = sys::rmw_subscription_content_filter_options_init(
                expression.as_ptr(),
                count,
                first,
                &allocator,
                &mut options,
            );
            assert_eq!(code, sys::RMW_RET_OK, "{}", take_error());
            Filter(options)
        }
    }
}

impl Drop for Filter {
    fn drop(&mut self) {
        // SAFETY: initialized.
        unsafe {
            let allocator = sys::rcutils_get_default_allocator();
            assert_eq!(sys::rmw_subscription_content_filter_options_fini(&mut self.0, &allocator), sys::RMW_RET_OK);
        }
    }
}

/// A subscription; `None` when it could not be created.
pub struct Reader {
    node: *mut sys::rmw_node_t,
    pub handle: *mut sys::rmw_subscription_t,
}

impl Reader {
    pub fn try_new(world: &World, types: Handle, filter: Option<&mut Filter>) -> Option<Reader> {
        let profile = common::default_profile();
        // SAFETY: handles and arguments that live across the call.
        let handle = unsafe {
            let mut options = sys::rmw_get_default_subscription_options();
            options.content_filter_options = filter.map_or(null_mut(), |filter| &raw mut filter.0);
            sys::rmw_create_subscription(world.node, types, c"/t".as_ptr(), &profile, &options)
        };
        (!handle.is_null()).then(|| Reader { node: world.node, handle })
    }

    pub fn new(world: &World, types: Handle, expression: &str, parameters: &[&str]) -> Reader {
        let mut filter = Filter::new(expression, parameters);
        Reader::try_new(world, types, Some(&mut filter)).unwrap_or_else(|| panic!("{expression}: {}", take_error()))
    }

    pub fn is_filtered(&self) -> bool {
        // SAFETY: a live handle.
        unsafe { (*self.handle).is_cft_enabled }
    }

    pub fn set(&self, expression: &str, parameters: &[&str]) -> sys::rmw_ret_t {
        let filter = Filter::new(expression, parameters);
        // SAFETY: live handles.
        unsafe { sys::rmw_subscription_set_content_filter(self.handle, &filter.0) }
    }

    /// Expression and parameters.
    pub fn get(&self) -> Result<(String, Vec<String>), sys::rmw_ret_t> {
        let text = |pointer: *const c_char| {
            // SAFETY: a string of the options.
            unsafe { CStr::from_ptr(pointer) }.to_str().unwrap().to_owned()
        };
        // SAFETY: live handles; the options are written before they are read.
        unsafe {
            let mut allocator = sys::rcutils_get_default_allocator();
            let mut filter = Filter(sys::rmw_get_zero_initialized_content_filter_options());
            match sys::rmw_subscription_get_content_filter(self.handle, &mut allocator, &mut filter.0) {
                sys::RMW_RET_OK => {
                    let array = filter.0.expression_parameters;
                    let parameters = (0..array.size).map(|index| text(*array.data.add(index))).collect();
                    Ok((text(filter.0.filter_expression), parameters))
                }
                code => {
                    std::mem::forget(filter);
                    Err(code)
                }
            }
        }
    }

    /// Whether a wait that only looks reports it.
    pub fn is_ready(&self, world: &mut World) -> bool {
        // SAFETY: handles that live across the calls; the array has one entry.
        unsafe {
            let mut entries = [(*self.handle).data];
            let mut subscriptions = sys::rmw_subscriptions_t { subscriber_count: 1, subscribers: entries.as_mut_ptr() };
            let set = sys::rmw_create_wait_set(&mut *world.context, 1);
            let now = sys::rmw_time_t { sec: 0, nsec: 0 };
            let code = sys::rmw_wait(&mut subscriptions, null_mut(), null_mut(), null_mut(), null_mut(), set, &now);
            assert_eq!(sys::rmw_destroy_wait_set(set), sys::RMW_RET_OK);
            assert_eq!(code == sys::RMW_RET_OK, !entries[0].is_null(), "{code}: {}", take_error());
            code == sys::RMW_RET_OK
        }
    }

    /// Takes as bytes.
    pub fn take(&self) -> Option<Vec<u8>> {
        // SAFETY: an initialized array and a live handle.
        unsafe {
            let allocator = sys::rcutils_get_default_allocator();
            let mut array = sys::rcutils_get_zero_initialized_uint8_array();
            assert_eq!(sys::rcutils_uint8_array_init(&mut array, 0, &allocator), sys::RMW_RET_OK);
            let mut taken = false;
            let code = sys::rmw_take_serialized_message(self.handle, &mut array, &mut taken, null_mut());
            assert_eq!(code, sys::RMW_RET_OK, "{}", take_error());
            let bytes = taken.then(|| std::slice::from_raw_parts(array.buffer, array.buffer_length).to_vec());
            assert_eq!(sys::rcutils_uint8_array_fini(&mut array), sys::RMW_RET_OK);
            bytes
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // SAFETY: a live handle.
        assert_eq!(unsafe { sys::rmw_destroy_subscription(self.node, self.handle) }, sys::RMW_RET_OK);
    }
}

pub struct Writer {
    node: *mut sys::rmw_node_t,
    handle: *mut sys::rmw_publisher_t,
}

impl Writer {
    pub fn new(world: &World, types: Handle) -> Writer {
        let profile = common::default_profile();
        // SAFETY: arguments that live across the call.
        let handle = unsafe {
            let options = sys::rmw_get_default_publisher_options();
            sys::rmw_create_publisher(world.node, types, c"/t".as_ptr(), &profile, &options)
        };
        assert!(!handle.is_null(), "{}", take_error());
        Writer { node: world.node, handle }
    }

    pub fn publish(&self, message: &Message) {
        // SAFETY: a message of the publisher's type.
        let code = unsafe { sys::rmw_publish(self.handle, message.ptr().cast(), null_mut()) };
        assert_eq!(code, sys::RMW_RET_OK, "{}", take_error());
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // SAFETY: a live handle.
        assert_eq!(unsafe { sys::rmw_destroy_publisher(self.node, self.handle) }, sys::RMW_RET_OK);
    }
}
