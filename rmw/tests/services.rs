//! Services: each answer reaches its own client, once.

mod common;

use common::*;
use shoal_rmw::{Client, Qos, Service, ServiceInfo};

fn request(service: &Service) -> Option<(Vec<u8>, ServiceInfo)> {
    let mut body = Vec::new();
    let info = service.take(&mut |incoming| {
        body = bytes(incoming);
        Ok(())
    });
    info.expect("taking works").map(|info| (body, info))
}

fn response(client: &Client) -> Option<(Vec<u8>, i64)> {
    let mut body = Vec::new();
    let info = client.take(&mut |incoming| {
        body = bytes(incoming);
        Ok(())
    });
    info.expect("taking works").map(|info| (body, info.sequence))
}

/// Answers everything that waits with the request's own bytes.
fn echo(service: &Service) -> usize {
    let mut answered = 0;
    while let Some((body, info)) = request(service) {
        service.respond(info.client, info.sequence, &Bytes(body)).expect("responding works");
        answered += 1;
    }
    answered
}

#[test]
fn answers_reach_their_own_client_only() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let service = service(&node(&a, "s"), "/echo");
    let clients: Vec<_> = (0..6).map(|_| client(&node(&b, "c"), "/echo")).collect();
    for round in 0..3u8 {
        for (index, client) in clients.iter().enumerate().skip(1) {
            let sequence = client.send(&Bytes(vec![round, index as u8])).expect("sending works");
            assert_eq!(sequence, i64::from(round) + 1);
        }
        assert_eq!(echo(&service), 5);
        for (index, client) in clients.iter().enumerate().skip(1) {
            assert!(client.has_data());
            assert_eq!(response(client), Some((vec![round, index as u8], i64::from(round) + 1)));
            assert_eq!(response(client), None);
        }
        assert!(!clients[0].has_data());
    }
}

#[test]
fn many_outstanding_requests_are_all_answered() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let (service, client) = (service(&node(&a, "s"), "/echo"), client(&node(&b, "c"), "/echo"));
    let sequences: Vec<_> = (0..300u32).map(|n| client.send(&Bytes(n.to_le_bytes().to_vec())).expect("sent")).collect();
    assert_eq!(echo(&service), 300);
    let answers: Vec<_> = std::iter::from_fn(|| response(&client)).collect();
    let expected: Vec<_> = (0..300u32).map(|n| n.to_le_bytes().to_vec()).zip(sequences).collect();
    assert_eq!(answers, expected);
}

#[test]
fn large_requests_and_responses_pass() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let (service, client) = (service(&node(&a, "s"), "/echo"), client(&node(&b, "c"), "/echo"));
    for size in [0, 1, 208, 209, 65_536, 5 << 20] {
        client.send(&Bytes(vec![3; size])).expect("sent");
        assert_eq!(echo(&service), 1);
        assert_eq!(response(&client).expect("an answer").0, vec![3; size]);
    }
}

#[test]
fn available_means_that_the_next_request_is_read() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let client = client(&node(&b, "c"), "/s");
    client.send(&Bytes(vec![1])).expect("sent to nobody");
    assert!(!client.server_available().expect("an answer"));
    let service = service(&node(&a, "s"), "/s");
    assert!(client.server_available().expect("an answer"));
    client.send(&Bytes(vec![2])).expect("sent");
    assert_eq!(request(&service).expect("a request").0, [2], "what was sent before it is not for it");
    assert!(request(&service).is_none());
    drop(service);
    assert!(!client.server_available().expect("an answer"));
}

#[test]
fn answer_to_a_client_that_is_gone_is_dropped() {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let service = service(&node(&a, "s"), "/s");
    for _ in 0..20 {
        let client = client(&node(&b, "c"), "/s");
        client.send(&Bytes(vec![1])).expect("sent");
        let (_, info) = request(&service).expect("a request");
        drop(client);
        service.respond(info.client, info.sequence, &Bytes(vec![1])).expect("not an error of the service");
    }
    let client = client(&node(&b, "c"), "/s");
    client.send(&Bytes(vec![9])).expect("sent");
    assert_eq!(echo(&service), 1);
    assert_eq!(response(&client), Some((vec![9], 1)));
}

#[test]
fn answer_of_a_service_that_is_gone_is_still_read() {
    let domain = domain();
    let b = context(domain);
    let client = client(&node(&b, "c"), "/s");
    {
        let a = context(domain);
        let service = service(&node(&a, "s"), "/s");
        client.send(&Bytes(vec![5; 10_000])).expect("sent");
        assert_eq!(echo(&service), 1);
    }
    assert_eq!(response(&client), Some((vec![5; 10_000], 1)));
}

/// What is left of five requests, and of five responses, with a service and a client of these depths.
fn left_of_five(service_depth: u32, client_depth: u32) -> (Vec<i64>, Vec<i64>) {
    let domain = domain();
    let (a, b) = (context(domain), context(domain));
    let of = |depth| Qos { depth, ..Qos::default() };
    let asked = Service::new(&node(&a, "s"), "/echo", bytes_type(), of(service_depth)).expect("a service");
    let clients: Vec<_> = (0..2)
        .map(|_| Client::new(&node(&b, "c"), "/echo", bytes_type(), of(client_depth)).expect("a client"))
        .collect();
    for client in (0..5).flat_map(|_| &clients) {
        client.send(&Bytes(vec![])).expect("sending works");
    }
    let requests: Vec<_> = std::iter::from_fn(|| request(&asked)).map(|(_, info)| info).collect();
    let sequences = |client: [u8; 16]| -> Vec<_> {
        requests.iter().filter(|info| info.client == client).map(|info| info.sequence).collect()
    };
    let kept = sequences(requests[0].client);
    let other = requests.iter().find(|info| info.client != requests[0].client).expect("the other client's");
    assert_eq!(sequences(other.client), kept, "each client has its own");
    for client in &requests {
        for sequence in 1..=5 {
            asked.respond(client.client, sequence, &Bytes(vec![])).expect("responding works");
        }
    }
    let responses = std::iter::from_fn(|| response(&clients[0])).map(|(_, sequence)| sequence).collect();
    assert!(!clients[0].has_data() && !asked.has_data());
    (kept, responses)
}

#[test]
fn a_profile_with_less_than_the_default_depth_keeps_that_many_of_each_peer() {
    let (requests, responses) = left_of_five(2, 3);
    assert_eq!((requests, responses), (vec![4, 5], vec![3, 4, 5]));
    let (requests, responses) = left_of_five(10, 10);
    assert_eq!((requests, responses.len()), (vec![1, 2, 3, 4, 5], 25));
}
