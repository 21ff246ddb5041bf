//! A context with a node and its endpoints, through the C API of a loaded RMW.

use std::ffi::{c_void, CString};
use std::ptr::{null_mut, NonNull};
use std::time::Duration;

use rmw_shoal::sys;

use crate::api::Api;
use crate::error::{check, failed, Error, Result};
use crate::job::Job;

/// A context and a node. Endpoints live as long as it.
pub struct World {
    api: Api,
    context: Box<sys::rmw_context_t>,
    node: *mut sys::rmw_node_t,
    wait_set: *mut sys::rmw_wait_set_t,
}

/// What history to keep.
#[derive(Clone, Copy)]
pub struct Keep {
    /// KEEP_ALL instead of KEEP_LAST.
    pub all: bool,
    /// Depth of KEEP_LAST.
    pub depth: usize,
    /// TRANSIENT_LOCAL instead of VOLATILE.
    pub latched: bool,
}

impl Keep {
    /// KEEP_LAST, VOLATILE.
    pub fn last(depth: usize) -> Keep {
        Keep { all: false, depth, latched: false }
    }

    fn profile(self) -> sys::rmw_qos_profile_t {
        // SAFETY: integers and a bool.
        let zero: sys::rmw_qos_profile_t = unsafe { std::mem::zeroed() };
        sys::rmw_qos_profile_t {
            history: match self.all {
                true => sys::RMW_QOS_POLICY_HISTORY_KEEP_ALL,
                false => sys::RMW_QOS_POLICY_HISTORY_KEEP_LAST,
            },
            depth: self.depth,
            reliability: sys::RMW_QOS_POLICY_RELIABILITY_RELIABLE,
            durability: match self.latched {
                true => sys::RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL,
                false => sys::RMW_QOS_POLICY_DURABILITY_VOLATILE,
            },
            liveliness: sys::RMW_QOS_POLICY_LIVELINESS_AUTOMATIC,
            ..zero
        }
    }
}

macro_rules! handle {
    ($(#[$doc:meta])* $name:ident, $of:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name(NonNull<sys::$of>);
    };
}
handle!(/** A publisher. */ Publisher, rmw_publisher_t);
handle!(/** A subscription. */ Subscription, rmw_subscription_t);
handle!(/** A service. */ Service, rmw_service_t);
handle!(/** A client. */ Client, rmw_client_t);
handle!(/** A guard condition. */ Guard, rmw_guard_condition_t);

// SAFETY: rmw_trigger_guard_condition may be called from any thread.
unsafe impl Send for Guard {}

fn name(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| Error::Other(format!("{text:?} has a NUL")))
}

fn made<T>(what: &'static str, pointer: *mut T) -> Result<NonNull<T>> {
    NonNull::new(pointer).ok_or_else(|| failed(what, 0))
}

impl World {
    /// Joins the domain of the job.
    pub fn new(job: &Job, node: &str) -> Result<World> {
        let api = Api::load(&job.rmw)?;
        let node_name = name(node)?;
        // SAFETY: structs by value and out-parameters that live across the calls; the context is boxed because the node
        // keeps its address.
        unsafe {
            let allocator = sys::rcutils_get_default_allocator();
            let mut options = sys::rmw_get_zero_initialized_init_options();
            check("rmw_init_options_init", (api.rmw_init_options_init)(&mut options, allocator))?;
            options.domain_id = job.domain;
            options.discovery_options.automatic_discovery_range = sys::RMW_AUTOMATIC_DISCOVERY_RANGE_LOCALHOST;
            options.enclave = sys::rcutils_strdup(c"/".as_ptr(), allocator);
            let mut context = Box::new(sys::rmw_get_zero_initialized_context());
            check("rmw_init", (api.rmw_init)(&options, &mut *context))?;
            check("rmw_init_options_fini", (api.rmw_init_options_fini)(&mut options))?;
            let node = (api.rmw_create_node)(&mut *context, node_name.as_ptr(), c"/".as_ptr());
            made("rmw_create_node", node)?;
            let wait_set = (api.rmw_create_wait_set)(&mut *context, 64);
            made("rmw_create_wait_set", wait_set)?;
            Ok(World { api, context, node, wait_set })
        }
    }

    /// Creates a publisher.
    pub fn publisher(
        &self,
        ty: *const sys::rosidl_message_type_support_t,
        topic: &str,
        keep: Keep,
    ) -> Result<Publisher> {
        let (topic, profile) = (name(topic)?, keep.profile());
        // SAFETY: handles and arguments that live across the call.
        let publisher = unsafe {
            let options = sys::rmw_get_default_publisher_options();
            (self.api.rmw_create_publisher)(self.node, ty, topic.as_ptr(), &profile, &options)
        };
        Ok(Publisher(made("rmw_create_publisher", publisher)?))
    }

    /// Creates a subscription.
    pub fn subscription(
        &self,
        ty: *const sys::rosidl_message_type_support_t,
        topic: &str,
        keep: Keep,
    ) -> Result<Subscription> {
        let (topic, profile) = (name(topic)?, keep.profile());
        // SAFETY: as above.
        let subscription = unsafe {
            let options = sys::rmw_get_default_subscription_options();
            (self.api.rmw_create_subscription)(self.node, ty, topic.as_ptr(), &profile, &options)
        };
        Ok(Subscription(made("rmw_create_subscription", subscription)?))
    }

    /// Destroys a publisher.
    pub fn drop_publisher(&self, publisher: Publisher) -> Result<()> {
        // SAFETY: a handle of ours, used no more.
        check("rmw_destroy_publisher", unsafe { (self.api.rmw_destroy_publisher)(self.node, publisher.0.as_ptr()) })
    }

    /// Destroys a subscription.
    pub fn drop_subscription(&self, subscription: Subscription) -> Result<()> {
        // SAFETY: as above.
        check("rmw_destroy_subscription", unsafe {
            (self.api.rmw_destroy_subscription)(self.node, subscription.0.as_ptr())
        })
    }

    /// Creates a service.
    pub fn service(&self, ty: *const sys::rosidl_service_type_support_t, service: &str) -> Result<Service> {
        let (service, profile) = (name(service)?, Keep::last(10).profile());
        // SAFETY: as above.
        let made_at = unsafe { (self.api.rmw_create_service)(self.node, ty, service.as_ptr(), &profile) };
        Ok(Service(made("rmw_create_service", made_at)?))
    }

    /// Creates a client.
    pub fn client(&self, ty: *const sys::rosidl_service_type_support_t, service: &str) -> Result<Client> {
        let (service, profile) = (name(service)?, Keep::last(10).profile());
        // SAFETY: as above.
        let made_at = unsafe { (self.api.rmw_create_client)(self.node, ty, service.as_ptr(), &profile) };
        Ok(Client(made("rmw_create_client", made_at)?))
    }

    /// Destroys a service.
    pub fn drop_service(&self, service: Service) -> Result<()> {
        // SAFETY: a handle of ours, used no more.
        check("rmw_destroy_service", unsafe { (self.api.rmw_destroy_service)(self.node, service.0.as_ptr()) })
    }

    /// Destroys a client.
    pub fn drop_client(&self, client: Client) -> Result<()> {
        // SAFETY: a handle of ours, used no more.
        check("rmw_destroy_client", unsafe { (self.api.rmw_destroy_client)(self.node, client.0.as_ptr()) })
    }

    /// Creates a guard condition.
    pub fn guard(&mut self) -> Result<Guard> {
        // SAFETY: the context lives.
        let guard = unsafe { (self.api.rmw_create_guard_condition)(&mut *self.context) };
        Ok(Guard(made("rmw_create_guard_condition", guard)?))
    }

    /// The function that triggers a guard condition, for another thread.
    pub fn trigger(&self, guard: Guard) -> impl FnOnce() + Send + 'static {
        let trigger = self.api.rmw_trigger_guard_condition;
        move || {
            let guard = guard;
            // SAFETY: the guard condition lives until its thread was joined.
            unsafe { trigger(guard.0.as_ptr()) };
        }
    }

    /// Destroys a guard condition.
    pub fn drop_guard(&self, guard: Guard) -> Result<()> {
        // SAFETY: a handle of ours, used no more.
        check("rmw_destroy_guard_condition", unsafe { (self.api.rmw_destroy_guard_condition)(guard.0.as_ptr()) })
    }

    /// How many subscriptions a publisher matches.
    pub fn readers(&self, publisher: Publisher) -> Result<usize> {
        let mut count = 0;
        // SAFETY: a handle of ours, and a place that lives across the call.
        let code = unsafe { (self.api.rmw_publisher_count_matched_subscriptions)(publisher.0.as_ptr(), &mut count) };
        check("rmw_publisher_count_matched_subscriptions", code)?;
        Ok(count)
    }

    /// How many publishers a subscription matches.
    pub fn writers(&self, subscription: Subscription) -> Result<usize> {
        let mut count = 0;
        // SAFETY: as above.
        let code = unsafe { (self.api.rmw_subscription_count_matched_publishers)(subscription.0.as_ptr(), &mut count) };
        check("rmw_subscription_count_matched_publishers", code)?;
        Ok(count)
    }

    /// Whether a client's service can be called.
    pub fn is_available(&self, client: Client) -> Result<bool> {
        let mut available = false;
        // SAFETY: as above.
        let code = unsafe { (self.api.rmw_service_server_is_available)(self.node, client.0.as_ptr(), &mut available) };
        check("rmw_service_server_is_available", code)?;
        Ok(available)
    }

    /// How many nodes the graph has.
    pub fn nodes(&self) -> Result<usize> {
        // SAFETY: arrays that are freed again.
        unsafe {
            let mut names = sys::rcutils_get_zero_initialized_string_array();
            let mut spaces = sys::rcutils_get_zero_initialized_string_array();
            check("rmw_get_node_names", (self.api.rmw_get_node_names)(self.node, &mut names, &mut spaces))?;
            let count = names.size;
            sys::rcutils_string_array_fini(&mut names);
            sys::rcutils_string_array_fini(&mut spaces);
            Ok(count)
        }
    }

    /// Publishes a message of the publisher's type; false when the RMW refuses it.
    pub fn publish(&self, publisher: Publisher, message: *const c_void) -> bool {
        // SAFETY: a handle of ours and, by this module's use, an initialized message of its type.
        let sent = unsafe { (self.api.rmw_publish)(publisher.0.as_ptr(), message, null_mut()) } == sys::RMW_RET_OK;
        if !sent {
            // SAFETY: thread-local state.
            unsafe { sys::rcutils_reset_error() };
        }
        sent
    }

    /// Takes one message; false when there is none.
    pub fn take(&self, subscription: Subscription, message: *mut c_void) -> Result<bool> {
        let mut taken = false;
        // SAFETY: as for `publish`.
        let code = unsafe { (self.api.rmw_take)(subscription.0.as_ptr(), message, &mut taken, null_mut()) };
        check("rmw_take", code)?;
        Ok(taken)
    }

    /// Borrows a message, has `fill` write it, and publishes it.
    pub fn publish_loan(
        &self,
        publisher: Publisher,
        ty: *const sys::rosidl_message_type_support_t,
        fill: impl FnOnce(*mut u8),
    ) -> Result<()> {
        let mut at = null_mut();
        // SAFETY: a handle of ours, its type, and a place that lives across the call.
        unsafe {
            let code = (self.api.rmw_borrow_loaned_message)(publisher.0.as_ptr(), ty, &mut at);
            check("rmw_borrow_loaned_message", code)?;
            fill(at.cast());
            let code = (self.api.rmw_publish_loaned_message)(publisher.0.as_ptr(), at, null_mut());
            check("rmw_publish_loaned_message", code)
        }
    }

    /// Takes a message as a loan, shows it, and returns it. `None` when there is none.
    pub fn take_loan<R>(&self, subscription: Subscription, look: impl FnOnce(*const u8) -> R) -> Result<Option<R>> {
        let (mut at, mut taken) = (null_mut(), false);
        // SAFETY: a handle of ours, and places that live across the calls.
        unsafe {
            let code = (self.api.rmw_take_loaned_message)(subscription.0.as_ptr(), &mut at, &mut taken, null_mut());
            check("rmw_take_loaned_message", code)?;
            if !taken {
                return Ok(None);
            }
            let seen = look(at.cast_const().cast());
            let code = (self.api.rmw_return_loaned_message_from_subscription)(subscription.0.as_ptr(), at);
            check("rmw_return_loaned_message_from_subscription", code)?;
            Ok(Some(seen))
        }
    }

    /// Sends a request of the client's type.
    pub fn request(&self, client: Client, request: *const c_void) -> Result<()> {
        let mut sequence = 0;
        // SAFETY: as for `publish`.
        check("rmw_send_request", unsafe { (self.api.rmw_send_request)(client.0.as_ptr(), request, &mut sequence) })
    }

    /// Takes a response.
    pub fn take_response(&self, client: Client, response: *mut c_void) -> Result<bool> {
        let mut taken = false;
        // SAFETY: as for `publish`; integers only.
        let code = unsafe {
            let mut info: sys::rmw_service_info_t = std::mem::zeroed();
            (self.api.rmw_take_response)(client.0.as_ptr(), &mut info, response, &mut taken)
        };
        check("rmw_take_response", code)?;
        Ok(taken)
    }

    /// Takes a request and answers it; false when there is none.
    pub fn answer(&self, service: Service, request: *mut c_void, response: *mut c_void) -> Result<bool> {
        let mut taken = false;
        // SAFETY: as for `publish`; integers only.
        unsafe {
            let mut info: sys::rmw_service_info_t = std::mem::zeroed();
            let code = (self.api.rmw_take_request)(service.0.as_ptr(), &mut info, request, &mut taken);
            check("rmw_take_request", code)?;
            if taken {
                let code = (self.api.rmw_send_response)(service.0.as_ptr(), &mut info.request_id, response);
                check("rmw_send_response", code)?;
            }
        }
        Ok(taken)
    }

    /// Waits for one of the parts; false after the time.
    pub fn wait(&self, on: On<'_>, timeout: Option<Duration>) -> Result<bool> {
        let mut data: [*mut c_void; 16] = [null_mut(); 16];
        let (mut subscriptions, mut guards, mut services, mut clients) = (0, 0, 0, 0);
        // SAFETY: handles of ours.
        unsafe {
            for (place, subscription) in data.iter_mut().zip(on.subscriptions) {
                *place = subscription.0.as_ref().data;
                subscriptions += 1;
            }
            let rest = &mut data[subscriptions..];
            if let Some(guard) = on.guard {
                (rest[0], guards) = (guard.0.as_ref().data, 1);
            } else if let Some(service) = on.service {
                (rest[0], services) = (service.0.as_ref().data, 1);
            } else if let Some(client) = on.client {
                (rest[0], clients) = (client.0.as_ref().data, 1);
            }
        }
        let (first, second) = data.split_at_mut(subscriptions);
        let mut subscriptions =
            sys::rmw_subscriptions_t { subscriber_count: subscriptions, subscribers: first.as_mut_ptr() };
        let at = second.as_mut_ptr();
        let mut guards = sys::rmw_guard_conditions_t { guard_condition_count: guards, guard_conditions: at };
        let mut services = sys::rmw_services_t { service_count: services, services: at };
        let mut clients = sys::rmw_clients_t { client_count: clients, clients: at };
        let time = timeout.map(|t| sys::rmw_time_t { sec: t.as_secs(), nsec: t.subsec_nanos().into() });
        let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: arrays that live across the call, each with as many entries as it says.
        let code = unsafe {
            (self.api.rmw_wait)(
                &mut subscriptions,
                &mut guards,
                &mut services,
                &mut clients,
                null_mut(),
                self.wait_set,
                time,
            )
        };
        match code {
            sys::RMW_RET_TIMEOUT => {
                // SAFETY: thread-local state.
                unsafe { sys::rcutils_reset_error() };
                Ok(false)
            }
            code => check("rmw_wait", code).map(|()| true),
        }
    }
}

/// What to wait for: subscriptions, up to 15, and one of the others.
#[derive(Default, Clone, Copy)]
pub struct On<'a> {
    /// Subscriptions.
    pub subscriptions: &'a [Subscription],
    /// A guard condition.
    pub guard: Option<Guard>,
    /// A service.
    pub service: Option<Service>,
    /// A client.
    pub client: Option<Client>,
}

impl Drop for World {
    fn drop(&mut self) {
        // SAFETY: what `new` made, in the reverse order; whoever made endpoints has destroyed them.
        unsafe {
            (self.api.rmw_destroy_wait_set)(self.wait_set);
            (self.api.rmw_destroy_node)(self.node);
            (self.api.rmw_shutdown)(&mut *self.context);
            (self.api.rmw_context_fini)(&mut *self.context);
        }
    }
}
