//! Who may do what: every route of the API's own description, tried by those who may not.

mod log;
mod workspaces;

use crate::ground::{Home, Server};
use planwright_testkit::operations::operations;
use planwright_testkit::team::{BOBS_TITLE, BOBS_WORDS, bobs_folder};
use reqwest::{Method, StatusCode};
use serde_json::json;

type Team = planwright_testkit::team::Team<Server, Home>;

async fn team() -> Team {
    let home = crate::home(&json!({ "turns": [{ "text": "Noted." }], "repeat": true }));
    let folder = bobs_folder(&home);
    std::fs::create_dir(&folder).unwrap();
    let accounts = ["ann", "bob", "vic"].map(|name| (name, "a long password"));
    let (server, tokens) = home.serve_users(&accounts, &[folder.into()]).await;
    Team::new(home, server, tokens.try_into().unwrap()).await
}

/// What is bob's and must never be shown to ann. That an answer repeats an id that she sent tells her nothing.
fn foreign(team: &Team, sent: bool) -> Vec<String> {
    let mut secrets = vec![team.bobs_folder(), BOBS_WORDS.to_owned(), BOBS_TITLE.to_owned()];
    if !sent {
        secrets.extend([team.bobs.0.clone(), team.bobs.1.clone(), team.bobs_token.clone()]);
    }
    secrets
}

#[tokio::test]
async fn no_route_shows_or_changes_anything_of_another_tenant() {
    let team = team().await;
    let before = team.look(&team.bob).await;
    let (own, _) = team.anns.clone();
    let (workspace, chat) = team.bobs.clone();
    let mut tried = 0;
    // What admins see of all workspaces is tried on its own; ann is one.
    let tenants = operations(&team.server).await.into_iter().filter(|operation| !operation.is_for_admins());
    for operation in tenants {
        let named = |name: &str, workspace: &str| match name {
            "wid" => workspace.to_owned(),
            "cid" => chat.clone(),
            "mid" => team.bobs_message.clone(),
            "tid" => team.bobs_token.clone(),
            "member" => "bob".to_owned(),
            _ => team.bobs_message.clone(),
        };
        let mut paths = vec![operation.path(|name| named(name, &workspace))];
        if operation.names.contains(&"cid".to_owned()) {
            // An own workspace opens no foreign chat.
            paths.push(operation.path(|name| named(name, &own)));
        }
        for path in paths {
            let (status, seen) = team.ask(&team.ann, &operation, &path, &chat).await;
            let hidden = operation.names.iter().any(|name| matches!(name.as_str(), "wid" | "cid" | "tid"));
            assert!(!hidden || status == StatusCode::NOT_FOUND, "{} {path}: {status} {seen}", operation.method);
            for secret in foreign(&team, !operation.names.is_empty() || operation.mentions_chat()) {
                assert!(!seen.contains(&secret), "{} {path} reveals {secret}: {seen}", operation.method);
            }
            tried += usize::from(hidden);
        }
        // A foreign chat in the body or the query is as little hers as one in the path.
        if let Some(path) =
            operation.mentions_chat().then(|| operation.path(|name| if name == "wid" { own.clone() } else { team.anns.1.clone() }))
        {
            let (status, seen) = team.ask(&team.ann, &operation, &path, &chat).await;
            assert!(operation.method == Method::GET || !status.is_success(), "{} {path}: {status} {seen}", operation.method);
            for secret in foreign(&team, true) {
                assert!(!seen.contains(&secret), "{} {path} reveals {secret}: {seen}", operation.method);
            }
        }
    }
    assert!(tried > 30, "there is an API to try: {tried}");
    assert_eq!(team.look(&team.bob).await, before, "and nothing happened to what is bob's");
}

#[tokio::test]
async fn a_deletion_sent_again_is_answered_alike_to_who_made_it_and_tells_nobody_else() {
    let team = team().await;
    let (workspace, chat) = team.anns.clone();
    let delete = async |token: &str, path: &str, key: &str| {
        let request = team.client.delete(format!("{}/api/v1{path}", team.server.base)).bearer_auth(token);
        let response = team.server.send(request.header("idempotency-key", key)).await;
        (response.status(), response.text().await.unwrap())
    };
    let path = format!("/workspaces/{workspace}/chats/{chat}");
    let stranger = delete(&team.bob, &path, "one").await;
    assert_eq!(stranger.0, StatusCode::NOT_FOUND);
    assert_eq!(delete(&team.vic, &path, "one").await.0, StatusCode::FORBIDDEN);
    for _ in 0..2 {
        assert_eq!(delete(&team.ann, &path, "one").await, (StatusCode::NO_CONTENT, String::new()));
    }
    // Neither another key nor another person learns of it; the answer is that of a chat that was never there.
    let never = format!("/workspaces/{workspace}/chats/{}", team.bobs_message);
    let unknown = delete(&team.ann, &never, "one").await;
    assert_eq!(unknown.0, StatusCode::NOT_FOUND);
    for (token, key) in [(&team.ann, "two"), (&team.bob, "one"), (&team.vic, "one")] {
        assert_eq!(delete(token, &path, key).await, unknown, "{key}");
    }
    assert_eq!(stranger, unknown);
    // Who leaves a workspace, and an admin who removes one, get their answers again as well.
    let left = format!("/workspaces/{}/members/bob", team.bobs.0);
    for _ in 0..2 {
        assert_eq!(delete(&team.bob, &left, "leave").await.0, StatusCode::NO_CONTENT);
    }
    let removed = format!("/admin/workspaces/{}", team.bobs.0);
    for _ in 0..2 {
        assert_eq!(delete(&team.ann, &removed, "remove").await.0, StatusCode::NO_CONTENT);
    }
    assert_eq!(delete(&team.bob, &removed, "remove").await.0, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn a_viewer_reads_everything_and_changes_nothing() {
    let team = team().await;
    let before = team.look(&team.ann).await;
    let (mut read, mut refused) = (0, 0);
    for operation in operations(&team.server).await.into_iter().filter(|operation| operation.names.contains(&"wid".to_owned())) {
        let path = operation.path(|name| match name {
            "wid" => team.anns.0.clone(),
            "cid" => team.anns.1.clone(),
            "member" => "vic".to_owned(),
            _ => team.anns_message.clone(),
        });
        let (status, seen) = team.ask(&team.vic, &operation, &path, &team.anns.1).await;
        if operation.method == Method::GET {
            assert_ne!(status, StatusCode::FORBIDDEN, "{path}: {seen}");
            read += usize::from(status == StatusCode::OK);
        } else {
            assert_eq!(status, StatusCode::FORBIDDEN, "{} {path}: {seen}", operation.method);
            refused += 1;
        }
    }
    assert!(read > 10 && refused > 8, "there is an API to try: {read}, {refused}");
    assert_eq!(team.look(&team.ann).await, before);
}

#[tokio::test]
async fn no_route_serves_anything_without_a_credential_or_by_a_foreign_name() {
    let team = team().await;
    for operation in operations(&team.server).await {
        let path = operation.path(|name| match name {
            "wid" => team.anns.0.clone(),
            "cid" => team.anns.1.clone(),
            _ => team.anns_message.clone(),
        });
        let request = || team.client.request(operation.method.clone(), format!("{}{path}", team.server.base)).json(&operation.body);
        let status = async |request: reqwest::RequestBuilder| team.server.send(request).await.status();
        if operation.needs_sign_in {
            for header in ["", "Bearer", "Bearer wrong", "Basic YW5uOmE=", &format!("Bearer {} x", team.ann)] {
                let refused = request().header("authorization", header);
                assert_eq!(status(refused).await, StatusCode::UNAUTHORIZED, "{} {path} {header}", operation.method);
            }
            assert_eq!(status(request()).await, StatusCode::UNAUTHORIZED, "{} {path}", operation.method);
            assert_eq!(
                status(team.client.request(operation.method.clone(), format!("{}{path}?token={}", team.server.base, team.ann))).await,
                StatusCode::UNAUTHORIZED,
                "{} {path}",
                operation.method
            );
        }
        for (name, value) in
            [("host", "evil.example"), ("origin", "https://evil.example"), ("origin", "null"), ("sec-fetch-site", "cross-site")]
        {
            let foreign = request().bearer_auth(&team.ann).header(name, value);
            assert_eq!(status(foreign).await, StatusCode::FORBIDDEN, "{} {path} by {name}: {value}", operation.method);
        }
    }
}
