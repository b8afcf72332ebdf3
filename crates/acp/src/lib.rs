//! Chats in editors, by the Agent Client Protocol over stdio: a second front end over the same sessions.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`agent`], [`methods`] | the connection, and what each method of it does |
//! | [`desk`] | the sessions that the client has open |
//! | [`session`] | one of them: its prompts, its questions, what it tells |
//! | [`teller`], [`speech`], [`calls`] | what happens in a chat, as updates: all of it, words, tool calls |
//! | [`plan`] | a plan as entries and as text |
//! | [`question`], [`form`], [`typed`] | questions put to the user: by options, by a form, by what they type |
//! | [`prompt`], [`commands`] | what the user sends: words and what is attached, slash commands |
//! | [`modes`] | roles as session modes |
//! | [`problem`] | errors as the protocol has them |
//!
//! Invariants: nothing but the protocol goes to stdout; no question is answered by anybody but the user, and what the
//! client can't ask stays pending; no mode is acknowledged that does not hold already; no file is read or written
//! through the client.

mod agent;
mod calls;
mod commands;
mod desk;
mod form;
mod methods;
mod modes;
mod plan;
mod problem;
mod prompt;
mod question;
mod session;
mod speech;
mod teller;
mod typed;

pub use agent::{Front, refuse, serve};
