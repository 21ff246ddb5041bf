//! Words and numbers for people.

use shoal_registry::{Durability, History, Liveliness, Qos, Reliability};

/// Columns of the terminal; 80 where the output is none.
pub fn width() -> usize {
    terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0).max(40))
}

/// Columns that a text takes: one a character.
pub fn width_of(text: &str) -> usize {
    text.chars().count()
}

/// The text in at most `width` columns: what is too long loses its middle, because names differ at their ends.
pub fn fit(text: &str, width: usize) -> String {
    let n = width_of(text);
    if n <= width {
        return text.to_owned();
    }
    let kept = width.saturating_sub(1);
    let tail = kept / 2;
    let head = text.chars().take(kept - tail);
    head.chain((width > 0).then_some('…')).chain(text.chars().skip(n - tail)).collect()
}

/// The text in lines of words, the first after `lead`, the others below it.
pub fn folded(text: &str, lead: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = lead.to_owned();
    let indent = " ".repeat(lead.len());
    let mut bare = true;
    for word in text.split_whitespace() {
        if !bare && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(std::mem::replace(&mut line, indent.clone()));
            bare = true;
        }
        if !bare {
            line.push(' ');
        }
        line.push_str(word);
        bare = false;
    }
    lines.push(line);
    lines.iter().map(|line| fit(line, width)).collect()
}

/// Bytes with a unit, in four or five characters.
pub fn bytes(n: u64) -> String {
    let mut value = n as f64;
    for unit in ["B", "K", "M", "G"] {
        if value < 1000.0 {
            let digits = usize::from(unit != "B" && value < 99.95);
            return format!("{value:.digits$}{unit}");
        }
        value /= 1024.0;
    }
    format!("{value:.1}T")
}

/// A number of something: `1 node`, `2 nodes`.
pub fn count(n: usize, one: &str) -> String {
    format!("{n} {one}{}", if n == 1 { "" } else { "s" })
}

/// A profile without what is usual: no deadline, no lifespan, automatic liveliness.
pub fn qos(q: &Qos) -> String {
    let mut words = vec![reliability(q).to_owned(), durability(q).to_owned(), history(q)];
    for (name, ns) in [("deadline", q.deadline), ("lifespan", q.lifespan), ("lease", q.lease)] {
        if ns != Qos::INFINITE {
            words.push(format!("{name}({}ms)", ns / 1_000_000));
        }
    }
    if q.liveliness != Liveliness::Automatic {
        words.push(liveliness(q).to_owned());
    }
    words.join(" ")
}

pub fn reliability(q: &Qos) -> &'static str {
    match q.reliability {
        Reliability::Reliable => "reliable",
        Reliability::BestEffort => "best_effort",
    }
}

pub fn durability(q: &Qos) -> &'static str {
    match q.durability {
        Durability::Volatile => "volatile",
        Durability::TransientLocal => "transient_local",
    }
}

pub fn liveliness(q: &Qos) -> &'static str {
    match q.liveliness {
        Liveliness::Automatic => "automatic",
        Liveliness::ManualByNode => "manual_by_node",
        Liveliness::ManualByTopic => "manual_by_topic",
    }
}

pub fn history(q: &Qos) -> String {
    match q.history {
        History::KeepLast => format!("keep_last({})", q.depth),
        History::KeepAll => "keep_all".to_owned(),
    }
}

/// A type hash as ROS writes it.
pub fn type_hash((version, value): &(u8, [u8; 32])) -> String {
    let digits: String = value.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("RIHS{version:02}_{digits}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_loses_its_middle() {
        assert_eq!(fit("/short", 6), "/short");
        assert_eq!(fit("/a/long/name", 7), "/a/…ame");
        assert_eq!(fit("/ünïcödé", 4), "/ü…é");
        assert_eq!(fit("abc", 0), "");
    }

    #[test]
    fn bytes_have_one_unit_and_few_digits() {
        let shown = [0, 999, 1000, 4096, 262_144, 5 << 20, 3 << 30].map(bytes);
        assert_eq!(shown, ["0B", "999B", "1.0K", "4.0K", "256K", "5.0M", "3.0G"]);
    }

    #[test]
    fn a_profile_names_what_is_unusual() {
        assert_eq!(qos(&Qos::default()), "reliable volatile keep_last(10)");
        let odd = Qos { history: History::KeepAll, deadline: 5_000_000, ..Qos::default() };
        assert_eq!(qos(&odd), "reliable volatile keep_all deadline(5ms)");
    }
}
