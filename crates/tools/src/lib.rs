//! What an agent can do to a workspace, and the one place that decides whether it may.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`path`] | workspace paths: parsed once, never joined to a host path as text |
//! | [`effect`] | what a call would do, said before it is done |
//! | [`gate`] | the decision: role, mode, plan and settings against effects; the permit that proves it, the fence that ends it |
//! | [`workspace`] | the only module that touches workspace files |
//! | [`command`] | running a command, and what becomes of what it changed |
//! | [`version`], [`diff`] | what a call changes, before and after; shown as a unified diff |
//! | [`git_name`] | git's refs in words that people use |
//! | [`text_file`] | what a text file is, for all who show or change one |
//! | [`plan_callers`] | code outside of a plan's files that uses what the plan changes |
//! | [`servers`] | tools that MCP servers offer, as far as the rest needs to know of them |
//! | [`tool`] | what a tool is; [`builtin`] has one file per tool and the list of them |
//!
//! A call is prepared (arguments become effects), decided, and only then committed, with a [`gate::Permit`]. For each change it
//! makes, the call gets of that permit one of the change's own kind, which names the path.
//!
//! Invariants: no tool asks for its own mode or role; nothing outside [`gate`] can make a permit;
//! no change to a workspace happens without one for that kind of change and that path.

pub mod builtin;
pub mod command;
pub mod diff;
pub mod effect;
pub mod gate;
pub mod git_name;
pub mod hunks;
pub mod path;
pub mod plan_callers;
pub mod servers;
pub mod text_file;
pub mod tool;
pub mod version;
pub mod workspace;

pub use builtin::BUILTIN;
pub use builtin::delegate::Delegate;
pub use builtin::update_step::UpdateStep;
pub use command::{CommandContext, Commands, Staged};
pub use effect::{Effect, FileEffect, LandingEffect, Loss, RecordEffect, RunEffect};
pub use gate::decide;
pub use gate::{
    Approval, Consent, Epoch, Fence, Grant, KEEPING, MissingPlan, Permit, Scope, Secrets, Situation, TAKING_BACK, Target, Verdict,
};
pub use path::WorkspacePath;
pub use servers::{NoServers, Servers, Site};
pub use tool::{Category, Output, Prepared, Risk, Signal, Tool, ToolConfig, ToolContext, tools_of};
pub use version::{FileChange, Version};
pub use workspace::Workspace;
