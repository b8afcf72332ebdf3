//! The settings of files, flags and environment: `--model` and its variable override a workspace's own file, as far as it is
//! trusted; that overrides the user's; a model that the environment suggests comes last. `rules.rs` puts the API's settings on top.

use crate::settings::{Configuration, Settings, WorkspaceRules};
use anyhow::bail;
use planwright_config::{Config, Effective, Obeyed, PATH, Trust, lay_over};
use planwright_protocol::settings::{McpSettings, ModelChoice, ModelSettings, ProviderKind, ServerConfig};
use planwright_protocol::{ErrorCode, Problem, sha256_hex};
use planwright_tools::web::WebClient;
use planwright_tools::{Commands, Secrets, Servers, WebAccess, Workspace, WorkspacePath};
use std::collections::{BTreeMap, HashMap};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of cached workspace files.
const REMEMBERED: usize = 64;

/// Settings of the command line and the environment.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// `--model`, or its variable. It overrides all files.
    pub model: Option<String>,
    /// The model that the environment selects if no file names one.
    pub model_from_environment: Option<String>,
    /// Whether `--trust` was given: workspace files apply as they are.
    pub trusts_all: bool,
}

/// Creates the MCP servers of a configuration.
pub trait ServerFactory: Send + Sync {
    /// `user` has the servers of the user's own file; `waiting` those that need the user's trust first.
    fn servers(&self, config: &McpSettings, user: &McpSettings, waiting: BTreeMap<String, ServerConfig>) -> Arc<dyn Servers>;
}

pub struct Layers {
    user: Config,
    overrides: Overrides,
    /// How to run commands, without the configuration's `[sandbox]`.
    commands: Commands,
    factory: Arc<dyn ServerFactory>,
    everywhere: WorkspaceRules,
    /// By the hash of a workspace's file.
    known: Mutex<HashMap<(String, Obeyed), (WorkspaceRules, Trust)>>,
}

impl Layers {
    /// # Errors
    /// What is wrong with the user's configuration.
    pub fn new(user: Config, overrides: Overrides, commands: Commands, factory: Arc<dyn ServerFactory>) -> anyhow::Result<Self> {
        let nothing = WorkspaceRules { settings: Arc::default(), servers: Arc::new(planwright_tools::NoServers) };
        let mut layers = Self { user, overrides, commands, factory, everywhere: nothing, known: Mutex::default() };
        layers.everywhere = layers.rules(&layers.user, BTreeMap::new())?;
        Ok(layers)
    }

    fn read(&self, text: &str, sha256: String, obeyed: Obeyed) -> Result<(WorkspaceRules, Trust), String> {
        let Effective { config, items, warnings, waiting } = lay_over(&self.user, text, obeyed)?;
        let rules = self.rules(&config, waiting).map_err(|error| format!("{PATH}: {error:#}"))?;
        let trusted = items.is_empty() || obeyed == Obeyed::All;
        Ok((rules, Trust { trusted, file_trusted: trusted, sha256: Some(sha256), items, warnings }))
    }

    fn rules(&self, config: &Config, waiting: BTreeMap<String, ServerConfig>) -> anyhow::Result<WorkspaceRules> {
        let commands = Commands { sandbox: config.sandbox.clone(), ..self.commands.clone() };
        let models = Arc::new(ModelSettings { choice: self.model_choice(config), providers: config.providers.clone(), effort: None });
        let settings = Settings { models, commands: Some(Arc::new(commands)), ..settings(config)? };
        Ok(WorkspaceRules { settings: Arc::new(settings), servers: self.factory.servers(&config.mcp, &self.user.mcp, waiting) })
    }

    fn known(&self) -> MutexGuard<'_, HashMap<(String, Obeyed), (WorkspaceRules, Trust)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn model_choice(&self, config: &Config) -> ModelChoice {
        match &self.overrides.model {
            Some(model) => ModelChoice::both(model.clone()),
            None if config.models.is_empty() => {
                ModelChoice { default: self.overrides.model_from_environment.clone(), plan: None, act: None }
            }
            None => config.models.clone(),
        }
    }
}

/// The settings of a configuration, without models and commands.
///
/// # Errors
/// The section and key that are wrong, and why.
pub fn settings(config: &Config) -> anyhow::Result<Settings> {
    config.check()?;
    let secrets = match Secrets::new(&config.files.secrets) {
        Ok(secrets) => secrets,
        Err(error) => bail!("[files] secrets: {error}"),
    };
    let web = match WebAccess::new(&config.web, WebClient::system(), |variable| std::env::var(variable).ok()) {
        Ok(web) => web,
        Err(error) => bail!("[web] {error}"),
    };
    Ok(Settings {
        models: Arc::default(),
        approvals: Arc::new(config.approvals.clone()),
        secrets: Arc::new(secrets),
        default_mode: config.chat.default_mode,
        intent_switch: config.chat.intent_switch,
        intent_classifier: config.chat.intent_classifier,
        policy: config.policy,
        limits: config.limits,
        git: config.git,
        web: Arc::new(web),
        commands: None,
    })
}

impl Configuration for Layers {
    fn everywhere(&self) -> &WorkspaceRules {
        &self.everywhere
    }

    fn within(&self, workspace: &Workspace, accepted: Option<&str>) -> Result<(WorkspaceRules, Trust), Problem> {
        let Some(bytes) = file(workspace)? else { return Ok((self.everywhere.clone(), Trust::nothing())) };
        let sha256 = sha256_hex(&bytes);
        let obeyed = if self.overrides.trusts_all || accepted == Some(sha256.as_str()) { Obeyed::All } else { Obeyed::Strictness };
        let key = (sha256.clone(), obeyed);
        if let Some(found) = self.known().get(&key) {
            return Ok(found.clone());
        }
        // Read without the lock: the files of other workspaces don't wait for this one.
        let wrong = |why: String| Problem::new(ErrorCode::ValidationFailed, format!("The workspace's configuration is invalid. {why}"));
        let text = String::from_utf8(bytes).map_err(|error| wrong(format!("{PATH} is not UTF-8: {error}")))?;
        let found = self.read(&text, sha256, obeyed).map_err(wrong)?;
        let mut known = self.known();
        if known.len() >= REMEMBERED && !known.contains_key(&key) {
            known.clear();
        }
        Ok(known.entry(key).or_insert(found).clone())
    }

    /// Rejects scripts: whoever may choose a model could read any file with them.
    fn check_model(&self, settings: &ModelSettings, model: &str) -> Result<(), Problem> {
        let refuse = |why: String| Err(Problem::new(ErrorCode::ProviderRejected, why));
        let parts = model.split_once('/').filter(|(provider, name)| !provider.is_empty() && !name.is_empty());
        let Some((provider, _)) = parts else {
            return refuse(format!("The model {model:?} is not of the form PROVIDER/MODEL, such as demo/demo."));
        };
        let kind = settings.providers.get(provider).map(|settings| settings.kind);
        let vendors = &self.user.vendors;
        match kind {
            Some(ProviderKind::Script) => {}
            Some(_) => return Ok(()),
            None if provider == "script" => {}
            None if provider == "demo" || vendors.iter().any(|vendor| vendor == provider) => return Ok(()),
            None => {
                let mut known: Vec<&str> = settings.providers.keys().map(String::as_str).collect();
                known.extend(["demo", "script"].into_iter().chain(vendors.iter().map(String::as_str)));
                known.sort_unstable();
                known.dedup();
                return refuse(format!(
                    "There is no provider {provider:?}; there are: {}. Add [providers.{provider}] to config.toml.",
                    known.join(", ")
                ));
            }
        }
        refuse("Scripts can only be named on the command line or in config.toml.".to_owned())
    }
}

/// The workspace's file, if there is one.
fn file(workspace: &Workspace) -> Result<Option<Vec<u8>>, Problem> {
    match workspace.read_plan(&WorkspacePath::parse(PATH)?) {
        Ok(snapshot) => Ok(Some(snapshot.bytes)),
        Err(problem) if problem.code == ErrorCode::PathNotFound => Ok(None),
        Err(Problem { code: code @ ErrorCode::FileTooLarge, .. }) => Err(Problem::new(code, format!("{PATH} is larger than 256 KiB."))),
        // A link that leads nowhere hides nothing, so it counts as no file. One that can't be examined may hide stricter rules.
        Err(_) if workspace.host_path().is_ok_and(|folder| is_missing(&folder.join(PATH))) => Ok(None),
        Err(problem) => Err(problem),
    }
}

fn is_missing(path: &Path) -> bool {
    match path.try_exists() {
        Ok(exists) => !exists,
        Err(error) => error.kind() == ErrorKind::NotADirectory,
    }
}

/// Remarks about a workspace's file, for the start of work in it.
pub fn remarks(trust: &Trust) -> Vec<String> {
    let mut lines = trust.warnings.clone();
    if !trust.trusted {
        let wants = trust.items.iter().map(|item| format!("{} = {}", item.key, item.value)).collect::<Vec<_>>().join(", ");
        lines.push(format!("{PATH} needs your trust and does not apply in: {wants}"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "files of the test")]
    fn a_configuration_that_can_t_be_examined_is_an_error_and_not_no_configuration() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        assert!(file(&workspace).unwrap().is_none());
        symlink("/etc/passwd", folder.path().join(".planwright")).unwrap();
        assert!(file(&workspace).unwrap().is_none(), "nor does one that leads to no folder");
        std::fs::remove_file(folder.path().join(".planwright")).unwrap();
        std::fs::create_dir(folder.path().join(".planwright")).unwrap();
        let place = folder.path().join(PATH);
        symlink("nowhere", &place).unwrap();
        assert!(file(&workspace).unwrap().is_none(), "a link that leads nowhere hides nothing");
        std::fs::remove_file(&place).unwrap();
        symlink("config.toml", &place).unwrap();
        assert!(file(&workspace).is_err());
        std::fs::remove_file(&place).unwrap();
        std::fs::write(&place, "[policy]\nact_requires_plan = true\n").unwrap();
        assert!(file(&workspace).unwrap().is_some());
    }
}
