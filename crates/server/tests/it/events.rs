//! `GET /events` and `GET …/chats/:cid/events`: what clients hear, and what those hear that lose the connection.

use crate::ground::{Home, Server};
use crate::home;
use planwright_testkit::chance::Chance;
use planwright_testkit::client::ChatClient;
use planwright_testkit::guard::announce;
use planwright_testkit::stream::EventReader;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const DISCONNECTS: &str = "PLANWRIGHT_DISCONNECTS";
const SEED: &str = "PLANWRIGHT_DISCONNECT_SEED";

fn id_of(chat: &ChatClient<'_>) -> String {
    chat.path.rsplit_once('/').unwrap().1.to_owned()
}

fn is_end_of(chat: &str) -> impl Fn(&Value) -> bool {
    let chat = chat.to_owned();
    move |event| event["chat_id"] == chat.as_str() && event["type"] == "state_changed" && event["data"]["state"] == "idle"
}

fn types_of(events: &[Value], chat: &str) -> Vec<String> {
    let of_chat = events.iter().filter(|event| event["chat_id"] == chat);
    of_chat.map(|event| event["type"].as_str().unwrap().to_owned()).collect()
}

fn hello() -> Home {
    home(&json!({ "turns": [{ "text": "Hello there, my friend" }], "repeat": true }))
}

#[tokio::test]
async fn one_stream_tells_of_all_chats_and_every_word_of_those_named() {
    let home = hello();
    let server = home.serve().await;
    let (looked_at, other) = (server.chat(json!({})).await, server.chat(json!({})).await);
    let (named, unnamed) = (id_of(&looked_at), id_of(&other));
    let mut stream = server.stream(&format!("/events?chats={named}"), None).await;
    looked_at.say("Hi").await;
    let mut events = stream.until(is_end_of(&named)).await;
    other.say("Hi").await;
    events.extend(stream.until(is_end_of(&unnamed)).await);
    assert_eq!(stream.retry, Some(500));
    let (all, small) = (types_of(&events, &named), types_of(&events, &unnamed));
    assert!(all.iter().filter(|name| *name == "text_delta").count() > 1, "{all:?}");
    let without_deltas = |types: &[String]| types.iter().filter(|name| *name != "text_delta").cloned().collect::<Vec<_>>();
    assert_eq!(without_deltas(&all), small, "only the words of an answer are kept to those who look at the chat");
    assert!(["message_created", "usage", "run_finished", "chat_updated"].iter().all(|name| small.iter().any(|seen| seen == name)));
    // The same events, in the stream of the chat itself.
    let own = looked_at.run_to_end(0).await;
    assert_eq!(own[..], events.iter().filter(|event| event["chat_id"] == named.as_str()).cloned().collect::<Vec<_>>()[..own.len()]);
}

#[tokio::test]
async fn chats_that_come_are_renamed_and_go_are_told_of() {
    let home = hello();
    let server = home.serve().await;
    let mut stream = server.stream("/events", None).await;
    let chat = server.chat(json!({ "title": "Mine" })).await;
    let created = stream.next().await.unwrap();
    assert_eq!((&created["type"], &created["data"]["chat"]), (&json!("chat_created"), &chat.show().await));
    assert_eq!(chat.patch(json!({ "title": "Ours" })).await.0, StatusCode::OK);
    let updated = stream.next().await.unwrap();
    assert_eq!(
        (&updated["type"], &updated["data"]),
        (&json!("chat_updated"), &json!({ "title": "Ours", "pinned": false, "archived": false, "model": null, "effort": null }))
    );
    let mut looking = server.stream(&format!("/events?chats={}", id_of(&chat)), None).await;
    let mut own = server.stream(&format!("{}/events", chat.path), Some(&updated["seq"].to_string())).await;
    assert_eq!(server.request(Method::DELETE, &chat.path, None).await.0, StatusCode::NO_CONTENT);
    for stream in [&mut stream, &mut looking] {
        let deleted = stream.next().await.unwrap();
        assert_eq!((&deleted["type"], &deleted["chat_id"]), (&json!("chat_deleted"), &json!(id_of(&chat))));
    }
    assert_eq!(own.next().await, None);
}

#[tokio::test]
async fn who_comes_back_goes_on_where_they_were_also_after_a_restart() {
    let home = hello();
    let server = home.serve().await;
    let (looked_at, other) = (server.chat(json!({})).await, server.chat(json!({})).await);
    let (named, unnamed) = (id_of(&looked_at), id_of(&other));
    let path = format!("/events?chats={named}");
    let mut stream = server.stream(&path, None).await;
    looked_at.say("One").await;
    stream.until(is_end_of(&named)).await;
    let place = stream.last_id.clone();
    drop(stream);
    for chat in [&looked_at, &other] {
        chat.say("Two").await;
        chat.events(0, |event| event["type"] == "run_finished" && event["data"]["outcome"] == "done").await;
    }
    let mut stream = server.stream(&path, place.as_deref()).await;
    let missed = stream.until(is_end_of(&unnamed)).await;
    let missed = if types_of(&missed, &named).contains(&"run_finished".to_owned()) {
        missed
    } else {
        [missed, stream.until(is_end_of(&named)).await].concat()
    };
    assert!(
        types_of(&missed, &named).contains(&"text_delta".to_owned()) && !types_of(&missed, &unnamed).contains(&"text_delta".to_owned())
    );
    assert!(missed.iter().all(|event| event["type"] != "reset"));

    let (chat_path, place) = (looked_at.path.clone(), place.unwrap());
    assert!(server.terminate().await);
    assert_eq!(stream.next().await, None, "a stream ends with the server");
    let server = home.serve().await;
    let mut stream = server.stream(&path, Some(&place)).await;
    let reset = |event: &Value| event["type"] == "reset" && event.get("chat_id").is_none();
    let mut events = stream.until(reset).await;
    if !types_of(&events, &named).contains(&"run_finished".to_owned()) {
        events.extend(stream.until(is_end_of(&named)).await);
    }
    let stored = |types: Vec<String>| types.into_iter().filter(|name| name != "text_delta").collect::<Vec<_>>();
    assert_eq!(stored(types_of(&events, &named)), stored(types_of(&missed, &named)), "of the chat that is looked at nothing is lost");
    assert_eq!(server.reopened(&chat_path).show().await["state"], "idle");
}

#[tokio::test]
async fn a_place_that_is_not_known_is_reset_and_names_that_are_none_are_told() {
    let home = hello();
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    for unknown in ["nonsense", "1.5", &format!("ffffffff.1;{}=99999999", id_of(&chat).replace('-', ""))] {
        let mut stream = server.stream(&format!("/events?chats={}", id_of(&chat)), Some(unknown)).await;
        assert_eq!(stream.next().await.unwrap()["type"], "reset", "{unknown}");
    }
    for (chats, status) in [("x", 422), ("0192a2b4-0000-7000-8000-000000000000", 200)] {
        let request = server.client().get(format!("{}/api/v1/events?chats={chats}", server.base)).bearer_auth(&server.token);
        assert_eq!(server.send(request).await.status(), status, "{chats}");
    }
}

/// What a client draws: the history by id, and the words of each answer as far as they have come.
#[derive(Debug, Default, PartialEq)]
struct Drawn {
    messages: BTreeMap<String, Value>,
    words: BTreeMap<String, String>,
    state: Value,
    seen: BTreeMap<String, Vec<u64>>,
}

impl Drawn {
    fn take(&mut self, event: &Value) {
        let data = &event["data"];
        let numbers = self.seen.entry(event["chat_id"].as_str().unwrap_or_default().to_owned()).or_default();
        let seq = event["seq"].as_u64().unwrap();
        assert!(numbers.last().is_none_or(|last| *last < seq), "an event came twice, or late: {event}");
        numbers.push(seq);
        assert_ne!(event["type"], "reset", "the client was sent away");
        match event["type"].as_str().unwrap() {
            "message_created" | "message_updated" => {
                let message = &data["message"];
                let id = message["id"].as_str().unwrap().to_owned();
                self.words.remove(&id);
                self.messages.insert(id, message.clone());
            }
            "text_delta" => {
                let words = self.words.entry(data["message_id"].as_str().unwrap().to_owned()).or_default();
                let (offset, have) = (data["offset"].as_u64().unwrap(), words.chars().count() as u64);
                assert!(offset == have || offset == 0, "a hole: at {offset}, with {have} characters there");
                if offset == 0 {
                    words.clear();
                }
                words.push_str(data["text"].as_str().unwrap());
            }
            "state_changed" => self.state = data["state"].clone(),
            _ => {}
        }
    }
}

/// Reads a little, leaves, and comes back, until the end; how often it left.
async fn restless(server: &Server, path: &str, end: impl Fn(&Value) -> bool, drawn: &mut Drawn, chance: &mut Chance) -> u64 {
    let (mut place, mut left) = (None::<String>, 0);
    loop {
        let mut stream: EventReader = server.stream(path, place.as_deref()).await;
        for _ in 0..chance.below(6) {
            let event = stream.next().await.unwrap();
            drawn.take(&event);
            if end(&event) {
                return left;
            }
        }
        place = stream.last_id.clone();
        left += 1;
    }
}

/// Both kinds of stream while an answer is being written, each by a client that never leaves and one that leaves at random.
#[tokio::test]
async fn who_loses_the_connection_at_random_ends_up_with_what_everyone_else_has() {
    let number = |name: &str, default: u64| std::env::var(name).ok().map_or(default, |text| text.parse().unwrap());
    let wanted = number(DISCONNECTS, 100);
    let mut chance = Chance(number(SEED, Chance::of_now().0));
    announce(&format_args!("{SEED}={}", chance.0));
    let text = vec!["Wörter, 词语,"; 150].join(" ");
    let home = home(&json!({ "turns": [{ "text": text, "reasoning": "Hm, hm.", "delay_ms": 2 }], "repeat": true }));
    let server = home.serve().await;
    let mut done = 0;
    while done < wanted {
        let chat = server.chat(json!({})).await;
        let id = id_of(&chat);
        let (own, all) = (format!("{}/events?after=0", chat.path), format!("/events?chats={id}@0"));
        let (mut steady, mut on_own, mut on_all) = (Drawn::default(), Drawn::default(), Drawn::default());
        let mut other_chance = Chance(chance.below(u64::MAX));
        let stays = async {
            let mut stream = server.stream(&own, None).await;
            for event in stream.until(is_end_of(&id)).await {
                steady.take(&event);
            }
        };
        chat.say("Speak").await;
        let ((), first, second) = tokio::join!(
            stays,
            restless(&server, &own, is_end_of(&id), &mut on_own, &mut chance),
            restless(&server, &all, is_end_of(&id), &mut on_all, &mut other_chance),
        );
        assert_eq!(steady.state, "idle");
        assert!(steady.words.is_empty() && steady.messages.len() == 2);
        for drawn in [&on_own, &on_all] {
            assert_eq!((&drawn.messages, &drawn.words, &drawn.state), (&steady.messages, &steady.words, &steady.state));
        }
        done += first + second;
    }
    announce(&format_args!("{done} disconnects"));
}
