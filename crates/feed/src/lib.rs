//! Delivers events to listeners: the followers of a chat, and the overview of all chats.
//!
//! | module | contents |
//! | --- | --- |
//! | `frame` | an event as bytes of the stream, serialized once for all listeners |
//! | `channel` | the newest events in memory, for followers that keep up |
//! | `chat_feed` | publishes the events of one chat to its followers and to the overview |
//! | `follow` | [`Follower`]: stored events since a number, then live ones, without gaps or duplicates |
//! | `overview` | one stream over all chats |
//! | `unsent` | limits on events that clients have not read |
//! | `bus`, `nats` | messages between nodes, in one process or over NATS |
//! | `peers` | requests to other nodes, and the subjects of the bus |
//! | `distant_chat` | a chat of another node, for followers here |
//!
//! Invariants: no follower has its own queue. A slow follower reads on from the store. No client can make the server keep more
//! than the limits in `channel` and `unsent`.

mod bus;
mod channel;
mod chat_feed;
mod distant_chat;
mod follow;
mod frame;
mod nats;
mod overview;
mod peers;
mod unsent;

pub use bus::{Bus, BusMessage, LocalBus, Messages};
pub use chat_feed::{ChatFeed, EventLog, Moment, PartialAnswer};
pub use distant_chat::{ChatQuestion, DistantChat, answer_question};
pub use follow::Follower;
pub use frame::{Frame, SentEvent, Source};
pub use nats::Nats;
pub use overview::{Cursor, Hub, Overview, OverviewEvent, Visibility};
pub use peers::{Peers, Unanswered};
pub use unsent::{Bound, Unsent};
