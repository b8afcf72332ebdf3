//! Resolves the name of a model to a provider.

use crate::args::BadUsage;
use crate::output;
use crate::providers::{ProviderConfig, daemon_from_env, model_from_env, of_vendor};
use async_trait::async_trait;
use futures::future::BoxFuture;
use planwright_agent::Provider;
use planwright_chat::{Models, named_models};
use planwright_config::Config;
use planwright_protocol::api::server::ModelNames;
use planwright_protocol::settings::{ModelChoice, ModelSettings, ReasoningEffort};
use planwright_protocol::{ErrorCode, Mode, Problem};
use planwright_providers::catalog::{self, ModelFacts};
use planwright_providers::{Endpoint, Remote, RetryNotice, Script, Timeouts, check, demo, list};
use planwright_server::{ModelDirectory, ModelSources};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;

/// Timeouts of `doctor` for a provider.
const CHECK_UP: Timeouts =
    Timeouts { connect: Duration::from_secs(5), silence: Duration::from_secs(10), reply: Duration::from_secs(20), bytes: 16 * 1024 * 1024 };

/// The `reason` of a problem with a model's name.
const NAME: &str = "model_name";

/// The models of a configuration.
#[derive(Clone)]
pub struct ConfiguredModels {
    choice: ModelChoice,
    flag: Option<String>,
    /// The variable that selected the model, if the user named none.
    chosen_by: Option<String>,
    providers: BTreeMap<String, ProviderConfig>,
    /// The models in the configuration.
    configured: Vec<String>,
    /// The effort chosen for a chat.
    effort: Option<ReasoningEffort>,
}

/// Chooses a model of the user's own daemon, if only its address is known.
pub async fn ask_daemon(config: &mut Config, flag: Option<&str>) {
    let Some(daemon) = daemon_from_env().filter(|_| flag.is_none() && config.models.is_empty() && model_from_env().is_none()) else {
        return;
    };
    let ProviderConfig::Remote(remote) = of_vendor(daemon) else { return };
    let listed = match remote.endpoint(&daemon.name) {
        Ok(endpoint) => list(Endpoint { timeouts: CHECK_UP, ..endpoint }).await,
        Err(problem) => Err(problem),
    };
    let variable = daemon.base_url_env.as_deref().unwrap_or_default();
    let note = match listed.map(|models| models.into_iter().next()) {
        Ok(Some(model)) => {
            let model = format!("{}/{model}", daemon.name);
            let note = format!(
                "no model is configured; {variable} is set, so {model} from there is used (choose another with --model or [models])"
            );
            config.set_default_model(model);
            note
        }
        Ok(None) => format!("{variable} is set, but {} has no model yet; fetch one, such as by `ollama pull qwen3-coder`", daemon.title),
        Err(problem) => format!("{variable} is set, but listing its models failed: {}", problem.message),
    };
    output::note(&note);
}

impl ConfiguredModels {
    /// `flag` is the user's `--model`, which applies to both modes.
    pub fn new(config: &Config, flag: Option<String>) -> Self {
        let mut choice = match flag.clone() {
            Some(model) => ModelChoice::both(model),
            None => config.models.clone(),
        };
        let mut chosen_by = None;
        if choice.is_empty()
            && let Some((model, variable)) = model_from_env()
        {
            (choice.default, chosen_by) = (Some(model), Some(variable));
        }
        Self { flag, chosen_by, ..Self::of(&ModelSettings { choice, providers: config.providers.clone(), effort: None }) }
    }

    /// The models of a workspace.
    fn of(settings: &ModelSettings) -> Self {
        let configured = settings.providers.iter().map(|(name, settings)| (name.clone(), ProviderConfig::from(settings)));
        let mut providers: BTreeMap<String, ProviderConfig> = configured.collect();
        // These need no configuration: `demo/demo`, `script/FILE` for a user's own script, and every vendor of the catalog.
        providers.entry("demo".to_owned()).or_insert(ProviderConfig::Demo);
        providers.entry("script".to_owned()).or_insert(ProviderConfig::Script(PathBuf::new()));
        for vendor in catalog::vendors() {
            providers.entry(vendor.name.clone()).or_insert_with(|| of_vendor(vendor));
        }
        let configured = settings.providers.keys().cloned().collect();
        Self { choice: settings.choice.clone(), flag: None, chosen_by: None, providers, configured, effort: settings.effort }
    }

    /// Prints which model is used if the user named none.
    pub fn say_choice(&self, used: Option<&str>) {
        if let (Some(variable), Some(model)) = (&self.chosen_by, &self.choice.default)
            && used.is_none_or(|used| used == model)
        {
            output::note(&format!(
                "no model is configured; {variable} is set, so {model} is used (choose another with --model or [models])"
            ));
        }
    }

    /// Reports an unusable model at the start instead of in the first run.
    pub async fn check(&self) -> anyhow::Result<()> {
        for mode in [Mode::Plan, Mode::Act] {
            if self.name(mode).is_some() {
                self.model(mode, None).await.map_err(|problem| model_error(problem, self.flag.as_deref()))?;
            }
        }
        Ok(())
    }

    /// The configured model, as PROVIDER/MODEL.
    pub fn name(&self, mode: Mode) -> Option<&str> {
        self.choice.name(mode)
    }

    /// Checks whether the model of a mode answers; returns facts about it.
    pub async fn check_up(&self, mode: Mode) -> Result<String, Problem> {
        let (name, provider, model) = self.parts(mode)?;
        let chosen = self.chosen_by.as_ref().map(|variable| format!(", chosen because {variable} is set")).unwrap_or_default();
        let Some(endpoint) = self.endpoint(provider)? else { return Ok(name.to_owned()) };
        let facts = endpoint.vendor.and_then(|vendor| vendor.model(model)).map(describe_facts).unwrap_or_default();
        let answers = check(Endpoint { timeouts: CHECK_UP, ..endpoint }, model).await?;
        Ok(format!("{name}{chosen}: {answers}{facts}"))
    }

    /// The same for configured providers whose models are not in use.
    pub async fn check_up_others(&self) -> Vec<(String, Result<String, Problem>)> {
        let used: Vec<&str> =
            [Mode::Plan, Mode::Act].into_iter().filter_map(|mode| self.name(mode)?.split_once('/')).map(|(name, _)| name).collect();
        let mut checked = Vec::new();
        for name in self.configured.iter().filter(|name| !used.contains(&name.as_str())) {
            let result = match self.endpoint(name) {
                Ok(Some(endpoint)) => check(Endpoint { timeouts: CHECK_UP, ..endpoint }, "").await,
                Ok(None) => continue,
                Err(problem) => Err(problem),
            };
            checked.push((name.clone(), result));
        }
        checked
    }

    /// `None` for providers without an address.
    fn endpoint(&self, provider: &str) -> Result<Option<Endpoint>, Problem> {
        match self.providers.get(provider) {
            Some(ProviderConfig::Remote(config)) => config.endpoint(provider).map(Some),
            Some(ProviderConfig::Demo | ProviderConfig::Script(_)) | None => Ok(None),
        }
    }

    /// The full name of a mode's model, its provider, and its name at the provider.
    fn parts(&self, mode: Mode) -> Result<(&str, &str, &str), Problem> {
        let name = self.name(mode).ok_or_else(|| {
            let word = match mode {
                Mode::Plan => "plan",
                Mode::Act => "act",
            };
            unusable(format!(
                "No model is configured for {word} mode. Name one under [models] in config.toml, or set the key of a vendor, such as ANTHROPIC_API_KEY or OPENAI_API_KEY, or start with `--model ollama/NAME` for a model of your own Ollama, or with `--model demo/demo` to look around without one."
            ))
        })?;
        let (provider, model) = split(name)?;
        Ok((name, provider, model))
    }

    /// The same with one model for both modes. Rejects models that are files: whoever may choose a model could otherwise read any file.
    fn chosen(&self, model: &str) -> Result<Self, Problem> {
        let (provider, _) = split(model)?;
        match self.providers.get(provider) {
            Some(ProviderConfig::Remote(_) | ProviderConfig::Demo) => {}
            Some(ProviderConfig::Script(_)) => {
                return Err(no_such_model("Scripts can only be named on the command line or in config.toml.".to_owned()));
            }
            None => return Err(self.no_provider(provider)),
        }
        let choice = ModelChoice::both(model.to_owned());
        Ok(Self { choice, flag: None, chosen_by: None, ..self.clone() })
    }

    /// The known models of providers that are configured or whose key is set.
    fn known_models(&self) -> impl Iterator<Item = String> {
        let views = self.providers.iter().filter_map(|(name, config)| match config {
            ProviderConfig::Remote(remote) => Some(remote.view(name, self.configured.contains(name))),
            ProviderConfig::Demo | ProviderConfig::Script(_) => None,
        });
        let usable = views.filter(|view| view.has_key || (view.configured && view.key_env.is_none()));
        usable.flat_map(|view| view.models.into_iter().map(move |model| format!("{}/{model}", view.name)))
    }

    fn no_provider(&self, provider: &str) -> Problem {
        let known = self.providers.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        no_such_model(format!("There is no provider {provider:?}; there are: {known}. Add [providers.{provider}] to config.toml."))
    }

    /// The model of a mode. `remotes` caches models that are already open.
    pub async fn model(&self, mode: Mode, remotes: Option<&Remotes>) -> Result<Arc<dyn Provider>, Problem> {
        let (name, provider, model) = self.parts(mode)?;
        let config = self.providers.get(provider).ok_or_else(|| self.no_provider(provider))?;
        Ok(match config {
            ProviderConfig::Demo => Arc::new(demo::demo().map_err(unusable)?),
            ProviderConfig::Script(folder) => Arc::new(read_script(name, &folder.join(model)).await.map_err(unusable)?),
            ProviderConfig::Remote(config) => {
                let endpoint = config.endpoint(provider)?;
                let endpoint = Endpoint { reasoning: self.effort.or(endpoint.reasoning), ..endpoint };
                match remotes {
                    Some(remotes) => remotes.remote(&format!("{name} {:?} {config:?}", self.effort), endpoint, model)?,
                    None => Arc::new(Remote::new(endpoint, model)?),
                }
            }
        })
    }
}

/// Models in use. Each one keeps its connections, so it is created once.
#[derive(Default)]
pub struct Remotes {
    /// Receives a notification when a request is retried.
    waits: Option<UnboundedSender<RetryNotice>>,
    /// By name and configuration.
    made: Mutex<BTreeMap<String, Arc<Remote>>>,
}

impl Remotes {
    pub fn reporting_to(waits: UnboundedSender<RetryNotice>) -> Self {
        Self { waits: Some(waits), made: Mutex::default() }
    }

    fn remote(&self, key: &str, endpoint: Endpoint, model: &str) -> Result<Arc<Remote>, Problem> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(remote) = made.get(key) {
            return Ok(remote.clone());
        }
        let remote = Arc::new(Remote::new(Endpoint { waits: self.waits.clone(), ..endpoint }, model)?);
        made.insert(key.to_owned(), remote.clone());
        Ok(remote)
    }
}

/// The provider and the model of a name.
fn split(name: &str) -> Result<(&str, &str), Problem> {
    match name.split_once('/') {
        Some((provider, model)) if !provider.is_empty() && !model.is_empty() => Ok((provider, model)),
        Some(_) | None => Err(no_such_model(format!("The model {name:?} is not of the form PROVIDER/MODEL, such as demo/demo."))),
    }
}

impl ModelDirectory for ConfiguredModels {
    fn names(&self) -> ModelNames {
        let name = |mode| self.name(mode).map(str::to_owned);
        ModelNames { plan: name(Mode::Plan), act: name(Mode::Act) }
    }

    fn sources(&self) -> ModelSources {
        let providers = self.providers.iter().filter_map(|(name, config)| match config {
            ProviderConfig::Remote(remote) => Some(remote.view(name, self.configured.contains(name))),
            ProviderConfig::Demo | ProviderConfig::Script(_) => None,
        });
        ModelSources { config_file: Config::file().map(|file| file.display().to_string()), providers: providers.collect() }
    }

    fn test<'a>(&'a self, model: &'a str) -> BoxFuture<'a, Result<String, Problem>> {
        Box::pin(async move {
            match [Mode::Plan, Mode::Act].into_iter().find(|mode| self.name(*mode) == Some(model)) {
                Some(mode) => self.check_up(mode).await,
                None => self.chosen(model)?.check_up(Mode::Plan).await,
            }
        })
    }
}

#[async_trait]
impl Models for Remotes {
    async fn model(&self, settings: &ModelSettings, mode: Mode) -> Result<Arc<dyn Provider>, Problem> {
        ConfiguredModels::of(settings).model(mode, Some(self)).await
    }

    fn available(&self, settings: &ModelSettings) -> Vec<String> {
        let mut names = named_models(settings);
        for model in ConfiguredModels::of(settings).known_models() {
            if !names.contains(&model) {
                names.push(model);
            }
        }
        names
    }
}

fn unusable(why: String) -> Problem {
    Problem::new(ErrorCode::ProviderRejected, why)
}

/// The error for a name that can't be a model's, whatever is configured elsewhere.
fn no_such_model(why: String) -> Problem {
    unusable(why).with_details(json!({ "reason": NAME }))
}

/// The error for an unusable model: bad usage if the user named it on the command line.
pub fn model_error(problem: Problem, flag: Option<&str>) -> anyhow::Error {
    let by_name = problem.details.as_ref().is_some_and(|details| details["reason"] == NAME);
    if flag.is_some() && by_name { BadUsage(format!("--model: {}", problem.message)).into() } else { problem.into() }
}

fn describe_facts(facts: &ModelFacts) -> String {
    let price = facts.price.map(|price| format!(", costs ${} in and ${} out for a million", price.input, price.output)).unwrap_or_default();
    format!("; reads {} tokens{price}", facts.context_tokens)
}

#[expect(clippy::disallowed_methods, reason = "a script is the user's own configuration")]
async fn read_script(name: &str, file: &Path) -> Result<Script, String> {
    let path = file.to_owned();
    let text = tokio::task::spawn_blocking(move || std::fs::read_to_string(path)).await.map_err(|error| error.to_string())?;
    Script::parse(name, &text.map_err(|error| format!("the script {} can't be read: {error}", file.display()))?)
}
