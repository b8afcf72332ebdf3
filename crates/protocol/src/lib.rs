//! The vocabulary every other crate speaks: types only, no async, no input or output.
//!
//! | module | what it names |
//! | --- | --- |
//! | [`ids`] | one newtype per kind of id |
//! | [`role`] | the six roles: one row each, and everything that follows from it |
//! | [`config`] | the role of a chat in all the words clients use for it |
//! | [`image`] | what is at a path at one moment |
//! | [`message`] | what a chat's history is made of |
//! | [`plan`] | the plan and its progress |
//! | [`question`] | what the agent may ask |
//! | [`settings`] | the sections of the configuration |
//! | [`state`] | what a chat is doing, and what may follow in which mode |
//! | [`time`] | moments |
//! | [`op`], [`event`] | what goes into a chat, what comes out of it |
//! | [`digest`] | contents, named by their hash |
//! | [`error`] | every error code, in one table |
//! | [`json`] | JSON that two readers can't understand differently |
//!
//! Invariants: nothing here opens a file or a socket; the mode is never stored, only the role is.

pub mod config;
pub mod digest;
pub mod error;
pub mod event;
pub mod ids;
pub mod image;
pub mod json;
pub mod message;
pub mod op;
pub mod plan;
pub mod question;
pub mod role;
pub mod settings;
pub mod state;
pub mod time;

pub use config::{ChatConfig, RoleRequest, RoleWord};
pub use digest::sha256_hex;
pub use error::{ErrorCode, Problem};
pub use event::{Envelope, Event, SwitchedBy};
pub use ids::{CallId, ChatId, MessageId, QuestionId, RunId, TokenId, UserId, WorkspaceId};
pub use image::Image;
pub use jiff::Timestamp;
pub use message::{AttachedImage, Author, CallMessage, Message, MessageBody, MessageType, Notice, WireMessage};
pub use op::Op;
pub use plan::{Plan, PlanFileStatus, PlanStep, Progress, StepStatus};
pub use question::{Question, QuestionKind, Severity};
pub use role::{Mode, Permission, Role};
pub use state::{ChatState, InvalidTransition};
