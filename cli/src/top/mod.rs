//! `shoal top`: what moves.

mod render;
mod sample;

use crate::place;
use crate::problem::Problem;
use crate::snapshot::Snapshot;
use sample::{Rates, Sample};
use shoal_registry::{ObserveError, Observer};
use shoal_rmw::observe::Peek;
use std::io::{IsTerminal, Write};
use std::time::Duration;

#[derive(clap::Args)]
pub struct Options {
    /// Seconds between two looks
    #[arg(long, short, default_value_t = 1.0, value_parser = interval)]
    interval: f64,
    /// One look, then end
    #[arg(long)]
    once: bool,
    /// A line of JSON for each look
    #[arg(long)]
    json: bool,
}

fn interval(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("'{text}' is not a number of seconds"))?;
    match (0.01..=3600.0).contains(&seconds) {
        true => Ok(seconds),
        false => Err(format!("{seconds} s is not between 0.01 and 3600")),
    }
}

pub fn run(place: &place::Options, options: &Options) -> Result<(), Problem> {
    let mut before: Option<Sample> = None;
    loop {
        let now = look(place)?;
        match (&before, &now) {
            (Some(before), Some(now)) => show(options, &Rates::between(before, now))?,
            (None, None) => show_nobody(place, options)?,
            // Somebody just came, or the last one just went: the next look tells.
            _ => {}
        }
        let shown = before.is_some() || now.is_none();
        if options.once && shown {
            return Ok(());
        }
        before = now;
        std::thread::sleep(Duration::from_secs_f64(options.interval));
    }
}

/// The domain now; `None` when nobody is there. Opened anew each time: it may be another one by now.
fn look(place: &place::Options) -> Result<Option<Sample>, Problem> {
    match place.observe() {
        Ok(observer) => Ok(Some(take(&observer, place.domain()))),
        Err(Problem::Observe(ObserveError::Nobody { .. })) => Ok(None),
        Err(e) => Err(e),
    }
}

fn take(observer: &Observer, domain: &str) -> Sample {
    Sample::take(observer, &Peek::new(observer.dir()), Snapshot::take(observer, domain))
}

fn show(options: &Options, rates: &Rates) -> Result<(), Problem> {
    let mut out = std::io::stdout().lock();
    if options.json {
        return Ok(writeln!(out, "{}", render::json(rates))?);
    }
    let live = out.is_terminal() && !options.once;
    let rows = terminal_size::terminal_size().filter(|_| live).map(|(_, rows)| usize::from(rows.0));
    let mut lines = render::lines(rates, crate::text::width());
    if let Some(rows) = rows {
        lines.truncate(rows.saturating_sub(1));
        write!(out, "\x1b[H\x1b[2J")?;
    }
    for line in lines {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

fn show_nobody(place: &place::Options, options: &Options) -> Result<(), Problem> {
    let mut out = std::io::stdout().lock();
    match options.json {
        true => writeln!(out, "{}", crate::json::nobody(place.domain()))?,
        false => writeln!(out, "nobody is in domain {}", place.domain())?,
    }
    Ok(())
}
