//! The bodies of the HTTP API: what the server writes and its clients read, and the other way round.
//!
//! | module | contents |
//! | --- | --- |
//! | [`chat`] | a chat, its snapshot, its pending question |
//! | [`changes`] | what a chat changed, and reverting it |
//! | [`inbox`] | chats of all workspaces |
//! | [`plan`] | the plan file of a chat |
//! | [`server`] | the server and its user |
//! | [`workspace`] | workspaces, their files, models and trust |
//! | [`requests`] | the bodies of requests |

pub mod changes;
pub mod chat;
pub mod inbox;
pub mod plan;
pub mod requests;
pub mod server;
pub mod workspace;
