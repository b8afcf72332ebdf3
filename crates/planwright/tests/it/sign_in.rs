//! Signing in: by the server's token, by accounts, and where nobody needs to.

mod accounts;
mod limits;
mod mode_off;
mod secrets;
mod token_mode;
mod users;

use planwright_testkit::server::{Home, Server};
use reqwest::header::{COOKIE, SET_COOKIE};
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use std::process::Stdio;
use tokio::io::AsyncWriteExt;

/// What a page sends with every change.
pub const CSRF: &str = "x-planwright-csrf";

pub fn script() -> Value {
    json!({ "turns": [{ "text": "Hello there" }], "repeat": true })
}

/// A command of the binary with something on its stdin; gives the exit code, stdout and stderr.
pub async fn said(home: &Home, args: &[&str], stdin: &str) -> (Option<i32>, String, String) {
    let mut command = home.command(args);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A command that needs none may have ended before it reads this.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes()).await;
    let output = child.wait_with_output().await.unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

pub async fn add_user(home: &Home, name: &str, password: &str) {
    let (code, _, stderr) = said(home, &["user", "add", name, "--password-stdin"], password).await;
    assert_eq!(code, Some(0), "{stderr}");
}

pub async fn new_token(home: &Home, user: &str) -> String {
    let (code, stdout, stderr) = said(home, &["token", "new", "--user", user], "").await;
    assert_eq!(code, Some(0), "{stderr}");
    stdout.trim().to_owned()
}

/// A browser: it has a cookie, and sends what a page sends.
pub struct Browser {
    client: Client,
    base: String,
    /// As it was set, with all that the server says about it.
    pub set_cookie: String,
}

impl Browser {
    pub async fn sign_in(server: &Server, offer: &Value) -> Self {
        let response = login(server, offer).await;
        assert_eq!(response.status(), StatusCode::OK);
        let set_cookie = response.headers()[SET_COOKIE].to_str().unwrap().to_owned();
        Self { client: Client::new(), base: server.base.clone(), set_cookie }
    }

    /// What a browser sends back of it.
    pub fn cookie(&self) -> &str {
        self.set_cookie.split(';').next().unwrap()
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}/api/v1{path}", self.base)).header(COOKIE, self.cookie())
    }

    pub async fn get(&self, path: &str) -> (StatusCode, Value) {
        answered(self.request(Method::GET, path)).await
    }

    pub async fn change(&self, method: Method, path: &str, body: Value) -> (StatusCode, Value) {
        answered(self.request(method, path).header(CSRF, "1").json(&body)).await
    }
}

pub async fn login(server: &Server, offer: &Value) -> Response {
    Client::new().post(format!("{}/api/v1/auth/login", server.base)).json(offer).send().await.unwrap()
}

pub async fn answered(request: RequestBuilder) -> (StatusCode, Value) {
    let response = request.send().await.unwrap();
    (response.status(), response.json().await.unwrap_or_default())
}
