//! The registry of workspaces: settings in force, trust, files and MCP servers of each.
//!
//! | module | contents |
//! | --- | --- |
//! | `registry` | [`Workspaces`]: adds, configures, opens and removes folders |
//! | `settings` | [`Settings`] and [`WorkspaceRules`]: the settings in force in a workspace |
//! | `layers` | which settings apply: flags, environment, the workspace's file, the user's file |
//! | `rules` | the API's settings for one workspace, and the view of all settings for people |
//! | `trust` | which parts of a workspace need the user's trust |
//! | `files`, `find` | the files of a workspace, for the user |
//! | `plan_callers` | code outside a plan's files that uses what the plan changes |
//! | `reserved` | folders that can't be workspaces |
//!
//! Invariant: code looks a setting up in [`Settings`] and nowhere else.

mod files;
mod find;
mod layers;
mod plan_callers;
mod registry;
mod reserved;
mod rules;
mod settings;
mod trust;

pub use files::DEEPEST;
pub use layers::{Layers, Overrides, ServerFactory, remarks, settings};
pub use planwright_config::{StricterApprovals, Trust, TrustItem, WorkspaceSettings};
pub use planwright_tools::AgentKind;
pub use planwright_tools::servers::ServerReport;
pub use registry::{NewWorkspace, Workspaces, broken, find_folder, neighbours};
pub use reserved::{ReservedFolders, SAMPLES};
pub use settings::{Configuration, Settings, WorkspaceRules};
