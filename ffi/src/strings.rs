//! Arrays of strings for C, in the caller's allocator.

use std::ffi::c_char;

use crate::boundary::{Failure, InOut};
use crate::names::to_c;
use crate::sys;

/// An allocator argument; `RMW_RET_INVALID_ARGUMENT` unless rcutils calls it valid.
pub fn allocator(argument: InOut<'_, sys::rcutils_allocator_t>) -> Result<sys::rcutils_allocator_t, Failure> {
    check_allocator(argument.read()?, argument.shared().name())
}

/// As [`allocator`], for one that stands in another struct.
pub fn check_allocator(allocator: sys::rcutils_allocator_t, name: &str) -> Result<sys::rcutils_allocator_t, Failure> {
    // SAFETY: reads the function pointers of a struct.
    if unsafe { sys::rcutils_allocator_is_valid(&allocator) } {
        return Ok(allocator);
    }
    Err(Failure::invalid(format!(
        "{name} lacks a function; use rcutils_get_default_allocator() or fill in all of them"
    )))
}

/// The default allocator of rcutils.
pub fn default_allocator() -> sys::rcutils_allocator_t {
    // SAFETY: returns a struct by value.
    unsafe { sys::rcutils_get_default_allocator() }
}

/// A copy of a string.
pub fn duplicate(text: &str, allocator: &sys::rcutils_allocator_t) -> Result<*mut c_char, Failure> {
    let owned = to_c(text)?;
    // SAFETY: a NUL-terminated string and a valid allocator.
    let copy = unsafe { sys::rcutils_strdup(owned.as_ptr(), *allocator) };
    if copy.is_null() {
        return Err(Failure::bad_alloc(format!("no memory for the string {text:?}")));
    }
    Ok(copy)
}

/// `RMW_RET_INVALID_ARGUMENT` unless the array is zero-initialized (else what it holds would leak).
pub fn check_empty(array: InOut<'_, sys::rcutils_string_array_t>) -> Result<(), Failure> {
    let held = array.shared().get()?;
    if held.size == 0 && held.data.is_null() {
        return Ok(());
    }
    Err(not_empty(array.shared().name(), held.size))
}

/// As [`check_empty`].
pub fn check_no_names(array: InOut<'_, sys::rmw_names_and_types_t>) -> Result<(), Failure> {
    let held = array.shared().get()?;
    if held.names.size == 0 && held.names.data.is_null() && held.types.is_null() {
        return Ok(());
    }
    Err(not_empty(array.shared().name(), held.names.size))
}

/// The failure of an output array that already holds something.
pub fn not_empty(name: &str, size: usize) -> Failure {
    Failure::invalid(format!("{name} is not zero-initialized (size {size}); finalize it before using it again"))
}

/// A string array under construction, freed unless it is given away.
struct Building(sys::rcutils_string_array_t);

impl Building {
    fn new(size: usize, allocator: &sys::rcutils_allocator_t) -> Result<Building, Failure> {
        // SAFETY: returns a struct by value.
        let mut array = unsafe { sys::rcutils_get_zero_initialized_string_array() };
        // SAFETY: a zero-initialized array and a valid allocator.
        let code = unsafe { sys::rcutils_string_array_init(&mut array, size, allocator) };
        if code != sys::RMW_RET_OK {
            return Err(Failure::bad_alloc(format!("no memory for {size} strings")));
        }
        Ok(Building(array))
    }

    fn set(&mut self, index: usize, text: &str) -> Result<(), Failure> {
        let copy = duplicate(text, &self.0.allocator)?;
        assert!(index < self.0.size);
        // SAFETY: init made room for `size` entries, all NULL.
        unsafe { *self.0.data.add(index) = copy };
        Ok(())
    }

    fn finish(mut self) -> sys::rcutils_string_array_t {
        // SAFETY: returns a struct by value.
        std::mem::replace(&mut self.0, unsafe { sys::rcutils_get_zero_initialized_string_array() })
    }
}

impl Drop for Building {
    fn drop(&mut self) {
        if !self.0.data.is_null() {
            // SAFETY: initialized, and NULL entries are skipped. That it cannot fail is documented for valid arrays.
            let _ = unsafe { sys::rcutils_string_array_fini(&mut self.0) };
        }
    }
}

/// An array of these strings, which the caller frees.
pub fn string_array<S: AsRef<str>>(
    items: &[S],
    allocator: &sys::rcutils_allocator_t,
) -> Result<sys::rcutils_string_array_t, Failure> {
    let mut array = Building::new(items.len(), allocator)?;
    for (index, item) in items.iter().enumerate() {
        array.set(index, item.as_ref())?;
    }
    Ok(array.finish())
}

/// Names with their types, which the caller frees.
pub fn names_and_types(
    list: &[(String, Vec<String>)],
    allocator: &sys::rcutils_allocator_t,
) -> Result<sys::rmw_names_and_types_t, Failure> {
    // SAFETY: returns a struct by value.
    let mut out = unsafe { sys::rmw_get_zero_initialized_names_and_types() };
    if list.is_empty() {
        return Ok(out);
    }
    let mut allocator = *allocator;
    // SAFETY: a zero-initialized struct and a valid allocator.
    let code = unsafe { sys::rmw_names_and_types_init(&mut out, list.len(), &mut allocator) };
    if code != sys::RMW_RET_OK {
        return Err(Failure::of_library(code, "rmw_names_and_types_init"));
    }
    let filled = fill_names(&mut out, list, &allocator);
    if filled.is_err() {
        // SAFETY: initialized above; entries not reached are NULL or zero-initialized. The first error is reported.
        let _ = unsafe { sys::rmw_names_and_types_fini(&mut out) };
    }
    filled.map(|()| out)
}

fn fill_names(
    out: &mut sys::rmw_names_and_types_t,
    list: &[(String, Vec<String>)],
    allocator: &sys::rcutils_allocator_t,
) -> Result<(), Failure> {
    for (index, (name, types)) in list.iter().enumerate() {
        let name = duplicate(name, allocator)?;
        // SAFETY: init made both arrays as long as `list`.
        unsafe { *out.names.data.add(index) = name };
        let types = string_array(types, allocator)?;
        // SAFETY: as above.
        unsafe { *out.types.add(index) = types };
    }
    Ok(())
}
