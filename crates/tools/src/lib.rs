//! Everything an agent can do to a workspace, and the only place that decides whether it may.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`path`] | workspace paths: parsed once, never joined to a host path as text |
//! | [`effect`] | the effects of a call, known before it runs |
//! | [`gate`] | the decision from role, mode, plan, settings and effects; the permit that proves it, the fence that ends it |
//! | [`workspace`] | the only module that touches workspace files |
//! | [`command`] | running a command, and handling its changes |
//! | [`version`], [`diff`] | the state of files before and after a call; unified diffs |
//! | [`git_name`] | readable names for git's refs |
//! | [`text_file`] | which files are text, for all code that shows or changes files |
//! | [`plan_callers`] | code outside a plan's files that uses names the plan changes |
//! | [`servers`] | the interface to the tools of MCP servers |
//! | [`web`] | access of the tools to the web, and the hosts that need no approval |
//! | [`offer`] | the tools that an agent has |
//! | [`tool`] | the `Tool` trait; [`builtin`] has one file per tool and their list |
//!
//! A call is prepared (arguments become effects), decided, and only then committed, with a [`gate::Permit`]. For each change, the
//! call derives a permit of that kind of change, which names the path.
//!
//! Invariants: no tool checks its mode or role; only [`gate`] can create a permit; no workspace changes without a permit for that
//! kind of change and that path.

pub mod builtin;
pub mod command;
pub mod diff;
pub mod effect;
pub mod gate;
pub mod git_name;
pub mod hunks;
pub mod offer;
pub mod path;
pub mod plan_callers;
pub mod servers;
pub mod text_file;
pub mod tool;
pub mod version;
pub mod web;
pub mod workspace;

pub use builtin::BUILTIN;
pub use builtin::delegate::Delegate;
pub use builtin::explore::Explore;
pub use builtin::update_step::UpdateStep;
pub use command::{CommandContext, Commands, Staged};
pub use effect::{Effect, FileEffect, LandingEffect, Loss, RecordEffect, RunEffect, WebEffect};
pub use gate::decide;
pub use gate::{
    AgentKind, Approval, COMMAND_CHANGES, Consent, Epoch, Fence, Grant, MissingPlan, Permit, REVERT, Scope, Secrets, Situation, Target,
    TenureCheck, Verdict,
};
pub use offer::{Offer, SearchOffer, is_listed, tools_of};
pub use path::WorkspacePath;
pub use servers::{NoServers, Servers, Site};
pub use tool::{Category, Output, Prepared, Risk, Signal, Tool, ToolConfig, ToolContext};
pub use version::{FileChange, Version};
pub use web::{AllowedHosts, WebAccess};
pub use workspace::Workspace;
