//! Open chats: one actor per chat admits ops, runs turns, stores changes and publishes events.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`models`] | where runs get their models from |
//! | `model_choice` | the model and the effort that the user chose for one chat |
//! | [`sessions`], [`handle`] | all chats of a process; opens them on demand, resumes interrupted ones |
//! | [`open_chats`] | the chats in memory; idle ones leave it |
//! | [`fork`] | a new chat with the same history up to a message |
//! | [`actor`] | the effect of each op on a chat |
//! | [`chat`] | a chat in memory, and the only way to change it: store, then publish |
//! | [`run`] | a run: calls the model, executes tool calls |
//! | [`context`] | the parts of the next model request |
//! | [`delta_batches`] | a reply's deltas, batched for publishing |
//! | [`available_tools`] | the tools of MCP servers that a run can use |
//! | [`summary`] | compacting a conversation that has grown too long |
//! | [`prompt_context`] | facts about the workspace in the prompt |
//! | `reasoning` | reasoning that a model shows, limited |
//! | [`read_marker`] | the history in the order in which the model read it |
//! | [`delegation`] | a task delegated to another role, in the same chat |
//! | [`exploration`] | tasks of helpers that read at the same time |
//! | [`action`] | everything that changes a workspace, in five steps; also after a crash |
//! | `user_call` | tool calls of the user, through the tools endpoint |
//! | `hand_over` | leaving the chats to another process |
//! | [`work`] | running calls: their threads, their output, stopping them |
//! | [`chat_file`] | the chat as a file in the workspace, for people to read |
//! | [`view`] | chats and tools in the form that clients get |
//! | [`plan`] | the content of a plan file, and the cards and messages that show it |
//! | [`progress`] | the execution of a plan: its progress, its boxes, changes of its file |
//! | [`versions`] | file changes of calls: recorded before they happen, settled afterwards |
//! | [`changes`], [`changed_file`], [`net_change`] | a chat's changes, as diffs |
//! | [`revert`], [`revert_files`] | the effect of a revert: since a message, or by file |
//! | [`commits`] | finished work, committed to a separate branch |
//! | [`comment_text`] | comments of a review as text |
//! | [`plan_view`] | the chat's plan as its file is now, for clients |
//! | [`drift`] | files that changed between the writing of a plan and its approval |
//! | [`crash`] | points where a test can make the process die |
//! | [`metrics`] | counters for the operator of the server |
//! | [`card`] | the questions that a chat can wait for |
//! | [`images`] | images in user messages |
//!
//! Invariants: nothing is published before it is stored (except deltas, and states, which the next change stores); an op is
//! answered only when its effect is on disk; two ops of a chat never overlap.

mod action;
mod actor;
mod available_tools;
mod card;
mod changed_file;
mod changed_steps;
mod changes;
mod chat;
pub mod chat_file;
mod classifier;
mod comment_text;
mod commits;
mod context;
pub mod crash;
mod delegation;
mod delta_batches;
mod drift;
mod exploration;
mod following;
mod fork;
mod hand_over;
mod handle;

mod images;
mod inbox;
mod metrics;
mod model_choice;
mod models;
mod net_change;
mod open_chats;
mod plan;
mod plan_view;
mod policy;
mod progress;
mod prompt_context;
mod read_marker;
mod reasoning;
mod ref_words;
mod revert;
mod revert_files;
mod run;
mod sessions;
mod summary;
mod too_long;
mod user_call;
mod versions;
mod view;
mod work;
mod workspace_leases;
mod workspace_tenure;

pub use actor::{OPERATOR, Reply, SentKey};
pub use changes::ChangesQuery;
pub use chat::Chat;
pub use context::{ContextPart, ContextView};
pub use following::node_away;
pub use handle::Handle;
pub use images::image_type;
pub use models::{Models, named as named_models};
pub use planwright_plan::lint as lint_plan;
pub use revert::{Revert, revert_summary, shorten_revert};
pub use sessions::Sessions;
pub use user_call::{Place, UserCall};
pub use view::{ToolView, shorten, tool_views};
