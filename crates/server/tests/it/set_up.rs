//! What a newcomer and the settings of the web UI ask for: models, the sample, rules, search.

use crate::ground::{Home, Server};
use crate::home;
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

#[tokio::test]
async fn approvals_set_for_a_workspace_are_stricter_or_refused() {
    let home = quiet();
    let server = home.serve().await;
    let path = first(&server).await;
    let (status, error) = set(&server, &path, json!({ "approvals": { "delete": "allow" } })).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(error["error"]["message"].as_str().unwrap().contains("only be made stricter"), "{error}");
    assert_eq!(set(&server, &path, json!({ "approvals": { "delete": "deny", "execute": "ask" } })).await.0, StatusCode::OK);
    let rules = server.get(&format!("{path}/rules")).await;
    assert_eq!((&rules["approvals"]["delete"], &rules["configured_approvals"]["delete"]), (&json!("deny"), &json!("ask")));
    assert_eq!(rules["approvals"]["execute"], "ask");
}

#[tokio::test]
async fn files_are_found_by_what_is_typed_and_words_in_all_chats() {
    let home = quiet();
    std::fs::create_dir_all(home.workspace().join("src/deep")).unwrap();
    std::fs::write(home.workspace().join("src/deep/marzipan.rs"), "").unwrap();
    let server = home.serve().await;
    let path = first(&server).await;
    assert_eq!(server.get(&format!("{path}/files/find?q=MARZ&limit=5")).await, json!(["/src/deep/marzipan.rs"]));
    assert_eq!(server.get(&format!("{path}/files/find?q=nowhere")).await, json!([]));
    for words in ["One marzipan", "Two 100% marzipan"] {
        let chat = server.chat(json!({ "title": words })).await;
        chat.say(words).await;
        chat.run_to_end(0).await;
    }
    let found = server.get("/search?q=MARZIPAN").await;
    let titles: Vec<_> = found.as_array().unwrap().iter().map(|one| one["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["Two 100% marzipan", "One marzipan"], "newest first");
    assert_eq!(server.get("/search?q=0%25%20m").await.as_array().unwrap().len(), 1, "signs stand for themselves");
    assert_eq!(server.request(Method::GET, "/search?q=", None).await.0, StatusCode::UNPROCESSABLE_ENTITY);
}
