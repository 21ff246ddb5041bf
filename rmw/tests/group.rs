//! A domain that is open to a group (`SHOAL_GROUP`): processes of two users in it, and of one who is not.

mod common;

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use common::*;
use shoal_rmw::{Context, ContextOptions, Discovery};

const GROUP: u32 = 65020;
/// Users that need not exist.
const ONE: u32 = 65011;
const OTHER: u32 = 65012;
const STRANGER: u32 = 65013;

/// Not a test: a process that becomes another user before it does anything.
#[test]
fn child() {
    let Ok(role) = std::env::var("SHOAL_TEST_ROLE") else { return };
    let number = |name: &str| std::env::var(name).expect("set").parse::<u32>().expect("a number");
    become_user(number("SHOAL_TEST_UID"), number("SHOAL_TEST_MEMBER") == 1);
    match role.as_str() {
        "talk" => {
            let publisher = publisher(&node(&context(1), "talker"), "/t", latched(3));
            send(&publisher, vec![1; 100]);
            send(&publisher, vec![2; 100_000]);
            println!("\n@ready");
            let _ = std::io::stdin().read(&mut [0]);
        }
        "listen" => {
            let subscription = subscription(&node(&context(1), "listener"), "/t", latched(3));
            let sizes: Vec<_> = take_all(&subscription).iter().map(|body| (body[0], body.len())).collect();
            println!("\n@{sizes:?}");
        }
        _ => {
            let discovery = Discovery::SystemDefault;
            let options = ContextOptions { domain_id: 1, enclave: "/".into(), discovery, security_enforced: false };
            println!("\n@{}", Context::new(options).err().expect("refused"));
        }
    }
}

fn become_user(uid: u32, member: bool) {
    let groups = [GROUP];
    // SAFETY: changes the ids of this process, which has one test thread that uses them; the list outlives the call.
    unsafe {
        assert_eq!(libc::setgroups(usize::from(member), groups.as_ptr()), 0);
        assert_eq!(libc::setresgid(uid, uid, uid), 0);
        assert_eq!(libc::setresuid(uid, uid, uid), 0);
    }
}

fn start(root: &Path, role: &str, uid: u32, member: bool) -> Child {
    Command::new(std::env::current_exe().expect("the own path"))
        .args(["child", "--exact", "--nocapture"])
        .env("SHOAL_TEST_ROLE", role)
        .env("SHOAL_TEST_UID", uid.to_string())
        .env("SHOAL_TEST_MEMBER", u32::from(member).to_string())
        .env("SHOAL_DIR", root)
        .env("SHOAL_GROUP", GROUP.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process")
}

/// What a child says, once.
fn hear(child: &mut Child) -> String {
    let mut text = Vec::new();
    let output = child.stdout.as_mut().expect("a pipe");
    let mut byte = [0];
    while !(text.ends_with(b"\n") && text.contains(&b'@')) && output.read(&mut byte).expect("a byte") == 1 {
        text.push(byte[0]);
    }
    let text = String::from_utf8(text).expect("text");
    text.split('@').nth(1).unwrap_or_else(|| panic!("it says nothing: {text}")).trim().to_owned()
}

/// Where every user may make a directory.
fn open_root() -> PathBuf {
    let root = PathBuf::from(format!("/dev/shm/shoal-group-test-{}", std::process::id()));
    std::fs::create_dir_all(&root).expect("shared memory can be written");
    std::fs::set_permissions(&root, std::fs::Permissions::from_mode(0o1777)).expect("ours");
    root
}

#[test]
fn a_group_shares_a_domain_and_keeps_others_out() {
    // SAFETY: takes nothing and cannot fail.
    if unsafe { libc::geteuid() } != 0 {
        println!("skipped: only root can run processes of other users");
        return;
    }
    domain(); // starts the watchdog
    let root = open_root();
    // Also where it would be the first: it cannot give a directory to a group that it is not in.
    a_stranger_is_refused(&root);
    let mut talker = start(&root, "talk", ONE, true);
    assert_eq!(hear(&mut talker), "ready");
    let mut listener = start(&root, "listen", OTHER, true);
    assert_eq!(hear(&mut listener), "[(1, 100), (2, 100000)]");
    assert!(listener.wait().expect("it ends").success());
    a_stranger_is_refused(&root);
    drop(talker.stdin.take());
    assert!(talker.wait().expect("it ends").success());
    // The last one out has removed everything.
    std::fs::remove_dir(&root).expect("empty");
}

fn a_stranger_is_refused(root: &Path) {
    let mut stranger = start(root, "stranger", STRANGER, false);
    let refusal = hear(&mut stranger);
    assert!(refusal.contains(&format!("group {GROUP}")) && refusal.contains("not in"), "{refusal}");
    assert!(stranger.wait().expect("it ends").success());
}
