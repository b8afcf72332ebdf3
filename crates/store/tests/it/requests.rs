//! Requests with idempotency keys.

use crate::world::{World, on_both};
use planwright_store::{RequestKey, RequestState};

on_both!(a_request_is_begun_once_and_answered_alike);

async fn a_request_is_begun_once_and_answered_alike(world: World) {
    let store = world.open().await;
    let key = |scope: &str| RequestKey { scope: scope.to_owned(), key: "k".to_owned() };
    let (one, other) = (key("ann POST /chats"), key("bob POST /chats"));
    assert_eq!(store.begin_request(&one, "a").await.unwrap(), RequestState::New);
    assert_eq!(store.begin_request(&one, "a").await.unwrap(), RequestState::Begun);
    assert_eq!(store.begin_request(&one, "b").await.unwrap(), RequestState::Other);
    assert_eq!(store.begin_request(&other, "b").await.unwrap(), RequestState::New, "a key is of one scope");
    store.end_request(&one, 201, "{\"id\":1}").await.unwrap();
    store.forget_request(&other).await.unwrap();
    store.close().await;
    let store = world.open().await;
    assert_eq!(store.begin_request(&one, "a").await.unwrap(), RequestState::Answered(201, "{\"id\":1}".to_owned()));
    assert_eq!(store.begin_request(&other, "c").await.unwrap(), RequestState::New);
}
