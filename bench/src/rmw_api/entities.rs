//! Publishers, subscriptions, services.

use super::{check, failure, Message, MessageType, Result, ServiceType, Session};
use rmw_shoal::sys;
use std::ffi::CString;

/// The part of a profile in which loads differ.
#[derive(Copy, Clone, Debug)]
pub struct Profile {
    /// Samples kept.
    pub depth: usize,
    /// Late joiners get history.
    pub latched: bool,
    /// Nothing is dropped without need.
    pub reliable: bool,
}

impl Profile {
    /// Reliable, volatile.
    pub fn last(depth: usize) -> Profile {
        Profile { depth, latched: false, reliable: true }
    }

    /// Reliable, TRANSIENT_LOCAL.
    pub fn latched(depth: usize) -> Profile {
        Profile { depth, latched: true, reliable: true }
    }

    fn for_rmw(self) -> sys::rmw_qos_profile_t {
        // SAFETY: integers and a bool, for which zeros are the defaults of the C headers.
        let zero: sys::rmw_qos_profile_t = unsafe { std::mem::zeroed() };
        sys::rmw_qos_profile_t {
            history: sys::RMW_QOS_POLICY_HISTORY_KEEP_LAST,
            depth: self.depth,
            reliability: match self.reliable {
                true => sys::RMW_QOS_POLICY_RELIABILITY_RELIABLE,
                false => sys::RMW_QOS_POLICY_RELIABILITY_BEST_EFFORT,
            },
            durability: match self.latched {
                true => sys::RMW_QOS_POLICY_DURABILITY_TRANSIENT_LOCAL,
                false => sys::RMW_QOS_POLICY_DURABILITY_VOLATILE,
            },
            ..zero
        }
    }
}

fn c_name(name: &str) -> Result<CString> {
    CString::new(name).map_err(|_| super::Error::Argument(format!("{name:?} holds a NUL")))
}

/// A publisher of a session's node.
pub struct Publisher<'s> {
    session: &'s Session,
    handle: *mut sys::rmw_publisher_t,
}

impl<'s> Publisher<'s> {
    /// Creates it.
    ///
    /// # Errors
    /// The RMW's.
    pub fn new(session: &'s Session, topic: &str, ty: MessageType, profile: Profile) -> Result<Publisher<'s>> {
        let (topic, qos) = (c_name(topic)?, profile.for_rmw());
        // SAFETY: a live node and arguments that live across the call.
        let handle = unsafe {
            let options = sys::rmw_get_default_publisher_options();
            (session.api().rmw_create_publisher)(session.node(), ty.0, topic.as_ptr(), &qos, &options)
        };
        if handle.is_null() {
            return Err(failure("rmw_create_publisher"));
        }
        Ok(Publisher { session, handle })
    }

    /// Publishes a message of the publisher's type.
    ///
    /// # Errors
    /// The RMW's.
    pub fn publish(&self, message: &Message) -> Result<()> {
        // SAFETY: a live handle and a message of its type, by the caller's choice of both.
        let code = unsafe { (self.session.api().rmw_publish)(self.handle, message.as_ptr(), std::ptr::null_mut()) };
        check("rmw_publish", code)
    }

    /// How many subscriptions match.
    ///
    /// # Errors
    /// The RMW's.
    pub fn matched(&self) -> Result<usize> {
        let mut count = 0;
        // SAFETY: a live handle and an out-parameter.
        let code = unsafe { (self.session.api().rmw_publisher_count_matched_subscriptions)(self.handle, &mut count) };
        check("rmw_publisher_count_matched_subscriptions", code).map(|()| count)
    }
}

impl Drop for Publisher<'_> {
    fn drop(&mut self) {
        // SAFETY: made by this session's node, destroyed once.
        unsafe { (self.session.api().rmw_destroy_publisher)(self.session.node(), self.handle) };
    }
}

/// A subscription of a session's node.
pub struct Subscription<'s> {
    session: &'s Session,
    pub(super) handle: *mut sys::rmw_subscription_t,
}

impl<'s> Subscription<'s> {
    /// Creates it.
    ///
    /// # Errors
    /// The RMW's.
    pub fn new(session: &'s Session, topic: &str, ty: MessageType, profile: Profile) -> Result<Subscription<'s>> {
        let (topic, qos) = (c_name(topic)?, profile.for_rmw());
        // SAFETY: a live node and arguments that live across the call.
        let handle = unsafe {
            let options = sys::rmw_get_default_subscription_options();
            (session.api().rmw_create_subscription)(session.node(), ty.0, topic.as_ptr(), &qos, &options)
        };
        if handle.is_null() {
            return Err(failure("rmw_create_subscription"));
        }
        Ok(Subscription { session, handle })
    }

    /// Takes the next sample into a message of the subscription's type; false when there is none.
    ///
    /// # Errors
    /// The RMW's.
    pub fn take(&self, message: &mut Message) -> Result<bool> {
        let mut taken = false;
        // SAFETY: a live handle and a message of its type, by the caller's choice of both.
        let code =
            unsafe { (self.session.api().rmw_take)(self.handle, message.as_ptr(), &mut taken, std::ptr::null_mut()) };
        check("rmw_take", code).map(|()| taken)
    }

    /// How many publishers match.
    ///
    /// # Errors
    /// The RMW's.
    pub fn matched(&self) -> Result<usize> {
        let mut count = 0;
        // SAFETY: a live handle and an out-parameter.
        let code = unsafe { (self.session.api().rmw_subscription_count_matched_publishers)(self.handle, &mut count) };
        check("rmw_subscription_count_matched_publishers", code).map(|()| count)
    }
}

impl Drop for Subscription<'_> {
    fn drop(&mut self) {
        // SAFETY: made by this session's node, destroyed once.
        unsafe { (self.session.api().rmw_destroy_subscription)(self.session.node(), self.handle) };
    }
}

/// A service; it answers with what it is given.
pub struct Service<'s> {
    session: &'s Session,
    pub(super) handle: *mut sys::rmw_service_t,
}

impl<'s> Service<'s> {
    /// Creates it.
    ///
    /// # Errors
    /// The RMW's.
    pub fn new(session: &'s Session, name: &str, ty: ServiceType, profile: Profile) -> Result<Service<'s>> {
        let (name, qos) = (c_name(name)?, profile.for_rmw());
        // SAFETY: a live node and arguments that live across the call.
        let handle = unsafe { (session.api().rmw_create_service)(session.node(), ty.0, name.as_ptr(), &qos) };
        if handle.is_null() {
            return Err(failure("rmw_create_service"));
        }
        Ok(Service { session, handle })
    }
}

impl Service<'_> {
    /// Takes a request and answers it; false when there is none. Both messages are of the service's type.
    ///
    /// # Errors
    /// The RMW's.
    pub fn serve(&self, request: &mut Message, response: &Message) -> Result<bool> {
        let mut taken = false;
        let api = self.session.api();
        // SAFETY: integers, for which zeros are valid; a live handle and messages of its type, by the caller's choice.
        unsafe {
            let mut info: sys::rmw_service_info_t = std::mem::zeroed();
            let code = (api.rmw_take_request)(self.handle, &mut info, request.as_ptr(), &mut taken);
            check("rmw_take_request", code)?;
            if taken {
                let code = (api.rmw_send_response)(self.handle, &mut info.request_id, response.as_ptr());
                check("rmw_send_response", code)?;
            }
        }
        Ok(taken)
    }
}

impl Drop for Service<'_> {
    fn drop(&mut self) {
        // SAFETY: made by this session's node, destroyed once.
        unsafe { (self.session.api().rmw_destroy_service)(self.session.node(), self.handle) };
    }
}

/// A client of a session's node.
pub struct Client<'s> {
    session: &'s Session,
    pub(super) handle: *mut sys::rmw_client_t,
}

impl<'s> Client<'s> {
    /// Creates it.
    ///
    /// # Errors
    /// The RMW's.
    pub fn new(session: &'s Session, name: &str, ty: ServiceType, profile: Profile) -> Result<Client<'s>> {
        let (name, qos) = (c_name(name)?, profile.for_rmw());
        // SAFETY: a live node and arguments that live across the call.
        let handle = unsafe { (session.api().rmw_create_client)(session.node(), ty.0, name.as_ptr(), &qos) };
        if handle.is_null() {
            return Err(failure("rmw_create_client"));
        }
        Ok(Client { session, handle })
    }

    /// Whether somebody would answer.
    ///
    /// # Errors
    /// The RMW's.
    pub fn is_served(&self) -> Result<bool> {
        let mut available = false;
        // SAFETY: live handles and an out-parameter.
        let code = unsafe {
            (self.session.api().rmw_service_server_is_available)(self.session.node(), self.handle, &mut available)
        };
        check("rmw_service_server_is_available", code).map(|()| available)
    }

    /// Sends a request of the client's type.
    ///
    /// # Errors
    /// The RMW's.
    pub fn send(&self, request: &Message) -> Result<()> {
        let mut sequence = 0;
        // SAFETY: a live handle and a message of its type, by the caller's choice.
        let code = unsafe { (self.session.api().rmw_send_request)(self.handle, request.as_ptr(), &mut sequence) };
        check("rmw_send_request", code)
    }

    /// Takes a response; false when there is none.
    ///
    /// # Errors
    /// The RMW's.
    pub fn take(&self, response: &mut Message) -> Result<bool> {
        let mut taken = false;
        // SAFETY: integers, for which zeros are valid; a live handle and a message of its type, by the caller's choice.
        let code = unsafe {
            let mut info: sys::rmw_service_info_t = std::mem::zeroed();
            (self.session.api().rmw_take_response)(self.handle, &mut info, response.as_ptr(), &mut taken)
        };
        check("rmw_take_response", code).map(|()| taken)
    }
}

impl Drop for Client<'_> {
    fn drop(&mut self) {
        // SAFETY: made by this session's node, destroyed once.
        unsafe { (self.session.api().rmw_destroy_client)(self.session.node(), self.handle) };
    }
}
