//! A chat's events as a stream.

use crate::answer::EventStream;
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use planwright_protocol::Problem;
use planwright_session::{Chat, Follower};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

pub async fn stream(chat: Arc<Chat>, after: u64, closing: CancellationToken) -> Result<EventStream, Problem> {
    let follower = Follower::after(chat, after).await?;
    let events = futures::stream::unfold((follower, closing), |(mut follower, closing)| async move {
        let frame = closing.run_until_cancelled(follower.next()).await?;
        match frame {
            Ok(Some(frame)) => Some((
                Ok::<_, Infallible>(Event::default().id(frame.seq.to_string()).event(frame.name).data(&frame.json)),
                (follower, closing),
            )),
            Ok(None) => None,
            Err(problem) => {
                // The client comes back with its last id and loses nothing.
                tracing::error!(%problem, "an event stream had to be ended");
                None
            }
        }
    });
    Ok(EventStream(Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_secs(10))).into_response()))
}
