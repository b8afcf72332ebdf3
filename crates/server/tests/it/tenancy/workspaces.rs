//! Members of a workspace, and what follows from being one.

use super::team;
use planwright_testkit::browser::Browser;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

#[tokio::test]
async fn owners_say_who_else_may_and_members_work_without_saying_so() {
    let team = team().await;
    let members = format!("/workspaces/{}/members", team.anns.0);
    let ask = async |token: &str, method: Method, path: &str, body: Value| team.request(token, method, path, body).await;
    assert_eq!(ask(&team.bob, Method::GET, &members, json!({})).await.0, StatusCode::NOT_FOUND);
    let (status, made) = ask(&team.ann, Method::POST, &members, json!({ "name": "Bob" })).await;
    assert_eq!((status, &made["name"], &made["role"]), (StatusCode::CREATED, &json!("bob"), &json!("member")));
    let chat = format!("/workspaces/{}/chats/{}", team.anns.0, team.anns.1);
    let (status, _) = ask(&team.bob, Method::POST, &format!("{chat}/messages"), json!({ "content": "Hello, ann" })).await;
    assert_eq!(status, StatusCode::ACCEPTED);
    for (method, path, body) in [
        (Method::POST, members.clone(), json!({ "name": "bob", "role": "owner" })),
        (Method::DELETE, format!("{members}/ann"), json!({})),
        (Method::POST, format!("/workspaces/{}/trust", team.anns.0), json!({ "sha256": "00" })),
    ] {
        assert_eq!(ask(&team.bob, method, &path, body).await.0, StatusCode::FORBIDDEN, "{path}");
    }
    for (method, path, body, status) in [
        (Method::POST, members.clone(), json!({ "name": "ann", "role": "viewer" }), 409),
        (Method::DELETE, format!("{members}/ann"), json!({}), 409),
        (Method::POST, members.clone(), json!({ "name": "nobody" }), 422),
        (Method::POST, members.clone(), json!({ "name": "bob", "role": "king" }), 422),
        (Method::DELETE, format!("{members}/nobody"), json!({}), 404),
        (Method::DELETE, format!("{members}/{}", made["user_id"].as_str().unwrap()), json!({}), 204),
    ] {
        let (got, answer) = ask(&team.ann, method.clone(), &path, body).await;
        assert_eq!(got.as_u16(), status, "{method} {path}: {answer}");
    }
    assert_eq!(ask(&team.bob, Method::GET, &chat, json!({})).await.0, StatusCode::NOT_FOUND, "at once");
}

#[tokio::test]
async fn an_owner_who_tries_names_is_held_up_before_they_know_who_has_an_account() {
    let team = team().await;
    let members = format!("/workspaces/{}/members", team.bobs.0);
    let add = async |token: &str, name: &str| team.request(token, Method::POST, &members, json!({ "name": name })).await;
    for _ in 0..20 {
        assert_eq!(add(&team.bob, "vic").await.0, StatusCode::CREATED, "who is right is not held up");
    }
    for number in 0..5 {
        assert_eq!(add(&team.bob, &format!("guess{number}")).await.0, StatusCode::UNPROCESSABLE_ENTITY);
    }
    let (status, unknown) = add(&team.bob, "guess9").await;
    assert_eq!(status, StatusCode::TOO_MANY_REQUESTS, "{unknown}");
    let (status, known) = add(&team.bob, "vic").await;
    assert_eq!((status, &known["error"]["code"]), (StatusCode::TOO_MANY_REQUESTS, &json!("RATE_LIMITED")), "the same answer for all names");
    let elsewhere = format!("/workspaces/{}/members", team.anns.0);
    let answer = team.request(&team.ann, Method::POST, &elsewhere, json!({ "name": "guess9" })).await;
    assert_eq!(answer.0, StatusCode::UNPROCESSABLE_ENTITY, "others are not held up");
}

/// Reads a stream until it ends.
async fn ended(mut stream: reqwest::Response) -> bool {
    let end = async { while let Ok(Some(_)) = stream.chunk().await {} };
    tokio::time::timeout(planwright_testkit::PATIENCE, end).await.is_ok()
}

#[tokio::test]
async fn a_stream_ends_when_its_reader_loses_the_right_to_it_and_others_go_on() {
    let team = team().await;
    let chat = format!("/workspaces/{}/chats/{}", team.anns.0, team.anns.1);
    let offer = json!({ "name": "vic", "password": "a long password" });
    let (leaving, removed) = (Browser::sign_in(&team.server, &offer).await, Browser::sign_in(&team.server, &offer).await);
    let open = async |browser: &Browser| {
        let stream = team.server.send(browser.request(Method::GET, &format!("{chat}/events"))).await;
        assert_eq!(stream.status(), StatusCode::OK);
        stream
    };
    let (first, second) = (open(&leaving).await, open(&removed).await);
    let url = format!("{}/api/v1{chat}/events", team.server.base);
    let anns = team.server.send(team.client.get(url).bearer_auth(&team.ann)).await;
    assert_eq!(leaving.change(Method::POST, "/auth/logout", json!({})).await.0, StatusCode::NO_CONTENT);
    assert!(ended(first).await, "after signing out");
    let members = format!("/workspaces/{}/members/vic", team.anns.0);
    assert_eq!(team.request(&team.ann, Method::DELETE, &members, json!({})).await.0, StatusCode::NO_CONTENT);
    assert!(ended(second).await, "after being taken out");
    let still_open = tokio::spawn(ended(anns));
    team.request(&team.ann, Method::GET, "/me", json!({})).await;
    assert!(!still_open.is_finished());
}

#[tokio::test]
async fn whoever_is_removed_takes_nothing_along_and_their_workspace_falls_to_the_admins() {
    let team = team().await;
    let theirs = format!("/workspaces/{}", team.bobs.0);
    assert_eq!(team.request(&team.ann, Method::GET, &theirs, json!({})).await.0, StatusCode::NOT_FOUND);
    let bob = team.server.store().user("bob").await.unwrap().unwrap().account;
    team.server.store().remove_user(bob.id).await.unwrap();
    assert_eq!(team.request(&team.bob, Method::GET, "/me", json!({})).await.0, StatusCode::UNAUTHORIZED);
    let (status, chats) = team.request(&team.ann, Method::GET, &format!("{theirs}/chats"), json!({})).await;
    assert_eq!((status, chats.as_array().unwrap().len()), (StatusCode::OK, 1), "the chats are still there");
    assert_eq!(team.request(&team.vic, Method::GET, &theirs, json!({})).await.0, StatusCode::NOT_FOUND);
}
