//! Runs that stop when the client that started them is gone, because nobody would see what they do.
//!
//! Such a client names itself in the header [`LEASH`] of all its requests. An op that may start a run ties the chat to it, and
//! its event streams show that it is still there. When the last one has been closed for [`GRACE`], the run stops, unless it
//! waits for an answer. After the server was replaced by another one, the client's stream ties the chat again.

use crate::App;
use crate::guard::{Caller, right};
use axum::body::Body;
use axum::extract::{MatchedPath, Path, Request, State};
use axum::http::{HeaderMap, Method};
use axum::middleware::Next;
use axum::response::Response;
use futures::StreamExt;
use planwright_chat::OPERATOR;
use planwright_protocol::{ChatId, ChatState, Op, WorkspaceId};
use planwright_store::Right;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Names the client that a run belongs to.
pub const LEASH: &str = "planwright-leash";
const GRACE: Duration = Duration::from_secs(10);
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
const LONGEST_NAME: usize = 100;
/// How the paths end of ops that may start a run.
const OPS: &[&str] = &["/messages", "/execute", "/retry"];

/// The chats whose runs belong to clients.
#[derive(Clone, Default)]
pub struct Leashes(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    /// The client that each chat is tied to.
    chats: HashMap<ChatId, String>,
    clients: HashMap<String, Presence>,
}

struct Presence {
    streams: usize,
    /// When the last stream was closed, or the first chat was tied.
    alone_since: Instant,
}

impl Inner {
    fn presence(&mut self, client: &str) -> &mut Presence {
        self.clients.entry(client.to_owned()).or_insert_with(|| Presence { streams: 0, alone_since: Instant::now() })
    }

    /// Forgets a client without streams and chats.
    fn tidy(&mut self, client: &str) {
        let is_needed = self.clients.get(client).is_some_and(|presence| presence.streams > 0) || self.chats.values().any(|of| of == client);
        if !is_needed {
            self.clients.remove(client);
        }
    }
}

impl Leashes {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ties a chat to a client. Returns whether it was tied to none.
    fn tie(&self, chat: ChatId, client: &str) -> bool {
        let mut inner = self.lock();
        inner.presence(client).alone_since = Instant::now();
        let earlier = inner.chats.insert(chat, client.to_owned());
        if let Some(earlier) = &earlier {
            inner.tidy(earlier);
        }
        earlier.is_none()
    }

    fn is_tied(&self, chat: ChatId) -> bool {
        self.lock().chats.contains_key(&chat)
    }

    fn open_stream(&self, client: &str) -> OpenStream {
        self.lock().presence(client).streams += 1;
        OpenStream { leashes: self.clone(), client: client.to_owned() }
    }

    /// For how long the client of a chat has been gone; `None` if the chat is not tied any more.
    fn alone_for(&self, chat: ChatId) -> Option<Duration> {
        let inner = self.lock();
        let presence = inner.clients.get(inner.chats.get(&chat)?)?;
        Some(if presence.streams > 0 { Duration::ZERO } else { presence.alone_since.elapsed() })
    }

    fn untie(&self, chat: ChatId) {
        let mut inner = self.lock();
        if let Some(client) = inner.chats.remove(&chat) {
            inner.tidy(&client);
        }
    }
}

/// An open event stream of a client.
struct OpenStream {
    leashes: Leashes,
    client: String,
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        let mut inner = self.leashes.lock();
        let presence = inner.presence(&self.client);
        presence.streams = presence.streams.saturating_sub(1);
        presence.alone_since = Instant::now();
        inner.tidy(&self.client);
    }
}

/// Observes requests of clients whose runs belong to them. Runs behind the check of rights.
pub async fn observe(
    State((app, leashes)): State<(App, Leashes)>,
    caller: Caller,
    route: MatchedPath,
    ids: Option<Path<HashMap<String, String>>>,
    request: Request,
    next: Next,
) -> Response {
    let chat = ids.and_then(|Path(ids)| Some((ids.get("wid")?.parse().ok()?, ids.get("cid")?.parse().ok()?)));
    let Some((workspace, chat)) = chat else { return next.run(request).await };
    let is_op = request.method() == Method::POST && OPS.iter().any(|ending| route.as_str().ends_with(ending));
    let Some(client) = named(request.headers()) else {
        // Whoever works in the chat now has no leash.
        if is_op {
            leashes.untie(chat);
        }
        return next.run(request).await;
    };
    let is_stream = request.method() == Method::GET && route.as_str().ends_with("/events");
    if is_op && leashes.tie(chat, &client) {
        tokio::spawn(watch(app.clone(), leashes.clone(), workspace, chat));
    }
    if !is_stream {
        return next.run(request).await;
    }
    // A viewer may read the stream, and must not end a run by leaving.
    if right(&app, &caller, workspace).await.is_ok_and(|right| right >= Right::Member) && runs(&app, workspace, chat).await {
        let is_new = !leashes.is_tied(chat) && leashes.tie(chat, &client);
        if is_new {
            tokio::spawn(watch(app.clone(), leashes.clone(), workspace, chat));
        }
    }
    let open = leashes.open_stream(&client);
    next.run(request).await.map(|body| {
        Body::from_stream(body.into_data_stream().map(move |piece| {
            let _open = &open;
            piece
        }))
    })
}

fn named(headers: &HeaderMap) -> Option<String> {
    let name = headers.get(LEASH)?.to_str().ok()?;
    (1..=LONGEST_NAME).contains(&name.len()).then(|| name.to_owned())
}

async fn runs(app: &App, workspace: WorkspaceId, chat: ChatId) -> bool {
    let state = app.sessions.look_at(workspace, chat).await.map(|chat| chat.state);
    state.is_ok_and(|state| !matches!(state, ChatState::Idle | ChatState::Failed | ChatState::AwaitingAnswer))
}

/// Stops the run of a chat when its client has been gone for too long.
async fn watch(app: App, leashes: Leashes, workspace: WorkspaceId, chat: ChatId) {
    while app.closing.run_until_cancelled(tokio::time::sleep(CHECK_INTERVAL)).await.is_some() {
        let Some(alone) = leashes.alone_for(chat) else { return };
        if alone < GRACE {
            continue;
        }
        leashes.untie(chat);
        if runs(&app, workspace, chat).await {
            tracing::info!(%chat, "stopping a run whose client is gone");
            let stopped = async { app.sessions.chat_in(workspace, chat).await?.submit_by(Op::Stop, OPERATOR).await };
            if let Err(problem) = stopped.await {
                tracing::warn!(%chat, %problem, "can't stop a run whose client is gone");
            }
        }
        return;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_client_is_gone_when_its_last_stream_is_closed() {
        let (leashes, chat) = (Leashes::default(), ChatId::generate());
        let (first, second) = (leashes.open_stream("a"), leashes.open_stream("a"));
        assert!(leashes.tie(chat, "a") && !leashes.tie(chat, "a"));
        drop(first);
        tokio::time::advance(GRACE * 2).await;
        assert_eq!(leashes.alone_for(chat), Some(Duration::ZERO));
        let _other = leashes.open_stream("b");
        drop(second);
        tokio::time::advance(GRACE).await;
        assert_eq!(leashes.alone_for(chat), Some(GRACE), "the stream of somebody else is no sign of life");
        leashes.tie(chat, "b");
        assert_eq!(leashes.alone_for(chat), Some(Duration::ZERO), "the run belongs to whoever started it last");
        leashes.untie(chat);
        assert!(leashes.alone_for(chat).is_none() && leashes.lock().clients.len() == 1, "only the client with a stream is known");
    }
}
