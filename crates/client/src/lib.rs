//! The HTTP API and its event streams from the other side: for the terminal UI, `run` and editors.
//!
//! | module | contents |
//! | --- | --- |
//! | [`target`] | where the server is: an address, a socket, or a connector of the caller's own |
//! | [`connection`] | HTTP over any stream: idle connections are used again |
//! | [`client`] | one request: sent, retried under its `Idempotency-Key`, its answer read |
//! | [`calls`], [`chat`] | a method for each route that front ends need |
//! | [`events`] | event streams that reconnect and resume |
//! | [`error`] | what can go wrong |
//!
//! ```no_run
//! # async fn example() -> Result<(), planwright_client::ClientError> {
//! use planwright_client::{Client, StreamItem, ServerTarget};
//! let client = Client::connect(ServerTarget::Socket("/home/you/.local/share/planwright/planwright.sock".into(), None)).await?;
//! let workspace = client.add_workspace("/home/you/project").await?;
//! let chat = client.create_chat(workspace.row.id, &Default::default()).await?;
//! let place = client.chat(workspace.row.id, chat.id);
//! let mut events = place.events(place.snapshot().await?.last_event_id);
//! place.say("Add a farewell.").await?;
//! while let StreamItem::Event(event) = events.next().await? {
//!     println!("{} {}", event.envelope.seq, event.json);
//! }
//! # Ok(()) }
//! ```
//!
//! A request that changes something is sent again, under the same key, while the server can't be reached, up to
//! [`Client::patience`]. A stream never gives up by itself: it reports [`StreamItem::Lost`] once and goes on trying.
//!
//! Invariants: nothing here knows who hosts; a connector that hosts the server itself looks like any other. No event is
//! delivered twice, and none is left out: after a cut a stream resumes behind the last event that it delivered.

mod calls;
mod chat;
mod client;
mod connection;
mod error;
mod events;
mod target;

pub use calls::ChatListFilter;
pub use chat::{ChangesFilter, FileDiffFilter, RemoteChat};
pub use client::Client;
pub use error::ClientError;
pub use events::{EventFollower, ReceivedEvent, StreamItem};
pub use target::{BoxedStream, Connect, ServerTarget};
