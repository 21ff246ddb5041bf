//! Half a gigabyte through a small window, between processes, and with either of them killed, or both.

use std::process::Command;

#[test]
fn memory_stays_flat_nothing_is_lost_and_nobody_leaks_whoever_is_killed() {
    // It ends by itself when something stands still.
    let mut program = Command::new(env!("CARGO_BIN_EXE_stream"));
    let output = program.args(["--bytes", "536870912"]).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout);
    println!("{said}");
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
}
