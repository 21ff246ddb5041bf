//! The file that `SHOAL_CONFIG` names. One test, as the environment is the process's.

mod common;

use common::*;
use shoal_rmw::{Context, ContextOptions, Discovery, Outcome};

fn options(domain_id: usize) -> ContextOptions {
    let discovery = Discovery::SystemDefault;
    ContextOptions { domain_id, enclave: "/".into(), discovery, security_enforced: false }
}

#[test]
fn subscriptions_of_a_topic_have_the_bounds_of_the_file_and_a_wrong_file_is_refused_at_the_start() {
    let domain = domain();
    let path = std::env::temp_dir().join(format!("shoal-config-test-{}.toml", std::process::id()));
    std::fs::write(&path, "[topics.\"/t\"]\nmessages = 5\nwhen-behind = \"shed\"\n").expect("a file can be written");
    std::env::set_var("SHOAL_CONFIG", &path);
    let (a, b) = (node(&context(domain), "p"), node(&context(domain), "s"));
    let [bounded, other] = ["/t", "/u"].map(|topic| {
        let (publisher, subscription) = (publisher(&a, topic, depth(1)), subscription(&b, topic, depth(10)));
        (1..=5).for_each(|number| assert!(send(&publisher, [number]) > 0));
        assert_eq!(take_all(&subscription).len(), 5);
        (1..=6).for_each(|number| assert!(send(&publisher, [number]) > 0));
        subscription
    });
    assert_eq!(take_all(&other).len(), 6);
    assert_eq!(take_all(&bounded), Vec::<Vec<u8>>::new());
    let event = bounded.take_stream_event().expect("the context lives").expect("it was shed");
    assert_eq!((event.outcome, event.last_sequence), (Outcome::Shed, 5));

    std::fs::write(&path, "[topics.\"/t\"]\nmessages = -5\n").expect("a file can be written");
    let error = Context::new(options(domain)).err().expect("it is refused").to_string();
    std::fs::remove_file(&path).expect("it is there");
    let name = path.display().to_string();
    assert!(error.contains(&name) && error.contains("line 2") && error.contains("-5"), "{error}");
}
