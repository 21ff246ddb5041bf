//! Several nodes behind one input and one output: what is started in a container.

use super::Options;
use crate::rmw_api::{Error, Result};
use std::io::{BufRead, Write};
use std::process::{Child, Command, Stdio};

/// Starts the nodes, hands on every line to all of them, and ends when they have ended. They write to our output.
pub fn run(options: &Options, size: usize) -> Result<()> {
    let nodes = (0..size).map(|i| start(options.index + i));
    let mut nodes = nodes.collect::<std::io::Result<Vec<Child>>>().map_err(|e| failed(&e))?;
    for line in std::io::stdin().lock().lines().map_while(std::io::Result::ok) {
        for input in nodes.iter_mut().filter_map(|node| node.stdin.as_mut()) {
            // One that died is missed when it does not answer.
            let _ = writeln!(input, "{line}");
        }
    }
    for node in &mut nodes {
        drop(node.stdin.take());
    }
    for mut node in nodes {
        node.wait().map_err(|e| failed(&e))?;
    }
    Ok(())
}

fn start(index: usize) -> std::io::Result<Child> {
    let mut own: Vec<_> = std::env::args_os().skip(1).collect();
    // The same words, but for who it is.
    for flag in ["--crew", "--index"] {
        if let Some(at) = own.iter().position(|word| word == flag) {
            own.drain(at..at + 2);
        }
    }
    let mut command = Command::new(std::env::current_exe()?);
    command.args(own).args(["--index", &index.to_string()]);
    command.stdin(Stdio::piped()).spawn()
}

fn failed(e: &std::io::Error) -> Error {
    Error::Argument(format!("cannot start a node of the crew: {e}"))
}
