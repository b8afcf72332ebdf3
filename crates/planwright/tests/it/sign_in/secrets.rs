//! Tokens, ids of sessions and passwords are where they must be, and nowhere else.

use super::{Browser, add_user, login, new_token, said, script};
use crate::home;
use planwright_testkit::server::{Home, Server};
use reqwest::{Client, Method, StatusCode};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// What must not be found, each with its name.
type Canaries = Vec<(&'static str, String)>;

fn found(bytes: &[u8], canaries: &Canaries) -> Vec<&'static str> {
    let holds = |secret: &str| memchr::memmem::find(bytes, secret.as_bytes()).is_some();
    canaries.iter().filter(|(_, secret)| holds(secret)).map(|(name, _)| *name).collect()
}

/// Files below a folder that hold one of them; the file of the token aside.
fn leaks(folder: &Path, canaries: &Canaries) -> Vec<(PathBuf, Vec<&'static str>)> {
    let mut leaks = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() {
            leaks.extend(self::leaks(&path, canaries));
        } else if kind.is_file() && !path.ends_with("data/token") {
            let names = found(&std::fs::read(&path).unwrap(), canaries);
            leaks.extend((!names.is_empty()).then_some((path, names)));
        }
    }
    leaks
}

/// A server that logs all it can into a file.
async fn loud(home: &Home, args: &[&str]) -> Server {
    let folder = home.workspace().parent().unwrap().to_owned();
    let mut command = home.command(&[&["serve", "--listen", "127.0.0.1:0"], args].concat());
    command.env("PLANWRIGHT_LOG", "trace").stderr(std::fs::File::options().create(true).append(true).open(folder.join("stderr")).unwrap());
    if args.is_empty() { home.serve_command(command).await } else { home.serve_command_without_token(command).await }
}

/// Everything that is shown to somebody who looks at all there is, headers and bodies.
async fn everything(server: &Server, browser: &Browser) -> Vec<u8> {
    let (_, workspaces) = browser.get("/workspaces").await;
    let workspace = format!("/workspaces/{}", workspaces[0]["id"].as_str().unwrap());
    let (status, chat) = browser.change(Method::POST, &format!("{workspace}/chats"), json!({})).await;
    assert_eq!(status, StatusCode::CREATED);
    let chat = format!("{workspace}/chats/{}", chat["id"].as_str().unwrap());
    browser.change(Method::POST, &format!("{chat}/messages"), json!({ "content": "Hello" })).await;
    let done = |events: &str| events.contains("run_finished");
    let mut seen = Vec::new();
    let mut stream = browser.request(Method::GET, &format!("{chat}/events")).send().await.unwrap();
    while let Some(piece) = stream.chunk().await.unwrap() {
        seen.extend_from_slice(&piece);
        if done(&String::from_utf8_lossy(&seen)) {
            break;
        }
    }
    let paths = ["/me", "/tokens", "/audit", "/roles", "/tools", "/workspaces", "/nowhere"].map(str::to_owned);
    let below = ["", "/chats", "/members", "/audit", "/trust"].map(|path| format!("{workspace}{path}"));
    let of_chat = ["", "/messages", "/snapshot", "/frontmatter", "/changes"].map(|path| format!("{chat}{path}"));
    for path in paths.into_iter().chain(below).chain(of_chat) {
        let response = browser.request(Method::GET, &path).send().await.unwrap();
        seen.extend(format!("{:?}", response.headers()).into_bytes());
        seen.extend(response.bytes().await.unwrap());
    }
    for path in ["/", "/healthz", "/docs", "/openapi.json", "/metrics"] {
        seen.extend(Client::new().get(format!("{}{path}", server.base)).send().await.unwrap().bytes().await.unwrap());
    }
    seen
}

/// What of it is a secret.
fn id(browser: &Browser) -> String {
    browser.cookie().split_once('=').unwrap().1.to_owned()
}

#[tokio::test]
async fn no_token_session_or_password_is_in_any_byte_served_logged_or_stored() {
    let home = home(&script());
    let folder = home.workspace().parent().unwrap().to_owned();
    let mut canaries: Canaries = vec![("password", "canary-password-of-ann".into()), ("wrong password", "canary-password-mistyped".into())];

    let server = loud(&home, &[]).await;
    let browser = Browser::sign_in(&server, &json!({ "token": server.token })).await;
    let (_, made) = browser.change(Method::POST, "/tokens", json!({ "name": "ci" })).await;
    canaries.extend([("the server's token", server.token.clone()), ("token mode's session", id(&browser))]);
    canaries.push(("an API token", made["token"].as_str().unwrap().to_owned()));
    login(&server, &json!({ "token": "canary-password-mistyped" })).await;
    let mut shown = everything(&server, &browser).await;
    browser.change(Method::POST, "/auth/logout", json!({})).await;
    assert!(server.terminate().await);

    add_user(&home, "ann", "canary-password-of-ann").await;
    let server = loud(&home, &["--auth", "users"]).await;
    let offer = json!({ "name": "ann", "password": "canary-password-of-ann" });
    let browser = Browser::sign_in(&server, &offer).await;
    canaries.extend([("a user's session", id(&browser)), ("a user's token", new_token(&home, "ann").await)]);
    for offer in [
        json!({ "name": "ann", "password": "canary-password-mistyped" }),
        json!({ "name": "canary-password-of-ann", "password": "ann" }),
        json!({ "name": ["canary-password-of-ann"], "password": { "canary-password-of-ann": 1 } }),
        json!({ "password": "canary-password-of-ann" }),
    ] {
        shown.extend(login(&server, &offer).await.bytes().await.unwrap());
    }
    let bearer: Value = canaries.last().unwrap().1.clone().into();
    let request = Client::new().get(format!("{}/api/v1/me", server.base)).bearer_auth(bearer.as_str().unwrap());
    shown.extend(request.send().await.unwrap().bytes().await.unwrap());
    shown.extend(everything(&server, &browser).await);
    let (_, stdout, stderr) = said(&home, &["user", "passwd", "ann", "--password-stdin"], "canary-password-of-ann").await;
    shown.extend(stdout.into_bytes());
    shown.extend(stderr.into_bytes());

    assert!(shown.len() > 20_000, "there is something to search: {}", shown.len());
    assert_eq!(found(&shown, &canaries), Vec::<&str>::new(), "served");
    assert_eq!(leaks(&folder, &canaries), [], "while the server runs");
    assert!(server.terminate().await);
    assert_eq!(leaks(&folder, &canaries), [], "and after it");
    let log = std::fs::read_to_string(folder.join("stderr")).unwrap();
    assert!(log.lines().count() > 100, "there is a log to search");
    assert!(std::fs::metadata(folder.join("data/planwright.db")).unwrap().len() > 4096, "there is a database to search");
    assert_eq!(found(&std::fs::read(folder.join("data/token")).unwrap(), &canaries), ["the server's token"], "the search finds things");
}
