//! Requests per second, against a bare route in the same run.

use crate::place::{chat_with, home, store};
use axum::routing::get;
use planwright_testkit::server::Server;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const CLIENTS: usize = 16;
const TIME: Duration = Duration::from_secs(3);

pub async fn measure() -> bool {
    let home = home(&json!({ "turns": [{ "text": "Hello." }], "repeat": true }));
    let store = store(&home).await;
    let chat = chat_with(&store, &home, 100).await;
    store.close().await;
    let server = home.serve().await;
    let path = format!("/workspaces/{}/chats/{}", chat.workspace_id, chat.id);
    let body = server.get(&path).await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let bare = format!("http://{}/", listener.local_addr().unwrap());
    let router = axum::Router::new().route("/", get(async move || axum::Json(body)));
    let serving = tokio::spawn(async move { axum::serve(listener, router).await });
    let bare_rate = rate(|client| client.get(&bare)).await;
    let shown = rate(|client| authorised(&server, client.get(format!("{}/api/v1{path}", server.base)))).await;
    let messages = format!("{}/api/v1{path}/messages", server.base);
    let sent = rate(|client| authorised(&server, client.post(&messages).json(&json!({ "content": "Hi" })))).await;
    serving.abort();
    println!("requests per second, {CLIENTS} clients: a bare route            {bare_rate:>8.0}");
    println!("GET chat, and against the bare route                       {shown:>8.0} {:>8.2}", shown / bare_rate);
    println!("POST message, stored, and against the bare route           {sent:>8.0} {:>8.2}", sent / bare_rate);
    true
}

fn authorised(server: &Server, request: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
    request.bearer_auth(&server.token)
}

async fn rate(request: impl Fn(&reqwest::Client) -> reqwest::RequestBuilder) -> f64 {
    let client = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
    let (over, count) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let begun = Instant::now();
    let clients = (0..CLIENTS).map(|_| async {
        while !over.load(Ordering::Relaxed) {
            let response = request(&client).send().await.unwrap();
            assert!(response.status().is_success(), "{}", response.status());
            response.bytes().await.unwrap();
            count.fetch_add(1, Ordering::Relaxed);
        }
    });
    let clock = async {
        tokio::time::sleep(TIME).await;
        over.store(true, Ordering::Relaxed);
    };
    tokio::join!(futures::future::join_all(clients), clock);
    count.load(Ordering::Relaxed) as f64 / begun.elapsed().as_secs_f64()
}
