//! Random values in C messages, through introspection.

use std::hash::{DefaultHasher, Hash, Hasher};

use rmw_shoal::sys;

use crate::message::{Members, Message};

type Member = sys::rosidl_typesupport_introspection_c__MessageMember;

/// Longest unbounded sequence and string; bounded ones go up to their bound.
const MOST: usize = 5;

/// A generator that gives the same values in each run (SplitMix64).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64, name: &str) -> Random {
        let mut hasher = DefaultHasher::new();
        (seed, name).hash(&mut hasher);
        Random(hasher.finish())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn up_to(&mut self, most: usize) -> usize {
        (self.next() % (most as u64 + 1)) as usize
    }
}

pub fn fill(message: &mut Message, random: &mut Random) {
    // SAFETY: a message is as its introspection says.
    unsafe { structure(message.members, message.ptr_mut(), random) }
}

/// # Safety
/// `at` is an initialised C message of that type.
unsafe fn structure(members: &Members, at: *mut u8, random: &mut Random) {
    for i in 0..members.member_count_ as usize {
        // SAFETY: the members say where each field lies.
        unsafe {
            let member = &*members.members_.add(i);
            field(member, at.add(member.offset_ as usize), random);
        }
    }
}

/// # Safety
/// `at` is that field of an initialised C message.
unsafe fn field(member: &Member, at: *mut u8, random: &mut Random) {
    if !member.is_array_ {
        // SAFETY: the caller's promise.
        return unsafe { value(member, at, random) };
    }
    let sequence = member.array_size_ == 0 || member.is_upper_bound_;
    // SAFETY: the caller's promise; the functions are those of the field.
    unsafe {
        let len = if sequence {
            let len = random.up_to(if member.is_upper_bound_ { member.array_size_ } else { MOST });
            assert!(member.resize_function.expect("resize")(at.cast(), len));
            len
        } else {
            member.array_size_
        };
        let get = member.get_function.expect("get");
        (0..len).for_each(|i| value(member, get(at.cast(), i).cast(), random));
    }
}

/// # Safety
/// `at` is an initialised value of the type of that field.
unsafe fn value(member: &Member, at: *mut u8, random: &mut Random) {
    let bound = if member.string_upper_bound_ > 0 { member.string_upper_bound_ } else { MOST };
    // SAFETY: the caller's promise, for each kind of field.
    unsafe {
        match u32::from(member.type_id_) {
            sys::rosidl_typesupport_introspection_c__ROS_TYPE_MESSAGE => {
                structure(&*(*member.members_).data.cast::<Members>(), at, random)
            }
            sys::rosidl_typesupport_introspection_c__ROS_TYPE_STRING => {
                let bytes: Vec<u8> = (0..random.up_to(bound)).map(|_| (random.next() % 255) as u8 + 1).collect();
                let ok = sys::rosidl_runtime_c__String__assignn(at.cast(), bytes.as_ptr().cast(), bytes.len());
                assert!(ok);
            }
            sys::rosidl_typesupport_introspection_c__ROS_TYPE_WSTRING => {
                let units: Vec<u16> = (0..random.up_to(bound)).map(|_| random.next() as u16).collect();
                assert!(sys::rosidl_runtime_c__U16String__assignn(at.cast(), units.as_ptr(), units.len()));
            }
            sys::rosidl_typesupport_introspection_c__ROS_TYPE_BOOLEAN => at.write((random.next() & 1) as u8),
            other => {
                let bits = random.next().to_le_bytes();
                std::ptr::copy_nonoverlapping(bits.as_ptr(), at, width(other));
            }
        }
    }
}

fn width(type_id: u32) -> usize {
    use sys::{
        rosidl_typesupport_introspection_c__ROS_TYPE_DOUBLE as DOUBLE,
        rosidl_typesupport_introspection_c__ROS_TYPE_FLOAT as FLOAT,
        rosidl_typesupport_introspection_c__ROS_TYPE_INT16 as INT16,
        rosidl_typesupport_introspection_c__ROS_TYPE_INT32 as INT32,
        rosidl_typesupport_introspection_c__ROS_TYPE_INT64 as INT64,
        rosidl_typesupport_introspection_c__ROS_TYPE_UINT16 as UINT16,
        rosidl_typesupport_introspection_c__ROS_TYPE_UINT32 as UINT32,
        rosidl_typesupport_introspection_c__ROS_TYPE_UINT64 as UINT64,
        rosidl_typesupport_introspection_c__ROS_TYPE_WCHAR as WCHAR,
    };
    match type_id {
        DOUBLE | INT64 | UINT64 => 8,
        FLOAT | INT32 | UINT32 => 4,
        INT16 | UINT16 | WCHAR => 2,
        _ => 1,
    }
}
