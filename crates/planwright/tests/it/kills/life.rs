//! The script of a life, and a user who goes on from whatever is there.

use super::check;
use crate::progress::step;
use crate::{home, write};
use planwright_testkit::PATIENCE;
use planwright_testkit::postgres::Database;
use planwright_testkit::server::{Home, Server};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tokio::task::JoinHandle;

pub const BEGIN: &str = "Have it say goodbye";
pub const MEANWHILE: &str = "And mind the gap";
pub const MORE: &str = "One more thing";
/// Said if the model took the two messages together, which a kill can bring about.
pub const AGAIN: &str = "And now go on";
/// The model's answer to the message that was sent meanwhile.
pub const MINDED: &str = "The gap is minded.";

/// How the plan comes to be: by calls and a card, or told as JSON and then executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planned {
    ByCall,
    Told,
}

/// The server is gone.
#[derive(Debug)]
pub struct Gone;

pub struct Life {
    pub home: Home,
    pub planned: Planned,
    database: Option<Database>,
    /// The chat, once there is one.
    path: Option<String>,
    /// Messages that the server said it has.
    pub acknowledged: Vec<String>,
    /// The number of the newest event seen, and those that are being seen.
    last: u64,
    following: Option<JoinHandle<Vec<u64>>>,
}

/// What the user sees.
pub struct Seen {
    pub chat: Value,
    pub messages: Vec<Value>,
}

enum Next {
    Say(&'static str),
    Answer(Value, Value),
    Execute,
    Stop,
    Plan,
    Wait,
    End,
}

pub fn command(command: &str) -> Value {
    json!({ "tool": "run", "args": { "command": command } })
}

/// What the model does in act mode, reply by reply.
pub fn acts() -> Value {
    let question = json!([{ "name": "environment", "question": "Where?", "schema": { "type": "string", "enum": ["dev", "prod"] } }]);
    json!([
        { "text": "Two files.", "calls": [write("/one.txt", "1\n"), write("/two.txt", "2\n"), step(1, "done")] },
        { "calls": [command("echo x >> log.txt; echo said")] },
        { "calls": [step(2, "done")] },
        { "calls": [{ "tool": "ask_user", "args": { "questions": question } }] },
        { "calls": [{ "tool": "rm", "args": { "path": "/old.txt" } }] },
        { "calls": [command("echo y >> log.txt; rm gone.txt")] },
        { "calls": [command("echo taken > taken.txt; rm kept.txt")] },
        { "text": "Now I talk for a while.", "delay_ms": 30 },
        { "text": MINDED },
        { "calls": [command("echo z >> log.txt; echo waiting; sleep 60")] },
        { "text": "Over." },
    ])
}

/// Two steps; what the check of the second writes shows how often it was made.
fn plan() -> Value {
    let step =
        |number: u32, action: &str| json!({ "step_number": number, "action": action, "reason": "It is asked for", "files": ["*.txt"] });
    let mut plan = json!({ "goal": "Say goodbye", "steps": [step(1, "Write the files"), step(2, "Check them")] });
    plan["steps"][1]["verify"] = json!("echo checked >> checks.txt; grep -q 2 two.txt");
    plan
}

fn plans(planned: Planned) -> Value {
    let told = format!("```json\n{}\n```", plan());
    match planned {
        Planned::ByCall => json!([
            { "text": "Looking.", "calls": [{ "tool": "read", "args": { "path": "/old.txt" } }] },
            { "calls": [{ "tool": "write_plan", "args": plan() }] },
            { "calls": [{ "tool": "exit_plan_mode", "args": { "plan_file_path": "/plans/say-goodbye.plan" } }] },
        ]),
        Planned::Told => json!([{ "text": "Looking.", "calls": [{ "tool": "read", "args": { "path": "/old.txt" } }] }, { "text": told }]),
    }
}

/// The calls of a list of replies, in their order.
pub fn calls_of(replies: &Value) -> Vec<Value> {
    replies.as_array().unwrap().iter().flat_map(|reply| reply["calls"].as_array().cloned().unwrap_or_default()).collect()
}

impl Life {
    pub fn new(planned: Planned, database: Option<Database>) -> Self {
        let home = home(&json!({ "plan": plans(planned), "act": acts() }));
        // On a small disk commands would stage in memory, where `speaks` can't look.
        home.put_config("[sandbox]\nstaging = \"disk\"\n");
        for name in ["old.txt", "gone.txt", "kept.txt"] {
            home.put(name, "here\n");
        }
        Self { home, planned, database, path: None, acknowledged: Vec::new(), last: 0, following: None }
    }

    pub fn calls(&self) -> Vec<Value> {
        [calls_of(&plans(self.planned)), calls_of(&acts())].concat()
    }

    /// `None` if it died before it listened.
    pub async fn serve(&self, death: Option<&str>) -> Option<Server> {
        let mut args = vec!["serve", "--listen", "127.0.0.1:0"];
        if let Some(database) = &self.database {
            args.extend(["--database-url", &database.url]);
        }
        let mut command = self.home.command(&args);
        command.stderr(std::process::Stdio::null());
        if let Some(death) = death {
            command.env("PLANWRIGHT_CRASH_POINT", death);
        }
        self.home.try_serve_command(command).await
    }

    /// Listens to the chat's events, if there is a chat.
    pub fn follow(&mut self, server: &Server) {
        if let (Some(path), None) = (&self.path, &self.following) {
            self.following = Some(server.numbers(path, self.last));
        }
    }

    /// The numbers seen from a server that is gone now: they grow, also over its end.
    pub async fn check_numbers(&mut self) {
        let Some(following) = self.following.take() else { return };
        let numbers = following.await.unwrap();
        assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
        assert!(numbers.first().is_none_or(|first| *first > self.last), "{} was the last, then came {numbers:?}", self.last);
        self.last = numbers.last().copied().unwrap_or(self.last);
    }

    /// Plays the user until everything is over.
    pub async fn go_on(&mut self, server: &Server) -> Result<(), Gone> {
        let begun = Instant::now();
        loop {
            let seen = self.look(server).await?;
            assert!(begun.elapsed() < PATIENCE, "nothing happens any more: {}", seen.describe());
            match self.next(&seen) {
                Next::Say(text) => self.tell(server, "messages", json!({ "content": text })).await?,
                Next::Answer(question_id, answers) => {
                    let answer = json!({ "question_answer": { "question_id": question_id, "answers": answers } });
                    self.tell(server, "messages", json!({ "metadata": answer })).await?;
                }
                Next::Execute => self.tell(server, "execute", json!({})).await?,
                Next::Stop => self.tell(server, "stop", json!({})).await?,
                Next::Plan => {
                    let body = json!({ "mode": "plan", "confirm": true });
                    let (status, body) = server.attempt(Method::PATCH, &self.path(), Some(body)).await.ok_or(Gone)?;
                    assert!(status.is_success(), "{body}");
                }
                Next::Wait => tokio::time::sleep(Duration::from_millis(15)).await,
                Next::End => {
                    // A kill can leave the chat's file behind; whoever asks for it has it brought up to date.
                    server.attempt(Method::GET, &format!("{}/frontmatter", self.path()), None).await.ok_or(Gone)?;
                    check::ended_well(self, &seen);
                    return Ok(());
                }
            }
        }
    }

    /// Whether the command of this call is under way: what it writes is there, staged or in place.
    fn speaks(&self, call: &Value) -> bool {
        let stage = self.home.workspace().with_file_name("data").join("commands/stage").join(call["metadata"]["call_id"].as_str().unwrap());
        let written = [stage.join("upper/log.txt"), self.home.workspace().join("log.txt")];
        written.iter().any(|file| std::fs::read_to_string(file).is_ok_and(|text| text.ends_with("z\n")))
    }

    fn path(&self) -> String {
        self.path.clone().unwrap()
    }

    async fn look(&mut self, server: &Server) -> Result<Seen, Gone> {
        if self.path.is_none() {
            self.path = Some(find_chat(server).await?);
            self.follow(server);
        }
        let path = self.path();
        let (_, chat) = server.attempt(Method::GET, &path, None).await.ok_or(Gone)?;
        let (_, messages) = server.attempt(Method::GET, &format!("{path}/messages?limit=200"), None).await.ok_or(Gone)?;
        let messages = messages.as_array().unwrap().iter().rev().cloned().collect();
        Ok(Seen { chat, messages })
    }

    async fn tell(&mut self, server: &Server, what: &str, body: Value) -> Result<(), Gone> {
        let (status, body) = server.attempt(Method::POST, &format!("{}/{what}", self.path()), Some(body)).await.ok_or(Gone)?;
        assert!(status.is_success(), "{what}: {status} {body}");
        self.acknowledged.extend(body["message"]["id"].as_str().map(str::to_owned));
        Ok(())
    }

    fn next(&self, seen: &Seen) -> Next {
        let (state, mode) = (seen.chat["state"].as_str().unwrap(), seen.chat["config"]["mode"].as_str().unwrap());
        let idle = state == "idle";
        assert_ne!(state, "failed", "{}", seen.describe());
        if !seen.has(BEGIN) {
            return Next::Say(BEGIN);
        }
        // A card can be answered as soon as it is there, also before the run that raised it has put its things away.
        if let Some(question) = seen.chat["pending_question"].as_object() {
            return Next::Answer(question["question_id"].clone(), answers(question));
        }
        if mode == "plan" {
            let switched_back = seen.messages.iter().any(|message| message["metadata"]["mode_change"]["to"] == "planner");
            return match self.planned {
                _ if switched_back => Next::End,
                Planned::Told if idle => Next::Execute,
                Planned::Told | Planned::ByCall => Next::Wait,
            };
        }
        if !seen.has(MEANWHILE) {
            return if seen.result("taken").is_some() { Next::Say(MEANWHILE) } else { Next::Wait };
        }
        if !seen.has(MORE) {
            assert!(!idle || seen.is_read(MEANWHILE), "a message that was sent during a run was never read: {}", seen.describe());
            return if idle { Next::Say(MORE) } else { Next::Wait };
        }
        match (seen.call("sleep"), seen.result("sleep")) {
            (None, _) if idle && !seen.has(AGAIN) => Next::Say(AGAIN),
            (Some(call), None) if self.speaks(call) => Next::Stop,
            (Some(_), Some(_)) if idle => Next::Plan,
            (None | Some(_), None | Some(_)) => Next::Wait,
        }
    }
}

/// The one chat there is, or a new one.
async fn find_chat(server: &Server) -> Result<String, Gone> {
    let (_, workspaces) = server.attempt(Method::GET, "/workspaces", None).await.ok_or(Gone)?;
    let path = format!("/workspaces/{}/chats", workspaces[0]["id"].as_str().unwrap());
    let (_, chats) = server.attempt(Method::GET, &path, None).await.ok_or(Gone)?;
    let chat = match chats.as_array().unwrap().first() {
        Some(chat) => chat.clone(),
        None => server.attempt(Method::POST, &path, Some(json!({}))).await.ok_or(Gone)?.1,
    };
    Ok(format!("{path}/{}", chat["id"].as_str().unwrap()))
}

fn answers(question: &serde_json::Map<String, Value>) -> Value {
    match question["kind"].as_str().unwrap() {
        "plan_approval" => json!({ "approve": true }),
        "user" => json!({ "environment": "dev" }),
        _ if question["call"]["args"].to_string().contains("taken") => json!({ "decision": "deny" }),
        _ => json!({ "decision": "approve" }),
    }
}

impl Seen {
    /// Whether these words were said.
    fn has(&self, text: &str) -> bool {
        self.messages.iter().any(|message| message["content"] == text)
    }

    /// Whether the model had these words before it when it gave one of its replies.
    fn is_read(&self, text: &str) -> bool {
        let said = self.messages.iter().find(|message| message["content"] == text).unwrap();
        self.messages.iter().any(|message| message["metadata"]["read_up_to"] == said["id"])
    }

    /// The call whose arguments have this word.
    pub fn call(&self, word: &str) -> Option<&Value> {
        let is_it = |message: &&Value| message["message_type"] == "tool_call" && message["metadata"]["args"].to_string().contains(word);
        self.messages.iter().find(is_it)
    }

    /// The outcome.
    pub fn result(&self, word: &str) -> Option<&Value> {
        let id = &self.call(word)?["metadata"]["call_id"];
        self.messages.iter().find(|message| message["message_type"] == "tool_result" && message["metadata"]["call_id"] == *id)
    }

    /// The chat in few words, for a test that fails.
    pub fn describe(&self) -> String {
        let line = |message: &Value| {
            format!("{} {}: {} {}", message["author"], message["message_type"], message["content"], message["metadata"]["status"])
        };
        format!("state {}\n{}", self.chat["state"], self.messages.iter().map(line).collect::<Vec<_>>().join("\n"))
    }
}
