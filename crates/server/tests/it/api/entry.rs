//! Every route of the description, against everyone who must not come in. A new route is covered by being in the table.

use super::{bare, description, quiet_home};
use crate::ground::Server;
use reqwest::{RequestBuilder, StatusCode};
use serde_json::{Value, json};

/// A way to come that must lead nowhere.
struct Visitor {
    who: &'static str,
    dress: fn(RequestBuilder, &Server) -> RequestBuilder,
    told: (StatusCode, &'static str),
    /// Whether routes that need no sign-in are closed as well.
    everywhere: bool,
}

/// Users of another tenant come in `tenancy.rs`.
const VISITORS: &[Visitor] = &[
    Visitor { who: "without a token", dress: |request, _| request, told: (StatusCode::UNAUTHORIZED, "UNAUTHENTICATED"), everywhere: false },
    Visitor {
        who: "with a wrong token",
        dress: |request, _| request.bearer_auth("0".repeat(64)),
        told: (StatusCode::UNAUTHORIZED, "UNAUTHENTICATED"),
        everywhere: false,
    },
    Visitor {
        who: "by a foreign Host",
        dress: |request, server| request.bearer_auth(&server.token).header("host", "evil.example"),
        told: (StatusCode::FORBIDDEN, "FORBIDDEN"),
        everywhere: true,
    },
    Visitor {
        who: "by a foreign Origin",
        dress: |request, server| request.bearer_auth(&server.token).header("origin", "http://evil.example"),
        told: (StatusCode::FORBIDDEN, "FORBIDDEN"),
        everywhere: true,
    },
];

#[tokio::test]
async fn no_route_serves_anything_to_whoever_must_not_come_in() {
    let home = quiet_home();
    let server = home.serve().await;
    let chat = server.chat(json!({ "title": "Mine" })).await;
    chat.say("Keep this").await;
    chat.run_to_end(0).await;
    let (before, messages) = (chat.show().await, chat.messages().await);
    let document = description(&server).await;
    let mut tried = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, entry) in methods.as_object().unwrap() {
            let is_open = entry["security"] == json!([]);
            for visitor in VISITORS.iter().filter(|visitor| visitor.everywhere || !is_open) {
                let mut request = (visitor.dress)(bare(&server, method, &filled(path, &chat.path, entry)), &server);
                if let Some(body) = entry.pointer("/requestBody/content/application~1json/example") {
                    request = request.json(body);
                }
                let response = server.send(request).await;
                let what = format!("{method} {path} {}", visitor.who);
                assert_eq!(response.status(), visitor.told.0, "{what}");
                let answer: Value = response.json().await.unwrap();
                assert_eq!(
                    (answer["error"]["code"].as_str(), answer.as_object().unwrap().len()),
                    (Some(visitor.told.1), 1),
                    "{what}: {answer}"
                );
                tried += 1;
            }
        }
    }
    assert!(tried > 100, "{tried}");
    assert_eq!((chat.show().await, chat.messages().await), (before, messages), "nothing happened");
}

#[tokio::test]
async fn no_page_is_served_by_a_foreign_name() {
    let home = quiet_home();
    let server = home.serve().await;
    for path in ["/", "/docs", "/docs/docs.js", "/nowhere"] {
        let response = server.send(bare(&server, "get", path).header("host", "evil.example")).await;
        assert_eq!(response.status(), StatusCode::FORBIDDEN, "{path}");
    }
}

/// The address of something that is there, so that it would be served if the guard slept.
fn filled(path: &str, chat: &str, entry: &Value) -> String {
    let mut ids = chat.split('/').skip(2).step_by(2);
    let (workspace, chat) = (ids.next().unwrap(), ids.next().unwrap());
    let mut path = path.replace("{wid}", workspace).replace("{cid}", chat);
    for parameter in entry["parameters"].as_array().unwrap().iter().filter(|parameter| parameter["in"] == "path") {
        let example = parameter["example"].as_str().unwrap();
        path = path.replace(&format!("{{{}}}", parameter["name"].as_str().unwrap()), example);
    }
    path
}
