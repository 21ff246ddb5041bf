use super::{fork_generation, LockFile};
use crate::segment::{Access, DomainDir};
use crate::testing::{role, role_root, watched, Killed, Scratch};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::Command;

#[test]
fn two_descriptions_exclude_each_other() {
    let scratch = Scratch::new();
    let dir = scratch.domain();
    let (one, two) = (LockFile::open(&dir, "lock").unwrap(), LockFile::open(&dir, "lock").unwrap());
    assert!(one.try_exclusive(5).unwrap());
    assert!(!one.is_held_by_another(5).unwrap());
    assert!(two.is_held_by_another(5).unwrap());
    assert!(!two.try_exclusive(5).unwrap() && !two.try_shared(5).unwrap());
    assert!(two.try_exclusive(6).unwrap(), "the bytes are independent");
    one.unlock(5);
    assert!(two.try_exclusive(5).unwrap());
}

#[test]
fn sharers_share_and_keep_out_the_exclusive() {
    let scratch = Scratch::new();
    let dir = scratch.domain();
    let (one, two) = (LockFile::open(&dir, "lock").unwrap(), LockFile::open(&dir, "lock").unwrap());
    assert!(one.try_exclusive(0).unwrap());
    assert!(one.try_shared(0).unwrap(), "converts");
    assert!(two.try_shared(0).unwrap());
    assert!(!one.try_exclusive(0).unwrap());
    assert!(two.is_held_by_another(0).unwrap(), "the failed try kept the shared lock");
    drop(two);
    assert!(one.try_exclusive(0).unwrap());
}

#[test]
fn a_removed_or_replaced_lock_file_is_noticed() {
    let scratch = Scratch::new();
    let dir = scratch.domain();
    let one = LockFile::open(&dir, "lock").unwrap();
    assert!(one.still_named(&dir, "lock"));
    dir.unlink("lock").unwrap();
    assert!(!one.still_named(&dir, "lock"));
    let two = LockFile::open(&dir, "lock").unwrap();
    assert!(two.still_named(&dir, "lock") && !one.still_named(&dir, "lock"));
    dir.unlink("lock").unwrap();
    dir.remove_self();
    assert_eq!(LockFile::open(&dir, "lock").unwrap_err().kind(), std::io::ErrorKind::NotFound);
}

/// Takes byte 5 in a role's process, says so, and then does as told.
fn hold_byte_5(then: impl FnOnce(&LockFile)) {
    let Some(root) = role_root() else { return };
    let dir = DomainDir::open_or_create(&root, Access::Owner, "7").unwrap();
    let lock = LockFile::open(&dir, "lock").unwrap();
    assert!(lock.try_exclusive(5).unwrap());
    then(&lock);
    say("held");
    // Ends when the parent dies, should it fail to kill us.
    let _ = std::io::stdin().read(&mut [0]);
}

fn say(line: &str) {
    println!("\n{line}");
    std::io::stdout().flush().unwrap();
}

/// Starts a role that holds byte 5, and waits until it does. The lines it said before are answered too.
fn holder(name: &str, scratch: &Scratch) -> (Killed, LockFile, Vec<String>) {
    let lock = LockFile::open(&scratch.domain(), "lock").unwrap();
    let mut child = Killed(role(name, scratch.path(), &[]).spawn().unwrap());
    let lines = BufReader::new(child.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    let said = lines.take_while(|line| line != "held").collect();
    assert!(lock.is_held_by_another(5).unwrap() && !lock.try_exclusive(5).unwrap());
    (child, lock, said)
}

#[test]
#[ignore = "a role of a_killed_process_holds_nothing"]
fn holder_role() {
    hold_byte_5(|_| ());
}

#[test]
fn a_killed_process_holds_nothing() {
    watched(|| {
        let scratch = Scratch::new();
        let (mut child, lock, _) = holder("lock::tests::holder_role", &scratch);
        child.0.kill().unwrap();
        child.0.wait().unwrap();
        assert!(!lock.is_held_by_another(5).unwrap() && lock.try_exclusive(5).unwrap());
    });
}

#[test]
#[ignore = "a role of an_executed_program_holds_nothing"]
fn executor_role() {
    let Some(root) = role_root() else { return };
    let dir = DomainDir::open_or_create(&root, Access::Owner, "7").unwrap();
    let lock = LockFile::open(&dir, "lock").unwrap();
    assert!(lock.try_exclusive(5).unwrap());
    panic!("{}", Command::new("sh").args(["-c", "echo; echo executed; read line"]).exec());
}

#[test]
fn an_executed_program_holds_nothing() {
    watched(|| {
        let scratch = Scratch::new();
        let lock = LockFile::open(&scratch.domain(), "lock").unwrap();
        let mut child = Killed(role("lock::tests::executor_role", scratch.path(), &[]).spawn().unwrap());
        let mut lines = BufReader::new(child.0.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap() == "executed"));
        assert!(lock.try_exclusive(5).unwrap(), "the program still holds it");
    });
}

/// Forks. The child checks that it has no part in the lock, answers 1 through a pipe, and lives until it is killed.
fn fork_beside(lock: &LockFile) -> (libc::pid_t, u8) {
    let before = fork_generation();
    let (mut answer, mut tell) = std::io::pipe().unwrap();
    // SAFETY: the child looks at locks, writes to a pipe and pauses; it never returns to the test harness.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0);
    if pid == 0 {
        let refused = lock.try_exclusive(6).is_err() && lock.is_held_by_another(5).is_err();
        let _ = tell.write_all(&[u8::from(refused && fork_generation() == before + 1)]);
        loop {
            // SAFETY: sleeps until a signal.
            unsafe { libc::pause() };
        }
    }
    assert_eq!(fork_generation(), before, "the parent is no child");
    let mut byte = [0];
    answer.read_exact(&mut byte).unwrap();
    (pid, byte[0])
}

#[test]
#[ignore = "a role of a_forked_child_does_not_keep_its_parents_lock"]
fn forker_role() {
    hold_byte_5(|lock| {
        let (pid, verdict) = fork_beside(lock);
        say(&format!("child {pid} {verdict}"));
    });
}

#[test]
fn a_forked_child_does_not_keep_its_parents_lock() {
    watched(|| {
        let scratch = Scratch::new();
        let (mut parent, lock, said) = holder("lock::tests::forker_role", &scratch);
        let child = said.iter().find_map(|line| line.strip_prefix("child ")).unwrap();
        let (pid, verdict) = child.split_once(' ').unwrap();
        parent.0.kill().unwrap();
        parent.0.wait().unwrap();
        let free = lock.try_exclusive(5).unwrap();
        // SAFETY: the child still lives: it pauses until this signal.
        let alive = unsafe { libc::kill(pid.parse().unwrap(), libc::SIGKILL) } == 0;
        assert_eq!(verdict, "1", "the child must know that it is one");
        assert!(alive, "the child must outlive its parent for this to say anything");
        assert!(free, "the lock outlived its owner in a forked child");
    });
}
