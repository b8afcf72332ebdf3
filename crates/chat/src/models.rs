//! Where runs get their models from.

use async_trait::async_trait;
use planwright_agent::Provider;
use planwright_protocol::event::Usage;
use planwright_protocol::settings::{ModelSettings, RunLimits};
use planwright_protocol::{ErrorCode, Mode, Problem};
use std::sync::Arc;

#[async_trait]
pub trait Models: Send + Sync {
    /// The model that the settings name for a mode.
    ///
    /// # Errors
    /// There is none, and how to configure one.
    async fn model(&self, settings: &ModelSettings, mode: Mode) -> Result<Arc<dyn Provider>, Problem>;

    /// The models that people can choose for a chat, as PROVIDER/MODEL; those that the settings name come first.
    fn available(&self, settings: &ModelSettings) -> Vec<String> {
        named(settings)
    }
}

/// The models that the settings name for the two modes.
#[must_use]
pub fn named(settings: &ModelSettings) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in [Mode::Plan, Mode::Act].into_iter().filter_map(|mode| settings.choice.name(mode)) {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// # Errors
/// `LIMIT_REACHED`, when the chat has spent as much as it may.
pub fn check_cost(limits: RunLimits, spent: &Usage) -> Result<(), Problem> {
    if spent.cost < limits.cost {
        return Ok(());
    }
    let text = format!(
        "This chat has cost {:.2}, and the limit is {:.2}. Raise `cost` under [limits] in the configuration and start again, or go on in a new chat.",
        spent.cost, limits.cost
    );
    Err(Problem::new(ErrorCode::LimitReached, text))
}
