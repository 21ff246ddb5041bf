//! The machine: the file system that domains lie in, logind, containers.

use super::{note, ok, wrong, Finding};
use crate::text::bytes;
use std::path::Path;

/// Below this much free space a few camera images fill it.
const LITTLE: u64 = 64 << 20;

pub fn examine(root: &Path) -> Vec<Finding> {
    let mut findings = file_system(root);
    findings.extend(logind(root));
    findings.extend(container(root));
    findings
}

fn file_system(root: &Path) -> Vec<Finding> {
    let shown = root.display();
    let stat = match nix::sys::statfs::statfs(root) {
        Ok(stat) => stat,
        Err(e) => {
            let advice = "set SHOAL_DIR (or --dir) to a directory that exists, best on a tmpfs";
            return vec![wrong(format!("{shown} cannot be examined: {e}"), advice)];
        }
    };
    let mut findings = Vec::new();
    match stat.filesystem_type() {
        nix::sys::statfs::TMPFS_MAGIC => findings.push(ok(format!("{shown} is a tmpfs"))),
        nix::sys::statfs::NFS_SUPER_MAGIC => findings.push(wrong(
            format!("{shown} is a network file system: memory is not shared through it"),
            "set SHOAL_DIR to a directory on a tmpfs of this machine",
        )),
        _ => findings.push(note(
            format!("{shown} is no tmpfs: every sample may be written to a disk"),
            "set SHOAL_DIR to a directory on a tmpfs, such as /dev/shm",
        )),
    }
    let block = stat.block_size().unsigned_abs();
    let (size, free) = (stat.blocks() * block, stat.blocks_available() * block);
    let space = format!("{shown} has {} of {} free", bytes(free), bytes(size));
    findings.push(match free < LITTLE {
        true => wrong(space, "make it larger (mount -o remount,size=50% /dev/shm; docker run --shm-size=1g), or see with `shoal ls` who takes it and with `shoal clean` what nobody needs"),
        false => ok(space),
    });
    if nix::unistd::access(root, nix::unistd::AccessFlags::W_OK).is_err() {
        findings.push(wrong(
            format!("{shown} cannot be written: nodes of this user fail to start"),
            "set SHOAL_DIR to a directory that this user can write",
        ));
    }
    findings
}

/// logind removes the files of a user who has logged out from /dev/shm, also those of running nodes.
fn logind(root: &Path) -> Option<Finding> {
    let uid = nix::unistd::geteuid().as_raw();
    // System users are exempt, and so is what lies elsewhere.
    if uid < 1000 || !root.starts_with("/dev/shm") || !Path::new("/run/systemd/seats").exists() {
        return None;
    }
    let removes = remove_ipc(&configuration()).unwrap_or(true);
    let lingers = nix::unistd::User::from_uid(uid.into())
        .ok()
        .flatten()
        .is_some_and(|user| Path::new("/var/lib/systemd/linger").join(user.name).exists());
    if !removes || lingers {
        return Some(ok("logind leaves /dev/shm alone when this user logs out"));
    }
    Some(wrong(
        "logind removes this user's files from /dev/shm at the last logout: nodes that run on lose each other",
        "set RemoveIPC=no in /etc/systemd/logind.conf, or `loginctl enable-linger`",
    ))
}

/// logind's configuration files, the ones that count most last.
fn configuration() -> String {
    let mut files = vec![Path::new("/etc/systemd/logind.conf").to_owned()];
    for dir in ["/usr/lib/systemd/logind.conf.d", "/run/systemd/logind.conf.d", "/etc/systemd/logind.conf.d"] {
        let mut more: Vec<_> = std::fs::read_dir(dir).into_iter().flatten().flatten().map(|e| e.path()).collect();
        more.sort();
        files.extend(more);
    }
    files.iter().filter_map(|file| std::fs::read_to_string(file).ok()).collect::<Vec<_>>().join("\n")
}

/// What the last `RemoveIPC=` says.
fn remove_ipc(text: &str) -> Option<bool> {
    let value = |line: &str| Some(line.trim().strip_prefix("RemoveIPC=")?.trim().to_lowercase());
    let last = text.lines().filter_map(value).next_back()?;
    Some(matches!(last.as_str(), "yes" | "true" | "on" | "1"))
}

fn container(root: &Path) -> Option<Finding> {
    let inside = ["/.dockerenv", "/run/.containerenv"].iter().any(|file| Path::new(file).exists());
    inside.then(|| {
        note(
            format!("this is a container: it meets the nodes of others only if they share {}", root.display()),
            "give all of them one volume there (docker/compose.yaml shows how), or --ipc=container:NAME; PID namespaces may differ, user ids must be the same",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_setting_counts_and_comments_do_not() {
        assert_eq!(remove_ipc("#RemoveIPC=yes\n[Login]\n"), None);
        assert_eq!(remove_ipc("RemoveIPC=yes\n RemoveIPC=no\n"), Some(false));
        assert_eq!(remove_ipc("RemoveIPC=True"), Some(true));
    }
}
