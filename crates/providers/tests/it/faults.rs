//! Whatever goes wrong has our code, says what to do, and leaves nothing half done.

use crate::{endpoint, hear, model, user};
use planwright_agent::Provider;
use planwright_protocol::ErrorCode::{self, *};
use planwright_providers::{Endpoint, Remote, Timeouts, check};
use planwright_testkit::PATIENCE;
use planwright_testkit::model_server::{Fault, MODEL, ModelServer, ScriptedReply, Wire};
use planwright_testkit::stopwatch::Stopwatch;
use std::time::{Duration, Instant};

fn half_done() -> ScriptedReply {
    ScriptedReply::text("I will read it.").call("read", r#"{"path": "/a"}"#)
}

async fn failure(wire: Wire, reply: ScriptedReply) -> (crate::Heard, ErrorCode, String) {
    let server = ModelServer::start(wire, [reply]).await;
    let heard = hear(&model(&server), vec![user("Go")]).await;
    let problem = heard.failure.clone().unwrap_or_else(|| panic!("{wire:?} did not fail: {heard:?}"));
    assert!(heard.calls.is_empty(), "{wire:?} passed on a call of a reply that failed");
    assert!(!format!("{problem:?}").contains("CANARY"), "{problem:?}");
    (heard, problem.code, problem.message)
}

#[tokio::test]
async fn a_stream_that_is_cut_or_garbled_passes_on_no_call() {
    for wire in Wire::ALL {
        for fault in [Fault::CutAfterText, Fault::CutInArguments, Fault::LengthInArguments, Fault::Garbage] {
            let (heard, code, message) = failure(wire, half_done().but(fault.clone())).await;
            assert_eq!(code, ProviderGarbled, "{wire:?}, {fault:?}: {message}");
            assert_eq!(heard.text, "I will read it.", "{wire:?}, {fault:?}: what had come was shown");
            let known = heard.usage.is_some_and(|usage| usage.input_tokens == 100);
            assert!(known || wire != Wire::Anthropic, "{fault:?}: the usage at the beginning is counted: {heard:?}");
            let counted = heard.usage.is_some_and(|usage| usage.output_tokens > 0);
            assert!(counted || fault != Fault::LengthInArguments, "{wire:?}: what is cut off by its length is paid for: {heard:?}");
        }
    }
}

#[tokio::test]
async fn an_error_in_the_middle_of_a_stream_is_the_servers_and_not_the_users() {
    for wire in Wire::ALL {
        let (_, code, message) = failure(wire, half_done().but(Fault::ErrorEvent)).await;
        assert_eq!(code, ProviderUnavailable, "{wire:?}: {message}");
        assert!(message.contains("verloaded"), "{wire:?}: {message}");
    }
}

#[tokio::test]
async fn odd_but_lawful_streams_and_bad_bytes_are_read() {
    for wire in Wire::ALL {
        let server = ModelServer::start(
            wire,
            [ScriptedReply::text("ok").but(Fault::Variants), ScriptedReply::text("no BAD day").but(Fault::BadCharacter)],
        )
        .await;
        let model = model(&server);
        let heard = hear(&model, vec![user("Go")]).await;
        assert_eq!((heard.failure, heard.text.as_str()), (None, "ok"), "{wire:?}");
        let heard = hear(&model, vec![user("Go")]).await;
        assert_eq!(heard.failure, None, "{wire:?}");
        assert!(heard.text.starts_with("no \u{fffd}") && heard.text.ends_with(" day"), "{wire:?}: {:?}", heard.text);
    }
}

#[tokio::test]
async fn a_refusal_says_what_to_do_and_never_the_key() {
    let echo = r#"{"error": {"message": "Incorrect API key provided: sk-live-CANARY", "type": "invalid_request_error", "code": "invalid_api_key"}}"#;
    let too_long = r#"{"error": {"message": "This model's maximum context length is 8192 tokens", "code": "context_length_exceeded"}}"#;
    let unpaid = r#"{"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}"#;
    for wire in Wire::ALL {
        for (status, body, words) in [
            (401, echo, "Set TEST_API_KEY"),
            (403, echo, "Set TEST_API_KEY"),
            (404, r#"{"error": {"message": "no such model"}}"#, "no model \"test-model\""),
            (400, too_long, "Compact the chat"),
            (402, unpaid, "billing"),
            (429, unpaid, "billing"),
            (400, echo, "Check that the model's name"),
            (422, "{}", "max_output_tokens"),
            (413, "{}", "Compact the chat"),
            (407, "{}", "HTTPS_PROXY"),
            (418, "<!DOCTYPE html><html><body>CANARY</body></html>", "the answer is a web page"),
            (307, "", "base_url"),
        ] {
            let (_, code, message) = failure(wire, ScriptedReply::status(status, None, body)).await;
            assert_eq!(code, ProviderRejected, "{wire:?}, {status}: {message}");
            assert!(message.contains(words), "{wire:?}, {status}: {message}");
        }
    }
}

#[tokio::test]
async fn one_who_answers_is_not_said_to_be_out_of_reach() {
    let server = ModelServer::start(Wire::Chat, vec![ScriptedReply::status(500, Some(("Retry-After", "0")), "<html>oops</html>"); 6]).await;
    let problem = hear(&model(&server), vec![user("Go")]).await.failure.unwrap();
    assert_eq!(problem.code, ProviderUnavailable);
    assert!(
        problem.message.contains("answered with HTTP 500: the answer is a web page") && !problem.message.contains("oops"),
        "{}",
        problem.message
    );
    assert!(problem.retryable && ProviderGarbled.retryable(), "whoever is told to try again may");
}

#[tokio::test]
async fn a_line_that_never_ends_is_ended_early() {
    for wire in [Wire::Chat, Wire::Ollama] {
        let server = ModelServer::start(wire, [ScriptedReply::text(&"word".repeat(64 * 1024)).but(Fault::OneLine)]).await;
        let problem = hear(&model(&server), vec![user("Go")]).await.failure.unwrap();
        assert_eq!(problem.code, LimitReached, "{wire:?}: {}", problem.message);
        assert!(problem.message.contains("a line of the reply is longer than 8 MiB"), "{wire:?}: {}", problem.message);
    }
}

#[tokio::test]
async fn a_passing_failure_is_tried_again_and_the_answer_comes_once() {
    for wire in Wire::ALL {
        let busy = [ScriptedReply::status(529, None, "overloaded"), ScriptedReply::status(429, Some(("Retry-After", "1")), "slow down")];
        let server = ModelServer::start(wire, busy.into_iter().chain([half_done()])).await;
        let watch = Stopwatch::start(&[]);
        let heard = hear(&model(&server), vec![user("Go")]).await;
        assert_eq!((heard.failure, heard.text.as_str(), heard.calls.len()), (None, "I will read it.", 1), "{wire:?}");
        let asked = server.asked();
        assert_eq!(asked.len(), 3, "{wire:?}");
        let wait = asked[2].at - asked[1].at;
        let longest = Duration::from_secs(4) + watch.waited();
        assert!((Duration::from_secs(1)..longest).contains(&wait), "{wire:?} waited {wait:?}");
    }
}

#[tokio::test]
async fn a_refusal_is_not_tried_again() {
    let server = ModelServer::start(Wire::Chat, [ScriptedReply::status(401, None, "no"), half_done()]).await;
    hear(&model(&server), vec![user("Go")]).await;
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn nobody_there_is_told_with_the_address() {
    let server = ModelServer::start(Wire::Chat, []).await;
    let endpoint = Endpoint { base_url: "http://127.0.0.1:1/v1".into(), ..endpoint(&server) };
    let problem = check(endpoint, MODEL).await.unwrap_err();
    assert_eq!(problem.code, ProviderUnavailable);
    assert!(problem.message.contains("http://127.0.0.1:1/v1") && problem.message.contains("Start the server"), "{}", problem.message);
    let keyless = Endpoint { key: None, ..self::endpoint(&server) };
    let problem = check(keyless, MODEL).await.unwrap_err();
    assert!(problem.message.contains("set TEST_API_KEY") && server.heard().is_empty(), "{}", problem.message);
}

#[tokio::test]
async fn a_server_that_is_silent_once_is_asked_once_more() {
    for wire in Wire::ALL {
        let server = ModelServer::start(wire, [ScriptedReply::text("").but(Fault::Silence), half_done()]).await;
        let heard = hear(&model(&server), vec![user("Go")]).await;
        assert_eq!((heard.failure, heard.text.as_str(), heard.calls.len()), (None, "I will read it.", 1), "{wire:?}");
        assert_eq!(server.asked().len(), 2, "{wire:?}");
    }
}

#[tokio::test]
async fn a_silent_server_is_given_up_in_time_and_asked_once_more_only_before_its_first_word() {
    for (fault, text, asked) in [(Fault::Silence, "", 2), (Fault::SilenceAfterText, "Hello", 1)] {
        let silent = || ScriptedReply::text("Hello").but(fault.clone());
        let server = ModelServer::start(Wire::Anthropic, [silent(), silent(), half_done()]).await;
        let started = Stopwatch::start(&[]);
        let heard = hear(&model(&server), vec![user("Go")]).await;
        let problem = heard.failure.unwrap();
        assert_eq!((problem.code, heard.text.as_str()), (ProviderUnavailable, text), "{}", problem.message);
        assert!(problem.message.contains("timeout_s"), "{}", problem.message);
        assert!(started.elapsed() < Duration::from_secs(30));
        assert_eq!(server.asked().len(), asked);
    }
}

#[tokio::test]
async fn a_reply_that_never_ends_is_ended() {
    let drip = || ScriptedReply::text("word ").but(Fault::Drip(Duration::from_millis(200)));
    let server =
        ModelServer::start(Wire::Chat, [drip(), ScriptedReply::text(&"word ".repeat(20_000)).but(Fault::Drip(Duration::ZERO))]).await;
    let timeouts = |reply: u64, bytes: usize| Timeouts { reply: Duration::from_secs(reply), bytes, ..Timeouts::default() };
    for (timeouts, words) in [(timeouts(2, usize::MAX), "reply_timeout_s"), (timeouts(600, 4 * 1024 * 1024), "MiB")] {
        let model = Remote::new(Endpoint { timeouts, ..endpoint(&server) }, MODEL).unwrap();
        let problem = hear(&model, vec![user("Go")]).await.failure.unwrap();
        assert_eq!(problem.code, LimitReached, "{}", problem.message);
        assert!(problem.message.contains(words), "{}", problem.message);
    }
}

#[tokio::test]
async fn dropping_a_reply_ends_the_request() {
    let server = ModelServer::start(Wire::Chat, [ScriptedReply::text("word ").but(Fault::Drip(Duration::from_millis(20)))]).await;
    let model = model(&server);
    let stream = model.stream(crate::request(vec![user("Go")])).await.unwrap();
    assert_eq!(server.hung_up(), 0);
    drop(stream);
    let started = Instant::now();
    while server.hung_up() == 0 {
        assert!(started.elapsed() < PATIENCE, "the server was not told");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_check_tells_a_good_set_up_from_each_bad_one() {
    for wire in Wire::ALL {
        let server = ModelServer::start(wire, []).await;
        assert!(check(endpoint(&server), MODEL).await.unwrap().contains("knows the model"), "{wire:?}");
        let problem = check(endpoint(&server), "mistyped").await.unwrap_err();
        assert!(problem.message.contains("mistyped") && problem.message.contains(MODEL), "{wire:?}: {}", problem.message);
        let unnamed = check(endpoint(&server), "").await.unwrap();
        assert!(unnamed.ends_with(" answers"), "{wire:?}: {unnamed}");
        for (reply, words) in [
            (ScriptedReply::status(503, None, "busy"), "check its log"),
            (ScriptedReply::status(502, None, "<html>bad gateway</html>"), "is a web page"),
        ] {
            server.only(reply);
            let problem = check(endpoint(&server), MODEL).await.unwrap_err();
            assert!(problem.message.contains(words) && !problem.message.contains("send a message"), "{wire:?}: {}", problem.message);
        }
        if wire == Wire::Anthropic {
            server.only(ScriptedReply::status(200, None, r#"{"data": [{"id": "test-model", "type": "model"}]}"#));
            let unread = check(endpoint(&server), MODEL).await.unwrap();
            assert!(unread.contains("answers; its list of models is unreadable"), "{unread}");
            server.only(ScriptedReply::status(200, None, "<html>Welcome</html>"));
            let problem = check(endpoint(&server), MODEL).await.unwrap_err();
            assert!(problem.message.contains("Check `kind` and base_url"), "{}", problem.message);
        }
        server.only(ScriptedReply::status(401, None, "bad key sk-live-CANARY"));
        let problem = check(endpoint(&server), MODEL).await.unwrap_err();
        assert!(problem.message.contains("TEST_API_KEY") && !problem.message.contains("CANARY"), "{wire:?}: {}", problem.message);
    }
}
