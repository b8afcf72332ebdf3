//! The registry of workspaces: the rules in force, trust, files, MCP servers of each.
//!
//! | module | what it holds |
//! | --- | --- |
//! | `registry` | [`Workspaces`]: folders added, configured, opened, removed |
//! | `settings` | [`Settings`] and [`Rules`]: what holds in a workspace |
//! | `layers` | which rules hold where: flags, environment, the workspace's file, the user's file |
//! | `rules` | what the user set for one workspace, laid over the files; the rules for people to see |
//! | `trust` | what of a workspace waits for the user's trust |
//! | `files`, `find` | the files of a workspace, as the user reads them |
//! | `plan_callers` | code outside of a plan's files that uses what the plan changes |
//! | `reserved` | folders that can be no workspace |
//!
//! Invariant: a setting is looked up in one place, [`Settings`], and nowhere else.

mod files;
mod find;
mod layers;
mod plan_callers;
mod registry;
mod reserved;
mod rules;
mod settings;
mod trust;

pub use files::{DEEPEST, FileContent, FileNode, FileType, PlanView};
pub use layers::{Layers, Overrides, ServerFactory, remarks, settings};
pub use planwright_config::{StricterApprovals, Trust, TrustItem, WorkspaceSettings};
pub use planwright_tools::servers::ServerReport;
pub use registry::{NewWorkspace, Workspaces, broken, find_folder, neighbours};
pub use reserved::{Reserved, SAMPLES};
pub use rules::{RulesView, SandboxView};
pub use settings::{Configuration, Rules, Settings};
