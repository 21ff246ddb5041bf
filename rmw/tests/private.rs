//! Contexts that meet nobody.

mod common;

use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use common::*;
use shoal_rmw::{graph, Context, ContextOptions, Discovery};

fn off(domain: usize) -> Arc<Context> {
    let options =
        ContextOptions { domain_id: domain, enclave: "/".into(), discovery: Discovery::Off, security_enforced: false };
    Context::new(options).expect("a domain of its own")
}

/// The private domains of `domain` that lie in shared memory.
fn private(domain: usize) -> Vec<PathBuf> {
    let root = PathBuf::from(std::env::var_os("SHOAL_DIR").expect("set with the first context"));
    let users = std::fs::read_dir(root).into_iter().flatten().flatten();
    let domains = users.flat_map(|user| std::fs::read_dir(user.path()).into_iter().flatten().flatten());
    let prefix = format!("{domain}.off-");
    domains
        .map(|entry| entry.path())
        .filter(|path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&prefix)))
        .collect()
}

/// Not a test: a process that dies with such a context.
#[test]
fn child() {
    let Some(domain) = std::env::var("SHOAL_TEST_DOMAIN").ok().and_then(|domain| domain.parse().ok()) else { return };
    // In the root of the test, which has set it for both.
    watchdog();
    let context = off(domain);
    let publisher = publisher(&node(&context, "p"), "/t", latched(1));
    send(&publisher, vec![1; 1 << 20]);
    // SAFETY: sends a signal to this process.
    unsafe { libc::raise(libc::SIGKILL) };
}

#[test]
fn contexts_that_are_off_meet_nobody_and_leave_nothing_though_they_are_killed() {
    let domain = domain();
    let (one, two, open) = (off(domain), off(domain), context(domain));
    let publishers = [&one, &two, &open].map(|context| publisher(&node(context, "p"), "/t", latched(1)));
    for publisher in &publishers {
        send(publisher, [1]);
    }
    for context in [&one, &two, &open] {
        assert_eq!(graph::node_names(context).expect("the graph").len(), 1);
        let own = subscription(&node(context, "r"), "/t", latched(10));
        assert_eq!(take_all(&own).len(), 1, "its own sample only");
    }
    assert_eq!(private(domain).len(), 2);
    for _ in 0..3 {
        let killed = Command::new(std::env::current_exe().expect("the own path"))
            .args(["child", "--exact"])
            .env("SHOAL_TEST_DOMAIN", domain.to_string())
            .output()
            .expect("a process");
        assert!(!killed.status.success(), "it was killed");
    }
    let next = off(domain);
    assert_eq!(private(domain).len(), 3, "what the killed ones left is gone; what lives stays");
    assert_eq!(graph::node_names(&one).expect("the graph").len(), 1);
    drop(publishers);
    drop((one, two, next));
    assert_eq!(private(domain), Vec::<PathBuf>::new());
}
