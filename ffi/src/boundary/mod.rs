//! The line between C and Rust: one macro is the whole of every exported function.
//!
//! Nothing unwinds into C, and whoever fails says so the way its return type can: a return code, NULL or false,
//! with the rcutils error state set once to the name of the function, what was wrong and what to do about it.

mod argument;
mod failure;
#[cfg(feature = "test-hooks")]
pub mod hooks;
mod returned;

use std::any::Any;
use std::panic::{catch_unwind, AssertUnwindSafe};

pub use argument::{Argument, Call, In, InOut};
pub use failure::Failure;
pub use returned::Returned;

/// Runs the body of the entry point `name` and turns its result, or its panic, into what C gets.
///
/// On the way of success it takes no lock and allocates nothing, so that an entry point whose body is
/// async-signal-safe is so as a whole.
pub fn run<R: Returned>(name: &'static str, body: impl FnOnce(&Call) -> Result<R::Success, Failure>) -> R {
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        #[cfg(feature = "test-hooks")]
        hooks::panic_if_asked(name);
        body(&Call::new())
    }));
    let failure = match outcome {
        Ok(Ok(value)) => return R::success(value),
        Ok(Err(failure)) => failure,
        Err(panic) => Failure::error(format!("internal error (panic): {}; please report it", panic_text(&*panic))),
    };
    failure.record(name);
    R::failure(failure.code())
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

/// Defines exported functions: `fn rmw_name(argument: c_type, ..) -> c_type = body;`.
///
/// The body is a safe function that gets every pointer wrapped ([`In`], [`InOut`]) and returns a `Result`. The
/// signature is compared with the installed header by the compiler.
macro_rules! exports {
    ($($(#[$meta:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) -> $ret:ty = $body:expr;)*) => {
        $(
            $(#[$meta])*
            ///
            /// # Safety
            /// Every pointer argument is NULL or as `rmw` asks of the caller.
            #[no_mangle]
            pub unsafe extern "C" fn $name($($arg: $ty),*) -> $ret {
                const _: unsafe extern "C" fn($($ty),*) -> $ret = $crate::sys::$name;
                $crate::boundary::run(stringify!($name), |_call| {
                    // SAFETY: the caller's duty as stated above, which lasts for this call.
                    $(let $arg = unsafe { $crate::boundary::Argument::receive($arg, stringify!($arg), _call) };)*
                    $body($($arg),*)
                })
            }
        )*

        /// The functions above, for tests that go through all of them.
        #[cfg(feature = "test-hooks")]
        pub(crate) const EXPORTS: &[$crate::boundary::hooks::Export] = &[$(
            $crate::boundary::hooks::Export {
                name: stringify!($name),
                // SAFETY: NULL and zero are allowed for every argument.
                with_zeros: || unsafe {
                    $crate::boundary::Returned::answer(&$name($(<$ty as $crate::boundary::Argument>::zero()),*))
                },
                // SAFETY: every pointer leads to zeroed memory that starts as a foreign handle does.
                with_foreign: || unsafe {
                    $crate::boundary::Returned::answer(&$name($(<$ty as $crate::boundary::Argument>::foreign()),*))
                },
            },
        )*];
    };
}
pub(crate) use exports;
