//! `--auth token`, the default.

use super::{Browser, CSRF, answered, login, said, script};
use crate::home;
use reqwest::header::{COOKIE, SET_COOKIE};
use reqwest::{Client, Method, StatusCode};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;

#[tokio::test]
async fn the_token_is_made_once_kept_from_others_and_exchanged_for_a_cookie() {
    let home = home(&script());
    let server = home.serve().await;
    let file = home.workspace().with_file_name("data").join("token");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), server.token);
    assert!(server.token.len() >= 64, "{}", server.token.len());

    let browser = Browser::sign_in(&server, &json!({ "token": server.token })).await;
    for part in ["; Path=/", "; HttpOnly", "; SameSite=Strict", "; Max-Age=2592000"] {
        assert!(browser.set_cookie.contains(part), "{part}: {}", browser.set_cookie);
    }
    assert!(!browser.set_cookie.contains("Secure") && !browser.set_cookie.contains("Domain"), "{}", browser.set_cookie);
    assert!(!browser.set_cookie.contains(&server.token));
    let (status, me) = browser.get("/me").await;
    assert_eq!((status, &me["auth"], &me["user"]["name"]), (StatusCode::OK, &json!("token"), &json!("you")));

    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let token = server.token.clone();
    assert!(server.terminate().await);
    let server = home.serve().await;
    assert_eq!(server.token, token, "it is kept");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600, "and closed again");
    let again = Client::new().get(format!("{}/api/v1/me", server.base)).header(COOKIE, browser.cookie());
    // The cookie is named after the port, and this server has another one.
    assert_eq!(again.send().await.unwrap().status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_session_outlives_the_server_and_ends_with_its_token_or_a_sign_out() {
    let home = home(&script());
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let address = format!("127.0.0.1:{port}");
    let command = |token: &str| {
        let mut command = home.command(&["serve", "--listen", &address]);
        command.env("PLANWRIGHT_TOKEN", token);
        command
    };
    let server = home.serve_command(command("first-token")).await;
    let browser = Browser::sign_in(&server, &json!({ "token": "first-token" })).await;
    assert!(server.terminate().await);
    let server = home.serve_command(command("first-token")).await;
    assert_eq!(browser.get("/me").await.0, StatusCode::OK);
    assert!(server.terminate().await);
    let server = home.serve_command(command("second-token")).await;
    assert_eq!(browser.get("/me").await.0, StatusCode::UNAUTHORIZED);

    let browser = Browser::sign_in(&server, &json!({ "token": "second-token" })).await;
    let other = Browser::sign_in(&server, &json!({ "token": "second-token" })).await;
    let response = browser.request(Method::POST, "/auth/logout").header(CSRF, "1").send().await.unwrap();
    assert_eq!(response.status(), StatusCode::NO_CONTENT);
    assert!(response.headers()[SET_COOKIE].to_str().unwrap().contains("Max-Age=0"));
    assert_eq!(browser.get("/me").await.0, StatusCode::UNAUTHORIZED, "the cookie is worth nothing any more");
    assert_eq!(other.get("/me").await.0, StatusCode::OK);
    // A browser that signs in anew gets another session, and the one before is over.
    let renewed = Client::new().post(format!("{}/api/v1/auth/login", server.base)).header(COOKIE, other.cookie());
    assert_eq!(renewed.json(&json!({ "token": "second-token" })).send().await.unwrap().status(), StatusCode::OK);
    assert_eq!(other.get("/me").await.0, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_change_by_cookie_needs_the_header_that_foreign_pages_cannot_send_and_a_token_needs_none() {
    let home = home(&script());
    let server = home.serve().await;
    let browser = Browser::sign_in(&server, &json!({ "token": server.token })).await;
    let (_, workspaces) = browser.get("/workspaces").await;
    let chats = format!("/workspaces/{}/chats", workspaces[0]["id"].as_str().unwrap());
    let (status, body) = answered(browser.request(Method::POST, &chats).json(&json!({}))).await;
    assert_eq!((status, &body["error"]["code"]), (StatusCode::FORBIDDEN, &json!("FORBIDDEN")));
    assert!(body["error"]["message"].as_str().unwrap().contains(CSRF), "{body}");
    assert_eq!(browser.change(Method::POST, &chats, json!({})).await.0, StatusCode::CREATED);
    assert_eq!(server.post(&chats, json!({})).await.0, StatusCode::CREATED);
    // A page of a foreign site that knows the header's name gets no further.
    let foreign = browser.request(Method::POST, &chats).header(CSRF, "1").header("sec-fetch-site", "cross-site").json(&json!({}));
    assert_eq!(answered(foreign).await.0, StatusCode::FORBIDDEN);
    assert_eq!(browser.get(&chats).await.1.as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn what_does_not_sign_anybody_in_says_why_and_repeats_nothing() {
    let home = home(&script());
    let server = home.serve().await;
    for (offer, status, code) in [
        (json!({ "token": "hunter2-wrong" }), 401, "UNAUTHENTICATED"),
        (json!({ "token": "" }), 401, "UNAUTHENTICATED"),
        (json!({}), 422, "VALIDATION_FAILED"),
        (json!({ "name": "ann", "password": "hunter2-secret" }), 422, "VALIDATION_FAILED"),
        (json!({ "token": 4_711_471_147_i64 }), 422, "VALIDATION_FAILED"),
        (json!({ "token": ["hunter2"] }), 422, "VALIDATION_FAILED"),
        (json!({ "tokn": "hunter2" }), 422, "VALIDATION_FAILED"),
    ] {
        let response = login(&server, &offer).await;
        assert!(response.headers().get(SET_COOKIE).is_none());
        assert_eq!(response.status().as_u16(), status, "{offer}");
        let body = response.text().await.unwrap();
        assert!(body.contains(code) && !body.contains("hunter2") && !body.contains("47114711"), "{offer}: {body}");
    }
    let failed = server.get("/audit?kind=login_failed").await;
    let failed = failed.as_array().unwrap();
    assert_eq!(failed.len(), 2, "{failed:?}");
    assert_eq!(
        (&failed[0]["details"], &failed[0]["chat_id"], &failed[0]["agent_role"]),
        (&json!({ "address": "127.0.0.1", "name": null }), &json!(null), &json!(null))
    );
}

#[tokio::test]
async fn requests_at_the_same_time_make_no_more_tokens_than_one_may_have() {
    let home = home(&script());
    let server = home.serve().await;
    let made = futures::future::join_all((0..130).map(|number| server.post("/tokens", json!({ "name": number.to_string() })))).await;
    let count = |status| made.iter().filter(|(got, _)| *got == status).count();
    assert_eq!((count(StatusCode::CREATED), count(StatusCode::CONFLICT)), (100, 30));
    assert_eq!(server.get("/tokens").await.as_array().unwrap().len(), 100);
}

#[tokio::test]
async fn further_tokens_are_made_listed_and_taken_back() {
    let home = home(&script());
    let mut server = home.serve().await;
    let (code, stdout, _) = said(&home, &["token", "new", "--name", "ci"], "").await;
    assert_eq!(code, Some(0), "also while the server runs");
    let (status, made) = server.post("/tokens", json!({ "name": "laptop" })).await;
    assert_eq!(status, StatusCode::CREATED);
    let listed = server.get("/tokens").await;
    let names: Vec<&str> = listed.as_array().unwrap().iter().map(|token| token["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["ci", "laptop"]);
    assert!(!listed.to_string().contains(made["token"].as_str().unwrap()), "a token is shown once");
    let own = std::mem::replace(&mut server.token, stdout.trim().to_owned());
    assert_eq!(server.get("/me").await["user"]["admin"], true);
    assert!(server.get("/tokens").await[0]["last_used_at"].is_string());
    server.token = own;
    let path = format!("/tokens/{}", listed[0]["id"].as_str().unwrap());
    assert_eq!(server.request(Method::DELETE, &path, None).await.0, StatusCode::NO_CONTENT);
    assert_eq!(server.request(Method::DELETE, &path, None).await.0, StatusCode::NOT_FOUND);
    let other = format!("/tokens?id={}", listed[1]["id"].as_str().unwrap());
    assert_eq!(server.request(Method::DELETE, &other, None).await.0, StatusCode::NO_CONTENT);
    server.token = stdout.trim().to_owned();
    assert_eq!(server.request(Method::GET, "/me", None).await.0, StatusCode::UNAUTHORIZED);
}
