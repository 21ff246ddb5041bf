//! Services that die while they answer.

use std::sync::Arc;

use shoal_rmw::{wait, Client, Outcome, Service, Waitable};

use crate::common::{bytes, client, context, node, service, Bytes};
use crate::scene::{Scene, Sleeper};
use crate::victim::{Stage, Victim};

/// A victim that answers each request with its own bytes, and dies doing so from the word "die" on.
pub fn serve(stage: &Stage) {
    let context = context(stage.domain);
    let service = service(&node(&context, "victim"), "/s");
    stage.say("ready");
    loop {
        if stage.hear() == "die" {
            stage.arm();
        }
        while answer(&service) {}
        stage.say("answered");
    }
}

fn answer(service: &Service) -> bool {
    let mut body = Vec::new();
    let taken = service.take(&mut |incoming| {
        body = bytes(incoming);
        Ok(())
    });
    let Some(request) = taken.expect("taking works") else { return false };
    service.respond(request.client, request.sequence, &Bytes(body)).expect("responding works");
    true
}

/// Everything that a client can take: each response's request, and its body.
fn responses(client: &Client) -> Vec<(i64, Vec<u8>)> {
    let take = || {
        let mut body = Vec::new();
        let info = client.take(&mut |incoming| {
            body = bytes(incoming);
            Ok(())
        });
        info.expect("taking works").map(|info| (info.sequence, body))
    };
    std::iter::from_fn(take).collect()
}

fn ask(client: &Client, question: u8) {
    client.send(&Bytes(vec![question; 300])).expect("sending works");
}

fn answer_to(sequence: i64, question: u8) -> (i64, Vec<u8>) {
    (sequence, vec![question; 300])
}

const NOTHING: [(i64, Vec<u8>); 0] = [];

/// A service that has answered each of some clients, which have not looked yet.
struct Answered {
    scene: Scene,
    victim: Victim,
    clients: Vec<Arc<Client>>,
}

fn answered(step: &'static str, count: u8) -> Answered {
    let scene = Scene::new();
    let mut victim = scene.start("server", step);
    victim.expect("ready");
    let clients: Vec<_> = (0..count).map(|_| client(&scene.node, "/s")).collect();
    for (client, question) in clients.iter().zip(1..) {
        ask(client, question);
    }
    victim.tell("answer");
    victim.expect("answered");
    Answered { scene, victim, clients }
}

/// A client asks for the first time; its service dies answering. Nobody else misses an answer, and it gets none.
fn newcomer_gets_no_answer(step: &'static str, others: u8) {
    let Answered { scene, victim, clients } = answered(step, others);
    let newcomer = client(&scene.node, "/s");
    ask(&newcomer, 99);
    victim.tell("die");
    victim.dies();
    let halves = clients.split_at(clients.len() / 2);
    let have_answers = |clients: &[Arc<Client>], first: u8| {
        for (client, question) in clients.iter().zip(first..) {
            assert_eq!(responses(client), [answer_to(1, question)], "{step}: client {question}");
        }
    };
    have_answers(halves.0, 1);
    assert_eq!(responses(&newcomer), NOTHING, "{step}");
    scene.look_for_the_dead();
    have_answers(halves.1, 1 + halves.0.len() as u8);
    for client in clients.iter().chain([&newcomer]) {
        assert_eq!(responses(client), NOTHING, "{step}: nothing comes, and nothing comes again");
    }
    scene.is_clean_after_a_look(step);
}

#[test]
fn a_table_of_responses_whose_service_dies_while_it_grows_is_whole() {
    for step in ["responses.table_copied", "responses.table_named"] {
        // The first table has four entries.
        for others in [0, 4] {
            newcomer_gets_no_answer(step, others);
        }
    }
}

#[test]
fn a_response_whose_service_dies_before_its_head_moves_was_never_sent() {
    for step in ["responses.entry_filled", "responses.entry_named", "responses.ring_named"] {
        for others in [0, 2] {
            newcomer_gets_no_answer(step, others);
        }
    }
}

/// The service dies at `step`, giving a client that sleeps its second answer; the first is taken.
fn killed_answering_again(step: &'static str) -> (Scene, Arc<Client>, Sleeper) {
    let Answered { scene, victim, clients } = answered(step, 1);
    let client = clients[0].clone();
    assert_eq!(responses(&client), [answer_to(1, 1)], "{step}");
    let waiting = client.clone();
    let sleeper = scene.sleeper(move |context| {
        wait(context, &[Waitable::Client(&waiting)], &mut [false], None).expect("waiting works")
    });
    scene.until_asleep(&sleeper);
    ask(&client, 2);
    victim.tell("die");
    victim.dies();
    assert!(sleeper.is_asleep() && !client.has_data(), "{step}: nobody was told");
    scene.look_for_the_dead();
    (scene, client, sleeper)
}

#[test]
fn a_response_whose_service_dies_before_it_tells_is_taken_once_after_the_next_look_for_the_dead() {
    let step = "responses.head_moved";
    let (scene, client, sleeper) = killed_answering_again(step);
    assert_eq!(sleeper.wakes(), Outcome::Ready);
    assert_eq!(responses(&client), [answer_to(2, 2)]);
    scene.is_clean_after_a_look(step);
    assert_eq!(responses(&client), NOTHING, "nothing comes again");
}

#[test]
fn a_second_response_whose_service_dies_before_its_head_moves_was_never_sent() {
    let step = "responses.ring_named";
    let (scene, client, sleeper) = killed_answering_again(step);
    assert_eq!(responses(&client), NOTHING);
    // It goes on waiting, for a service that lives.
    let next = service(&scene.node, "/s");
    ask(&client, 3);
    assert!(answer(&next));
    assert_eq!(sleeper.wakes(), Outcome::Ready);
    assert_eq!(responses(&client), [answer_to(3, 3)]);
    scene.is_clean_after_a_look(step);
}
