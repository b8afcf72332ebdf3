//! Events to whoever listens: the followers of a chat, and the overview of all chats.
//!
//! | module | what it holds |
//! | --- | --- |
//! | `frame` | an event as bytes of the stream, serialised once however many listen |
//! | `channel` | the newest events in memory, for followers that keep up |
//! | `chat_feed` | the events of one chat: to its followers and to the overview |
//! | `follow` | [`Follower`]: stored events since a number, then live ones, without hole or duplicate |
//! | `overview` | one stream over all chats |
//! | `unsent` | how much may wait for clients that don't read |
//!
//! Invariants: no follower has a queue of its own; a slow follower reads on from the store; nobody can make the server
//! keep more than the bounds in `channel` and `unsent`.

mod channel;
mod chat_feed;
mod follow;
mod frame;
mod overview;
mod unsent;

pub use chat_feed::{ChatFeed, EventLog, Moment, PartialAnswer};
pub use follow::Follower;
pub use frame::{Frame, SentEvent, Source};
pub use overview::{Cursor, Hub, Overview, OverviewEvent, Sight};
pub use unsent::{Bound, Unsent};
