//! `planwright serve`: who is let in, and how it fails.

use crate::{BINARY, home};
use planwright_testkit::server::of_type;
use reqwest::{Client, Method, StatusCode};
use serde_json::{Value, json};
use std::process::Stdio;

fn script() -> Value {
    json!({ "turns": [{ "text": "Hello there" }], "repeat": true })
}

#[tokio::test]
async fn only_the_token_opens_the_api_and_a_foreign_host_or_origin_never_does() {
    let home = home(&script());
    let server = home.serve().await;
    let client = Client::new();
    let url = format!("{}/api/v1/workspaces", server.base);
    let status = async |request: reqwest::RequestBuilder| request.send().await.unwrap().status();
    assert_eq!(status(client.get(&url)).await, StatusCode::UNAUTHORIZED);
    assert_eq!(status(client.get(&url).bearer_auth("wrong")).await, StatusCode::UNAUTHORIZED);
    assert_eq!(status(client.get(&url).bearer_auth(&server.token)).await, StatusCode::OK);
    assert_eq!(status(client.get(&url).bearer_auth(&server.token).header("host", "evil.example")).await, StatusCode::FORBIDDEN);
    assert_eq!(status(client.get(&url).bearer_auth(&server.token).header("origin", "http://evil.example")).await, StatusCode::FORBIDDEN);
    assert_eq!(status(client.get(format!("{}/healthz", server.base))).await, StatusCode::OK);
}

#[tokio::test]
async fn errors_are_json_and_say_what_to_do() {
    let home = home(&script());
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    for (method, path, body, status, code) in [
        (Method::GET, "/nowhere".to_owned(), None, 404, "NOT_FOUND"),
        (Method::GET, "/workspaces/x".to_owned(), None, 404, "NOT_FOUND"),
        (Method::DELETE, "/me".to_owned(), None, 405, "METHOD_NOT_ALLOWED"),
        (Method::POST, format!("{}/messages", chat.path), Some(json!({ "content": " " })), 422, "VALIDATION_FAILED"),
        (Method::POST, format!("{}/messages", chat.path), Some(json!({ "content": 7 })), 422, "VALIDATION_FAILED"),
        (Method::PATCH, chat.path.clone(), Some(json!({ "mode": "yolo" })), 422, "VALIDATION_FAILED"),
        (Method::PATCH, chat.path.clone(), Some(json!({ "agent_role": "planner", "agent_mode": "act" })), 422, "VALIDATION_FAILED"),
    ] {
        let (got, error) = server.request(method.clone(), &path, body).await;
        assert_eq!((got.as_u16(), error["error"]["code"].as_str()), (status, Some(code)), "{method} {path}: {error}");
        assert!(error["error"]["message"].as_str().unwrap().len() > 10);
    }
    let malformed = Client::new()
        .post(format!("{}/api/v1{}/messages", server.base, chat.path))
        .bearer_auth(&server.token)
        .header("content-type", "application/json")
        .body("{")
        .send();
    assert_eq!(malformed.await.unwrap().status(), StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_second_server_on_the_same_data_is_refused() {
    let home = home(&script());
    let _server = home.serve().await;
    let second = home.command(&["serve", "--listen", "127.0.0.1:0"]).stdout(Stdio::null()).output().await.unwrap();
    assert_eq!(second.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&second.stderr).contains("DATA_DIR_LOCKED"));
}

#[tokio::test]
async fn the_mode_survives_a_restart() {
    let home = home(&script());
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    assert_eq!(chat.patch(json!({ "agent_role": "Tester" })).await.0, StatusCode::OK);
    let path = chat.path.clone();
    assert!(server.terminate().await);
    let server = home.serve().await;
    assert_eq!(
        server.reopened(&path).show().await["config"],
        json!({"agent_role": "tester", "agent_mode": "act", "mode": "build", "plan_file": null})
    );
}

#[tokio::test]
async fn a_client_that_comes_back_with_its_last_id_misses_nothing() {
    let home = home(&script());
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Hi").await;
    let all = chat.run_to_end(0).await;
    let middle = all[all.len() / 2]["seq"].as_u64().unwrap();
    let stored = |events: &[Value]| -> Vec<Value> {
        events.iter().filter(|event| event["seq"].as_u64() > Some(middle) && event["type"] != "text_delta").cloned().collect()
    };
    assert_eq!(stored(&chat.run_to_end(middle).await), stored(&all));
    assert_eq!(of_type(&chat.events(u64::from(u32::MAX), |_| true).await, "reset").len(), 1);
    let mut stream = server.stream(&format!("{}/events", chat.path), Some("nonsense")).await;
    assert_eq!(stream.next().await.unwrap()["type"], "reset");
}

#[tokio::test]
async fn without_a_model_the_server_starts_and_a_run_says_how_to_get_one() {
    let home = home(&script());
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env_remove("PLANWRIGHT_MODEL");
    let server = home.serve_command(command).await;
    let chat = server.chat(json!({})).await;
    chat.say("Hi").await;
    let finished = chat.run_to_end(0).await;
    let error = &of_type(&finished, "run_finished")[0]["error"];
    assert!(error["message"].as_str().unwrap().contains("demo/demo"), "{error}");
}

#[tokio::test]
async fn empty_variables_count_as_not_set() {
    let home = home(&json!({ "turns": [{ "text": "Hello." }] }));
    home.put_config("[models]\ndefault = \"demo/demo\"\n");
    let names = ["MODEL", "DATABASE_URL", "AUTH", "PUBLIC_URL", "TRUSTED_PROXY", "WORKSPACE_ROOT", "REQUESTS_PER_MINUTE"];
    let more = ["LISTEN", "LOG_FORMAT", "LOG", "TOKEN", "BUBBLEWRAP"];
    let variables: Vec<String> = names.iter().chain(&more).map(|name| format!("PLANWRIGHT_{name}")).collect();
    let environment: Vec<(&str, &str)> = variables.iter().map(|name| (name.as_str(), "")).collect();
    let server = home.serve_with(&environment).await;
    assert_eq!(server.get("/me").await["auth"], "token");
    let chat = server.chat(json!({})).await;
    chat.say("Hello").await;
    chat.run_to_end(0).await;
    assert!(server.terminate().await);
    let output = home.command(&["doctor", "--json"]).envs(environment).output().await.unwrap();
    assert_ne!(output.status.code(), Some(2), "{output:?}");
}

#[tokio::test]
async fn help_shows_examples() {
    for args in [&["--help"][..], &["serve", "--help"], &["run", "--help"]] {
        let output = tokio::process::Command::new(BINARY).args(args).output().await.unwrap();
        assert!(String::from_utf8(output.stdout).unwrap().contains("Examples:"), "{args:?}");
    }
}

/// A browser that writes its arguments to a file, one a line.
fn fake_browser(home: &planwright_testkit::server::Home) -> (String, std::path::PathBuf) {
    let (script, told) = (home.data().with_file_name("browser"), home.data().with_file_name("told"));
    let text = format!("#!/bin/sh\nprintf '%s\\n' \"$@\" \"env=$PLANWRIGHT_TOKEN\" > {0}.part && mv {0}.part {0}\n", told.display());
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    (script.to_str().unwrap().to_owned(), told)
}

#[tokio::test]
async fn open_opens_the_address_to_sign_in_at_in_the_users_browser() {
    let home = home(&script());
    let (browser, told) = fake_browser(&home);
    for (wanted, words) in [
        (browser.clone(), vec!["{url}", "env="]),
        (format!("/nowhere/browser:{browser} --new ;touch %s"), vec!["--new", ";touch", "{url}", "env="]),
    ] {
        let _ = std::fs::remove_file(&told);
        let mut command = home.command(&["serve", "--listen", "127.0.0.1:0", "--open"]);
        command.env("BROWSER", &wanted).env("PLANWRIGHT_TOKEN", "a-token-of-the-users-own-making");
        let server = home.serve_command(command).await;
        let said = async {
            while !told.exists() {
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(planwright_testkit::PATIENCE, said).await.unwrap();
        let url = format!("{}/#token={}", server.base, server.token);
        let expected: Vec<String> = words.iter().map(|word| word.replace("{url}", &url)).collect();
        assert_eq!(std::fs::read_to_string(&told).unwrap().lines().collect::<Vec<_>>(), expected);
        assert!(server.terminate().await);
    }
}

#[tokio::test]
async fn a_browser_that_can_t_be_opened_is_a_warning_without_the_token_and_none_is_opened_unasked() {
    let home = home(&script());
    let (browser, told) = fake_browser(&home);
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0", "--open"]);
    command.env("BROWSER", "/nowhere/browser").env("PATH", "/nowhere").stderr(Stdio::piped());
    let (server, mut log) = home.serve_logged(command).await;
    let warning = async {
        loop {
            let line = log.next_line().await.unwrap().unwrap();
            assert!(!line.contains(&server.token), "{line}");
            if line.contains("can't open a browser") {
                return;
            }
        }
    };
    tokio::time::timeout(planwright_testkit::PATIENCE, warning).await.unwrap();
    assert_eq!(server.get("/workspaces").await.as_array().unwrap().len(), 1, "it serves all the same");
    assert!(server.terminate().await);

    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("BROWSER", &browser);
    let server = home.serve_command(command).await;
    server.get("/workspaces").await;
    assert!(server.terminate().await && !told.exists());
}

#[tokio::test]
async fn a_layout_that_is_refused_leaves_nothing_in_the_data_folder() {
    let home = home(&script());
    let inside = home.workspace().join("data");
    for args in [&["serve", "--listen", "127.0.0.1:0"][..], &["run", "Go"]] {
        let mut command = home.command(args);
        let output = command.env("PLANWRIGHT_DATA_DIR", &inside).output().await.unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && told.contains("--data-dir elsewhere"), "{told}");
        assert!(!inside.exists(), "{args:?}");
    }
}
