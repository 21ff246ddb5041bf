//! rmw_fastrtps_cpp as the reference: its rmw_serialize and rmw_deserialize need no node.

use libloading::{Library, Symbol};
use rmw_shoal::sys;

use crate::message::{Handle, Message};
use crate::prefix;

type Serialize =
    unsafe extern "C" fn(*const std::ffi::c_void, Handle, *mut sys::rmw_serialized_message_t) -> sys::rmw_ret_t;
type Deserialize =
    unsafe extern "C" fn(*const sys::rmw_serialized_message_t, Handle, *mut std::ffi::c_void) -> sys::rmw_ret_t;

pub struct Fastrtps {
    library: Library,
}

impl Fastrtps {
    pub fn load() -> Fastrtps {
        let path = prefix::libraries().join("librmw_fastrtps_cpp.so");
        // SAFETY: its initialisers are those of any RMW.
        let library = unsafe { Library::new(&path) }.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        Fastrtps { library }
    }

    /// Header and body. Fast CDR skips padding without writing it; what two runs over different memory prove to be
    /// padding that way is zero here.
    pub fn serialize(&self, message: &Message) -> Vec<u8> {
        let (zeros, ones) = (self.serialize_over(message, 0), self.serialize_over(message, 0xff));
        assert_eq!(zeros.len(), ones.len());
        let defined = |(zero, one): (&u8, &u8)| if zero == one { *zero } else { 0 };
        zeros.iter().zip(&ones).map(defined).collect()
    }

    fn serialize_over(&self, message: &Message, memory: u8) -> Vec<u8> {
        let mut buffer = vec![memory; 1 << 20];
        let mut out = array(&mut buffer);
        // SAFETY: the signature is that of the RMW API; the buffer is large enough not to be reallocated.
        let ret = unsafe {
            let serialize: Symbol<Serialize> = self.library.get(b"rmw_serialize\0").expect("rmw_serialize");
            serialize(message.ptr().cast(), message.handle, &mut out)
        };
        assert_eq!((ret, out.buffer), (0, buffer.as_mut_ptr()));
        buffer.truncate(out.buffer_length);
        buffer
    }

    pub fn deserialize(&self, bytes: &[u8], into: &mut Message) {
        let mut buffer = bytes.to_vec();
        let input = array(&mut buffer);
        // SAFETY: the signature is that of the RMW API.
        let ret = unsafe {
            let deserialize: Symbol<Deserialize> = self.library.get(b"rmw_deserialize\0").expect("rmw_deserialize");
            deserialize(&input, into.handle, into.ptr_mut().cast())
        };
        assert_eq!(ret, 0);
    }
}

fn array(buffer: &mut [u8]) -> sys::rmw_serialized_message_t {
    sys::rmw_serialized_message_t {
        buffer: buffer.as_mut_ptr(),
        buffer_length: buffer.len(),
        buffer_capacity: buffer.len(),
        // SAFETY: a pure function.
        allocator: unsafe { sys::rcutils_get_default_allocator() },
    }
}
