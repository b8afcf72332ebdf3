//! A workspace's own configuration: what it tightens holds, what it widens waits for trust.

use crate::{home, write};
use planwright_testkit::server::{Home, Server, of_type};
use reqwest::StatusCode;
use serde_json::{Value, json};

const FILE: &str = ".planwright/config.toml";

fn script() -> Value {
    json!({ "turns": [{ "calls": [write("/a.txt", "x")] }, { "text": "Done." }] })
}

async fn run(home: &Home, args: &[&str]) -> (Option<i32>, String) {
    let output = home.command(&[&["run"], args].concat()).output().await.unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

async fn path(server: &Server) -> String {
    format!("/workspaces/{}/trust", server.get("/workspaces").await[0]["id"].as_str().unwrap())
}

#[tokio::test]
async fn a_workspace_can_tighten_approvals_and_never_widen_them() {
    let home = home(&script());
    home.put(FILE, "[approvals.tools]\nwrite = \"ask\"\n");
    let (code, told) = run(&home, &["Go", "--mode", "act"]).await;
    assert_eq!((code, home.file("a.txt")), (Some(3), None), "{told}");

    home.put_config("[approvals.tools]\nwrite = \"ask\"\n");
    home.put(FILE, "[approvals.tools]\nwrite = \"allow\"\n");
    for trust in [&[][..], &["--trust"]] {
        let (code, told) = run(&home, &[&["Go", "--mode", "act"], trust].concat()).await;
        assert_eq!((code, home.file("a.txt")), (Some(3), None), "{told}");
        assert!(told.contains(".planwright/config.toml:2: approvals.tools.write is ignored: it would allow more"), "{told}");
    }
}

#[tokio::test]
async fn a_mistake_in_a_guard_of_a_workspace_stops_its_runs_and_one_elsewhere_is_a_warning() {
    let home = home(&script());
    home.put(FILE, "[approvals]\ndelet = \"deny\"\n");
    let (code, told) = run(&home, &["Go", "--mode", "act"]).await;
    assert_eq!((code, home.file("a.txt")), (Some(1), None), "{told}");
    assert!(told.contains(".planwright/config.toml:2: approvals.delet"), "{told}");
    home.put(FILE, "[chat]\ndefault_mod = \"act\"\n");
    let (code, told) = run(&home, &["Go", "--mode", "act"]).await;
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains(".planwright/config.toml:2: chat.default_mod is not a setting"), "{told}");
}

#[tokio::test]
async fn what_a_workspace_widens_is_obeyed_once_its_content_is_accepted_and_not_when_it_changes() {
    let home = home(&json!({ "turns": [{ "text": "Hello." }] }));
    home.put(FILE, "[chat]\ndefault_mode = \"act\"\n[limits]\nturns = 3\n");
    let server = home.serve().await;
    let trust = path(&server).await;
    let before = server.get(&trust).await;
    assert_eq!((&before["trusted"], before["sha256"].as_str().unwrap().len()), (&json!(false), 64));
    assert_eq!(before["items"], json!([{ "kind": "setting", "key": "chat.default_mode", "value": "act", "line": 2 }]));
    assert_eq!(server.chat(json!({})).await.show().await["config"]["mode"], "plan");

    let (status, body) = server.post(&trust, json!({ "sha256": "0".repeat(64) })).await;
    assert_eq!((status, &body["error"]["code"]), (StatusCode::CONFLICT, &json!("CONFLICT")));
    assert_eq!(server.post(&trust, json!({})).await.0, StatusCode::UNPROCESSABLE_ENTITY);
    let (status, after) = server.post(&trust, json!({ "sha256": before["sha256"] })).await;
    assert_eq!((status, &after["trusted"]), (StatusCode::OK, &json!(true)), "{after}");
    assert_eq!(server.chat(json!({})).await.show().await["config"]["mode"], "build");

    assert!(server.terminate().await);
    let server = home.serve().await;
    assert_eq!(server.get(&trust).await["trusted"], true, "it is kept");
    home.put(FILE, "[chat]\ndefault_mode = \"act\"\n[limits]\nturns = 300\n");
    let changed = server.get(&trust).await;
    assert_eq!((&changed["trusted"], changed["items"].as_array().unwrap().len()), (&json!(false), 2), "{changed}");
    assert_eq!(server.chat(json!({})).await.show().await["config"]["mode"], "plan");
    let (status, _) = server.post(&trust, json!({ "sha256": before["sha256"] })).await;
    assert_eq!(status, StatusCode::CONFLICT, "what was accepted is not what is there");

    std::fs::remove_file(home.workspace().join(FILE)).unwrap();
    assert_eq!(server.get(&trust).await, json!({ "trusted": true, "file_trusted": true, "sha256": null, "items": [], "warnings": [] }));
}

#[tokio::test]
async fn a_chat_that_is_open_goes_by_the_file_as_it_is_when_the_user_speaks() {
    let home = home(
        &json!({ "turns": [{ "calls": [write("/a.txt", "x")] }, { "text": "One." }, { "calls": [write("/b.txt", "x")] }, { "text": "Two." }] }),
    );
    let server = home.serve().await;
    let chat = server.chat(json!({ "mode": "build" })).await;
    chat.say("Write").await;
    let first = chat.run_to_end(0).await;
    assert_eq!(of_type(&first, "run_finished")[0]["outcome"], "done");
    home.put(FILE, "[approvals.tools]\nwrite = \"deny\"\n");
    chat.say("Write again").await;
    chat.run_to_end(first.last().unwrap()["seq"].as_u64().unwrap()).await;
    assert!(home.file("a.txt").is_some() && home.file("b.txt").is_none());

    home.put(FILE, "[approvals]\nnonsense = 1\n");
    let (status, body) = server.post(&format!("{}/messages", chat.path), json!({ "content": "And again" })).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{body}");
    assert!(body["error"]["message"].as_str().unwrap().contains("config.toml:2: approvals.nonsense"), "{body}");
    assert_eq!(chat.show().await["state"], "idle", "it can still be looked at");
}

#[tokio::test]
async fn trust_for_one_run_lets_the_workspace_choose_its_model_and_doctor_names_it() {
    let home = home(&json!({ "turns": [{ "text": "From the user's model." }] }));
    let other = home.workspace().with_file_name("other.json");
    std::fs::write(&other, json!({ "turns": [{ "text": "From the workspace's model." }] }).to_string()).unwrap();
    let user = home.workspace().with_file_name("script.json");
    home.put_config(&format!("[models]\ndefault = \"script/{}\"\n", user.display()));
    home.put(FILE, &format!("[models]\ndefault = \"script/{}\"\n", other.display()));
    for (args, said) in [
        (&["run", "Hi"][..], "From the user's model.\n"),
        (&["run", "Hi", "--trust"], "From the workspace's model.\n"),
        (&["run", "Hi"], "From the user's model.\n"),
    ] {
        let output = home.command(args).env_remove("PLANWRIGHT_MODEL").output().await.unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(String::from_utf8_lossy(&output.stdout), said, "{told}");
        assert_eq!(told.contains("models.default = ") && told.contains("--trust"), args.len() == 2, "{told}");
    }
    home.put_config("");
    let mut command = home.command(&["run", "Hi", "--trust"]);
    let output = command.env_remove("PLANWRIGHT_MODEL").env("OPENAI_API_KEY", "x").output().await.unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && !told.contains("no model is configured"), "{told}");
    let output = home.command(&["doctor", "--workspace", "."]).output().await.unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(told.contains(".planwright/config.toml:2: models.default needs your trust"), "{told}");
}

#[tokio::test]
async fn a_configuration_that_is_a_link_out_of_the_workspace_is_not_read() {
    let home = home(&script());
    let outside = home.workspace().with_file_name("outside.toml");
    std::fs::write(&outside, "secret = \"hunter2\"\n").unwrap();
    std::fs::create_dir(home.workspace().join(".planwright")).unwrap();
    std::os::unix::fs::symlink(&outside, home.workspace().join(FILE)).unwrap();
    let (code, told) = run(&home, &["Go", "--mode", "act"]).await;
    assert_eq!((code, home.file("a.txt")), (Some(1), None), "{told}");
    assert!(told.contains(FILE) && !told.contains("hunter2"), "{told}");
}
