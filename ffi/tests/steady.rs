//! What a publisher costs once it is warm and its receiver is awake: no system call, no page fault, no allocation; and
//! the receiver's take makes no system call either.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use common::{take_error, Text, World};
use rmw_shoal::sys;

/// Counts the allocations of each thread.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: the system's allocator, with a count that itself does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
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

/// The kernel's syscall user dispatch (Linux 5.11): while this byte says BLOCK, a system call of the thread that asked for
/// it is not made, but becomes a SIGSYS.
static SELECTOR: AtomicU8 = AtomicU8::new(ALLOW);
const ALLOW: u8 = 0;
const BLOCK: u8 = 1;
const PR_SET_SYSCALL_USER_DISPATCH: libc::c_int = 59;
const PR_SYS_DISPATCH_OFF: libc::c_ulong = 0;
const PR_SYS_DISPATCH_ON: libc::c_ulong = 1;

static TRAPPED: AtomicUsize = AtomicUsize::new(0);
static FIRST: AtomicUsize = AtomicUsize::new(0);

/// Counts, and lets the thread go on unobserved: its own return is a system call.
extern "C" fn on_trap(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    SELECTOR.store(ALLOW, Ordering::Relaxed);
    if TRAPPED.fetch_add(1, Ordering::Relaxed) == 0 {
        // SAFETY: the kernel's siginfo of SIGSYS: the number follows the 16 bytes of the header and the address.
        FIRST.store(unsafe { *info.cast::<u8>().add(24).cast::<i32>() } as usize, Ordering::Relaxed);
    }
}

fn dispatch(mode: libc::c_ulong) {
    let selector = match mode {
        PR_SYS_DISPATCH_ON => SELECTOR.as_ptr(),
        _ => null_mut(),
    };
    // SAFETY: the selector lives for good; no range of code is excepted.
    let code = unsafe { libc::prctl(PR_SET_SYSCALL_USER_DISPATCH, mode, 0usize, 0usize, selector) };
    assert_eq!(code, 0, "syscall user dispatch (Linux 5.11): {}", std::io::Error::last_os_error());
}

/// Runs `f`, in which at most one system call is trapped: the first. Answers its number.
fn first_system_call(f: impl FnOnce()) -> Option<usize> {
    // SAFETY: a handler that only touches atomics.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_trap as *const () as libc::sighandler_t;
        action.sa_flags = libc::SA_SIGINFO;
        assert_eq!(libc::sigaction(libc::SIGSYS, &action, null_mut()), 0);
    }
    TRAPPED.store(0, Ordering::Relaxed);
    dispatch(PR_SYS_DISPATCH_ON);
    SELECTOR.store(BLOCK, Ordering::Relaxed);
    f();
    SELECTOR.store(ALLOW, Ordering::Relaxed);
    dispatch(PR_SYS_DISPATCH_OFF);
    (TRAPPED.load(Ordering::Relaxed) > 0).then(|| FIRST.load(Ordering::Relaxed))
}

/// Page faults of this thread so far.
fn faults() -> i64 {
    // SAFETY: integers only, and a result that lives across the call.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        assert_eq!(libc::getrusage(libc::RUSAGE_THREAD, &mut usage), 0);
        usage.ru_minflt + usage.ru_majflt
    }
}

/// A topic with a publisher and a subscription that is not asleep.
struct Topic<'w> {
    world: &'w World,
    publisher: *mut sys::rmw_publisher_t,
    subscription: *mut sys::rmw_subscription_t,
    sent: Text,
    got: Text,
}

impl<'w> Topic<'w> {
    fn new(world: &'w World, length: usize) -> Topic<'w> {
        let (publisher, subscription) = (world.publisher(c"/t"), world.subscription(c"/t"));
        let text = "x".repeat(length);
        Topic { world, publisher, subscription, sent: Text::new(&text), got: Text::new(&text) }
    }

    fn publish(&self) {
        // SAFETY: a handle and a message that live across the call.
        let code = unsafe { sys::rmw_publish(self.publisher, self.sent.as_ptr(), null_mut()) };
        assert_eq!(code, sys::RMW_RET_OK);
    }

    fn take(&mut self) {
        let mut taken = false;
        // SAFETY: as above.
        let code = unsafe { sys::rmw_take(self.subscription, self.got.as_mut_ptr(), &mut taken, null_mut()) };
        assert_eq!((code, taken), (sys::RMW_RET_OK, true));
    }

    /// Waits for a millisecond; answers whether something can be taken.
    fn wait(&self, set: *mut sys::rmw_wait_set_t) -> bool {
        let mut entry = [self.subscription()];
        let mut subscriptions = sys::rmw_subscriptions_t { subscriber_count: 1, subscribers: entry.as_mut_ptr() };
        let time = sys::rmw_time_t { sec: 0, nsec: 1_000_000 };
        let null = (null_mut(), null_mut(), null_mut(), null_mut());
        // SAFETY: arguments that live across the call.
        let code = unsafe { sys::rmw_wait(&mut subscriptions, null.0, null.1, null.2, null.3, set, &time) };
        assert!(matches!(code, sys::RMW_RET_OK | sys::RMW_RET_TIMEOUT));
        !entry[0].is_null()
    }

    /// What the arrays of a wait hold.
    fn subscription(&self) -> *mut std::ffi::c_void {
        // SAFETY: a handle.
        unsafe { (*self.subscription).data }
    }

    fn both(&mut self, times: usize) {
        for _ in 0..times {
            self.publish();
            self.take();
        }
    }
}

impl Drop for Topic<'_> {
    fn drop(&mut self) {
        // SAFETY: what `new` made.
        unsafe {
            assert_eq!(sys::rmw_destroy_subscription(self.world.node, self.subscription), sys::RMW_RET_OK);
            assert_eq!(
                sys::rmw_destroy_publisher(self.world.node, self.publisher),
                sys::RMW_RET_OK,
                "{}",
                take_error()
            );
        }
    }
}

/// Rounds in which everything that is made once gets made.
const WARM_UP: usize = 100;

/// Within a slot, in a chunk, and in one of many pages.
const LENGTHS: [usize; 3] = [40, 3_000, 100_000];

/// The tests share the selector.
static ONE_AT_A_TIME: std::sync::Mutex<()> = std::sync::Mutex::new(());

#[test]
fn publishing_to_a_running_receiver_makes_no_system_call() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    for length in LENGTHS {
        let world = World::new();
        let mut topic = Topic::new(&world, length);
        topic.both(WARM_UP);
        assert_eq!(first_system_call(|| topic.both(100)), None, "of {length} bytes, in turns");
        // Now the ring holds its whole depth.
        (0..WARM_UP).for_each(|_| topic.publish());
        assert_eq!(first_system_call(|| (0..100).for_each(|_| topic.publish())), None, "of {length} bytes, unread");
    }
}

#[test]
fn the_count_of_system_calls_works() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    // SAFETY: a call without arguments.
    let call = || unsafe { libc::syscall(libc::SYS_getppid) };
    let found = first_system_call(|| {
        call();
    });
    assert_eq!(found, Some(libc::SYS_getppid as usize));
    assert_eq!(first_system_call(|| ()), None);
}

#[test]
fn publishing_and_taking_touch_no_new_page_once_warm() {
    for length in LENGTHS {
        let world = World::new();
        let mut topic = Topic::new(&world, length);
        topic.both(WARM_UP);
        let before = faults();
        topic.both(1000);
        // A page that the kernel took away meanwhile (memory pressure, migration) comes back by a fault.
        assert!(faults() - before < 10, "{} page faults in 1000 rounds of {length} bytes", faults() - before);
    }
}

#[test]
fn publishing_allocates_nothing_whatever_the_size() {
    for length in LENGTHS {
        let world = World::new();
        let mut topic = Topic::new(&world, length);
        topic.both(WARM_UP);
        let before = ALLOCATIONS.get();
        topic.both(100);
        assert_eq!(ALLOCATIONS.get() - before, 0, "of {length} bytes");
        assert!(std::hint::black_box(vec![1u8]).len() + ALLOCATIONS.get() > before, "the count works");
    }
}

#[test]
fn waiting_allocates_nothing_whether_or_not_something_comes() {
    let world = World::new();
    let mut topic = Topic::new(&world, 40);
    topic.both(WARM_UP);
    // SAFETY: a context that lives as long as the world.
    let set = unsafe { sys::rmw_create_wait_set(std::ptr::from_ref(&*world.context).cast_mut(), 1) };
    assert!(!topic.wait(set), "nothing was sent");
    let before = ALLOCATIONS.get();
    for _ in 0..10 {
        assert!(!topic.wait(set), "nothing was sent");
        topic.publish();
        assert!(topic.wait(set), "a sample was sent");
        topic.take();
    }
    assert_eq!(ALLOCATIONS.get() - before, 0);
    // SAFETY: what was made above.
    assert_eq!(unsafe { sys::rmw_destroy_wait_set(set) }, sys::RMW_RET_OK);
}
