//! Several nodes on one PostgreSQL and one NATS.

use planwright_testkit::nats::NatsServer;
use planwright_testkit::postgres::Database;
use planwright_testkit::server::{ChatClient, Home, Server, of_type};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const TOKEN: &str = "one-token-for-all-nodes";

/// What nodes share, and their homes.
struct Cluster {
    database: Database,
    nats: NatsServer,
    shared: TempDir,
    homes: Vec<(&'static str, Home)>,
}

impl Cluster {
    fn new(script: &Value, names: &[&'static str]) -> Self {
        let shared = TempDir::new().unwrap();
        std::fs::create_dir(shared.path().join("work")).unwrap();
        let home = |name: &&'static str| {
            let home = crate::home(script);
            home.put_config(&format!("[cluster]\nshared = [\"{}\"]\n", shared.path().display()));
            (*name, home)
        };
        let homes = names.iter().map(home).collect();
        Self { database: Database::fresh(), nats: NatsServer::start(), shared, homes }
    }

    async fn node(&self, name: &str) -> Server {
        let home = &self.homes.iter().find(|(known, _)| *known == name).unwrap().1;
        let work = self.shared.path().join("work");
        let mut command = home.command(&["serve", "--listen", "127.0.0.1:0", "--database-url", &self.database.url, "--node", name]);
        command.args(["--nats-url", &self.nats.url(), "--workspace"]).arg(work).env("PLANWRIGHT_TOKEN", TOKEN);
        home.serve_command(command).await
    }

    fn file(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.shared.path().join("work").join(path)).ok()
    }
}

async fn workspace(server: &Server) -> String {
    server.get("/workspaces").await[0]["id"].as_str().unwrap().to_owned()
}

/// The node that has the only workspace, once there is one.
async fn owner(server: &Server) -> String {
    let began = Instant::now();
    loop {
        let cluster = server.get("/cluster").await;
        if let Some(node) = cluster["workspaces"][0]["node"].as_str() {
            return node.to_owned();
        }
        assert!(began.elapsed() < Duration::from_mins(1), "{cluster:#}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Waits until the chat, asked at this server, is in this state.
async fn until(chat: &ChatClient<'_>, state: &str) -> Value {
    let began = Instant::now();
    loop {
        let seen = chat.server.attempt(Method::GET, &chat.path, None).await;
        if let Some((StatusCode::OK, shown)) = &seen
            && shown["state"] == state
        {
            return shown.clone();
        }
        assert!(began.elapsed() < Duration::from_mins(1), "{state}: {seen:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn texts(messages: &[Value], author: &str) -> Vec<String> {
    let of_author = messages.iter().filter(|message| message["author"] == author);
    of_author.map(|message| message["content"].as_str().unwrap_or_default().to_owned()).collect()
}

fn call(path: &str) -> Value {
    json!({ "tool": "write", "args": { "path": path, "content": "written\n" } })
}

#[tokio::test]
async fn every_node_streams_the_same_events_also_to_a_client_that_hops_between_them() {
    let words: Vec<String> = (0..40).map(|number| format!("word {number} ")).collect();
    let script = json!({ "act": [{ "text": words.concat(), "delay_ms": 30 }] });
    let cluster = Cluster::new(&script, &["a", "b"]);
    let (a, b) = (cluster.node("a").await, cluster.node("b").await);
    let chat = b.chat(json!({ "agent_role": "actor" })).await;
    let (at_a, at_b) = (a.reopened(&chat.path), b.reopened(&chat.path));
    let over = |event: &Value| event["type"] == "run_finished";
    let hopping = async {
        let (mut seen, mut last): (Vec<Value>, u64) = (Vec::new(), 0);
        for turn in 0.. {
            let count = std::cell::Cell::new(0);
            let few = |event: &Value| {
                count.set(count.get() + 1);
                count.get() == 4 || over(event)
            };
            let more = if turn % 2 == 0 { at_b.events(last, few).await } else { at_a.events(last, few).await };
            last = more.last().and_then(|event| event["seq"].as_u64()).unwrap();
            let is_over = more.iter().any(over);
            seen.extend(more);
            if is_over {
                return seen;
            }
        }
        seen
    };
    let saying = async {
        at_b.say("Tell me").await;
    };
    let (of_a, of_b, hopped, ()) = tokio::join!(at_a.events(0, over), at_b.events(0, over), hopping, saying);
    // A stream that begins at another node repeats the answer so far; clients go by the offset.
    let text = |events: &[Value]| {
        of_type(events, "text_delta").iter().fold(String::new(), |text, delta| {
            let offset = usize::try_from(delta["offset"].as_u64().unwrap()).unwrap();
            assert!(offset <= text.len(), "a hole before {offset} in {text:?}");
            format!("{}{}", &text[..offset], delta["text"].as_str().unwrap())
        })
    };
    for events in [&of_a, &of_b, &hopped] {
        let numbers: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
        assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
        assert_eq!(text(events), words.concat());
    }
    let stored = |events: &[Value]| {
        events.iter().filter(|event| event["type"] != "text_delta").map(|event| event["seq"].clone()).collect::<Vec<_>>()
    };
    assert_eq!((stored(&of_a), stored(&of_a)), (stored(&of_b), stored(&hopped)));
}

#[tokio::test]
async fn a_run_goes_on_at_another_node_when_its_owner_is_killed_in_mid_turn() {
    let turns = [
        json!({ "text": "One", "calls": [call("/1.txt")] }),
        json!({ "text": "A long answer in many words that takes its time", "delay_ms": 300, "calls": [call("/2.txt")] }),
        json!({ "text": "All done." }),
    ];
    let cluster = Cluster::new(&json!({ "act": turns }), &["a", "b", "c"]);
    let (a, b, c) = (cluster.node("a").await, cluster.node("b").await, cluster.node("c").await);
    assert_eq!(owner(&b).await, "a");
    let chat = c.chat(json!({ "agent_role": "actor" })).await;
    let at_b = b.reopened(&chat.path);
    at_b.say("Write two files").await;
    at_b.events(0, |event| event["type"] == "text_delta" && event["data"]["text"].as_str().is_some_and(|text| text.contains("long"))).await;
    let killed = Instant::now();
    a.kill().await;
    // While nobody has the workspace, its chats can be read.
    let read = b.get(&format!("{}/messages", chat.path)).await;
    assert!(!read.as_array().unwrap().is_empty());
    let asked = json!({ "content": "And tell me when it is done" });
    let (status, said) = c.request(Method::POST, &format!("{}/messages", chat.path), Some(asked)).await;
    assert_eq!(status, StatusCode::ACCEPTED, "{said}");
    let taken = killed.elapsed();
    until(&at_b, "idle").await;
    assert!(taken < Duration::from_secs(10), "{taken:?}");
    assert_ne!(owner(&b).await, "a");
    let messages = chat.messages().await;
    assert_eq!(texts(&messages, "user").len(), 2, "{messages:#?}");
    let results = messages.iter().filter(|message| message["message_type"] == "tool_result").count();
    assert_eq!((results, cluster.file("1.txt").is_some(), cluster.file("2.txt").is_some()), (2, true, true), "{messages:#?}");
}

#[tokio::test]
async fn a_node_that_ends_hands_its_runs_over_and_one_that_was_stopped_writes_nothing_more() {
    let waits =
        json!({ "text": "A very long answer in a great many words that takes its time", "delay_ms": 400, "calls": [call("/1.txt")] });
    let cluster = Cluster::new(&json!({ "act": [waits, { "text": "All done." }] }), &["a", "b"]);
    let (a, b) = (cluster.node("a").await, cluster.node("b").await);
    let chat = b.chat(json!({ "agent_role": "actor" })).await;
    chat.say("Write a file").await;
    chat.events(0, |event| event["type"] == "text_delta").await;
    let ending = Instant::now();
    assert!(a.terminate().await);
    while owner(&b).await != "b" {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let handed_over = ending.elapsed();
    assert!(handed_over < Duration::from_secs(4), "{handed_over:?}: a lease had to run out");
    until(&chat, "idle").await;
    assert_eq!(cluster.file("1.txt").as_deref(), Some("written\n"));

    // A stopped process has lost its workspace when it goes on.
    let a = cluster.node("a").await;
    let chat = b.chat(json!({ "agent_role": "actor" })).await;
    chat.say("Write it again").await;
    chat.events(0, |event| event["type"] == "text_delta").await;
    std::fs::remove_file(cluster.shared.path().join("work/1.txt")).unwrap();
    let stopped = rustix::process::Pid::from_raw(i32::try_from(b.process()).unwrap()).unwrap();
    rustix::process::kill_process(stopped, rustix::process::Signal::STOP).unwrap();
    while owner(&a).await != "a" {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let at_a = a.reopened(&chat.path);
    until(&at_a, "idle").await;
    let before = at_a.messages().await;
    rustix::process::kill_process(stopped, rustix::process::Signal::CONT).unwrap();
    // It is back as a node without this workspace, and forwards.
    until(&chat, "idle").await;
    assert_eq!((chat.messages().await, owner(&b).await.as_str()), (before, "a"));
    let calls = at_a.messages().await.iter().filter(|message| message["message_type"] == "tool_result").count();
    assert_eq!(calls, 1, "nothing was done twice");
}

#[tokio::test]
async fn without_nats_each_node_goes_on_with_its_own_and_says_so_of_others() {
    let script = json!({ "turns": [{ "text": "Hello." }], "repeat": true });
    let mut cluster = Cluster::new(&script, &["a", "b"]);
    let (a, b) = (cluster.node("a").await, cluster.node("b").await);
    let chat = b.chat(json!({})).await;
    let at_a = a.reopened(&chat.path);
    chat.say("Hi").await;
    until(&at_a, "idle").await;
    cluster.nats.stop();
    while b.get("/cluster").await["is_connected"] != false || a.get("/cluster").await["is_connected"] != false {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    at_a.say("Still there?").await;
    until(&at_a, "idle").await;
    let (status, refused) = b.request(Method::POST, &format!("{}/messages", chat.path), Some(json!({ "content": "And here?" }))).await;
    assert_eq!(
        (status, &refused["error"]["code"], &refused["error"]["retryable"]),
        (StatusCode::SERVICE_UNAVAILABLE, &json!("NODE_AWAY"), &json!(true)),
        "{refused}"
    );
    assert_eq!(texts(&chat.messages().await, "user"), texts(&at_a.messages().await, "user"), "reading goes on");
    cluster.nats.start_again();
    while b.get("/cluster").await["is_connected"] != true || a.get("/cluster").await["is_connected"] != true {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    chat.say("And now?").await;
    until(&chat, "idle").await;
    assert_eq!(texts(&at_a.messages().await, "user").len(), 3);
}

#[tokio::test]
async fn a_workspace_is_moved_by_hand_and_a_folder_of_one_node_stays_there() {
    let cluster = Cluster::new(&json!({ "plan": [{ "text": "Hello." }] }), &["a", "b"]);
    let (a, b) = (cluster.node("a").await, cluster.node("b").await);
    let id = workspace(&a).await;
    assert_eq!(owner(&b).await, "a");
    let chat = a.chat(json!({})).await;
    let (status, moved) = a.post(&format!("/cluster/workspaces/{id}/move"), json!({ "node": "b" })).await;
    assert_eq!((status, &moved["node"]), (StatusCode::OK, &json!("b")), "{moved}");
    assert_eq!(owner(&a).await, "b");
    chat.say("Hi").await;
    until(&chat, "idle").await;
    let (status, refused) = a.post(&format!("/cluster/workspaces/{id}/move"), json!({ "node": "z" })).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{refused}");

    let own = TempDir::new().unwrap();
    let (status, added) = a.post("/workspaces", json!({ "path": own.path() })).await;
    assert!(status.is_success(), "{added}");
    let local = added["id"].as_str().unwrap().to_owned();
    let (status, made) = b.post(&format!("/workspaces/{local}/chats"), json!({ "title": "Far" })).await;
    assert!(status.is_success(), "{made}");
    let (status, refused) = b.post(&format!("/cluster/workspaces/{local}/move"), json!({ "node": "b" })).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{refused}");
    a.kill().await;
    let path = format!("/workspaces/{local}/chats/{}", made["id"].as_str().unwrap());
    let began = Instant::now();
    let refused = loop {
        let (status, refused) = b.request(Method::POST, &format!("{path}/messages"), Some(json!({ "content": "Hi" }))).await;
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{refused}");
        if refused["error"]["message"].as_str().unwrap().contains("Its chats can be read") || began.elapsed() > Duration::from_mins(1) {
            break refused;
        }
    };
    assert!(refused["error"]["message"].as_str().unwrap().contains("Node a"), "{refused}");
    assert_eq!(b.get(&path).await["title"], "Far");
    let home = &cluster.homes[1].1;
    let listed = home.command(&["nodes", "--json", "--database-url", &cluster.database.url]).output().await.unwrap();
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let alive: Vec<_> = listed["nodes"].as_array().unwrap().iter().map(|node| (node["name"].clone(), node["alive"].clone())).collect();
    assert_eq!(alive, [(json!("a"), json!(false)), (json!("b"), json!(true))], "{listed:#}");
    assert_eq!(listed["without_node"][0]["home"], "node:a");
}

#[tokio::test]
async fn a_second_server_without_nats_and_a_second_one_of_a_name_are_refused_with_what_to_do() {
    let cluster = Cluster::new(&json!({ "turns": [{ "text": "Hello." }] }), &["a", "b"]);
    let _a = cluster.node("a").await;
    let home = &cluster.homes[1].1;
    let url = cluster.nats.url();
    for (more, part) in [(vec![], "--nats-url"), (vec!["--nats-url", &url, "--node", "a"], "--node")] {
        let mut command = home.command(&["serve", "--listen", "127.0.0.1:0", "--database-url", &cluster.database.url]);
        let output = command.args(more).output().await.unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(1) && said.contains(part), "{said}");
    }
    let output = home.command(&["serve", "--nats-url", &url]).output().await.unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
}
