//! `[chat]`, `[limits]`, `[git]` and `[retention]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// What a message does that is an order to carry out the plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IntentSwitch {
    /// It approves the newest plan and switches.
    #[default]
    Switch,
    /// It shows a one-click card.
    Suggest,
    /// It is a message like any other.
    Off,
}

/// Who reads a message that the rules can't.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IntentClassifier {
    /// Nobody.
    #[default]
    Off,
    /// The plan mode's model. It can suggest to execute the plan, and never switches.
    Model,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DefaultMode {
    /// Nothing of the project can change.
    #[default]
    Plan,
    /// Whatever the role may do, and the plan names, can change.
    Act,
    /// Plan, unless the first message asks for a simple fix.
    Auto,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RunLimits {
    /// Requests to the model per run.
    pub turns: u32,
    /// What the replies of a chat may cost together, in the catalog's currency; `inf` for no limit.
    pub cost: f64,
}

/// What is done with the user's repository.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GitSettings {
    /// Whether finished work is committed, on a branch of its own.
    pub commit_steps: bool,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self { turns: 100, cost: 5.0 }
    }
}

/// How long a server keeps chats and audit entries. Without it nothing is deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Retention {
    /// After how many days a chat that nobody used is deleted.
    pub chats_days: Option<NonZeroU32>,
    /// After how many days an entry of the audit log is deleted.
    pub audit_days: Option<NonZeroU32>,
}
