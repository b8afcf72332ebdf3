//! Chats that live: one actor per chat admits ops, runs turns, stores and publishes what happens.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`models`] | where runs get their models from |
//! | `model_choice` | the model and the effort that the user chose for one chat |
//! | [`sessions`], [`handle`] | all chats of a process; opens them on demand, resumes those that were cut off |
//! | [`open_chats`] | the chats in memory; idle ones leave it |
//! | [`fork`] | another chat that begins like an earlier one |
//! | [`actor`] | what each op does to a chat |
//! | [`chat`] | a chat in memory, and the one way to change it: store, then publish |
//! | [`run`] | a run: asks the model, carries out calls |
//! | [`context`] | what a model would read if it were asked now |
//! | [`pieces`] | a reply in pieces that are worth telling |
//! | [`offered`] | what MCP servers offer to a run |
//! | [`summary`] | a conversation that has grown too long, summed up |
//! | [`surroundings`] | what the prompt tells of the workspace |
//! | `reasoning` | reasoning that a model shows, bounded |
//! | [`reading`] | the history as the model read it |
//! | [`agent`] | who works in a chat: its own agent, or a delegate |
//! | [`delegation`] | a task that is handed to another role, worked on in the same chat |
//! | [`action`] | everything that changes a workspace, in five steps; also after a crash |
//! | `user_call` | tool calls of the user, by the tools endpoint |
//! | [`work`] | calls while they are carried out: on threads of their own, heard, ended |
//! | [`chat_file`] | the chat as a file of the workspace, for people to read |
//! | [`view`] | chats and tools, as clients read them |
//! | [`plan`] | a plan as its file has it, and the cards and messages that show it |
//! | [`progress`] | the plan that is carried out: how far it has come, its boxes, what became of its file |
//! | [`versions`] | what calls change in files: noted before it happens, settled after |
//! | [`changes`], [`changed_file`], [`net_change`] | what a chat changed, as diffs |
//! | [`revert`], [`revert_files`] | what taking it back would do: since a message, or by file |
//! | [`commits`] | finished work, committed on a branch of its own |
//! | [`comment_text`] | comments of a review as text |
//! | [`plan_view`] | the chat's plan as its file is now, for clients |
//! | [`drift`] | files that changed between the writing of a plan and its approval |
//! | [`crash`] | the places where a test can have the process die |
//! | [`tally`] | what is counted for those who run the server |
//! | [`card`] | the questions a chat can wait for |
//! | [`images`] | images that come with what the user says |
//!
//! Invariants: nothing is published that is not stored (but for deltas, and for states, which are stored with the next
//! change); an op is answered only when what it
//! did is on disk; two ops of a chat never overlap.

mod action;
mod actor;
mod agent;
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
mod drift;
mod fork;
mod handle;
mod images;
mod inbox;
mod model_choice;
mod models;
mod net_change;
mod offered;
mod open_chats;
mod pieces;
mod plan;
mod plan_view;
mod policy;
mod progress;
mod reading;
mod reasoning;
mod ref_words;
mod revert;
mod revert_files;
mod run;
mod sessions;
mod summary;
mod surroundings;
mod tally;
mod too_long;
mod user_call;
mod versions;
mod view;
mod work;

pub use actor::{OPERATOR, Reply, SentKey};
pub use agent::Agent;
pub use card::Pending;
pub use changed_file::FileDiff;
pub use changes::{CallChanges, ChangedFile, ChangedText, Changes, ChangesQuery};
pub use chat::Chat;
pub use context::{ContextPart, ContextView};
pub use handle::Handle;
pub use images::image_type;
pub use model_choice::ModelOptions;
pub use models::{Models, named as named_models};
pub use plan_view::{PlanFileView, PlanFinding};
pub use planwright_plan::{Finding, lint as lint_plan};
pub use revert::{Conflict, Revert, RevertSummary, Step, shorten_revert};
pub use revert_files::RevertDiff;
pub use sessions::Sessions;
pub use user_call::{Place, UserCall};
pub use view::{ChatView, ProgressView, RunEnd, Snapshot, ToolView, shorten, tool_views};
