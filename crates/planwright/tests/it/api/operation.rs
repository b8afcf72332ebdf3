use super::{bare, quiet_home};
use planwright_testkit::server::Server;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

#[tokio::test]
async fn a_request_is_logged_by_its_route_and_id_and_nothing_that_is_secret() {
    let home = quiet_home();
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0", "--log-format", "json"]);
    command.env("PLANWRIGHT_LOG", "info").stderr(Stdio::piped());
    let (server, mut log) = home.serve_logged(command).await;
    let sent = bare(&server, "get", "/api/v1/audit?model=canary-in-the-query")
        .bearer_auth(&server.token)
        .header("x-request-id", "from-the-proxy.7");
    assert_eq!(sent.send().await.unwrap().headers()["x-request-id"], "from-the-proxy.7");
    let forged = bare(&server, "get", "/healthz").header("x-request-id", "two words");
    assert_ne!(forged.send().await.unwrap().headers()["x-request-id"], "two words");
    let mut seen = String::new();
    let line = loop {
        let line = log.next_line().await.unwrap().expect("the request is logged before the server ends");
        seen.push_str(&line);
        if line.contains("from-the-proxy.7") {
            break serde_json::from_str::<Value>(&line).unwrap();
        }
    };
    let fields = &line["fields"];
    assert_eq!((&fields["method"], &fields["route"], &fields["status"]), (&json!("GET"), &json!("/api/v1/audit"), &json!(200)), "{line}");
    assert!(fields["latency_us"].is_u64(), "{line}");
    assert!(!seen.contains("canary-in-the-query") && !seen.contains(&server.token), "{seen}");
}

#[tokio::test]
async fn readiness_says_when_nothing_can_be_kept() {
    let home = quiet_home();
    let server = home.serve().await;
    let ready = async || bare(&server, "get", "/readyz").send().await.unwrap();
    assert_eq!(ready().await.status(), StatusCode::OK);
    // A folder in the way of the file it tries to write: that stops root as well.
    let blocked = home.data().join("writable");
    std::fs::create_dir(&blocked).unwrap();
    std::fs::set_permissions(&blocked, std::fs::Permissions::from_mode(0o500)).unwrap();
    let response = ready().await;
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    let answer: Value = response.json().await.unwrap();
    assert_eq!((&answer["error"]["code"], &answer["error"]["retryable"]), (&json!("NOT_READY"), &json!(true)), "{answer}");
    std::fs::remove_dir(&blocked).unwrap();
    assert_eq!(ready().await.status(), StatusCode::OK);
}

/// The value of a line of the metrics, by all of it that stands before the value.
async fn counted(server: &Server, line: &str) -> f64 {
    let text = bare(server, "get", "/metrics").bearer_auth(&server.token).send().await.unwrap().text().await.unwrap();
    let value = text.lines().find_map(|found| found.strip_prefix(line)?.strip_prefix(' ')?.parse().ok());
    assert!(value.is_some(), "no {line} in\n{text}");
    value.unwrap_or_default()
}

#[tokio::test]
async fn runs_turns_calls_tokens_events_and_requests_are_counted() {
    let home = crate::home(&json!({ "turns": [
        { "calls": [{ "tool": "ls", "args": {} }, { "tool": "write", "args": { "path": "/canary.txt", "content": "canary" } }] },
        { "text": "Done" },
    ] }));
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Go").await;
    chat.run_to_end(0).await;
    for (line, least) in [
        ("planwright_runs_total{outcome=\"done\"}", 1.0),
        ("planwright_turns_total", 2.0),
        ("planwright_tool_calls_total{verdict=\"allowed\"}", 1.0),
        ("planwright_tool_calls_total{verdict=\"denied\"}", 1.0),
        ("planwright_violations_total{code=\"TOOL_BLOCKED_BY_MODE\"}", 1.0),
        ("planwright_events_total{type=\"run_finished\"}", 1.0),
        ("planwright_event_deliveries_total", 1.0),
        ("planwright_http_requests_total{method=\"POST\",route=\"/api/v1/workspaces/{wid}/chats\",status=\"201\"}", 1.0),
        ("planwright_http_request_duration_seconds_count{method=\"POST\",route=\"/api/v1/workspaces/{wid}/chats\"}", 1.0),
    ] {
        assert!(counted(&server, line).await >= least, "{line}");
    }
    let text = bare(&server, "get", "/metrics").bearer_auth(&server.token).send().await.unwrap().text().await.unwrap();
    assert!(!text.contains("canary") && !text.contains(&server.token));
    assert_eq!(bare(&server, "get", "/metrics").send().await.unwrap().status(), StatusCode::UNAUTHORIZED);
    assert_eq!(server.request(Method::GET, "/metrics", None).await.0, StatusCode::NOT_FOUND);
}
