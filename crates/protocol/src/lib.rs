//! The vocabulary of every other crate: types only, no async code, no input or output.
//!
//! | module | contents |
//! | --- | --- |
//! | [`api`] | the bodies of the HTTP API, shared by the server and its clients |
//! | [`agent`] | the agents of a chat: its own, or a delegate |
//! | [`ids`] | one newtype per kind of id |
//! | [`role`] | the six roles: one row each, from which everything else follows |
//! | [`config`] | a chat's role in every form that clients use |
//! | [`image`] | the state of a path at one moment |
//! | [`message`] | the records of a chat's history |
//! | [`plan`] | the plan and its progress |
//! | [`question`] | questions to the user |
//! | [`settings`] | the sections of the configuration |
//! | [`state`] | the states of a chat, and the transitions each mode has |
//! | [`time`] | timestamps |
//! | [`op`], [`event`] | requests to a chat, and the events it publishes |
//! | [`digest`] | content hashes |
//! | [`error`] | every error code, in one table |
//! | [`json`] | JSON parsing that rejects duplicate keys |
//!
//! Invariants: nothing here opens a file or a socket. The role decides the mode; no code sets a mode on its own.

pub mod agent;
pub mod api;
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

pub use agent::Agent;
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
