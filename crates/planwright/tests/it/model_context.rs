//! What the model reads: nothing that the user said gets lost on the way to it.

use crate::wires::{home_with, serve};
use planwright_testkit::model_server::{ModelServer, ScriptedReply, Wire};
use planwright_testkit::server::{ChatClient, Home, Server, last_id, of_type};
use reqwest::StatusCode;
use serde_json::{Value, json};

/// Begins the instructions by which a summary is asked for.
const SUMMARY: &str = "is too long to send in full";

/// A chat whose model replies when the test says so.
struct Talk {
    models: ModelServer,
    home: Home,
    server: Option<Server>,
    path: String,
    /// The number of the last event that was awaited.
    seen: u64,
    replies: usize,
}

impl Talk {
    async fn new(wire: Wire, context_tokens: u64, body: Value) -> Self {
        let models = ModelServer::patient(wire).await;
        let home = home_with(&models, &format!("context_tokens = {context_tokens}"));
        let server = serve(&home).await;
        let path = server.chat(body).await.path;
        Self { models, home, server: Some(server), path, seen: 0, replies: 0 }
    }

    fn chat(&self) -> ChatClient<'_> {
        self.server.as_ref().unwrap().reopened(&self.path)
    }

    /// The next request to the model, once it has come.
    async fn asked(&self) -> String {
        self.models.request(self.replies + 1).await.body.to_string()
    }

    fn reply(&mut self, reply: ScriptedReply) {
        self.replies += 1;
        self.models.then(reply);
    }

    async fn finished(&mut self) {
        let events = self.chat().run_to_end(self.seen).await;
        assert_eq!(of_type(&events, "run_finished")[0]["outcome"], "done", "{:#?}", of_type(&events, "run_finished"));
        self.seen = last_id(&events);
    }

    /// Says something and replies to it; gives what the model was sent.
    async fn exchange(&mut self, content: &str) -> String {
        self.chat().say(content).await;
        let asked = self.asked().await;
        self.reply(ScriptedReply::text("Yes."));
        self.finished().await;
        asked
    }

    /// Has the chat summed up, with these messages sent while the summary is written.
    async fn compact_while(&mut self, messages: &[&str]) {
        assert_eq!(self.chat().post("compact").await.0, StatusCode::OK);
        assert!(self.asked().await.contains(SUMMARY));
        for message in messages {
            self.chat().say(message).await;
        }
        self.reply(ScriptedReply::text("Animals were spoken of."));
    }

    async fn restart(&mut self) {
        self.server.take().unwrap().kill().await;
        self.server = Some(serve(&self.home).await);
    }

    /// The question that waits for an answer, once it does.
    async fn question(&mut self) -> Value {
        let events = self.chat().events(self.seen, |event| event["data"]["state"] == "awaiting_answer").await;
        self.seen = last_id(&events);
        of_type(&events, "question_pending").last().unwrap()["question_id"].clone()
    }

    async fn answer(&self, question: &Value, answers: Value, content: &str) {
        let body = json!({ "content": content, "metadata": { "question_answer": { "question_id": question, "answers": answers } } });
        let (status, body) = self.server.as_ref().unwrap().post(&format!("{}/messages", self.path), body).await;
        assert_eq!(status, StatusCode::ACCEPTED, "{body}");
    }
}

fn has_all(text: &str, parts: &[&str]) {
    let missing: Vec<&&str> = parts.iter().filter(|part| !text.contains(**part)).collect();
    assert!(missing.is_empty(), "{missing:?} is not in {}", text.chars().take(20_000).collect::<String>());
}

#[tokio::test]
async fn messages_sent_during_compaction_on_demand_are_read_then_and_ever_after() {
    for wire in [Wire::Chat, Wire::Anthropic, Wire::Gemini] {
        let mut talk = Talk::new(wire, 100_000, json!({})).await;
        for word in ["one", "two", "three"] {
            talk.exchange(word).await;
        }
        talk.compact_while(&["The heron is grey.", "The otter is brown."]).await;
        let both = ["The heron is grey.", "The otter is brown.", "Animals were spoken of."];
        has_all(&talk.asked().await, &both);
        talk.reply(ScriptedReply::text("I see."));
        talk.finished().await;
        has_all(&talk.exchange("And now?").await, &both);
        talk.compact_while(&["The stork is white."]).await;
        has_all(&talk.asked().await, &["The heron is grey.", "The otter is brown.", "The stork is white."]);
        talk.reply(ScriptedReply::text("I see."));
        talk.finished().await;
        has_all(&talk.exchange("And now?").await, &["The heron is grey.", "The stork is white."]);
    }
}

#[tokio::test]
async fn a_message_sent_during_automatic_compaction_is_read_in_every_later_turn() {
    let mut talk = Talk::new(Wire::Chat, 10_000, json!({})).await;
    talk.chat().say("Hello").await;
    talk.asked().await;
    talk.reply(ScriptedReply::text("Hello.").using(9_000, 10, 0));
    talk.finished().await;
    talk.chat().say("The swan is mute.").await;
    let asked = talk.asked().await;
    assert!(asked.contains(SUMMARY), "{asked}");
    talk.chat().say("The heron is grey.").await;
    talk.reply(ScriptedReply::text("Greetings."));
    let both = ["The swan is mute.", "The heron is grey."];
    has_all(&talk.asked().await, &both);
    talk.reply(ScriptedReply::text("I see."));
    talk.finished().await;
    has_all(&talk.exchange("And now?").await, &both);
    talk.restart().await;
    has_all(&talk.exchange("And after a restart?").await, &both);
}

#[tokio::test]
async fn a_message_sent_during_compaction_outlives_a_kill_before_and_after_the_summary() {
    for after_summary in [false, true] {
        let mut talk = Talk::new(Wire::Chat, 100_000, json!({})).await;
        talk.exchange("one").await;
        assert_eq!(talk.chat().post("compact").await.0, StatusCode::OK);
        talk.asked().await;
        talk.chat().say("The heron is grey.").await;
        if after_summary {
            talk.reply(ScriptedReply::text("Little was said."));
            // The request that reads the message is under way.
            talk.asked().await;
        }
        talk.replies = talk.models.asked().len();
        talk.restart().await;
        has_all(&talk.asked().await, &["The heron is grey."]);
        // The requests of the server that is gone wait for replies as well.
        for _ in 0..3 {
            talk.models.then(ScriptedReply::text("I see."));
        }
        talk.finished().await;
        talk.replies = talk.models.asked().len();
        talk.chat().say("And now?").await;
        has_all(&talk.asked().await, &["The heron is grey."]);
    }
}

#[tokio::test]
async fn a_message_and_an_answer_outlive_the_compaction_of_a_delegates_conversation() {
    let mut talk = Talk::new(Wire::Chat, 10_000, json!({ "agent_role": "commander" })).await;
    talk.chat().say("Have the birds counted.").await;
    talk.asked().await;
    talk.reply(ScriptedReply::text("").call("delegate", json!({ "role": "actor", "task": "Count the birds" })));
    talk.asked().await;
    let ask = json!({ "questions": [{ "name": "which", "question": "Which birds?", "schema": { "type": "string" } }] });
    talk.reply(ScriptedReply::text("").call("ask_user", ask));
    let question = talk.question().await;
    talk.answer(&question, json!({ "which": "only the waders" }), "").await;
    has_all(&talk.asked().await, &["only the waders"]);
    talk.reply(ScriptedReply::text("").call("ls", json!({})).using(9_000, 10, 0));
    let asked = talk.asked().await;
    has_all(&asked, &[SUMMARY, "Count the birds", "only the waders"]);
    talk.chat().say("The heron is grey.").await;
    talk.reply(ScriptedReply::text("Birds are counted."));
    let asked = talk.asked().await;
    has_all(&asked, &["Count the birds", "Which birds?", "only the waders"]);
    assert!(!asked.contains("heron") && !asked.contains("did not answer"), "{asked}");
    talk.reply(ScriptedReply::text("There are three."));
    has_all(&talk.asked().await, &["There are three.", "The heron is grey."]);
    talk.reply(ScriptedReply::text("Three."));
    talk.finished().await;
    has_all(&talk.exchange("And now?").await, &["Have the birds counted.", "There are three.", "The heron is grey."]);
}

fn huge(before: &str, after: &str) -> String {
    format!("{before}\n{}{after}", "2026-01-31 12:00:00 worker-7 retried the request\n".repeat(8_000))
}

/// The notes of the system that say that something was cut.
async fn cut_notes(talk: &Talk) -> Vec<String> {
    let notes = talk.chat().messages().await.into_iter().filter(|message| message["metadata"]["cut"].is_object());
    notes.map(|note| note["content"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_huge_message_is_read_at_its_beginning_and_end_and_what_was_said_before_stays() {
    for (wire, context) in [(Wire::Chat, 128_000), (Wire::Anthropic, 16_000)] {
        let mut talk = Talk::new(wire, context, json!({})).await;
        talk.exchange("Always answer in French.").await;
        let asked = talk.exchange(&huge("WHY does this fail?", "Look at worker-9 FIRST.")).await;
        let parts = ["Always answer in French.", "WHY does this fail?", "Look at worker-9 FIRST.", "left out"];
        assert!(!asked.contains(SUMMARY));
        has_all(&asked, &parts);
        assert!(asked.len() as u64 <= context * 3, "{} bytes", asked.len());
        let notes = cut_notes(&talk).await;
        assert!(notes.len() == 1 && notes[0].contains("middle") && notes[0].contains("file"), "{notes:?}");
        has_all(&talk.exchange("And then?").await, &parts);
        talk.compact_while(&["Go on."]).await;
        has_all(&talk.asked().await, &["Always answer in French.", "WHY does this fail?", "Look at worker-9 FIRST.", "Go on."]);
        assert_eq!(cut_notes(&talk).await.len(), 1, "it is said once");
    }
}

#[tokio::test]
async fn a_huge_first_message_and_several_in_a_row_are_read() {
    let mut talk = Talk::new(Wire::Chat, 16_000, json!({})).await;
    has_all(&talk.exchange(&huge("FIRST question", "FIRST end")).await, &["FIRST question", "FIRST end"]);
    for (before, after) in [("SECOND question", "SECOND end"), ("THIRD question", "THIRD end")] {
        talk.chat().say(&huge(before, after)).await;
        let mut asked = talk.asked().await;
        if asked.contains(SUMMARY) {
            talk.reply(ScriptedReply::text("Logs were looked at."));
            asked = talk.asked().await;
        }
        has_all(&asked, &["FIRST question", "FIRST end", before, after]);
        assert!(asked.len() <= 16_000 * 3, "{} bytes", asked.len());
        talk.reply(ScriptedReply::text("Yes."));
        talk.finished().await;
    }
    assert_eq!(cut_notes(&talk).await.len(), 3);
}

#[tokio::test]
async fn a_model_that_takes_less_than_it_is_said_to_gets_less_and_still_both_ends() {
    let too_long = r#"{"error": {"message": "maximum context length is 4096 tokens", "code": "context_length_exceeded"}}"#;
    let mut talk = Talk::new(Wire::Chat, 128_000, json!({})).await;
    talk.chat().say(&huge("WHY does this fail?", "Look at worker-9 FIRST.")).await;
    let mut sizes = vec![talk.asked().await.len()];
    for _ in 0..3 {
        talk.reply(ScriptedReply::status(400, None, too_long));
        let asked = talk.asked().await;
        has_all(&asked, &["WHY does this fail?", "Look at worker-9 FIRST."]);
        sizes.push(asked.len());
    }
    assert!(sizes.windows(2).all(|pair| pair[1] < pair[0] * 3 / 4), "{sizes:?}");
    talk.reply(ScriptedReply::text("Yes."));
    talk.finished().await;
}

#[tokio::test]
async fn a_huge_answer_and_huge_instructions_leave_room_for_the_rest() {
    let mut talk = Talk::new(Wire::Chat, 16_000, json!({})).await;
    talk.home.put("AGENTS.md", &format!("Use tabs.\n{}", "x".repeat(1_000_000)));
    talk.chat().say("Begin.").await;
    let asked = talk.asked().await;
    has_all(&asked, &["Use tabs.", "Begin.", "AGENTS.md"]);
    assert!(asked.len() < 24_000, "{} bytes", asked.len());
    let ask = json!({ "questions": [{ "name": "log", "question": "Which log?", "schema": { "type": "string" } }] });
    talk.reply(ScriptedReply::text("").call("ask_user", ask));
    let question = talk.question().await;
    let log: String = huge("LOG begins", "LOG ends").chars().take(240_000).collect();
    talk.answer(&question, json!({ "log": format!("{log} LOG ends") }), "It is from worker-9.").await;
    let asked = talk.asked().await;
    has_all(&asked, &["Begin.", "LOG begins", "LOG ends", "It is from worker-9."]);
    assert!(asked.len() <= 16_000 * 3, "{} bytes", asked.len());
    assert_eq!(cut_notes(&talk).await.len(), 1);
}

#[tokio::test]
async fn an_answer_to_question_json_reaches_the_model_with_label_value_and_description() {
    for wire in [Wire::Chat, Wire::Anthropic] {
        let mut talk = Talk::new(wire, 100_000, json!({})).await;
        talk.chat().say("Store it.").await;
        talk.asked().await;
        let question = json!({"type": "question", "question": "Which database?", "context": "Both work.", "severity": "minor",
            "options": [{"label": "A", "value": "postgres", "description": "A server of its own"}, {"label": "B", "value": "sqlite", "description": "One file"}], "default": "sqlite"});
        talk.reply(ScriptedReply::text(&format!("One thing first.\n```json\n{question}\n```")));
        let id = talk.question().await;
        talk.answer(&id, json!({ "answer": "postgres" }), "But only version 18.").await;
        let asked = talk.asked().await;
        let chosen = ["Which database?", "postgres", "A server of its own", "But only version 18."];
        has_all(&asked, &chosen);
        has_all(&asked, &["One thing first.", "sqlite", "One file", "Both work."]);
        let messages = talk.chat().messages().await;
        assert_eq!(messages.last().unwrap()["content"], "[Answered: A]");
        talk.reply(ScriptedReply::text("Postgres it is."));
        talk.finished().await;
        talk.compact_while(&[]).await;
        talk.finished().await;
        talk.restart().await;
        has_all(&talk.exchange("Go on.").await, &chosen);
    }
}

#[tokio::test]
async fn the_answers_to_a_batch_reach_the_model_with_what_their_buttons_say() {
    let mut talk = Talk::new(Wire::Chat, 100_000, json!({})).await;
    talk.chat().say("Release it.").await;
    talk.asked().await;
    let ask = json!({ "questions": [
        { "name": "where", "question": "Where to?", "schema": { "type": "string" }, "buttons": [{ "label": "Production", "value": "p1", "description": "Everybody sees it" }, { "label": "Trial", "value": "t1" }] },
        { "name": "how_many", "question": "How many?", "schema": { "type": "integer" } },
        { "name": "notes", "question": "Anything else?", "schema": { "type": "string" } },
        { "name": "parts", "question": "Which parts?", "schema": { "type": "array", "items": { "oneOf": [{ "const": "w", "title": "The website" }, { "const": "s", "title": "The server" }] } } },
    ] });
    talk.reply(ScriptedReply::text("").call("ask_user", ask));
    let id = talk.question().await;
    talk.answer(&id, json!({ "where": "p1", "how_many": 3, "notes": "first\nsecond", "parts": ["w"] }), "Hurry.").await;
    let asked = talk.asked().await;
    has_all(&asked, &["Everybody sees it", "p1", "Production", "first", "second", "The website", "Hurry."]);
    talk.reply(ScriptedReply::text("Done."));
    talk.finished().await;
    talk.compact_while(&[]).await;
    talk.finished().await;
    has_all(&talk.exchange("And now?").await, &["Where to?", "Everybody sees it", "How many?", "The website", "Hurry."]);
}

#[tokio::test]
async fn a_switch_of_role_during_compaction_is_among_the_decisions_of_the_summary() {
    let mut talk = Talk::new(Wire::Chat, 100_000, json!({})).await;
    talk.exchange("one").await;
    assert_eq!(talk.chat().post("compact").await.0, StatusCode::OK);
    talk.asked().await;
    assert_eq!(talk.chat().patch(json!({ "agent_role": "reviewer" })).await.0, StatusCode::OK);
    talk.reply(ScriptedReply::text("Little was said."));
    talk.finished().await;
    has_all(&talk.exchange("And now?").await, &["The user switched the role from", "Little was said."]);
}
