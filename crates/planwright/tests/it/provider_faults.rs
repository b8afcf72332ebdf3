//! The guard cases of providers that fail: nothing half done, nothing lost.

use crate::wires::{KEY, home_with, serve, with_key};
use futures::future::join_all;
use planwright_testkit::guard::{Case, CaseDecision, CaseFinding, CaseOutcome, CaseReport, Harness, Suite, announce, misfit};
use planwright_testkit::model_server::{Fault, ModelServer, ReceivedRequest, ScriptedReply, Wire};
use planwright_testkit::server::{ChatClient, Server, last_id, of_type};
use planwright_testkit::stopwatch::Stopwatch;
use serde_json::{Value, json};
use std::time::Duration;

/// What is said in the case where the text matters.
const SPLIT: &str = "开始执行 🚀";

#[tokio::test]
async fn every_guard_case_of_failing_providers_holds() {
    let suite = Suite::load();
    let cases: Vec<&Case> = suite.of(&[Harness::Server]).filter(|case| case.group == "provider-faults").collect();
    let findings = join_all(cases.iter().map(|case| async move {
        let (outcome, mut wrong) = play(case).await;
        wrong.extend(misfit(case, &outcome));
        (*case, if wrong.is_empty() { CaseFinding::Holds } else { CaseFinding::Broken(wrong.join("\n")) })
    }))
    .await;
    let report = CaseReport::new(&findings, &[]);
    announce(&format_args!("\n{report}"));
    assert!(report.wrong().is_empty(), "{}", report.wrong().join("\n\n"));
}

/// The replies of a server with this fault, and what its configuration needs so that nobody waits for minutes.
fn replies(case: &Case) -> (Vec<ScriptedReply>, &'static str) {
    let fault = &case.args["fault"];
    let good =
        || vec![ScriptedReply::text("Writing.").call("write", json!({"path": "/once.txt", "content": "x"})), ScriptedReply::text("Done.")];
    let before = |bad: Vec<ScriptedReply>| [bad, good()].concat();
    let one = |reply: ScriptedReply| (vec![reply], "");
    if let Some(status) = fault["status"].as_u64() {
        let header = fault["headers"]["Retry-After"].as_str().map(|value| ("Retry-After", value));
        let body = json!({"error": {"message": format!("no, {KEY}"), "code": fault["body"]}}).to_string();
        let times = usize::try_from(fault["times"].as_u64().unwrap_or(1)).unwrap();
        return (before(vec![ScriptedReply::status(u16::try_from(status).unwrap(), header, &body); times]), "");
    }
    let half = || good().remove(0);
    match (fault["cut"].as_str(), fault["finish"].as_str()) {
        (Some("after_text"), _) => return one(half().but(Fault::CutAfterText)),
        (Some(_), Some(_)) => return one(half().but(Fault::LengthInArguments)),
        (Some(_), None) => return one(half().but(Fault::CutInArguments)),
        (None, _) => {}
    }
    if fault["split"] == "utf8" {
        one(ScriptedReply::text(SPLIT))
    } else if fault["garble"] == "utf8" {
        one(ScriptedReply::text("no BAD day").but(Fault::BadCharacter))
    } else if fault["sse_variants"] == true {
        one(ScriptedReply::text("ok").but(Fault::Variants))
    } else if !fault["stall_s"].is_null() {
        (vec![ScriptedReply::text("").but(Fault::Silence); 2], "timeout_s = 4")
    } else if !fault["drip_s"].is_null() {
        (vec![ScriptedReply::text("word ").but(Fault::Drip(Duration::from_millis(300)))], "reply_timeout_s = 4")
    } else if fault["loop"] == "unknown_tool" {
        (vec![ScriptedReply::text("").call("no_such_tool", "{}"); 20], "")
    } else {
        one(ScriptedReply::text("word ").but(Fault::Drip(Duration::from_millis(100))))
    }
}

async fn play(case: &Case) -> (CaseOutcome, Vec<String>) {
    let (replies, more) = replies(case);
    let models = ModelServer::start(Wire::Chat, replies).await;
    let home = home_with(&models, more);
    let server = serve(&home).await;
    let chat = server.chat(json!({ "agent_role": case.role })).await;
    let before = if case.args["fault"]["body"].is_null() { Vec::new() } else { talk(&models, &chat).await };
    let started = server.stopwatch();
    let said = chat.say("Go").await;
    let mut wrong = Vec::new();
    if case.args["fault"]["user_stop"] == true {
        wrong.extend(stop(&server, &chat).await);
    }
    let events = chat.run_to_end(last_id(&before)).await;
    let asked = models.asked();
    let end = of_type(&events, "run_finished")[0].clone();
    let code = end["error"]["code"].as_str().map(str::to_owned);
    let messages = chat.messages().await;
    for invariant in raw(case)["expect"]["invariants"].as_array().unwrap() {
        wrong.extend(broken(invariant, &messages, &asked, &started, &said));
    }
    // The chat goes on after any fault.
    models.only(ScriptedReply::text("Still here."));
    chat.say("And now?").await;
    let after = chat.run_to_end(last_id(&events)).await;
    if of_type(&after, "run_finished")[0]["outcome"] != "done" {
        wrong.push(format!("the chat does not go on: {after:#?}"));
    }
    let output = Value::from([events, after, messages].concat()).to_string();
    if output.contains(KEY) {
        wrong.push("the key is in what the server shows".to_owned());
    }
    let decision = if code.is_some() { CaseDecision::Error } else { CaseDecision::Allow };
    (CaseOutcome { decision, code, output, facts: serde_json::Map::new(), mode: String::new() }, wrong)
}

/// A chat can only be too long once something was said in it.
async fn talk(models: &ModelServer, chat: &ChatClient<'_>) -> Vec<Value> {
    models.first(ScriptedReply::text("Hello."));
    chat.say("Hi").await;
    chat.run_to_end(0).await
}

/// Stops in the middle of the answer.
async fn stop(server: &Server, chat: &ChatClient<'_>) -> Option<String> {
    chat.events(0, |event| event["type"] == "text_delta").await;
    let started = server.stopwatch();
    chat.post("stop").await;
    let took = started.elapsed();
    let limit = Duration::from_millis(500) * if cfg!(debug_assertions) { 4 } else { 1 };
    (took > limit).then(|| format!("the stop took {took:?}"))
}

/// The case as it is written, for what is read nowhere else.
fn raw(case: &Case) -> Value {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../testkit/data/guard-cases.json");
    let all: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    all["cases"].as_array().unwrap().iter().find(|known| known["id"] == case.id.as_str()).unwrap().clone()
}

fn broken(invariant: &Value, messages: &[Value], asked: &[ReceivedRequest], started: &Stopwatch, said: &Value) -> Option<String> {
    let waits: Vec<f64> = asked.windows(2).map(|pair| (pair[1].at - pair[0].at).as_secs_f64()).collect();
    let first = waits.first().copied().unwrap_or_default();
    let late = started.waited().as_secs_f64();
    let number = |name: &str| invariant[name].as_f64();
    let results = messages.iter().filter(|message| message["message_type"] == "tool_result").count();
    let replies: Vec<&Value> =
        messages.iter().filter(|message| message["author"] == "assistant" && message["message_type"] == "text").collect();
    let holds = match invariant["type"].as_str().unwrap() {
        "retry_wait_s" => first >= number("min").unwrap_or(0.0) && first <= number("max").unwrap_or(f64::MAX) + 2.0 + late,
        // Each wait is at most twice as long as the longest before could be, and the first five are not alike.
        "backoff" => {
            waits[..5].iter().enumerate().all(|(n, wait)| *wait >= 0.5 * f64::from(1 << n) && *wait < f64::from(1 << n) + 3.0 + late)
        }
        "messages_lost" => messages.iter().filter(|message| message["id"] == said["id"]).count() == 1,
        "tool_executions" => results == 0,
        "tool_executions_per_call" => results == 1,
        "retries" => asked.len() == 1,
        "message_state" => replies.iter().any(|reply| reply["metadata"]["status"] == invariant["equals"] && reply["content"] == "Writing."),
        "text_equals" => replies.last().is_some_and(|reply| reply["content"] == invariant["value"]),
        "valid_utf8_in_api" => replies.last().is_some_and(|reply| reply["content"].as_str().is_some_and(|text| text.contains('\u{fffd}'))),
        "deadline_ms" => started.elapsed().as_secs_f64() * 1000.0 <= number("max").unwrap(),
        "run_deadline_enforced" => started.elapsed() < Duration::from_secs(50),
        "max_turns" => asked.len() as u64 <= invariant["value"].as_u64().unwrap(),
        // Looked at elsewhere: the bytes in `keys.rs` as well, the stop where it happens, life by going on.
        "bytes_lack" | "stopped_within_ms" | "server_alive" => true,
        other => return Some(format!("nobody looks at {other:?}")),
    };
    let (elapsed, asked) = (started.elapsed(), asked.len());
    (!holds).then(|| format!("{invariant} does not hold: waits {waits:?}, {elapsed:?}, {asked} asked, messages {messages:#?}"))
}

#[tokio::test]
async fn a_run_says_in_plain_words_when_it_asks_again_and_shows_no_log() {
    let busy = ScriptedReply::status(429, Some(("Retry-After", "0")), "slow down");
    let models = ModelServer::start(Wire::Chat, [busy.clone(), ScriptedReply::text("Half").but(Fault::ErrorEvent)]).await;
    let home = home_with(&models, "");
    let output = with_key(&home, &["run", "Hi"]).output().await.unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let line = said.lines().find(|line| line.starts_with("retrying in ")).unwrap_or_else(|| panic!("{said}"));
    assert!(line.ends_with(" s (PROVIDER_RATE_LIMITED)"), "{line}");
    assert!(["\u{1b}", "WARN", "rig_core", "planwright_"].iter().all(|log| !said.contains(log)), "{said}");
    models.only(busy);
    models.then(ScriptedReply::text("Hello."));
    let output = with_key(&home, &["run", "Hi"]).env("PLANWRIGHT_LOG", "info").output().await.unwrap();
    let log = String::from_utf8(output.stderr).unwrap();
    assert!(log.contains("INFO planwright_providers::remote: retrying") && !log.contains('\u{1b}'), "{log}");
}

#[tokio::test]
async fn an_empty_answer_is_told_in_the_history_and_beside_the_run() {
    for wire in Wire::ALL {
        let models = ModelServer::start(wire, [ScriptedReply::text("")]).await;
        let home = home_with(&models, "");
        let output = with_key(&home, &["run", "Hi"]).output().await.unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && said.contains("! The model's answer is empty"), "{wire:?}: {said}");
        models.then(ScriptedReply::text(""));
        let output = with_key(&home, &["run", "Hi", "--json"]).output().await.unwrap();
        let events: Vec<Value> = output.stdout.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
        let notes = of_type(&events, "message_created");
        assert!(notes.iter().any(|event| event["message"]["author"] == "system"), "{wire:?}: {events:#?}");
    }
}

#[tokio::test]
async fn a_reply_that_is_cut_off_by_its_length_is_counted_though_nothing_of_it_is_kept() {
    let models = ModelServer::start(Wire::Chat, [ScriptedReply::text("Writing.").call("write", "{}").but(Fault::LengthInArguments)]).await;
    let home = home_with(&models, "");
    let server = serve(&home).await;
    let chat = server.chat(json!({})).await;
    chat.say("Go").await;
    let events = chat.run_to_end(0).await;
    assert_eq!(of_type(&events, "run_finished")[0]["error"]["code"], "PROVIDER_GARBLED");
    let used = &of_type(&events, "usage")[0]["output_tokens"];
    assert!(used.as_u64().is_some_and(|tokens| tokens > 0), "{events:#?}");
    assert_eq!(&chat.show().await["usage"]["output_tokens"], used);
}
