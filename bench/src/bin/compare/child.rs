//! The driver's side of a process.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{channel, Receiver};
use std::time::Duration;

use serde_json::Value;

use crate::error::{io, Error, Result};
use crate::job::Job;
use crate::role::Role;

/// How long a process may say nothing.
const PATIENCE: Duration = Duration::from_secs(90);

/// A process of a measurement; killed when dropped before its end.
pub struct Process {
    role: Role,
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
}

impl Process {
    /// Starts a process in a role.
    pub fn start(role: Role, job: &Job) -> Result<Process> {
        let program = std::env::current_exe().map_err(io("find this program"))?;
        let text = serde_json::to_string(job).map_err(|e| Error::Other(e.to_string()))?;
        let mut command = Command::new(program);
        command.arg("role").arg(role.name()).arg(text).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(io("start a process"))?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (send, lines) = channel();
        if let Some(output) = output {
            std::thread::spawn(move || {
                for line in BufReader::new(output).lines().map_while(std::result::Result::ok) {
                    if send.send(line).is_err() {
                        return;
                    }
                }
            });
        }
        Ok(Process { role, child, input, lines })
    }

    /// Starts several in the same role, numbered, all at once, and waits until each is ready.
    pub fn start_many(role: Role, job: &Job, count: usize) -> Result<Vec<Process>> {
        let start = |index| Process::start(role, &Job { index, ..job.clone() });
        let mut processes = (0..count).map(start).collect::<Result<Vec<_>>>()?;
        processes.iter_mut().try_for_each(Process::ready)?;
        Ok(processes)
    }

    /// The process's number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// What it says next.
    pub fn answer(&mut self) -> Result<Value> {
        self.answer_within(PATIENCE)
    }

    /// What it says next; an error after the time. Lines that are not ours are what the middleware logs.
    pub fn answer_within(&mut self, patience: Duration) -> Result<Value> {
        loop {
            let line = self.lines.recv_timeout(patience).map_err(|_| {
                let name = self.role.name();
                Error::Other(format!("a process in the role {name} ended or was silent for {} s", patience.as_secs()))
            })?;
            if let Ok(value) = serde_json::from_str(&line) {
                return Ok(value);
            }
        }
    }

    /// Waits until it has set up.
    pub fn ready(&mut self) -> Result<()> {
        self.answer().map(drop)
    }

    /// Tells it to begin, or, the second time, to stop.
    pub fn tell(&mut self) -> Result<()> {
        let input = self.input.as_mut().ok_or_else(|| Error::Other("a process without input".into()))?;
        writeln!(input).map_err(io("tell a process"))
    }

    /// Tells it to stop and gets its result.
    pub fn stop(mut self) -> Result<Value> {
        self.tell()?;
        let result = self.answer()?;
        self.end()?;
        Ok(result)
    }

    /// Lets it end.
    pub fn end(mut self) -> Result<()> {
        drop(self.input.take());
        self.child.wait().map(drop).map_err(io("wait for a process"))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.input.is_some() {
            // It is a child of ours that was not waited for: it exists.
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}
