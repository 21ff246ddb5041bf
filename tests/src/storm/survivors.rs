//! The processes that live through a storm. They talk among each other in rounds of question and answer, so that whatever
//! does not come stops them, and they listen to the victims.

use super::board::{Fault, STREAMS};
use super::sequence::Sequence;
use super::talk::{deep, deep_latched, keep_all, streams, Talker, PATIENCE};
use crate::payload::{fixed_type, mix, Mark};
use shoal_rmw::{graph, Client, Context, EventKind, Node, Publisher, Qos, Subscription, SubscriptionOptions, Waitable};
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::time::Duration;

/// A survivor: its name, what it does, and whether it lives in a PID namespace of its own.
pub type Survivor = (&'static str, fn(Talker, usize), bool);

/// All of them. They leave in this order.
pub const SURVIVORS: [Survivor; 5] = [
    ("talker", talker, false),
    ("caller", caller, false),
    ("watcher", watcher, false),
    ("listener", listener, true),
    ("server", server, true),
];

const TALKER: usize = 0;
const CALLER: usize = 1;

/// Bytes of a message on "/large": in a chunk, and of a type that can be lent.
pub const LARGE: usize = 8 << 10;

/// The topics on which victims publish; the last one's messages have [`LARGE`] bytes and can be lent.
pub fn victims_topics() -> [(&'static str, Qos); 4] {
    [("/v/flow", deep()), ("/v/latched", deep_latched()), ("/v/all", keep_all()), ("/v/lent", deep())]
}

/// The service of the victim in a slot.
pub fn victims_service(slot: usize) -> String {
    format!("/v/s{slot}")
}

/// The service of the server.
pub const ECHO: &str = "/s/echo";

/// Publishes a burst on each stream, and waits until the listener has it.
fn talker(t: Talker, me: usize) {
    let (context, node) = t.start();
    let ack = t.subscription(&node, "/ack", Qos { depth: 1, ..Qos::default() });
    let publishers = streams().map(|(topic, qos)| stream_publisher(&t, &node, topic, qos));
    // The listener is there first, so that it can count from 1.
    while publishers.iter().any(|publisher| t.ok("count", publisher.matched_subscriptions()) == 0) {
        t.wait(&context, &[Waitable::Guard(node.graph_guard())], Duration::from_millis(100));
    }
    let (mut total, mut seed) = (0, 1);
    while !t.board.is_over() {
        for (stream, publisher) in publishers.iter().enumerate() {
            seed = mix(seed);
            for _ in 0..=seed % 16 {
                let number = t.board.talked[stream].load(Ordering::Relaxed) + 1;
                t.send(publisher, Mark { life: stream as u64, number }, if stream == 2 { LARGE } else { 100 });
                t.board.talked[stream].store(number, Ordering::Release);
                total += 1;
            }
        }
        while t.take(&ack).is_none_or(|mark| mark.number < total) {
            if !t.wait(&context, &[Waitable::Subscription(&ack)], PATIENCE) {
                t.board.fault(Fault::Hang, format_args!("the listener has not got all of {total} samples"));
                return;
            }
        }
        t.board.round(me);
    }
}

/// The type of "/large" can be lent.
fn stream_publisher(t: &Talker, node: &Arc<Node>, topic: &str, qos: Qos) -> Arc<Publisher> {
    match topic {
        "/large" => t.ok("create a publisher", Publisher::new(node, topic, fixed_type(LARGE), qos)),
        _ => t.publisher(node, topic, qos),
    }
}

/// As [`stream_publisher`].
pub fn stream_subscription(t: &Talker, node: &Arc<Node>, topic: &str, qos: Qos) -> Arc<Subscription> {
    let options = SubscriptionOptions::default();
    match topic {
        "/large" | "/v/lent" => {
            t.ok("create a subscription", Subscription::new(node, topic, fixed_type(LARGE), qos, options))
        }
        _ => t.subscription(node, topic, qos),
    }
}

/// Reads the talker and the victims, and tells the talker how much it has got.
fn listener(t: Talker, me: usize) {
    let (context, node) = t.start();
    let of_victims = victims_topics().map(|(topic, qos)| stream_subscription(&t, &node, topic, qos));
    let of_talker = streams().map(|(topic, qos)| stream_subscription(&t, &node, topic, qos));
    let ack = t.publisher(&node, "/ack", Qos { depth: 1, ..Qos::default() });
    let items: Vec<_> = of_talker.iter().chain(&of_victims).map(|reader| Waitable::Subscription(reader)).collect();
    let mut rows = [Sequence::default(); STREAMS];
    let mut lives: HashMap<(usize, u64), Sequence> = HashMap::new();
    let (mut total, mut said) = (0, 0);
    while !t.board.has_left(TALKER) || of_victims.iter().any(|reader| reader.has_data()) {
        t.wait(&context, &items, Duration::from_millis(200));
        for (stream, reader) in of_talker.iter().enumerate() {
            while let Some(mark) = t.take(reader) {
                total += 1;
                judge(&t, rows[stream].next(mark.number), mark, streams()[stream].0);
            }
        }
        for (topic, reader) in of_victims.iter().enumerate() {
            while let Some(mark) = t.take(reader) {
                let row = lives.entry((topic, mark.life)).or_default();
                judge(&t, row.next(mark.number), mark, victims_topics()[topic].0);
                got_from_victim(&t, mark);
            }
        }
        if total != said {
            said = total;
            t.send(&ack, Mark { life: me as u64, number: total }, 0);
        }
        t.board.round(me);
    }
}

fn judge(t: &Talker, judgement: Result<(), (Fault, u64)>, mark: Mark, what: &str) {
    if let Err((fault, due)) = judgement {
        t.board.fault(fault, format_args!("{} got {mark:?} on {what}, {due} was due", t.name));
    }
}

/// Notes what has come from a victim, and that it may have come.
fn got_from_victim(t: &Talker, mark: Mark) {
    let slot = t.board.slot(mark.life);
    if slot.life.load(Ordering::Acquire) != mark.life {
        return;
    }
    slot.got.store(mark.number, Ordering::Release);
    let sent = slot.sent.load(Ordering::Acquire);
    if mark.number > sent + 1 {
        t.board.fault(Fault::Doubled, format_args!("{} got {mark:?} when only {sent} were sent", t.name));
    }
}

/// Answers whoever asks; the requests of each come in their order.
fn server(t: Talker, me: usize) {
    let (context, node) = t.start();
    let service = t.service(&node, ECHO);
    let mut lives: HashMap<u64, Sequence> = HashMap::new();
    while !t.board.has_left(CALLER) {
        t.wait(&context, &[Waitable::Service(&service)], Duration::from_millis(200));
        while let Some((mark, info)) = t.take_request(&service) {
            judge(&t, lives.entry(mark.life).or_default().next(mark.number), mark, "a request");
            let answer = crate::payload::Message::new(mark, 200);
            t.ok("respond", service.respond(info.client, info.sequence, &answer));
        }
        t.board.round(me);
    }
}

/// Asks the server, one question after the other, and the victims that serve.
fn caller(t: Talker, me: usize) {
    let (context, node) = t.start();
    let client = t.client(&node, ECHO);
    let victims: Vec<_> = (0..super::board::SLOTS).map(|slot| t.client(&node, &victims_service(slot))).collect();
    while !t.ok("look for the server", client.server_available()) {
        t.wait(&context, &[Waitable::Guard(node.graph_guard())], Duration::from_millis(100));
    }
    let items: Vec<_> = victims.iter().chain([&client]).map(|client| Waitable::Client(client)).collect();
    let mut of_victims: HashMap<u64, Sequence> = HashMap::new();
    for number in 1.. {
        let question = Mark { life: me as u64, number };
        t.ok("ask", client.send(&crate::payload::Message::new(question, 200)));
        loop {
            for client in &victims {
                while let Some((mark, _)) = t.take_response(client) {
                    judge(&t, of_victims.entry(mark.life).or_default().next(mark.number), mark, "a response");
                    got_from_victim(&t, mark);
                }
            }
            match t.take_response(&client) {
                Some((mark, _)) if mark == question => break,
                Some((mark, _)) => {
                    t.board.fault(Fault::Doubled, format_args!("an answer to {mark:?}, not {question:?}"))
                }
                None if t.wait(&context, &items, PATIENCE) => {}
                None => return t.board.fault(Fault::Hang, format_args!("the server did not answer {question:?}")),
            }
        }
        ask_victim(&t, &victims[number as usize % victims.len()], number);
        t.board.round(me);
        if t.board.is_over() {
            break;
        }
    }
}

/// A question to the victim in a slot, if it serves. Whether it answers is up to it.
fn ask_victim(t: &Talker, client: &Client, number: u64) {
    if t.ok("look for a victim", client.server_available()) {
        let question = Mark { life: u64::MAX, number };
        t.ok("ask a victim", client.send(&crate::payload::Message::new(question, 200)));
    }
}

/// Watches the graph, and joins the talker's latched topic again and again: what is kept is there, whole.
fn watcher(t: Talker, me: usize) {
    let (context, node) = t.start();
    let watched = t.subscription(&node, "/v/flow", Qos { depth: 1, ..Qos::default() });
    let (matched, alive) = (watched.event(EventKind::Matched), watched.event(EventKind::Liveliness));
    let graph = Waitable::Guard(node.graph_guard());
    while !t.board.is_over() {
        t.wait(&context, &[graph, Waitable::Event(matched), Waitable::Event(alive)], Duration::from_millis(100));
        for event in [&matched, &alive] {
            t.ok("take an event", event.take());
        }
        check_the_graph(&t, &context);
        if !t.board.is_quiet() {
            late_join(&t, &node);
        }
        let round = t.board.round(me);
        if round % 16 == 0 {
            while t.take(&watched).is_some() {}
        }
    }
}

/// Whoever has made a round is there until the end.
fn check_the_graph(t: &Talker, context: &Arc<Context>) {
    let there = SURVIVORS.iter().zip(&t.board.rounds).filter(|(_, rounds)| rounds.load(Ordering::Acquire) > 0);
    let there: Vec<_> = there.map(|((name, ..), _)| *name).collect();
    let names = t.ok("list the nodes", graph::node_names(context));
    let missing: Vec<_> = there.iter().filter(|name| !names.iter().any(|node| node.name == **name)).collect();
    if !missing.is_empty() && !t.board.is_over() {
        t.board.fault(Fault::Lost, format_args!("not in the graph, but alive: {missing:?}"));
    }
}

fn late_join(t: &Talker, node: &Arc<Node>) {
    let before = t.board.talked[1].load(Ordering::Acquire);
    let late = t.subscription(node, "/latched", deep_latched());
    let got: Vec<u64> = std::iter::from_fn(|| t.take(&late)).map(|mark| mark.number).collect();
    if before == 0 {
        return;
    }
    let kept = before.min(u64::from(streams()[1].1.depth)) as usize;
    let whole = got.windows(2).all(|two| two[1] == two[0] + 1);
    let wrong = !whole || got.len() < kept || got.last().is_none_or(|last| *last < before);
    // The talker may have left in between.
    if wrong && !t.board.is_over() {
        let (count, ends) = (got.len(), (got.first(), got.last()));
        t.board.fault(
            Fault::Lost,
            format_args!("a late joiner got {count} samples {ends:?}, whole: {whole}; {before} were sent"),
        );
    }
}
