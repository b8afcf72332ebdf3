//! Rows of the log belong to a workspace, and its rights decide who sees them.

use super::team;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

#[tokio::test]
async fn a_call_without_a_chat_is_logged_in_its_workspace_by_name_and_shown_to_nobody_else() {
    const SECRET: &str = "What only bob writes";
    let team = team().await;
    let workspace = format!("/workspaces/{}", team.bobs.0);
    for chat in [Value::Null, json!(team.bobs.1)] {
        let call = json!({ "tool": "write", "args": { "path": "/a.txt", "content": SECRET }, "chat_id": chat });
        let (_, answer) = team.request(&team.bob, Method::POST, &format!("{workspace}/tools"), call).await;
        assert_eq!(answer["error"]["code"], "TOOL_BLOCKED_BY_MODE", "{answer}");
        for path in ["/audit?kind=tool_blocked".to_owned(), format!("{workspace}/audit?kind=tool_blocked")] {
            let row = team.request(&team.bob, Method::GET, &path, json!({})).await.1[0].clone();
            assert_eq!((&row["workspace_id"], &row["chat_id"], &row["user"]), (&json!(team.bobs.0), &chat, &json!("bob")), "{row}");
            assert_eq!(row["details"]["args"]["content"], SECRET);
        }
    }
    // Neither now nor when all of it is gone; ann is an admin.
    for stage in ["there", "gone"] {
        for stranger in [&team.ann, &team.vic] {
            for path in ["/audit", "/audit?kind=tool_blocked", "/audit/counts", "/audit/adherence"] {
                let (status, seen) = team.request(stranger, Method::GET, path, json!({})).await;
                assert_eq!(status, StatusCode::OK);
                assert!(!seen.to_string().contains(SECRET) && !seen.to_string().contains(&team.bobs.0), "{stage} {path}: {seen}");
                assert!(!path.contains("tool_blocked") || seen == json!([]), "{stage} {path}: {seen}");
            }
        }
        let freed = team.request(&team.ann, Method::DELETE, &format!("/admin/workspaces/{}", team.bobs.0), json!({})).await.0;
        assert_eq!(freed == StatusCode::NO_CONTENT, stage == "there");
    }
}

#[tokio::test]
async fn whoever_deletes_a_chat_does_not_delete_what_was_logged_of_it() {
    let team = team().await;
    let chat = format!("/workspaces/{}/chats/{}", team.bobs.0, team.bobs.1);
    let member = json!({ "name": "vic", "role": "member" });
    assert_eq!(team.request(&team.bob, Method::POST, &format!("/workspaces/{}/members", team.bobs.0), member).await.0, StatusCode::CREATED);
    let call = json!({ "tool": "rm", "args": { "path": "/x" }, "chat_id": team.bobs.1 });
    team.request(&team.vic, Method::POST, &format!("/workspaces/{}/tools", team.bobs.0), call).await;
    let log = async || team.request(&team.bob, Method::GET, &format!("/audit?chat={}", team.bobs.1), json!({})).await.1;
    let before = log().await;
    assert!(before.as_array().unwrap().iter().any(|row| row["user"] == "vic" && row["kind"] == "tool_blocked"), "{before}");
    assert_eq!(team.request(&team.vic, Method::DELETE, &chat, json!({})).await.0, StatusCode::NO_CONTENT);
    assert_eq!(log().await, before);
}

#[tokio::test]
async fn words_and_decisions_have_the_name_of_whoever_they_are_of_and_no_other() {
    let team = team().await;
    let chat = format!("/workspaces/{}/chats/{}", team.bobs.0, team.bobs.1);
    let member = json!({ "name": "vic", "role": "member" });
    team.request(&team.bob, Method::POST, &format!("/workspaces/{}/members", team.bobs.0), member).await;
    let pretended =
        json!({ "content": "From vic", "metadata": { "user": "bob", "images": [{ "sha256": "0", "mime_type": "image/png", "size": 1 }] } });
    let (status, sent) = team.request(&team.vic, Method::POST, &format!("{chat}/messages"), pretended).await;
    assert_eq!(status, StatusCode::ACCEPTED, "{sent}");
    let switch = json!({ "agent_role": "reviewer", "confirm": true });
    assert_eq!(team.request(&team.vic, Method::PATCH, &chat, switch).await.0, StatusCode::OK);

    let messages = team.request(&team.bob, Method::GET, &format!("{chat}/messages"), json!({})).await.1;
    let metadata_of = |text: &str| {
        let found = messages.as_array().unwrap().iter().find(|message| message["content"] == text);
        found.unwrap()["metadata"].clone()
    };
    assert_eq!((&metadata_of("From vic")["user"], &metadata_of("From vic")["images"]), (&json!("vic"), &Value::Null));
    assert_eq!(metadata_of(super::BOBS_WORDS)["user"], "bob");
    let path = format!("/audit?kind=mode_entered&chat={}", team.bobs.1);
    let log = team.request(&team.bob, Method::GET, &path, json!({})).await.1;
    assert_eq!((&log[0]["user"], &log[0]["agent_role"]), (&json!("vic"), &json!("reviewer")), "{log}");

    for (token, adds) in [(&team.ann, true), (&team.bob, false)] {
        let me = team.request(token, Method::GET, "/me", json!({})).await.1;
        assert_eq!(me["user"]["adds_folders"], adds, "without --workspace-root only admins add folders");
    }
}
