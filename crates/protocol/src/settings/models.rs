//! `[models]`, and the providers they come from.

use super::{ProviderSettings, ReasoningEffort};
use crate::Mode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A model for each mode, or `default` for both.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ModelChoice {
    /// For both modes, as PROVIDER/MODEL.
    pub default: Option<String>,
    /// For plan mode.
    pub plan: Option<String>,
    /// For act mode.
    pub act: Option<String>,
}

impl ModelChoice {
    /// One model for both modes.
    #[must_use]
    pub fn both(model: String) -> Self {
        Self { default: Some(model), plan: None, act: None }
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.default.is_none() && self.plan.is_none() && self.act.is_none()
    }

    /// The model of a mode, as PROVIDER/MODEL.
    #[must_use]
    pub fn name(&self, mode: Mode) -> Option<&str> {
        let own = match mode {
            Mode::Plan => &self.plan,
            Mode::Act => &self.act,
        };
        own.as_ref().or(self.default.as_ref()).map(String::as_str)
    }
}

/// The models of a workspace, and how to reach them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelSettings {
    pub choice: ModelChoice,
    /// The configured providers. Vendors of the catalog need no entry.
    pub providers: BTreeMap<String, ProviderSettings>,
    /// The effort that the user chose for a chat; it overrides the provider's.
    pub effort: Option<ReasoningEffort>,
}
