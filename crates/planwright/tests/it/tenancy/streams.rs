//! Streams and views of somebody whose rights change, over real connections.

use super::team::team;
use reqwest::{Method, StatusCode};
use serde_json::json;

/// Reads a stream until it ends.
async fn ended(mut stream: reqwest::Response) -> bool {
    let end = async { while let Ok(Some(_)) = stream.chunk().await {} };
    tokio::time::timeout(planwright_testkit::PATIENCE, end).await.is_ok()
}

#[tokio::test]
async fn a_stream_over_all_chats_that_opens_while_its_reader_is_removed_does_not_stay_open_with_their_rights() {
    let team = team(&[]).await;
    let members = format!("/workspaces/{}/members", team.anns.0);
    let url = format!("{}/api/v1/events?chats={}", team.server.base, team.anns.1);
    let open = || async { team.client.get(&url).bearer_auth(&team.vic).send().await.unwrap() };
    let vic = format!("{members}/vic");
    let out = team.request(&team.ann, Method::DELETE, &vic, json!({}));
    let (streams, (status, _)) = futures::join!(futures::future::join_all((0..24).map(|_| open())), async {
        tokio::task::yield_now().await;
        out.await
    });
    assert_eq!(status, StatusCode::NO_CONTENT);
    let open: Vec<_> = streams.into_iter().map(|stream| tokio::spawn(words(stream))).collect();
    // A stream that opens after all of these is checked after all of them.
    let again = team.request(&team.ann, Method::POST, &members, json!({ "name": "vic", "role": "viewer" })).await;
    assert_eq!(again.0, StatusCode::CREATED);
    let last = team.client.get(&url).bearer_auth(&team.vic).send().await.unwrap();
    assert_eq!(team.request(&team.ann, Method::DELETE, &vic, json!({})).await.0, StatusCode::NO_CONTENT);
    assert!(ended(last).await);
    let chat = format!("/workspaces/{}/chats/{}/messages", team.anns.0, team.anns.1);
    let said = team.request(&team.ann, Method::POST, &chat, json!({ "content": "Without vic" })).await;
    assert_eq!(said.0, StatusCode::ACCEPTED);
    let url = format!("{}/api/v1/events?chats={}", team.server.base, team.bobs.1);
    let bobs = tokio::spawn(words(team.client.get(url).bearer_auth(&team.bob).send().await.unwrap()));
    drop(team.server);
    for stream in open {
        let words = stream.await.unwrap();
        assert!(!words.contains("Without vic"), "{words}");
    }
    assert!(!bobs.await.unwrap().contains("Without vic"));
}

/// Everything that a stream says until it ends.
async fn words(mut stream: reqwest::Response) -> String {
    let mut words = Vec::new();
    while let Ok(Some(piece)) = stream.chunk().await {
        words.extend_from_slice(&piece);
    }
    String::from_utf8_lossy(&words).into_owned()
}

#[tokio::test]
async fn where_the_servers_configuration_lies_is_shown_to_admins_alone() {
    let team = team(&[]).await;
    let file = async |token: &str| team.request(token, Method::GET, "/models", json!({})).await.1["config_file"].clone();
    assert!(file(&team.ann).await.is_string());
    assert_eq!([file(&team.bob).await, file(&team.vic).await], [json!(null), json!(null)]);
}
