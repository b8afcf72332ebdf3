//! Signing in: by the server's token, by accounts, and where nobody needs to.

mod limits;
mod mode_off;
mod secrets;
mod token_mode;
mod users;

pub use planwright_testkit::browser::{Browser, CSRF, login};

use planwright_testkit::server::Home;
use reqwest::{RequestBuilder, StatusCode};
use serde_json::{Value, json};
use std::process::Stdio;
use tokio::io::AsyncWriteExt;

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

pub async fn answered(request: RequestBuilder) -> (StatusCode, Value) {
    let response = request.send().await.unwrap();
    (response.status(), response.json().await.unwrap_or_default())
}
