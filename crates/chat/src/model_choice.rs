//! The model and the effort that the user chose for one chat.

use crate::chat::Chat;
use crate::sessions::Sessions;
use planwright_agent::Provider;
use planwright_protocol::api::workspace::ModelOptions;
use planwright_protocol::op::{FieldChange, MarkChange};
use planwright_protocol::settings::{ModelChoice, ModelSettings};
use planwright_protocol::{ErrorCode, Mode, Problem, WorkspaceId};
use serde_json::json;
use std::sync::Arc;

impl Chat {
    /// The model for a mode: the one chosen for this chat, otherwise the configured one.
    ///
    /// # Errors
    /// There is none; the error says how to configure one.
    pub async fn model(&self, mode: Mode) -> Result<Arc<dyn Provider>, Problem> {
        let (settings, marks) = (self.settings(), self.record().marks.clone());
        let models = &settings.models;
        if marks.model.is_none() && marks.effort.is_none() {
            return self.models.model(models, mode).await;
        }
        if let Some(model) = marks.model.as_ref().filter(|model| !self.models.available(models).contains(model)) {
            let text = format!("The model {model}, chosen for this chat, is no longer configured. Choose another model in the composer.");
            return Err(Problem::new(ErrorCode::ProviderRejected, text));
        }
        let choice = marks.model.map_or_else(|| models.choice.clone(), ModelChoice::both);
        let chosen = ModelSettings { choice, providers: models.providers.clone(), effort: marks.effort };
        self.models.model(&chosen, mode).await
    }

    /// # Errors
    /// The chosen model is not configured.
    pub(crate) async fn check_model_choice(&self, change: &MarkChange) -> Result<(), Problem> {
        let FieldChange::Take(model) = &change.model else { return Ok(()) };
        self.configure().await?;
        let available = self.models.available(&self.settings().models);
        if available.contains(model) {
            return Ok(());
        }
        let wanted = format!("must be one of: {}", available.join(", "));
        let details = json!({ "fields": { "model": wanted } });
        Err(Problem::new(ErrorCode::ValidationFailed, format!("`model` {wanted}.")).with_details(details))
    }
}

impl Sessions {
    /// The models that users can choose for the chats of a workspace.
    ///
    /// # Errors
    /// There is no such workspace, or its configuration can't be read.
    pub async fn model_options(&self, workspace: WorkspaceId) -> Result<ModelOptions, Problem> {
        let rules = self.workspaces().rules(workspace).await?.0;
        let models = &rules.settings.models;
        let configured = |mode| models.choice.name(mode).map(str::to_owned);
        Ok(ModelOptions { plan: configured(Mode::Plan), act: configured(Mode::Act), available: self.inner.models.available(models) })
    }
}
