//! Where runs get their models from.

use async_trait::async_trait;
use planwright_agent::Provider;
use planwright_protocol::{ErrorCode, Mode, Problem};
use std::sync::Arc;

#[async_trait]
pub trait Models: Send + Sync {
    /// The model for a mode.
    ///
    /// # Errors
    /// There is none, and how to configure one.
    async fn model(&self, mode: Mode) -> Result<Arc<dyn Provider>, Problem>;

    /// What people call it, as PROVIDER/MODEL.
    fn name(&self, _mode: Mode) -> Option<String> {
        None
    }

    /// One model for both modes, by its name.
    ///
    /// # Errors
    /// It is not one that can be chosen like this.
    fn named(&self, model: &str) -> Result<Arc<dyn Models>, Problem> {
        Err(Problem::new(ErrorCode::ProviderRejected, format!("The model {model} can't be chosen here.")))
    }
}
