//! `[chat]`, `[limits]`, `[git]` and `[retention]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;
use std::path::PathBuf;

/// The effect of a message that orders the plan to be executed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IntentSwitch {
    /// Approve the newest plan and switch to act mode.
    #[default]
    Switch,
    /// Show a one-click card.
    Suggest,
    /// None: treat it like any other message.
    Off,
}

/// Who reads a message that the rules can't classify.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IntentClassifier {
    /// Nobody.
    #[default]
    Off,
    /// The plan mode's model. It can suggest executing the plan, and never switches the mode.
    Model,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DefaultMode {
    /// Nothing in the project can change.
    #[default]
    Plan,
    /// The role's permissions and the approved plan decide what can change.
    Act,
    /// Plan, unless the first message asks for a simple fix.
    Auto,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RunLimits {
    /// Maximum requests to the model per run.
    pub turns: u32,
    /// Maximum cost of a chat's replies, in the catalog's currency; `inf` for no limit.
    pub cost: f64,
}

/// What Planwright does with the user's repository.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GitSettings {
    /// Whether to commit finished work, on a branch of its own.
    pub commit_steps: bool,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self { turns: 100, cost: 5.0 }
    }
}

/// Servers that share a PostgreSQL database.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ClusterSettings {
    /// Folders that all nodes have under the same path. A workspace elsewhere belongs to the node that added it.
    pub shared: Vec<PathBuf>,
}

/// How long the server keeps chats and audit entries. Without it the server deletes nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Retention {
    /// Days after which an unused chat is deleted.
    pub chats_days: Option<NonZeroU32>,
    /// Days after which an entry of the audit log is deleted.
    pub audit_days: Option<NonZeroU32>,
}
