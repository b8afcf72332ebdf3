//! Events as streams: of one chat, and over all chats.
//!
//! What is sent is shared by all who listen; a stream itself holds little more than its place. It is read on only when the
//! client has taken what came before.

use crate::answer::EventStream;
use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::IntoResponse;
use futures::Stream;
use planwright_feed::{Follower, Overview, OverviewEvent, SentEvent};
use planwright_protocol::{ErrorCode, Problem};
use std::convert::Infallible;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long a stream is silent at most.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// A line that means nothing; it keeps the connection from being taken for dead.
const SIGN_OF_LIFE: &[u8] = b":\n\n";
/// How soon a browser comes back when the connection broke, in milliseconds.
const RETRY: &str = "retry: 500\n";

/// The events of one chat; their ids are their numbers.
pub fn of_chat(follower: Follower, closing: CancellationToken) -> EventStream {
    let start = Bytes::from(format!("{RETRY}\n"));
    stream(Feed { source: Source::Chat(Box::new(follower)), next: Some(start), closing })
}

/// The events of all chats; an id is a place in all of them together.
pub fn over_all(overview: Overview, closing: CancellationToken) -> EventStream {
    // With an id at once, so that a client that loses the connection before the first event comes back to the same place.
    let start = Bytes::from(format!("{RETRY}id: {}\n\n", overview.cursor()));
    stream(Feed { source: Source::All(Box::new(overview)), next: Some(start), closing })
}

struct Feed {
    source: Source,
    /// What is to be sent before anything else is read.
    next: Option<Bytes>,
    closing: CancellationToken,
}

enum Source {
    Chat(Box<Follower>),
    All(Box<Overview>),
}

fn stream(feed: Feed) -> EventStream {
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    EventStream((headers, Body::from_stream(pieces(feed))).into_response())
}

fn pieces(feed: Feed) -> impl Stream<Item = Result<Bytes, Infallible>> {
    futures::stream::unfold(feed, |mut feed| async move {
        let piece = match feed.next.take() {
            Some(piece) => piece,
            None => feed.closing.clone().run_until_cancelled(feed.read()).await??,
        };
        Some((Ok(piece), feed))
    })
}

impl Feed {
    /// The next piece; `None` at the end.
    async fn read(&mut self) -> Option<Bytes> {
        match tokio::time::timeout(HEARTBEAT, self.event()).await {
            Ok(Ok(piece)) => piece,
            // The client comes back with its last id and loses nothing.
            Ok(Err(problem)) if problem.code == ErrorCode::RateLimited => {
                tracing::debug!(%problem, "an event stream was ended");
                None
            }
            Ok(Err(problem)) => {
                tracing::error!(%problem, "an event stream had to be ended");
                None
            }
            Err(_) => Some(Bytes::from_static(SIGN_OF_LIFE)),
        }
    }

    async fn event(&mut self) -> Result<Option<Bytes>, Problem> {
        match &mut self.source {
            Source::Chat(follower) => Ok(follower.next().await?.map(|frame| frame.block())),
            Source::All(overview) => {
                let told = overview.next().await?;
                let block = match told {
                    OverviewEvent::Event(frame) => frame.block_without_id(),
                    OverviewEvent::Reset => SentEvent::reset(),
                };
                self.next = Some(block);
                Ok(Some(format!("id: {}\n", overview.cursor()).into()))
            }
        }
    }
}
