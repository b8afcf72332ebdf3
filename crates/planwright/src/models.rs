//! From the name of a model to the model.

use crate::config::{Config, ModelChoice, ProviderConfig};
use async_trait::async_trait;
use planwright_agent::Provider;
use planwright_protocol::{ErrorCode, Mode, Problem};
use planwright_providers::{Script, demo};
use planwright_session::Models;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub struct ConfiguredModels {
    choice: ModelChoice,
    providers: BTreeMap<String, ProviderConfig>,
}

impl ConfiguredModels {
    /// `flag` is the user's `--model`, which serves both modes.
    pub fn new(config: &Config, flag: Option<String>) -> Self {
        let choice = match flag {
            Some(model) => ModelChoice { default: Some(model), plan: None, act: None },
            None => config.models.clone(),
        };
        let mut providers = config.providers.clone();
        // These need no configuration: `demo/demo`, and `script/FILE` for a script of one's own.
        providers.entry("demo".to_owned()).or_insert(ProviderConfig::Demo {});
        providers.entry("script".to_owned()).or_insert(ProviderConfig::Script { path: PathBuf::new() });
        Self { choice, providers }
    }

    /// The models by mode, for people to see.
    pub fn names(&self) -> Value {
        json!({ "plan": self.name(Mode::Plan), "act": self.name(Mode::Act) })
    }

    /// Finds out at the start, and not in the first run, that a model can't be used.
    pub async fn check(&self) -> anyhow::Result<()> {
        for mode in [Mode::Plan, Mode::Act] {
            if self.name(mode).is_some() {
                self.model(mode).await?;
            }
        }
        Ok(())
    }

    /// The configured model, as PROVIDER/MODEL.
    pub fn name(&self, mode: Mode) -> Option<&str> {
        let own = match mode {
            Mode::Plan => &self.choice.plan,
            Mode::Act => &self.choice.act,
        };
        own.as_ref().or(self.choice.default.as_ref()).map(String::as_str)
    }
}

#[async_trait]
impl Models for ConfiguredModels {
    async fn model(&self, mode: Mode) -> Result<Arc<dyn Provider>, Problem> {
        let unavailable = |why: String| Problem::new(ErrorCode::ProviderRejected, why);
        let name = self.name(mode).ok_or_else(|| {
            unavailable("No model is configured. Name one under [models] in config.toml, or start with `--model demo/demo` to look around without one.".to_owned())
        })?;
        let (provider, model) = name
            .split_once('/')
            .ok_or_else(|| unavailable(format!("The model {name:?} is not of the form PROVIDER/MODEL, such as demo/demo.")))?;
        let config = self.providers.get(provider).ok_or_else(|| {
            let known = self.providers.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            unavailable(format!("There is no provider {provider:?}; configured are: {known}. Add [providers.{provider}] to config.toml."))
        })?;
        let script = match config {
            ProviderConfig::Demo {} => demo::demo(),
            ProviderConfig::Script { path } => read_script(name, &path.join(model)).await,
        };
        Ok(Arc::new(script.map_err(unavailable)?))
    }
}

#[expect(clippy::disallowed_methods, reason = "a script is the user's own configuration")]
async fn read_script(name: &str, file: &Path) -> Result<Script, String> {
    let path = file.to_owned();
    let text = tokio::task::spawn_blocking(move || std::fs::read_to_string(path)).await.map_err(|error| error.to_string())?;
    Script::parse(name, &text.map_err(|error| format!("the script {} can't be read: {error}", file.display()))?)
}
