//! What a node has: the usual things of rclcpp's nodes, and the topics of its workload.

use super::Options;
use crate::rmw_api::{Client, MessageType, Profile, Publisher, Result, Service, ServiceType, Session, Subscription};

/// The services that every node of rclcpp offers.
const SERVICES: [(&str, &str, &str); 7] = [
    ("get_parameters", "rcl_interfaces", "GetParameters"),
    ("get_parameter_types", "rcl_interfaces", "GetParameterTypes"),
    ("set_parameters", "rcl_interfaces", "SetParameters"),
    ("set_parameters_atomically", "rcl_interfaces", "SetParametersAtomically"),
    ("describe_parameters", "rcl_interfaces", "DescribeParameters"),
    ("list_parameters", "rcl_interfaces", "ListParameters"),
    ("get_type_description", "type_description_interfaces", "GetTypeDescription"),
];

pub struct Entities<'s> {
    pub ty: MessageType,
    pub event_type: MessageType,
    pub log_type: MessageType,
    _log: Publisher<'s>,
    /// Of the node in the middle of a star.
    pub logs: Option<Subscription<'s>>,
    pub events_out: Publisher<'s>,
    pub events_in: Subscription<'s>,
    pub services: Vec<Service<'s>>,
    /// What the services take and answer, in their order.
    pub service_types: Vec<ServiceType>,
    pub publisher: Publisher<'s>,
    pub subscription: Option<Subscription<'s>>,
}

impl<'s> Entities<'s> {
    pub fn new(session: &'s Session, options: &Options) -> Result<Entities<'s>> {
        let ty = MessageType::load("std_msgs", "String")?;
        let log_type = MessageType::load("rcl_interfaces", "Log")?;
        let event_type = MessageType::load("rcl_interfaces", "ParameterEvent")?;
        let types = SERVICES.iter().map(|(_, package, ty)| ServiceType::load(package, ty));
        let service_types = types.collect::<Result<Vec<_>>>()?;
        let service = |((name, _, _), ty): (&(&str, &str, &str), &ServiceType)| {
            Service::new(session, &format!("/load/node_{}/{name}", options.index), *ty, Profile::last(1000))
        };
        let out = options.workload.published(options.index, options.nodes);
        let profile = |depth, latched| if latched { Profile::latched(depth) } else { Profile::last(depth) };
        let read = options.workload.read(options.index, options.nodes);
        let subscribe =
            |topic: super::Topic| Subscription::new(session, &topic.name, ty, profile(topic.depth, topic.latched));
        let is_hub = options.workload == super::Workload::Star && options.index == 0;
        let logs = is_hub.then(|| Subscription::new(session, "/rosout", log_type, Profile::latched(1000)));
        Ok(Entities {
            ty,
            event_type,
            log_type,
            _log: Publisher::new(session, "/rosout", log_type, Profile::latched(1000))?,
            logs: logs.transpose()?,
            events_out: Publisher::new(session, "/parameter_events", event_type, Profile::last(1000))?,
            events_in: Subscription::new(session, "/parameter_events", event_type, Profile::last(1000))?,
            services: SERVICES.iter().zip(&service_types).map(service).collect::<Result<_>>()?,
            service_types,
            publisher: Publisher::new(session, &out.name, ty, profile(out.depth, out.latched))?,
            subscription: read.map(subscribe).transpose()?,
        })
    }

    /// A client of another node's first service, and that service's type.
    pub fn client(&self, session: &'s Session, of: usize) -> Result<(Client<'s>, ServiceType)> {
        let ty = self.service_types[0];
        let name = format!("/load/node_{of}/{}", SERVICES[0].0);
        Ok((Client::new(session, &name, ty, Profile::last(1000))?, ty))
    }

    /// What is waited for; the parameter events first.
    pub fn subscriptions(&self) -> Vec<&Subscription<'s>> {
        [Some(&self.events_in), self.subscription.as_ref(), self.logs.as_ref()].into_iter().flatten().collect()
    }

    /// Whether this node sees all of its peers.
    pub fn are_matched(&self, options: &Options) -> Result<bool> {
        let (i, n) = (options.index, options.nodes);
        let mut pairs = vec![
            (self.events_out.matched()?, n),
            (self.events_in.matched()?, n),
            (self.publisher.matched()?, options.workload.published(i, n).peers),
        ];
        if let (Some(subscription), Some(topic)) = (&self.subscription, options.workload.read(i, n)) {
            pairs.push((subscription.matched()?, topic.peers));
        }
        Ok(pairs.iter().all(|(found, expected)| found >= expected))
    }
}
