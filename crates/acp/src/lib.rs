//! Chats in editors, with the Agent Client Protocol over stdio: a client of the server that has the chats.
//!
//! | module | contents |
//! | --- | --- |
//! | [`agent`], [`methods`] | the connection, and one function per method |
//! | [`editor_sessions`] | the open sessions of the client |
//! | [`session`] | one session: its prompts, its questions, its updates |
//! | [`updates`], [`answer_text`], [`calls`] | chat events as updates: all events, streamed text, tool calls |
//! | [`changed_text`] | the files that a call changed, before and after |
//! | [`plan`] | a plan as entries and as text |
//! | [`question`], [`form`], [`typed`] | asking questions: by options, by a form, by typed text |
//! | [`prompt`], [`commands`] | the user's input: text with attachments, slash commands |
//! | [`modes`] | roles as session modes |
//! | [`problem`] | errors in the protocol's form |
//!
//! Invariants: only protocol messages go to stdout. Only the user answers questions; a question that the client can't show stays
//! pending. A mode is acknowledged only when it is in force. No file is read or written through the client.

mod agent;
mod answer_text;
mod calls;
mod changed_text;
mod commands;
mod editor_sessions;
mod form;
mod methods;
mod modes;
mod plan;
mod problem;
mod prompt;
mod question;
mod session;
mod typed;
mod updates;

pub use agent::{Front, refuse, serve};
