//! Accounts over HTTP: one's own password, and what admins do with the accounts of all.

use crate::ground::{Home, Server, new_token_of};
use crate::quiet_home;
use planwright_testkit::browser::{Browser, CSRF, login};
use reqwest::header::SET_COOKIE;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

const ANN: &str = "the password of ann";
const BOB: &str = "the password of bob";

/// A server with ann, who is an admin, and bob, both signed in.
async fn team() -> (Home, Server, Browser, Browser) {
    let home = quiet_home();
    let (server, _) = home.serve_users(&[("ann", ANN), ("bob", BOB)], &[]).await;
    let (ann, bob) = (signed_in(&server, "ann", ANN).await, signed_in(&server, "bob", BOB).await);
    (home, server, ann, bob)
}

async fn signed_in(server: &Server, name: &str, password: &str) -> Browser {
    Browser::sign_in(server, &json!({ "name": name, "password": password })).await
}

async fn can_sign_in(server: &Server, name: &str, password: &str) -> bool {
    login(server, &json!({ "name": name, "password": password })).await.status() == StatusCode::OK
}

async fn id_of(admin: &Browser, name: &str) -> String {
    let (_, accounts) = admin.get("/admin/accounts").await;
    let found = accounts.as_array().unwrap().iter().find(|account| account["name"] == name).unwrap();
    found["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_password_that_is_changed_signs_out_everywhere_else_and_goes_on_here() {
    let (_home, server, _ann, mut bob) = team().await;
    let elsewhere = signed_in(&server, "bob", BOB).await;
    let account = server.store().user("bob").await.unwrap().unwrap().account;
    let token = new_token_of(server.store(), &account).await;
    let body = json!({ "password": BOB, "new_password": "another one of bob" });
    let response = server.send(bob.request(Method::POST, "/auth/password").header(CSRF, "1").json(&body)).await;
    assert_eq!(response.status(), StatusCode::NO_CONTENT);
    let fresh = response.headers()[SET_COOKIE].to_str().unwrap().to_owned();
    assert!(fresh.contains("HttpOnly") && fresh.contains("SameSite=Strict"), "{fresh}");
    assert_eq!(bob.get("/me").await.0, StatusCode::UNAUTHORIZED, "the old session is over");
    assert_eq!(elsewhere.get("/me").await.0, StatusCode::UNAUTHORIZED);
    bob.set_cookie = fresh;
    assert_eq!(bob.get("/me").await.1["user"]["name"], "bob");
    assert!(!can_sign_in(&server, "bob", BOB).await && can_sign_in(&server, "bob", "another one of bob").await);
    // A script goes on by its token, and may change the password, too; it gets no session.
    let mut script = server;
    script.token = token;
    let body = json!({ "password": "another one of bob", "new_password": BOB });
    let (status, answer) = script.post("/auth/password", body).await;
    assert_eq!(status, StatusCode::NO_CONTENT, "{answer}");
    assert!(can_sign_in(&script, "bob", BOB).await);
}

#[tokio::test]
async fn a_wrong_old_password_changes_nothing_is_logged_and_can_not_be_guessed() {
    let (_home, server, ann, bob) = team().await;
    for (body, field) in [
        (json!({ "password": "wrong", "new_password": "x" }), "password"),
        (json!({ "password": BOB, "new_password": "" }), "new_password"),
        (json!({ "password": BOB, "new_password": "x".repeat(1025) }), "new_password"),
        (json!({ "password": BOB }), "new_password"),
    ] {
        let (status, answer) = bob.change(Method::POST, "/auth/password", body.clone()).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{body}: {answer}");
        assert!(answer.to_string().contains(field) && !answer.to_string().contains(BOB), "{body}: {answer}");
    }
    assert!(can_sign_in(&server, "bob", BOB).await);
    let (_, failed) = ann.get("/audit?kind=login_failed").await;
    assert_eq!(failed[0]["details"]["name"], "bob");
    let mut refused = false;
    for _ in 0..30 {
        let (status, _) = bob.change(Method::POST, "/auth/password", json!({ "password": "guess", "new_password": "x" })).await;
        refused |= status == StatusCode::TOO_MANY_REQUESTS;
    }
    assert!(refused, "who guesses is slowed down");
}

#[tokio::test]
async fn admins_make_accounts_give_new_passwords_and_remove_them_and_others_may_not() {
    let (_home, server, ann, bob) = team().await;
    let (status, eve) = ann.change(Method::POST, "/admin/accounts", json!({ "name": "eve", "password": "first" })).await;
    assert_eq!((status, &eve["name"], &eve["admin"]), (StatusCode::CREATED, &json!("eve"), &json!(false)));
    let names: Vec<Value> = ann.get("/admin/accounts").await.1.as_array().unwrap().iter().map(|one| one["name"].clone()).collect();
    assert_eq!(names, ["ann", "bob", "eve"]);
    let eves = signed_in(&server, "eve", "first").await;
    let path = format!("/admin/accounts/{}", eve["id"].as_str().unwrap());

    for (method, path) in
        [(Method::GET, "/admin/accounts"), (Method::POST, "/admin/accounts"), (Method::PATCH, &path), (Method::DELETE, &path)]
    {
        let body = json!({ "name": "mallory", "password": "x", "admin": true });
        assert_eq!(bob.change(method.clone(), path, body).await.0, StatusCode::FORBIDDEN, "{method} {path}");
    }
    assert_eq!(ann.change(Method::PATCH, &path, json!({ "password": "second" })).await.0, StatusCode::NO_CONTENT);
    assert_eq!(eves.get("/me").await.0, StatusCode::UNAUTHORIZED);
    assert!(!can_sign_in(&server, "eve", "first").await);
    let eves = signed_in(&server, "eve", "second").await;
    assert_eq!(ann.change(Method::DELETE, &path, json!({})).await.0, StatusCode::NO_CONTENT);
    assert_eq!(eves.get("/me").await.0, StatusCode::UNAUTHORIZED);
    let (_, log) = ann.get("/audit?kind=account_changed").await;
    let told: Vec<Value> = log.as_array().unwrap().iter().map(|row| json!([row["user"], row["details"]])).collect();
    assert_eq!(told, ["removed", "password", "made"].map(|change| json!(["ann", { "name": "eve", "change": change }])));
    assert_eq!(bob.get("/audit?kind=account_changed").await.1, json!([]), "that is for admins");
    for (method, body) in [(Method::DELETE, json!({})), (Method::PATCH, json!({ "password": "third" }))] {
        assert_eq!(ann.change(method, &path, body).await.0, StatusCode::NOT_FOUND);
    }
}

#[tokio::test]
async fn accounts_that_cannot_be_are_refused_and_no_admin_removes_themselves() {
    let (_home, _server, ann, _bob) = team().await;
    for (body, status, part) in [
        (json!({ "name": "BOB", "password": "x" }), StatusCode::CONFLICT, "already"),
        (json!({ "name": "a b", "password": "x" }), StatusCode::UNPROCESSABLE_ENTITY, "letters and digits"),
        (json!({ "name": "0194b5c8-0000-7000-8000-000000000000", "password": "x" }), StatusCode::UNPROCESSABLE_ENTITY, "id"),
        (json!({ "name": "eve", "password": "" }), StatusCode::UNPROCESSABLE_ENTITY, "1 to 1024"),
        (json!({ "name": "eve", "password": null }), StatusCode::UNPROCESSABLE_ENTITY, "missing"),
    ] {
        let (answered, answer) = ann.change(Method::POST, "/admin/accounts", body.clone()).await;
        assert!(answered == status && answer.to_string().contains(part), "{body}: {answered} {answer}");
    }
    let own = format!("/admin/accounts/{}", id_of(&ann, "ann").await);
    let (status, answer) = ann.change(Method::PATCH, &own, json!({ "password": "x" })).await;
    assert!(status == StatusCode::CONFLICT && answer.to_string().contains("/auth/password"), "without the old one: {answer}");
    let (status, answer) = ann.change(Method::DELETE, &own, json!({})).await;
    assert!(status == StatusCode::CONFLICT && answer.to_string().contains("another admin"), "{answer}");
    assert_eq!(ann.get("/me").await.0, StatusCode::OK);
}

#[tokio::test]
async fn a_server_without_accounts_makes_none() {
    let home = quiet_home();
    let server = home.serve().await;
    for (path, body) in [
        ("/admin/accounts", json!({ "name": "eve", "password": "x", "admin": true })),
        ("/auth/password", json!({ "password": "x", "new_password": "y" })),
    ] {
        let (status, answer) = server.post(path, body).await;
        assert!(status == StatusCode::CONFLICT && answer.to_string().contains("--auth users"), "{answer}");
    }
    assert_eq!(server.get("/admin/accounts").await, json!([]));
}
