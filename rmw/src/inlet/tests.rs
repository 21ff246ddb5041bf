use shoal_registry::match_key;
use shoal_shm::sync::Ordering;

use super::*;
use crate::endpoint::{enter, Entry};
use crate::message::TypeInfo;
use crate::node::Node;
use crate::outlet::{Outlet, OutletPlan};
use crate::{ContextOptions, Discovery};

/// Removes what the test left, however it ends.
struct Root(std::path::PathBuf);

impl Drop for Root {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_head_that_always_runs_away_holds_no_reader() {
    let root = Root(format!("/dev/shm/shoal-rmw-unit-{}", std::process::id()).into());
    std::fs::create_dir_all(&root.0).expect("shared memory can be written");
    std::env::set_var("SHOAL_DIR", &root.0);
    let discovery = Discovery::Localhost;
    let options = ContextOptions { domain_id: 1, enclave: "/".into(), discovery, security_enforced: false };
    let context = Context::new(options).expect("the domain can be joined");
    let node = Node::new(&context, "n", "/").expect("a node");
    let ty = TypeInfo { name: "t".into(), hash: (1, [0; 32]), fixed_size: None, loanable_size: None };
    let qos = Qos { depth: 5, ..Qos::default() };
    let channel =
        Channel { topic: shoal_registry::TopicHash::of("/t"), match_key: match_key("/t", &ty.name, &ty.hash) };
    let entry = |kind| enter(&node, Entry { kind, name: "/t", ty: &ty, qos: &qos, flags: 0 }).expect("a slot").slot;
    let (slot, readers, outlets) = (entry(Kind::Publisher), Kind::Subscription, Kind::Publisher);
    let plan = OutletPlan { slot, channel, readers, qos, history: 0, least_unread: 0, fixed_size: None };
    let outlet = Outlet::new(&context, plan);
    let (slot, depth, ignore_local, filter) = (entry(Kind::Subscription), 5, false, None);
    let plan = InletPlan { slot, channel, outlets, qos, depth, of_each: depth, ignore_local, filter, limits: None };
    let inlet = Inlet::join(&context, plan).expect("joined");
    let head = outlet.hot().expect("a cell").head();
    head.store(1, Ordering::Release);
    let hot = hot_cell(context.registry(), inlet.slot).expect("a cell");
    hot.pending().fetch_or(class_bit(outlet.slot()), Ordering::Release);
    let mut looks = 0;
    let taken = inlet.take_by(&mut |_, _, sequence| {
        looks += 1;
        assert!(looks < 10_000, "a take that a peer keeps busy for ever");
        head.store(sequence + 1_000, Ordering::Release);
        Ok(None)
    });
    assert!(taken.expect("no error").is_none());
    assert!(looks > 5 && inlet.has_data(), "what is left counts as unread");
}
