//! What a newcomer and the settings of the web UI ask for: models, the sample, rules, search.

use crate::home;
use planwright_testkit::server::{Home, Server};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

fn quiet() -> Home {
    home(&json!({ "turns": [{ "text": "Very well." }], "repeat": true }))
}

async fn first(server: &Server) -> String {
    format!("/workspaces/{}", server.get("/workspaces").await[0]["id"].as_str().unwrap())
}

async fn set(server: &Server, path: &str, settings: Value) -> (StatusCode, Value) {
    server.request(Method::PATCH, path, Some(json!({ "settings": settings }))).await
}

async fn tested(server: &Server, model: &str) -> (bool, String) {
    let (status, answer) = server.post("/models/test", json!({ "model": model })).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    (answer["success"].as_bool().unwrap(), answer["detail"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn models_are_listed_with_what_they_need_and_tested_without_cost() {
    let home = quiet();
    let server = home.serve().await;
    let models = server.get("/models").await;
    let anthropic = models["providers"].as_array().unwrap().iter().find(|one| one["name"] == "anthropic").unwrap();
    assert_eq!((&anthropic["key_env"], &anthropic["configured"]), (&json!("ANTHROPIC_API_KEY"), &json!(false)));
    assert!(models["config_file"].as_str().unwrap().ends_with("planwright/config.toml"));
    let own = server.get("/me").await["models"]["plan"].as_str().unwrap().to_owned();
    for model in [own.as_str(), "demo/demo"] {
        assert!(tested(&server, model).await.0, "{model}");
    }
    for (model, word) in
        [("demo", "PROVIDER/MODEL"), ("nobody/x", "There is no provider"), ("script//etc/passwd", "only be named on the command line")]
    {
        let (success, detail) = tested(&server, model).await;
        assert!(!success && detail.contains(word), "{model}: {detail}");
    }
}

#[tokio::test]
async fn a_model_set_for_a_workspace_answers_there_and_no_script_can_be_set() {
    let home = quiet();
    let server = home.serve().await;
    let path = first(&server).await;
    for wrong in ["script//etc/passwd", "nobody/x", "demo"] {
        let (status, error) = set(&server, &path, json!({ "model": wrong })).await;
        assert_eq!((status, &error["error"]["code"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!("VALIDATION_FAILED")), "{wrong}");
    }
    assert_eq!(set(&server, &path, json!({ "model": "demo/demo" })).await.0, StatusCode::OK);
    assert_eq!(server.get(&format!("{path}/rules")).await["plan_model"], "demo/demo");
    let chat = server.chat(json!({})).await;
    chat.say("Hello").await;
    chat.run_to_end(0).await;
    assert!(chat.messages().await.iter().any(|message| message["content"].as_str().unwrap().starts_with("(demo model)")));
    assert_eq!(set(&server, &path, json!({ "model": null })).await.0, StatusCode::OK);
    assert!(server.get(&format!("{path}/rules")).await["plan_model"].as_str().unwrap().starts_with("script/"));
}

#[tokio::test]
async fn a_sample_is_fresh_whenever_the_last_one_was_worked_on() {
    let home = quiet();
    let server = home.serve().await;
    let (status, sample) = server.post("/sample", json!({})).await;
    assert_eq!((status, &sample["settings"]["model"], &sample["right"]), (StatusCode::CREATED, &json!("demo/demo"), &json!("owner")));
    let folder = std::path::PathBuf::from(sample["path"].as_str().unwrap());
    assert!(folder.join("src/lib.rs").is_file());
    assert_eq!(server.post("/sample", json!({})).await.1["id"], sample["id"], "nobody has touched it");
    std::fs::write(folder.join("src/lib.rs"), "changed").unwrap();
    let (_, other) = server.post("/sample", json!({})).await;
    assert_ne!(other["id"], sample["id"]);
    assert_eq!(std::fs::read_to_string(folder.join("src/lib.rs")).unwrap(), "changed", "what was made of it stays");
}
