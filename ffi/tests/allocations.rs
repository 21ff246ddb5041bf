//! What must not allocate: triggering a guard condition, which is done in signal handlers, publishing once warm, and
//! counting matches.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering};

use common::{take_error, Text, World};
use rmw_shoal::sys;

/// Counts the allocations of each thread.
struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: the system's allocator, with a count that itself does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = COUNT.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's duty.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's duty.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(f: impl FnOnce()) -> usize {
    let before = COUNT.get();
    f();
    COUNT.get() - before
}

#[test]
fn publishing_does_not_allocate_once_warm() {
    let world = World::new();
    let (publisher, subscription) = (world.publisher(c"/t"), world.subscription(c"/t"));
    let message = Text::new("text");
    let publish = || {
        // SAFETY: handles and a message that live across the call.
        let code = unsafe { sys::rmw_publish(publisher, message.as_ptr(), null_mut()) };
        assert_eq!(code, sys::RMW_RET_OK);
    };
    (0..50).for_each(|_| publish());
    assert_eq!(allocations(|| (0..50).for_each(|_| publish())), 0);
    assert!(allocations(|| drop(std::hint::black_box(Box::new(1)))) > 0, "the count works");
    // SAFETY: as above.
    unsafe {
        assert_eq!(sys::rmw_destroy_subscription(world.node, subscription), sys::RMW_RET_OK);
        assert_eq!(sys::rmw_destroy_publisher(world.node, publisher), sys::RMW_RET_OK);
    }
}

#[test]
fn counting_matches_does_not_allocate() {
    let world = World::new();
    let (publisher, subscription) = (world.publisher(c"/t"), world.subscription(c"/t"));
    let (mut readers, mut writers) = (0, 0);
    // SAFETY: handles and counts that live across the calls.
    let allocated = allocations(|| unsafe {
        assert_eq!(sys::rmw_publisher_count_matched_subscriptions(publisher, &mut readers), sys::RMW_RET_OK);
        assert_eq!(sys::rmw_subscription_count_matched_publishers(subscription, &mut writers), sys::RMW_RET_OK);
    });
    assert_eq!((readers, writers, allocated), (1, 1, 0));
    // SAFETY: as above.
    unsafe {
        assert_eq!(sys::rmw_destroy_subscription(world.node, subscription), sys::RMW_RET_OK);
        assert_eq!(sys::rmw_destroy_publisher(world.node, publisher), sys::RMW_RET_OK);
    }
}

static GUARD: AtomicPtr<sys::rmw_guard_condition_t> = AtomicPtr::new(null_mut());

extern "C" fn on_signal(_signal: libc::c_int) {
    // SAFETY: the guard condition is destroyed only after the handler was taken away.
    let code = unsafe { sys::rmw_trigger_guard_condition(GUARD.load(Ordering::Acquire)) };
    assert_eq!(code, sys::RMW_RET_OK);
}

fn handle_signal(handler: libc::sighandler_t) {
    // SAFETY: a handler that calls only what is async-signal-safe, or the default.
    assert_ne!(unsafe { libc::signal(libc::SIGUSR1, handler) }, libc::SIG_ERR);
}

#[test]
fn a_signal_handler_may_trigger_a_guard_condition() {
    let world = World::new();
    let context = (&raw const *world.context).cast_mut();
    // SAFETY: handles of ours and arrays that live across the calls.
    unsafe {
        let guard = sys::rmw_create_guard_condition(context);
        let set = sys::rmw_create_wait_set(context, 1);
        assert!(!guard.is_null() && !set.is_null(), "{}", take_error());
        GUARD.store(guard, Ordering::Release);
        handle_signal(on_signal as extern "C" fn(libc::c_int) as libc::sighandler_t);
        let count = allocations(|| assert_eq!(libc::raise(libc::SIGUSR1), 0));
        handle_signal(libc::SIG_DFL);
        assert_eq!(count, 0);
        let mut entries = [(*guard).data];
        let mut guards =
            sys::rmw_guard_conditions_t { guard_condition_count: 1, guard_conditions: entries.as_mut_ptr() };
        let g = &raw mut guards;
        let code = sys::rmw_wait(null_mut(), g, null_mut(), null_mut(), null_mut(), set, null());
        assert_eq!((code, entries[0].is_null()), (sys::RMW_RET_OK, false));
        assert_eq!(sys::rmw_destroy_wait_set(set), sys::RMW_RET_OK);
        assert_eq!(sys::rmw_destroy_guard_condition(guard), sys::RMW_RET_OK);
    }
}
