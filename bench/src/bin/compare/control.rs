//! The process side of a measurement: it says when it is ready, is told when to go and when to stop.

use std::io::{BufRead, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, Receiver};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

use crate::error::{io, Error, Result};

/// How long a process waits to be told to begin.
const PATIENCE: Duration = Duration::from_secs(120);

type OnStop = Box<dyn FnOnce() + Send>;

/// The line to the driver.
pub struct Control {
    go: Receiver<()>,
    stopped: Arc<AtomicBool>,
    on_stop: Arc<Mutex<Option<OnStop>>>,
}

impl Control {
    /// Listens on standard input: the first line says go; the second, or its end, says stop.
    pub fn new() -> Control {
        let (send, go) = channel();
        let (stopped, on_stop) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(None::<OnStop>)));
        let (stop, call) = (stopped.clone(), on_stop.clone());
        std::thread::spawn(move || {
            let mut lines = std::io::stdin().lock().lines();
            if lines.next().is_some_and(|line| line.is_ok()) {
                let _ = send.send(());
                let _ = lines.next();
            }
            drop(send);
            stop.store(true, Ordering::Release);
            if let Some(call) = call.lock().ok().and_then(|mut call| call.take()) {
                call();
            }
        });
        Control { go, stopped, on_stop }
    }

    /// Says that everything is set up, and waits for the go.
    pub fn ready(&self) -> Result<()> {
        say(&Value::from("ready"))?;
        self.go.recv_timeout(PATIENCE).map_err(|_| Error::Other("the driver went away".into()))
    }

    /// Whether this process is to stop.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// Calls `call` when this process is to stop.
    pub fn on_stop(&self, call: impl FnOnce() + Send + 'static) {
        if let Ok(mut place) = self.on_stop.lock() {
            *place = Some(Box::new(call));
        }
    }

    /// Waits until this process is to stop.
    pub fn wait_for_stop(&self) {
        while !self.is_stopped() {
            // Nothing but the other thread's store ends it; nobody measures this wait.
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Tells the driver something.
pub fn say(value: &Value) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{value}").and_then(|()| out.flush()).map_err(io("tell the driver"))
}
