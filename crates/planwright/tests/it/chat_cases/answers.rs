//! Questions of the model, and answers that come twice, late, from elsewhere, or do not fit.

use super::scenarios;
use super::seen::Seen;
use super::stage::{Stage, newest, pending, say, settle};
use planwright_testkit::server::{ChatClient, Server, of_type};
use reqwest::StatusCode;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

scenarios! {
    "QA-002" => an_answer_is_sent,
    "QA-003" => answers_are_sent_at_once,
    "QA-004" => answers_are_sent_at_once,
    "QA-005" => an_answer_is_sent,
    "QA-006" => an_answer_is_sent,
    "QA-008" => an_answer_is_sent,
    "QA-010" => an_answer_is_sent,
    "QA-011" => an_answer_is_sent,
    "QA-013" => an_answer_is_sent,
    "QA-016" => an_answer_is_sent,
    "QA-017" => a_schema_names_an_address,
    "QA-018" => the_model_asks,
    "QA-019" => the_model_asks,
    "QA-021" => the_model_asks_nothing_and_too_much,
    "QA-024" => an_answer_is_sent,
    "QA-027" => an_answer_is_sent,
    "QA-029" => an_answer_is_sent,
}

const THANKS: &str = "Thank you.";

fn asks(questions: &Value) -> Value {
    json!({ "tool": "ask_user", "args": { "questions": questions } })
}

/// A chat in which the case's question waits, and what the user does next has been done.
async fn waiting(stage: &Stage) -> (Server, String, Value) {
    let steps = stage.written["setup"].as_array().unwrap();
    stage.home.write_script(&json!({ "turns": [{ "calls": [asks(&steps[0]["questions"])] }, { "text": THANKS }] }));
    let mut server = stage.serve().await;
    let chat = stage.chat(&server).await;
    say(&chat, "Ask").await;
    let (path, question) = (chat.path.clone(), pending(&chat).await);
    for step in &steps[1..] {
        let chat = server.reopened(&path);
        match step["op"].as_str().unwrap() {
            "user_answer" => {
                let after = newest(&chat).await;
                assert_eq!(chat.answer(&question, step["answers"].clone()).await.0, StatusCode::ACCEPTED);
                chat.run_to_end(after).await;
            }
            "stop_run" => assert_eq!(chat.post("stop").await.0, StatusCode::OK),
            "kill9" => {
                server.kill().await;
                server = stage.serve().await;
            }
            "restart" => {}
            other => panic!("nobody does {other}"),
        }
    }
    (server, path, question)
}

/// The body of the case with the ids of real questions.
async fn body(written: &Value, server: &Server, question: &Value) -> Value {
    let mut body = written.clone();
    let answer = &mut body["metadata"]["question_answer"];
    match answer["question_id"].as_str().unwrap() {
        "q1" => answer["question_id"] = question.clone(),
        "q-of-chat-B" => {
            let other = server.chat(json!({ "mode": "build" })).await;
            say(&other, "Ask").await;
            answer["question_id"] = pending(&other).await;
        }
        _ => {}
    }
    // The file has a note in place of ten million letters.
    if answer["answers"]["confirm"].as_str().is_some_and(|text| text.ends_with("...10MB")) {
        answer["answers"]["confirm"] = "x".repeat(10 << 20).into();
    }
    body
}

/// How often the model went on after its question.
async fn resumed(stage: &Stage, chat: &ChatClient<'_>) -> usize {
    // One that goes on without leave would have begun by then.
    tokio::time::sleep(Duration::from_millis(100)).await;
    settle(chat).await;
    let thanks = chat.messages().await.iter().filter(|message| message["content"] == THANKS).count();
    // The script has nothing to say a third time, so then the run fails.
    let failed = of_type(&stage.events(chat).await, "run_finished").iter().filter(|end| end["outcome"] == "failed").count();
    thanks + failed
}

async fn an_answer_is_sent(stage: Arc<Stage>) -> Seen {
    let (server, path, question) = waiting(&stage).await;
    let chat = server.reopened(&path);
    let body = body(&stage.case.args["json"], &server, &question).await;
    stage.begin();
    let begun = server.stopwatch();
    let answer = server.post(&format!("{path}/messages"), body).await;
    let elapsed = begun.elapsed();
    let times = resumed(&stage, &chat).await;
    Seen::answer(&answer).in_chat(&chat).await.within(elapsed).fact("run_resumed", times)
}

async fn answers_are_sent_at_once(stage: Arc<Stage>) -> Seen {
    let (server, path, question) = waiting(&stage).await;
    let args = &stage.case.args;
    let times = usize::try_from(args["concurrency"].as_u64().unwrap_or(1)).unwrap();
    let written: Vec<Value> = match args["pair"].as_array() {
        Some(pair) => pair.iter().map(|request| request["json"].clone()).collect(),
        None => vec![args["json"].clone(); times],
    };
    stage.begin();
    let server = Arc::new(server);
    let mut sent = tokio::task::JoinSet::new();
    for written in written {
        let body = body(&written, &server, &question).await;
        let (server, path) = (server.clone(), format!("{path}/messages"));
        sent.spawn(async move { server.post(&path, body).await });
    }
    let answers = sent.join_all().await;
    let accepted: Vec<&(StatusCode, Value)> = answers.iter().filter(|(status, _)| *status == StatusCode::ACCEPTED).collect();
    for (status, body) in answers.iter().filter(|(status, _)| *status != StatusCode::ACCEPTED) {
        assert_eq!((*status, &body["error"]["code"]), (StatusCode::CONFLICT, &json!("QUESTION_NOT_PENDING")));
    }
    let chat = server.reopened(&path);
    let times = resumed(&stage, &chat).await;
    Seen::answer(accepted[0]).in_chat(&chat).await.fact("accepted", accepted.len()).fact("run_resumed", times)
}

/// The model asks what no user could answer; the time is that of the whole run.
async fn asked(stage: &Stage, server: &Server, args: &Value) -> Seen {
    stage.home.write_script(&json!({ "turns": [{ "calls": [{ "tool": "ask_user", "args": args }] }, { "text": "As you like." }] }));
    let chat = stage.chat(server).await;
    stage.begin();
    let begun = server.stopwatch();
    let events = say(&chat, "Ask").await;
    let elapsed = begun.elapsed();
    assert_eq!(server.request(reqwest::Method::GET, "/me", None).await.0, StatusCode::OK, "the server is not well");
    Seen::last_call(&chat, events).await.within(elapsed)
}

async fn the_model_asks(stage: Arc<Stage>) -> Seen {
    let server = stage.serve().await;
    asked(&stage, &server, &stage.case.args).await
}

async fn the_model_asks_nothing_and_too_much(stage: Arc<Stage>) -> Seen {
    let server = stage.serve().await;
    let none = asked(&stage, &server, &json!({ "questions": [] })).await;
    assert!(none.is_refused_with("INVALID_ARGUMENTS"), "{none:?}");
    let count = stage.case.args["questions_gen"]["n"].as_u64().unwrap();
    let many: Vec<Value> =
        (0..count).map(|number| json!({ "name": format!("q{number}"), "question": "?", "schema": { "type": "boolean" } })).collect();
    asked(&stage, &server, &json!({ "questions": many })).await
}

async fn a_schema_names_an_address(stage: Arc<Stage>) -> Seen {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let came = Arc::new(AtomicUsize::new(0));
    let counted = came.clone();
    let listening = tokio::spawn(async move {
        while listener.accept().await.is_ok() {
            counted.fetch_add(1, Ordering::SeqCst);
        }
    });
    let server = stage.serve().await;
    let ours = json!({ "questions": [{ "name": "x", "question": "?", "schema": { "$ref": format!("http://{address}/latest") } }] });
    let refused = asked(&stage, &server, &ours).await;
    assert!(refused.is_refused_with("INVALID_ARGUMENTS"), "{refused:?}");
    let seen = asked(&stage, &server, &stage.case.args).await;
    listening.abort();
    seen.fact("no_network", came.load(Ordering::SeqCst) == 0)
}
