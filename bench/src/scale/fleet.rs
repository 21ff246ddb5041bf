//! Processes of load: started, told what to do, heard, ended.

use super::{at, Error, Trial};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{channel, Receiver};
use std::time::{Duration, Instant};

pub struct Fleet<'t> {
    trial: &'t Trial<'t>,
    /// By number; `None` for one that was ended.
    nodes: Vec<Option<(Child, ChildStdin)>>,
    said: Receiver<String>,
    /// The writing end, for nodes that are started later.
    line: std::os::fd::OwnedFd,
}

impl<'t> Fleet<'t> {
    /// Starts all nodes at once.
    pub fn start(trial: &'t Trial<'t>) -> Result<Fleet<'t>, Error> {
        let (read, line) = at("a pipe", nix::unistd::pipe().map_err(Into::into))?;
        let (send, said) = channel();
        // Ends when the last writer has gone.
        std::thread::spawn(move || {
            for line in BufReader::new(std::fs::File::from(read)).lines().map_while(Result::ok) {
                let Some((_, words)) = line.split_once(' ') else { continue };
                if send.send(words.to_owned()).is_err() {
                    return;
                }
            }
        });
        let mut fleet = Fleet { trial, nodes: Vec::new(), said, line };
        for index in 0..trial.nodes {
            let node = fleet.spawn(index)?;
            fleet.nodes.push(Some(node));
        }
        Ok(fleet)
    }

    fn spawn(&self, index: usize) -> Result<(Child, ChildStdin), Error> {
        let Trial { options, library, .. } = self.trial;
        let program = at("this program's path", std::env::current_exe())?.with_file_name("load_node");
        let mut command = Command::new(&program);
        command.args(["--rmw".as_ref(), library.as_os_str()]);
        command.args(["--domain", &options.domain.to_string(), "--index", &index.to_string()]);
        let workload = clap::ValueEnum::to_possible_value(&options.workload).map(|w| w.get_name().to_owned());
        command.args(["--nodes", &self.trial.nodes.to_string(), "--workload", &workload.unwrap_or_default()]);
        command.arg("--latencies").arg(self.trial.latencies(index));
        if self.trial.floor {
            command.arg("--floor");
        }
        let line = at("a pipe", self.line.try_clone())?;
        let mut child =
            at(program.display(), command.stdin(Stdio::piped()).stdout(line).stderr(Stdio::null()).spawn())?;
        let input = child.stdin.take().ok_or_else(|| std::io::Error::other("no pipe"));
        Ok((child, at("a pipe", input)?))
    }

    /// Process ids of the nodes that were not ended.
    pub fn pids(&self) -> Vec<u32> {
        self.nodes.iter().flatten().map(|(child, _)| child.id()).collect()
    }

    /// Tells every node something.
    pub fn tell(&mut self, command: &str) {
        for (_, input) in self.nodes.iter_mut().flatten() {
            // One that died is missed when it does not answer.
            let _ = writeln!(input, "{command}");
        }
    }

    /// Waits until `n` answers that begin with `word` have come, or the time is over; what came.
    pub fn hear(&self, n: usize, word: &str, end: Instant) -> Vec<String> {
        let mut heard = Vec::new();
        while heard.len() < n {
            let left = end.saturating_duration_since(Instant::now());
            match self.said.recv_timeout(left) {
                Ok(said) if said.starts_with(word) => heard.push(said),
                Ok(_) => {}
                Err(_) => break,
            }
        }
        heard
    }

    /// Ends one node and starts it again, and waits until it is up.
    pub fn replace(&mut self, index: usize, end: Instant) -> Result<bool, Error> {
        if let Some((mut child, input)) = self.nodes.get_mut(index).and_then(Option::take) {
            drop(input);
            wait(&mut child, Duration::from_secs(10));
        }
        let node = self.spawn(index)?;
        if let Some(place) = self.nodes.get_mut(index) {
            *place = Some(node);
        }
        Ok(!self.hear(1, "up", end).is_empty())
    }
}

impl Drop for Fleet<'_> {
    fn drop(&mut self) {
        let (mut children, inputs): (Vec<_>, Vec<_>) = self.nodes.drain(..).flatten().unzip();
        drop(inputs);
        children.iter_mut().for_each(|child| wait(child, Duration::from_secs(20)));
    }
}

/// Waits for a node's end, and brings it about when it takes too long.
fn wait(child: &mut Child, patience: Duration) {
    let end = Instant::now() + patience;
    while Instant::now() < end {
        match child.try_wait() {
            Ok(None) => std::thread::sleep(Duration::from_millis(2)),
            _ => return,
        }
    }
    let _ = child.kill();
    let _ = child.wait();
}
