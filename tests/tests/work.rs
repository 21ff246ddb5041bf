//! A work queue between processes, with consumers killed and stopped at random.

use std::process::Command;

#[test]
fn each_item_is_acknowledged_once_none_is_lost_and_the_end_comes_to_all() {
    // It ends by itself when something stands still.
    let output = Command::new(env!("CARGO_BIN_EXE_work")).args(["--items", "20000", "--kills", "10"]).output();
    let output = output.expect("it starts");
    let said = String::from_utf8_lossy(&output.stdout);
    println!("{said}");
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
}
