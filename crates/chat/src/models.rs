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
    /// There is none; the error says how to configure one.
    async fn model(&self, settings: &ModelSettings, mode: Mode) -> Result<Arc<dyn Provider>, Problem>;

    /// The models that users can choose for a chat, as PROVIDER/MODEL; those in the settings come first.
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
/// `LIMIT_REACHED` if the chat has reached its cost limit.
pub fn check_cost(limits: RunLimits, spent: &Usage) -> Result<(), Problem> {
    if spent.cost < limits.cost {
        return Ok(());
    }
    let text = format!(
        "This chat has cost {:.2}, and the limit is {:.2}. Raise `cost` in [limits] of the configuration and restart, or continue in a new chat.",
        spent.cost, limits.cost
    );
    Err(Problem::new(ErrorCode::LimitReached, text))
}
