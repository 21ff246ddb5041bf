//! Every message type of the installed ROS, encoded and decoded by the plans and by rmw_fastrtps_cpp: same bytes.

mod broken;
mod fastrtps;
mod fill;
mod message;
mod prefix;

use fastrtps::Fastrtps;
use fill::Random;
use message::{Language, Message, Types};
use rmw_shoal::typesupport::{MessageType, ServiceType, TypeSupportError};

/// Random values tried per type.
const VALUES: u64 = 24;

/// Values and their bytes, from C messages filled through introspection.
fn samples(types: &Types, fastrtps: &Fastrtps, name: &str) -> Vec<Vec<u8>> {
    let handle = types.message(Language::C, name);
    let sample = |seed| {
        let mut message = Message::new(handle);
        fill::fill(&mut message, &mut Random::new(seed, name));
        fastrtps.serialize(&message)
    };
    (0..VALUES).map(sample).collect()
}

/// Encodes what fastrtps read, has fastrtps encode what the plan read; both into fresh and into used messages.
fn agrees(types: &Types, fastrtps: &Fastrtps, language: Language, name: &str) {
    let handle = types.message(language, name);
    // SAFETY: the libraries of `types` stay loaded.
    let ours = unsafe { MessageType::of(handle) }.unwrap_or_else(|e| panic!("{name}: {e}"));
    let mut used = Message::new(handle);
    for bytes in samples(types, fastrtps, name) {
        let mut theirs = Message::new(handle);
        fastrtps.deserialize(&bytes, &mut theirs);
        let mut encoded = theirs.encode(&ours).unwrap_or_else(|e| panic!("{name}: {e}"));
        // fastrtps says an estimate of the length, which can be more than it writes, never less.
        assert!(encoded.len() <= bytes.len(), "{name} ({language:?}): {} and {} bytes", encoded.len(), bytes.len());
        let len = encoded.len();
        encoded.resize(bytes.len(), 0);
        assert_eq!(encoded, bytes, "{name} ({language:?}) encoded by the plan");
        for message in [&mut Message::new(handle), &mut used] {
            message.decode(&ours, &bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(fastrtps.serialize(message), bytes, "{name} ({language:?}) decoded by the plan");
        }
        survives_cuts(&ours, handle, &bytes[..len]);
    }
}

/// Prefixes and forged counts give errors, and messages that can be finalised.
fn survives_cuts(ours: &MessageType, handle: message::Handle, bytes: &[u8]) {
    let step = (bytes.len() / 24).max(1);
    for cut in (4..bytes.len()).step_by(step) {
        let mut message = Message::new(handle);
        assert!(message.decode(ours, &bytes[..cut]).is_err(), "{}: {cut} of {} bytes", ours.name, bytes.len());
        let mut forged = bytes.to_vec();
        let end = forged.len().min(cut + 4);
        forged[cut..end].copy_from_slice(&0xffff_ff00_u32.to_le_bytes()[..end - cut]);
        let _ = message.decode(ours, &forged);
    }
}

fn all_types_agree(language: Language) {
    let types = Types::load();
    let fastrtps = Fastrtps::load();
    let names = types.messages();
    assert!(names.len() > 100, "only {} message types found", names.len());
    for name in &names {
        agrees(&types, &fastrtps, language, name);
    }
    println!("{} message types agree", names.len());
}

#[test]
fn c_messages_have_the_bytes_of_fastrtps() {
    prefix::inside("c_messages_have_the_bytes_of_fastrtps", || all_types_agree(Language::C));
}

#[test]
fn cpp_messages_have_the_bytes_of_fastrtps() {
    prefix::inside("cpp_messages_have_the_bytes_of_fastrtps", || all_types_agree(Language::Cpp));
}

#[test]
fn types_carry_the_names_and_hashes_of_their_interfaces() {
    prefix::inside("types_carry_the_names_and_hashes_of_their_interfaces", || {
        let types = Types::load();
        for language in Language::ALL {
            // SAFETY: the libraries of `types` stay loaded.
            let (string, empty) = unsafe {
                let string = MessageType::of(types.message(language, "std_msgs__msg__String")).expect("String");
                let empty = ServiceType::of(types.service(language, "std_srvs__srv__SetBool")).expect("SetBool");
                (string, empty)
            };
            assert_eq!((string.name.as_str(), string.hash.0), ("std_msgs/msg/String", 1));
            // The first bytes of RIHS01_df668c74... as share/std_msgs/msg/String.json has it.
            assert_eq!(string.hash.1[..4], [0xdf, 0x66, 0x8c, 0x74]);
            assert_eq!((empty.name.as_str(), empty.hash.0), ("std_srvs/srv/SetBool", 1));
            assert_eq!(empty.request.name, "std_srvs/srv/SetBool_Request");
            assert_ne!(empty.hash, empty.request.hash);
        }
    });
}

#[test]
fn a_type_is_compiled_once_and_forgotten_with_its_last_user() {
    prefix::inside("a_type_is_compiled_once_and_forgotten_with_its_last_user", || {
        let types = Types::load();
        let handle = types.message(Language::C, "geometry_msgs__msg__Point");
        // SAFETY: the libraries of `types` stay loaded.
        let of = || unsafe { MessageType::of(handle) }.expect("Point");
        let (first, second) = (of(), of());
        assert!(std::sync::Arc::ptr_eq(&first, &second));
        assert_eq!(first.loanable_size(), Some(24));
        let weak = std::sync::Arc::downgrade(&first);
        drop((first, second));
        assert!(weak.upgrade().is_none());
    });
}

#[test]
fn a_handle_without_introspection_is_refused_with_its_name_and_leaves_no_error_set() {
    prefix::inside("a_handle_without_introspection_is_refused_with_its_name_and_leaves_no_error_set", || {
        // SAFETY: NULL is allowed.
        let null = unsafe { MessageType::of(std::ptr::null()) };
        assert!(matches!(null, Err(TypeSupportError::NullHandle)));
        let types = Types::load();
        let handle = types.without_introspection("std_msgs__msg__String");
        // SAFETY: the libraries of `types` stay loaded.
        let error = unsafe { MessageType::of(handle) }.expect_err("no introspection").to_string();
        assert!(error.contains("rosidl_typesupport_fastrtps_c'"), "{error}");
        // SAFETY: looks at the state of this thread.
        assert!(!unsafe { rmw_shoal::sys::rcutils_error_is_set() });
    });
}
