//! One process of load: the entities of a real node, straight on the RMW.
//!
//! It does what lines on its standard input say, and answers on standard output, each answer one line that begins with
//! its number: `up` once its entities are there; then `matched?` → `matched yes|no`, `events N`, `run HZ`, `stop`,
//! `call STRIDE` → `called yes|no` (a parameter service of the node that many places on), and
//! `report` → `report SENT GOT EVENTS_SENT EVENTS_GOT ERRORS`. It ends with its input.

mod crew;
mod entities;
mod latency;
mod workload;

pub use workload::{Topic, Workload};

use crate::rmw_api::{load_all, Client, Error, Message, Ready, Result, Rmw, Session};
use entities::Entities;
use latency::Latencies;
use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::sync::mpsc::{channel, Receiver, Sender, TryRecvError};
use std::time::{Duration, Instant};

/// What a process of load is to be.
#[derive(clap::Args, Clone, Debug)]
pub struct Options {
    /// The RMW's library
    #[arg(long)]
    pub rmw: PathBuf,
    /// Load all libraries, but use no middleware
    #[arg(long)]
    pub floor: bool,
    /// The domain
    #[arg(long)]
    pub domain: usize,
    /// What all nodes do
    #[arg(long)]
    pub workload: Workload,
    /// This node's number, from 0
    #[arg(long)]
    pub index: usize,
    /// How many nodes there are
    #[arg(long)]
    pub nodes: usize,
    /// Be so many nodes, each a process, numbered from `index` on
    #[arg(long)]
    pub crew: Option<usize>,
    /// Where to write the latencies: nanoseconds, 8 bytes each
    #[arg(long, default_value = "/dev/null")]
    pub latencies: PathBuf,
}

/// Types whose libraries a real node loads.
const TYPES: [(&str, &str); 4] = [
    ("std_msgs", "String"),
    ("rcl_interfaces", "Log"),
    ("rcl_interfaces", "ParameterEvent"),
    ("type_description_interfaces", "TypeDescription"),
];

/// Runs until the input ends.
///
/// # Errors
/// Whatever the RMW refuses.
pub fn run(options: &Options) -> Result<()> {
    if let Some(size) = options.crew {
        return crew::run(options, size);
    }
    let rmw = Rmw::load(&options.rmw)?;
    load_all(&TYPES)?;
    let (send, commands) = channel();
    if options.floor {
        return idle(options, send, &commands);
    }
    let session = Session::new(rmw, options.domain, &format!("node_{}", options.index))?;
    let entities = Entities::new(&session, options)?;
    let guard = session.guard();
    // Not joined: it ends with the process, or with the input, after which it triggers nothing.
    let listener = std::thread::spawn(move || listen(&send, || guard.trigger()));
    let node = Node {
        options,
        session: &session,
        entities: &entities,
        message: Message::new(entities.ty)?,
        event: Message::new(entities.event_type)?,
        latencies: Latencies::default(),
        counts: Counts::default(),
        period: None,
        calls: Vec::new(),
    };
    let result = node.run(&commands);
    // The guard must outlive whoever triggers it.
    let _ = listener.join();
    result
}

/// The floor: it answers, and does nothing else.
fn idle(options: &Options, send: Sender<String>, commands: &Receiver<String>) -> Result<()> {
    let _listener = std::thread::spawn(move || listen(&send, || ()));
    say(options.index, "up");
    for command in commands {
        match command.as_str() {
            "matched?" => say(options.index, "matched yes"),
            "report" => say(options.index, "report 0 0 0 0 0"),
            _ => {}
        }
    }
    Ok(())
}

fn listen(commands: &Sender<String>, wake: impl Fn()) {
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        if commands.send(line).is_err() {
            return;
        }
        wake();
    }
    let _ = commands.send("end".into());
    wake();
}

/// One line in one write, so that lines of many processes do not mix in one pipe.
fn say(index: usize, what: &str) {
    let line = format!("{index} {what}\n");
    // Whoever started us may be gone; then our input ends, too.
    let _ = std::io::stdout().lock().write_all(line.as_bytes()).and_then(|()| std::io::stdout().lock().flush());
}

#[derive(Default)]
struct Counts {
    sent: u64,
    got: u64,
    events_sent: u64,
    events_got: u64,
    errors: u64,
}

struct Node<'a> {
    options: &'a Options,
    session: &'a Session,
    entities: &'a Entities<'a>,
    message: Message,
    event: Message,
    latencies: Latencies,
    counts: Counts,
    /// Time between two publications, and when the next is due.
    period: Option<(Duration, Instant)>,
    /// The call that is not answered yet, if there is one.
    calls: Vec<Client<'a>>,
}

impl Node<'_> {
    fn run(mut self, commands: &Receiver<String>) -> Result<()> {
        if !self.options.workload.repeats() {
            self.publish();
        }
        say(self.options.index, "up");
        let subscriptions = self.entities.subscriptions();
        loop {
            loop {
                match commands.try_recv() {
                    Ok(command) if command == "end" => return Ok(()),
                    Ok(command) => self.obey(&command)?,
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => return Ok(()),
                }
            }
            let now = Instant::now();
            let timeout = self.period.map(|(_, due)| due.saturating_duration_since(now));
            let ready = self.session.wait(&subscriptions, &self.entities.services, &self.calls, timeout)?;
            if ready.subscriptions.first() == Some(&true) {
                self.take_events()?;
            }
            self.take()?;
            self.serve(&ready)?;
            self.hear_answer()?;
            self.publish_if_due();
        }
    }

    fn obey(&mut self, command: &str) -> Result<()> {
        let bad = || Error::Argument(format!("what is '{command}'?"));
        match command.split_once(' ').unwrap_or((command, "")) {
            ("matched?", _) => {
                let answer = if self.entities.are_matched(self.options)? { "matched yes" } else { "matched no" };
                say(self.options.index, answer);
            }
            ("events", n) => (0..n.parse().map_err(|_| bad())?).for_each(|_: u32| self.publish_event()),
            ("run", hz) => {
                let period = Duration::from_secs_f64(1.0 / hz.parse::<f64>().map_err(|_| bad())?);
                // Spread over the period, as nodes that were started by hand.
                let offset = period.mul_f64(self.options.index as f64 / self.options.nodes as f64);
                self.period = self.options.workload.repeats().then(|| (period, Instant::now() + offset));
            }
            ("stop", _) => self.period = None,
            ("call", stride) => self.call(stride.parse().map_err(|_| bad())?)?,
            ("report", _) => self.report()?,
            _ => return Err(bad()),
        }
        Ok(())
    }

    fn publish_if_due(&mut self) {
        let Some((period, due)) = self.period else { return };
        if due <= Instant::now() {
            self.period = Some((period, due + period));
            self.publish();
        }
    }

    fn publish(&mut self) {
        let text = latency::stamped(self.options.workload.size(self.options.index));
        self.message.set_text(&text);
        match self.entities.publisher.publish(&self.message) {
            Ok(()) => self.counts.sent += 1,
            Err(_) => self.counts.errors += 1,
        }
    }

    fn publish_event(&mut self) {
        match self.entities.events_out.publish(&self.event) {
            Ok(()) => self.counts.events_sent += 1,
            Err(_) => self.counts.errors += 1,
        }
    }

    fn take_events(&mut self) -> Result<()> {
        while self.entities.events_in.take(&mut self.event)? {
            self.counts.events_got += 1;
        }
        Ok(())
    }

    fn take(&mut self) -> Result<()> {
        if let Some(logs) = &self.entities.logs {
            let mut log = Message::new(self.entities.log_type)?;
            while logs.take(&mut log)? {}
        }
        let Some(subscription) = &self.entities.subscription else { return Ok(()) };
        while subscription.take(&mut self.message)? {
            self.counts.got += 1;
            self.latencies.note(self.message.text());
        }
        Ok(())
    }

    fn serve(&mut self, ready: &Ready) -> Result<()> {
        let waiting = ready.services.iter().enumerate().filter(|(_, ready)| **ready);
        for (i, _) in waiting {
            let (mut request, response) = Message::of_service(self.entities.service_types[i])?;
            while self.entities.services[i].serve(&mut request, &response)? {}
        }
        Ok(())
    }

    /// Calls a service of another node; `hear_answer` says how it went. At once where nobody would answer.
    fn call(&mut self, stride: usize) -> Result<()> {
        let of = (self.options.index + stride) % self.options.nodes;
        let (client, ty) = self.entities.client(self.session, of)?;
        if !client.is_served()? {
            say(self.options.index, "called no");
            return Ok(());
        }
        client.send(&Message::of_service(ty)?.0)?;
        self.calls = vec![client];
        Ok(())
    }

    fn hear_answer(&mut self) -> Result<()> {
        let Some(client) = self.calls.first() else { return Ok(()) };
        if client.take(&mut Message::of_service(self.entities.service_types[0])?.1)? {
            self.calls.clear();
            say(self.options.index, "called yes");
        }
        Ok(())
    }

    fn report(&mut self) -> Result<()> {
        self.take_events()?;
        self.take()?;
        let path = &self.options.latencies;
        self.latencies.write(path).map_err(|e| Error::Argument(format!("{}: {e}", path.display())))?;
        let Counts { sent, got, events_sent, events_got, errors } = self.counts;
        say(self.options.index, &format!("report {sent} {got} {events_sent} {events_got} {errors}"));
        Ok(())
    }
}
