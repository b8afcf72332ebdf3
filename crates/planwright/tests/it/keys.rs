//! A key is where it must be, on its way to the vendor, and nowhere else.

use crate::BINARY;
use crate::wires::{KEY, home_with, with_key};
use memchr::memmem;
use planwright_testkit::model_server::{Fault, ModelServer, ScriptedReply, Wire};
use planwright_testkit::server::{Home, last_id, of_type};
use serde_json::{Value, json};
use std::path::Path;

/// Files below a folder that have the key in them.
fn leaks(folder: &Path) -> Vec<String> {
    leaks_of(folder, KEY.as_bytes())
}

fn leaks_of(folder: &Path, secret: &[u8]) -> Vec<String> {
    let mut found = Vec::new();
    // Commands that only look make no data folder.
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() {
            found.extend(leaks_of(&path, secret));
        } else if kind.is_file() && memmem::find(&std::fs::read(&path).unwrap(), secret).is_some() {
            found.push(path.display().to_string());
        }
    }
    found
}

fn holds_key(bytes: &[u8]) -> bool {
    memmem::find(bytes, KEY.as_bytes()).is_some()
}

#[tokio::test]
async fn a_key_is_in_no_log_event_row_error_file_or_command() {
    for (wire, sandbox) in Wire::ALL.into_iter().zip(["off", "enforce", "enforce", "enforce", "enforce"]) {
        let echo = format!("{{\"error\": {{\"message\": \"bad key {KEY} of {KEY}\", \"code\": \"invalid_api_key\"}}}}");
        let command = json!({"command": "env; cat /proc/self/environ; cat /proc/$PPID/environ; true"});
        let models = ModelServer::start(
            wire,
            [
                ScriptedReply::status(500, None, &echo),
                ScriptedReply::text("Looking.").thinking("Hm.", "c2ln").call("run", command),
                ScriptedReply::text("Done."),
                ScriptedReply::status(401, None, &echo),
                ScriptedReply::status(400, Some(("x-echo", KEY)), &echo),
                ScriptedReply::text("Half").but(Fault::ErrorEvent),
            ],
        )
        .await;
        let home = home_with(&models, &format!("[sandbox]\nmode = \"{sandbox}\""));
        let folder = home.workspace().parent().unwrap().to_owned();
        let mut command = with_key(&home, &["serve", "--listen", "127.0.0.1:0"]);
        command.env("PLANWRIGHT_LOG", "trace").stderr(std::fs::File::create(folder.join("stderr")).unwrap());
        let server = home.serve_command(command).await;
        let chat = server.chat(json!({ "mode": "build" })).await;
        chat.say("Go").await;
        if sandbox == "off" {
            let asking = chat.events(0, |event| event["type"] == "question_pending").await;
            chat.answer(&of_type(&asking, "question_pending")[0]["question_id"], json!({ "decision": "approve" })).await;
        }
        let mut events = chat.run_to_end(0).await;
        let results = of_type(&events, "tool_result");
        assert!(results.len() == 1 && results[0]["success"] == true, "{wire:?}: {results:#?}");
        assert!(results[0].to_string().contains("PATH="), "the command shows its environment: {results:#?}");
        for words in ["one", "two", "three"] {
            chat.say(words).await;
            let more = chat.run_to_end(last_id(&events)).await;
            assert_eq!(of_type(&more, "run_finished")[0]["outcome"], "failed", "{wire:?}: {more:#?}");
            events.extend(more);
        }
        let shown = json!([events, chat.messages().await, chat.show().await, server.get("/me").await]);
        assert!(!holds_key(shown.to_string().as_bytes()), "{wire:?}: {shown:#}");
        assert!(models.heard().iter().any(|asked| asked.headers.iter().any(|(_, value)| value.contains(KEY))), "the vendor got the key");
        server.terminate().await;
        models.then(ScriptedReply::status(401, None, &echo));
        for args in [&["doctor"][..], &["run", "Hi", "--json"]] {
            let output = with_key(&home, args).env("PLANWRIGHT_LOG", "trace").output().await.unwrap();
            assert!(!holds_key(&output.stdout) && !holds_key(&output.stderr), "{wire:?}: {args:?}");
        }
        let log = std::fs::read_to_string(folder.join("stderr")).unwrap();
        assert!(log.lines().count() > 100, "there is a log to search");
        assert_eq!(leaks(&folder), Vec::<String>::new(), "{wire:?}");
        let database = std::fs::read_dir(folder.join("data")).unwrap().flatten().filter(|file| file.metadata().unwrap().len() > 4096);
        assert!(database.count() > 0, "there is a database to search");
    }
}

#[tokio::test]
async fn a_key_that_is_missing_is_named_and_the_server_does_not_start_without_it() {
    let models = ModelServer::start(Wire::Chat, []).await;
    let home = home_with(&models, "");
    let output = with_key(&home, &["serve", "--listen", "127.0.0.1:0"]).env_remove("TEST_API_KEY").output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("set TEST_API_KEY"), "{said}");
    let nothing: Vec<Value> = models.heard().iter().map(|asked| asked.body.clone()).collect();
    assert!(nothing.is_empty(), "{nothing:?}");
}

/// Commands with this variable set, none of which may show or keep what must not be where it is.
async fn told_without_canary(home: &Home, variable: Option<(&str, &str)>, words: &str) {
    for args in [&["run", "Hi", "--json", "--trust"][..], &["run", "Hi"], &["doctor", "--workspace", "."]] {
        let mut command = home.command(args);
        command.env_remove("PLANWRIGHT_MODEL").env("OPENAI_API_KEY", "x").env("OPENAI_BASE_URL", "http://127.0.0.1:1/v1").envs(variable);
        let output = command.output().await.unwrap();
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(1), "{args:?}: {said}");
        assert!(said.contains(words) && !said.contains("CANARY"), "{args:?}: {said}");
        assert!(!said.contains("There is no provider"), "nothing is said of what could not be read: {said}");
    }
    let data = home.workspace().parent().unwrap().join("data");
    assert!(leaks_of(&data, b"CANARY").is_empty(), "{:?}", leaks_of(&data, b"CANARY"));
}

#[tokio::test]
async fn an_address_with_a_secret_in_it_is_refused_when_it_is_read_and_shown_nowhere() {
    let secrets = ["http://ann:CANARY@127.0.0.1:1/v1", "http://127.0.0.1:1/v1?token=CANARY"];
    for secret in secrets {
        let home = Home::new(BINARY, &json!({}));
        let config = format!("[models]\ndefault = \"x/y\"\n[providers.x]\nkind = \"openai\"\nbase_url = \"{secret}\"\n");
        home.put_config(&config);
        told_without_canary(&home, None, "api_key_env").await;
        home.put_config("");
        told_without_canary(&home, Some(("OPENAI_BASE_URL", secret)), "OPENAI_BASE_URL must be an address without user").await;
        home.put(".planwright/config.toml", &config);
        told_without_canary(&home, None, "config.toml:3: providers.x: base_url must be an address without user").await;
    }
}

#[tokio::test]
async fn a_key_in_a_configuration_file_is_named_by_its_place_and_never_echoed() {
    let home = Home::new(BINARY, &json!({}));
    home.put_config("[models]\ndefault = \"x/y\"\n[providers.x]\nkind = \"openai\"\napi_key = \"sk-CANARY\"\n");
    told_without_canary(&home, None, "config.toml:5:1: providers.x.api_key: unknown field `api_key`; keys don't belong in files: set an environment variable and name it in `api_key_env`").await;
    home.put_config("[providers.x]\nkind = \"openai\"\ntimeout_s = \"sk-CANARY\"\n");
    told_without_canary(&home, None, "config.toml:3:13: providers.x.timeout_s: invalid type, expected u64").await;
}
