//! Event streams: of one chat, and over all chats.
//!
//! All listeners share the serialized events; a stream itself holds little more than its position. It reads on only when
//! the client has taken what was sent before.

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

/// Maximum silence of a stream.
const HEARTBEAT: Duration = Duration::from_secs(10);
/// An empty comment line, which keeps the connection alive.
const KEEP_ALIVE: &[u8] = b":\n\n";
/// How soon a browser reconnects after a lost connection, in milliseconds.
const RETRY: &str = "retry: 500\n";

/// The events of one chat; their ids are their sequence numbers.
pub fn of_chat(follower: Follower, closing: CancellationToken) -> EventStream {
    let start = Bytes::from(format!("{RETRY}\n"));
    stream(Feed { source: Source::Chat(Box::new(follower)), next: Some(start), closing })
}

/// The events of all chats; an id is a position in all of them together.
pub fn over_all(overview: Overview, closing: CancellationToken) -> EventStream {
    // Sends an id at once, so that a client that loses the connection before the first event resumes at the same position.
    let start = Bytes::from(format!("{RETRY}id: {}\n\n", overview.cursor()));
    stream(Feed { source: Source::All(Box::new(overview)), next: Some(start), closing })
}

struct Feed {
    source: Source,
    /// Sent before anything else is read.
    next: Option<Bytes>,
    closing: CancellationToken,
}

enum Source {
    Chat(Box<Follower>),
    All(Box<Overview>),
}

fn stream(feed: Feed) -> EventStream {
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    EventStream((headers, Body::from_stream(chunks(feed))).into_response())
}

fn chunks(feed: Feed) -> impl Stream<Item = Result<Bytes, Infallible>> {
    futures::stream::unfold(feed, |mut feed| async move {
        let piece = match feed.next.take() {
            Some(piece) => piece,
            None => feed.closing.clone().run_until_cancelled(feed.read()).await??,
        };
        Some((Ok(piece), feed))
    })
}

impl Feed {
    /// The next chunk; `None` at the end.
    async fn read(&mut self) -> Option<Bytes> {
        match tokio::time::timeout(HEARTBEAT, self.event()).await {
            Ok(Ok(piece)) => piece,
            // The client reconnects with its last id and loses nothing.
            Ok(Err(problem)) if matches!(problem.code, ErrorCode::RateLimited | ErrorCode::NodeAway) => {
                tracing::debug!(%problem, "event stream ended");
                None
            }
            Ok(Err(problem)) => {
                tracing::error!(%problem, "event stream failed");
                None
            }
            Err(_) => Some(Bytes::from_static(KEEP_ALIVE)),
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
