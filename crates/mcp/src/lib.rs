//! MCP servers as tools.
//!
//! | module | contents |
//! | --- | --- |
//! | [`launch`] | a server's command line, and which parts of the machine it must see |
//! | [`names`] | the names of its tools, and which names are too similar |
//! | [`tool_catalog`] | its tools, checked against what the user accepted |
//! | [`tool_pins`] | what the user accepted |
//! | [`process`] | a server that is a program, in the sandbox |
//! | [`output_listener`] | limits on its output, and lines that are not messages |
//! | [`json_size`] | a limit on the values of a message, before it is parsed |
//! | [`http`] | a server with an address |
//! | [`connection`] | requests to either kind, with limits |
//! | [`redaction`] | secret values, removed from everything a server sends |
//! | [`answer`] | a server's answers as data |
//! | [`tool`] | one of its tools |
//! | [`configured_server`] | a server's configuration, and how to reach it |
//! | [`running_server`] | one running server |
//! | [`set`] | the servers of a workspace |
//!
//! Invariants: only accepted servers are started. A model sees only accepted text of a server, or results of calls. Text of a
//! server never counts as an order and never grants a permission. Values of our own environment never appear in output about a
//! server: everything it sends passes through [`connection`], which redacts it.

mod answer;
mod configured_server;
mod connection;
mod http;
mod json_size;
mod launch;
mod names;
mod output_listener;
mod process;
mod redaction;
mod running_server;
mod set;
mod tool;
mod tool_catalog;
mod tool_pins;

pub use configured_server::MachineView;
pub use set::{Pool, ServerSet, Trusting};
pub use tool_pins::{Pin, PinnedTool, Pins};
