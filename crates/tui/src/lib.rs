//! The terminal UI: a client of the HTTP API like every other front end.
//!
//! | module | contents |
//! | --- | --- |
//! | [`app`] | the state of the screen, and what a key or a report does to it |
//! | [`open_chat`], [`transcript`], [`history`] | the open chat: its events, its rows, what was drawn of them |
//! | [`composer`], [`text_field`] | the message that is being written |
//! | [`dock`], [`approval`], [`form`] | the pending question |
//! | [`plan_page`], [`changes_page`], [`list_page`], [`overlay`] | the other pages, and what lies over them |
//! | [`draw`] | the state as a picture |
//! | [`clean`], [`wrap`], [`markdown`], [`highlight`], [`palette`] | foreign text made safe, broken to a width, and in colours |
//! | [`keys`] | all keys, for the footer and for help |
//! | [`request`], [`server_link`] | what the screen asks of the server, and how |
//! | [`runner`], [`terminal`], [`editor`] | the loop, the terminal, the user's editor |
//!
//! Invariants: the state and the pictures are pure; only `runner`, `server_link`, `terminal` and `editor` touch the world. No foreign text is
//! drawn before it went through [`clean`], so that none can move the cursor, set the title, hide, or look like an approval.

pub mod app;
pub mod approval;
pub mod changes_page;
pub mod clean;
pub mod composer;
pub mod dock;
pub mod draw;
pub mod editor;
pub mod form;
pub mod highlight;
pub mod history;
pub mod keys;
pub mod list_page;
pub mod markdown;
pub mod open_chat;
pub mod overlay;
pub mod palette;
pub mod plan_page;
pub mod request;
pub mod runner;
pub mod server_link;
pub mod terminal;
pub mod text_field;
pub mod transcript;
pub mod viewport;
pub mod wrap;

pub use runner::{Connecting, ReachedServer, run};
pub use server_link::Folder;
