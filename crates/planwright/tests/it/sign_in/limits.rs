//! How often somebody may try, and ask.

use super::{add_user, login, new_token, script};
use crate::home;
use reqwest::{Client, Response, StatusCode};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Tries until one is refused for being one too many; gives how many were answered before, and the refusal.
async fn until_refused(mut attempt: impl AsyncFnMut(usize) -> Response) -> (usize, Response) {
    let mut count = 0;
    loop {
        let response = attempt(count).await;
        if response.status() == StatusCode::TOO_MANY_REQUESTS {
            return (count, response);
        }
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
        count += 1;
        assert!(count < 200, "nobody was refused");
    }
}

async fn wait_of(response: Response) -> Duration {
    let seconds: u64 = response.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    let body: Value = response.json().await.unwrap();
    assert_eq!((&body["error"]["code"], &body["error"]["retryable"]), (&json!("RATE_LIMITED"), &json!(true)));
    assert_eq!(body["error"]["details"]["retry_after_s"], seconds);
    Duration::from_secs(seconds)
}

#[tokio::test]
async fn wrong_tokens_from_one_address_are_soon_refused_and_the_right_one_is_let_in_after_the_wait() {
    let home = home(&script());
    let server = home.serve_with(&[("PLANWRIGHT_TRUSTED_PROXY", "127.0.0.1")]).await;
    // Right ones don't count.
    for _ in 0..40 {
        assert_eq!(login(&server, &json!({ "token": server.token })).await.status(), StatusCode::OK);
    }
    let (count, refusal) = until_refused(async |_| login(&server, &json!({ "token": "wrong" })).await).await;
    assert!(count >= 20, "{count}");
    let wait = wait_of(refusal).await;
    assert!(wait <= Duration::from_secs(10), "{wait:?}");
    // The server distinguishes a client behind the proxy from the proxy itself by the newest entry of the header.
    let from = async |forwarded: &str| {
        let request = Client::new().post(format!("{}/api/v1/auth/login", server.base)).header("x-forwarded-for", forwarded);
        request.json(&json!({ "token": "wrong" })).send().await.unwrap().status()
    };
    assert_eq!(from("192.0.2.1").await, StatusCode::UNAUTHORIZED);
    assert_eq!(from("192.0.2.1, 127.0.0.1").await, StatusCode::TOO_MANY_REQUESTS);
    let asked = Instant::now();
    tokio::time::sleep(wait).await;
    assert!(asked.elapsed() >= wait);
    assert_eq!(login(&server, &json!({ "token": server.token })).await.status(), StatusCode::OK);
    assert_eq!(server.get("/me").await["auth"], "token", "scripts with the token never noticed");
}

#[tokio::test]
async fn guesses_at_one_name_are_refused_from_every_address_and_an_unknown_name_is_no_different() {
    let home = home(&script());
    add_user(&home, "ann", "a long password").await;
    let server = home.serve_without_token(&["--auth", "users", "--trusted-proxy", "127.0.0.1"]).await;
    for name in ["ann", "nobody"] {
        let (count, refusal) = until_refused(async |count| {
            let request = Client::new().post(format!("{}/api/v1/auth/login", server.base));
            let request = request.header("x-forwarded-for", format!("198.51.100.{count}"));
            request
                .json(&json!({ "name": if count % 2 == 0 { name.to_uppercase() } else { name.to_owned() }, "password": "guess" }))
                .send()
                .await
                .unwrap()
        })
        .await;
        assert!((10..20).contains(&count), "{name}: {count}");
        wait_of(refusal).await;
    }
    // The limit holds for the right password too, or it would tell which one is right.
    assert_eq!(login(&server, &json!({ "name": "ann", "password": "a long password" })).await.status(), StatusCode::TOO_MANY_REQUESTS);
}

#[tokio::test]
async fn one_user_who_asks_too_fast_is_told_to_wait_and_others_are_not() {
    let home = home(&script());
    for name in ["ann", "bob"] {
        add_user(&home, name, "a long password").await;
    }
    let (ann, bob) = (new_token(&home, "ann").await, new_token(&home, "bob").await);
    let server = home.serve_without_token(&["--auth", "users", "--requests-per-minute", "30"]).await;
    let ask = async |token: &str| Client::new().get(format!("{}/api/v1/me", server.base)).bearer_auth(token).send().await.unwrap();
    let mut answered = 0;
    let refusal = loop {
        let response = ask(&ann).await;
        if response.status() != StatusCode::OK {
            break response;
        }
        answered += 1;
    };
    assert!((30..60).contains(&answered), "{answered}");
    assert!(wait_of(refusal).await <= Duration::from_secs(3));
    assert_eq!(ask(&bob).await.status(), StatusCode::OK);
}
