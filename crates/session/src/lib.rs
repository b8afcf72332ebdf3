//! Chats that live: one actor per chat admits ops, runs turns, stores and publishes what happens.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`sessions`] | all chats of a process; opens them on demand, resumes those that were cut off |
//! | [`actor`] | what each op does to a chat |
//! | [`chat`] | a chat in memory, and the one way to change it: store, then publish |
//! | [`run`] | a run: asks the model, carries out calls |
//! | [`reading`] | the history as the model read it |
//! | [`call`] | one tool call from its arguments to its result, also after a crash |
//! | [`follow`] | what happened since, then what happens |
//! | [`view`] | tools and chats, as clients read them |
//! | [`plan`] | a plan as its file has it: read, stored, told of |
//! | [`crash`] | the places where a test can have the process die |
//! | [`card`] | the questions a chat can wait for |
//!
//! Invariants: nothing is published that is not stored (but for deltas); an op is answered only when what it
//! did is on disk; two ops of a chat never overlap.

mod actor;
mod call;
mod card;
mod chat;
pub mod crash;
mod follow;
mod plan;
mod reading;
mod run;
mod sessions;
mod view;

pub use actor::Reply;
pub use card::Pending;
pub use chat::{Chat, Frame, Snapshot, storage};
pub use follow::Follower;
pub use sessions::{DefaultMode, Handle, IntentSwitch, Limits, Models, Sessions, Settings};
pub use view::{ChatView, ToolView, tool_views};
