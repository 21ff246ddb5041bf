//! A context with one node, and waiting for what belongs to it.

use super::functions::Functions;
use super::{check, failure, Client, Error, Result, Rmw, Service, Subscription};
use rmw_shoal::sys;
use std::ffi::{c_void, CString};
use std::ptr::null_mut;
use std::time::Duration;

/// A context, a node and a wait set.
pub struct Session {
    rmw: &'static Rmw,
    /// Boxed: entities keep its address.
    context: Box<sys::rmw_context_t>,
    node: *mut sys::rmw_node_t,
    wait_set: *mut sys::rmw_wait_set_t,
    guard: *mut sys::rmw_guard_condition_t,
}

/// Ends a session's wait, from any thread, as long as the session lives.
#[derive(Copy, Clone)]
pub struct Guard {
    rmw: &'static Rmw,
    handle: *mut sys::rmw_guard_condition_t,
}

// SAFETY: a guard condition may be triggered from any thread, by rmw/rmw.h.
unsafe impl Send for Guard {}

impl Guard {
    /// Ends the wait.
    pub fn trigger(&self) {
        // SAFETY: a live handle (see `Session::guard`).
        unsafe { (self.rmw.functions.rmw_trigger_guard_condition)(self.handle) };
    }
}

/// Which of those that were waited for have something.
pub struct Ready {
    /// In the order in which they were given.
    pub subscriptions: Vec<bool>,
    /// In the order in which they were given.
    pub services: Vec<bool>,
}

impl Session {
    /// Joins a domain with one node of this name in the namespace `/load`.
    ///
    /// # Errors
    /// The RMW's.
    pub fn new(rmw: &'static Rmw, domain: usize, node: &str) -> Result<Session> {
        let name = CString::new(node).map_err(|_| Error::Argument("a NUL in the node's name".into()))?;
        let context = init(&rmw.functions, domain)?;
        let mut session = Session { rmw, context, node: null_mut(), wait_set: null_mut(), guard: null_mut() };
        let api = &rmw.functions;
        // SAFETY: an initialised context that stays where it is, and NUL-terminated names.
        unsafe {
            session.node = (api.rmw_create_node)(&mut *session.context, name.as_ptr(), c"/load".as_ptr());
            session.wait_set = (api.rmw_create_wait_set)(&mut *session.context, 0);
            session.guard = (api.rmw_create_guard_condition)(&mut *session.context);
        }
        match session.node.is_null() || session.wait_set.is_null() || session.guard.is_null() {
            true => Err(failure("rmw_create_node, rmw_create_wait_set or rmw_create_guard_condition")),
            false => Ok(session),
        }
    }

    pub(super) fn api(&self) -> &Functions {
        &self.rmw.functions
    }

    pub(super) fn node(&self) -> *mut sys::rmw_node_t {
        self.node
    }

    /// What ends a wait of this session. Not to be triggered after the session is gone.
    pub fn guard(&self) -> Guard {
        Guard { rmw: self.rmw, handle: self.guard }
    }

    /// Waits for samples, requests, the guard, or the end of the time (`None`: no end).
    ///
    /// # Errors
    /// The RMW's.
    pub fn wait(
        &self,
        subscriptions: &[&Subscription<'_>],
        services: &[Service<'_>],
        clients: &[Client<'_>],
        timeout: Option<Duration>,
    ) -> Result<Ready> {
        // SAFETY: the handles are live; each `data` is what the RMW put into its handle.
        let (mut subscribers, mut service_data, mut client_data, mut guards) = unsafe {
            (
                subscriptions.iter().map(|s| (*s.handle).data).collect::<Vec<*mut c_void>>(),
                services.iter().map(|s| (*s.handle).data).collect::<Vec<*mut c_void>>(),
                clients.iter().map(|c| (*c.handle).data).collect::<Vec<*mut c_void>>(),
                [(*self.guard).data],
            )
        };
        let mut subscribers_t =
            sys::rmw_subscriptions_t { subscriber_count: subscribers.len(), subscribers: subscribers.as_mut_ptr() };
        let mut services_t =
            sys::rmw_services_t { service_count: service_data.len(), services: service_data.as_mut_ptr() };
        let mut clients_t = sys::rmw_clients_t { client_count: client_data.len(), clients: client_data.as_mut_ptr() };
        let mut guards_t =
            sys::rmw_guard_conditions_t { guard_condition_count: 1, guard_conditions: guards.as_mut_ptr() };
        let time = timeout.map(|t| sys::rmw_time_t { sec: t.as_secs(), nsec: t.subsec_nanos().into() });
        // SAFETY: arrays and counts that belong together and live across the call.
        let code = unsafe {
            (self.api().rmw_wait)(
                &mut subscribers_t,
                &mut guards_t,
                &mut services_t,
                &mut clients_t,
                null_mut(),
                self.wait_set,
                time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref),
            )
        };
        if code != sys::RMW_RET_TIMEOUT {
            check("rmw_wait", code)?;
        }
        let is_ready = |data: &*mut c_void| !data.is_null();
        Ok(Ready {
            subscriptions: subscribers.iter().map(is_ready).collect(),
            services: service_data.iter().map(is_ready).collect(),
        })
    }
}

fn init(api: &Functions, domain: usize) -> Result<Box<sys::rmw_context_t>> {
    // SAFETY: zero-initialised structures as the C API wants them, and out-parameters that live across the calls. The
    // enclave is copied by the allocator that the options were initialised with.
    unsafe {
        let allocator = sys::rcutils_get_default_allocator();
        let mut options = sys::rmw_get_zero_initialized_init_options();
        check("rmw_init_options_init", (api.rmw_init_options_init)(&mut options, allocator))?;
        options.domain_id = domain;
        options.instance_id = 1;
        options.enclave = sys::rcutils_strdup(c"/".as_ptr(), allocator);
        options.discovery_options.automatic_discovery_range = sys::RMW_AUTOMATIC_DISCOVERY_RANGE_LOCALHOST;
        let mut context = Box::new(sys::rmw_get_zero_initialized_context());
        check("rmw_init", (api.rmw_init)(&options, &mut *context))?;
        check("rmw_init_options_fini", (api.rmw_init_options_fini)(&mut options))?;
        Ok(context)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let api = &self.rmw.functions;
        // SAFETY: what `new` made, in the reverse order; entities borrow the session, so they are gone.
        unsafe {
            if !self.guard.is_null() {
                (api.rmw_destroy_guard_condition)(self.guard);
            }
            if !self.wait_set.is_null() {
                (api.rmw_destroy_wait_set)(self.wait_set);
            }
            if !self.node.is_null() {
                (api.rmw_destroy_node)(self.node);
            }
            (api.rmw_shutdown)(&mut *self.context);
            (api.rmw_context_fini)(&mut *self.context);
        }
    }
}
