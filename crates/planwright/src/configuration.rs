//! What holds where: flags over environment over a workspace's own file over the user's.

use crate::config::Config;
use crate::models::ConfiguredModels;
use crate::workspace_file::{Effective, Obeyed, PATH, lay_over};
use planwright_chat::{Configuration, Reserved, Rules, Settings, Trust};
use planwright_mcp::{Pins, Pool, ServerConfig, ServerSet, Trusting, View};
use planwright_protocol::sha256_hex;
use planwright_protocol::{ErrorCode, Problem};
use planwright_providers::Again;
use planwright_tools::{Commands, Sandbox, Workspace, WorkspacePath};
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc::UnboundedSender;

/// Files that were read lately are not read into rules again.
const REMEMBERED: usize = 64;

pub struct Layers {
    user: Config,
    /// `--model`, or its variable.
    model: Option<String>,
    /// How commands are run, but for what a workspace's own file says of it.
    commands: Commands,
    /// Whether `--trust` was given.
    trusts_all: bool,
    /// Told when a reply is asked for again.
    waits: Option<UnboundedSender<Again>>,
    /// MCP servers that are in use.
    pool: Arc<Pool>,
    /// What of the machine those see that stand in a workspace's own file.
    view: View,
    everywhere: Rules,
    /// By the hash of a workspace's file.
    known: Mutex<HashMap<(String, Obeyed), (Rules, Trust)>>,
}

impl Layers {
    /// `commands` is the folder for what commands change and cache, `own` what belongs to the server; `pins` has what was accepted
    /// of MCP servers.
    pub fn new(
        user: Config,
        model: Option<String>,
        (commands, own): (PathBuf, &Reserved),
        pins: Arc<dyn Pins>,
        trusts_all: bool,
    ) -> anyhow::Result<Self> {
        let commands = Commands { place: commands, sandbox: Sandbox::default(), own: own.private(), team: None };
        let nothing = Rules {
            settings: Arc::default(),
            models: Arc::new(ConfiguredModels::new(&user, model.clone())),
            servers: Arc::new(planwright_tools::NoServers),
        };
        let pool = Pool::new(pins);
        let mut layers =
            Self { user, model, commands, trusts_all, waits: None, pool, view: View::Named, everywhere: nothing, known: Mutex::default() };
        layers.everywhere = layers.rules(&layers.user, BTreeMap::new())?;
        Ok(layers)
    }

    /// For users who accept what runs on somebody else's machine, and have workspaces below these folders.
    pub fn for_team(mut self, roots: Vec<PathBuf>) -> anyhow::Result<Self> {
        self.view = View::Nothing;
        self.commands.team = Some(roots);
        self.everywhere = self.rules(&self.user, BTreeMap::new())?;
        Ok(self)
    }

    /// The MCP servers in use, to be ended at last.
    pub fn pool(&self) -> Arc<Pool> {
        self.pool.clone()
    }

    /// With somebody to be told when a reply is asked for again.
    pub fn telling(mut self, waits: UnboundedSender<Again>) -> anyhow::Result<Self> {
        self.waits = Some(waits);
        self.everywhere = self.rules(&self.user, BTreeMap::new())?;
        Ok(self)
    }

    fn read(&self, text: &str, sha256: String, obeyed: Obeyed) -> Result<(Rules, Trust), String> {
        let Effective { config, items, warnings, waiting } = lay_over(&self.user, text, obeyed)?;
        let rules = self.rules(&config, waiting).map_err(|error| format!("{PATH}: {error:#}"))?;
        let trusted = items.is_empty() || obeyed == Obeyed::All;
        Ok((rules, Trust { trusted, file_trusted: trusted, sha256: Some(sha256), items, warnings }))
    }

    fn rules(&self, config: &Config, waiting: BTreeMap<String, ServerConfig>) -> anyhow::Result<Rules> {
        let models = ConfiguredModels::new(config, self.model.clone()).telling(self.waits.clone());
        let commands = Commands { sandbox: config.sandbox.clone(), ..self.commands.clone() };
        let settings = Arc::new(Settings { commands: Some(Arc::new(commands)), ..config.settings()? });
        let trusting = if self.trusts_all { Trusting::All } else { Trusting::Accepted };
        let servers = ServerSet::new(self.pool.clone(), &config.mcp, &self.user.mcp, trusting, self.view).waiting_for(waiting);
        Ok(Rules { settings, models: Arc::new(models), servers: Arc::new(servers) })
    }
}

impl Configuration for Layers {
    fn everywhere(&self) -> &Rules {
        &self.everywhere
    }

    fn within(&self, workspace: &Workspace, accepted: Option<&str>) -> Result<(Rules, Trust), Problem> {
        let Some(bytes) = file(workspace)? else { return Ok((self.everywhere.clone(), Trust::nothing())) };
        let sha256 = sha256_hex(&bytes);
        let obeyed = if self.trusts_all || accepted == Some(sha256.as_str()) { Obeyed::All } else { Obeyed::Strictness };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(&(sha256.clone(), obeyed)) {
            return Ok(found.clone());
        }
        let wrong =
            |why: String| Problem::new(ErrorCode::ValidationFailed, format!("The workspace's configuration can't be obeyed. {why}"));
        let text = String::from_utf8(bytes).map_err(|error| wrong(format!("{PATH} is not UTF-8: {error}")))?;
        let found = self.read(&text, sha256.clone(), obeyed).map_err(wrong)?;
        if known.len() >= REMEMBERED {
            known.clear();
        }
        known.insert((sha256, obeyed), found.clone());
        Ok(found)
    }
}

/// The workspace's file, if there is one.
fn file(workspace: &Workspace) -> Result<Option<Vec<u8>>, Problem> {
    match workspace.read_plan(&WorkspacePath::parse(PATH)?) {
        Ok(snapshot) => Ok(Some(snapshot.bytes)),
        Err(problem) if problem.code == ErrorCode::PathNotFound => Ok(None),
        Err(Problem { code: code @ ErrorCode::FileTooLarge, .. }) => Err(Problem::new(code, format!("{PATH} is larger than 256 KiB."))),
        // Where nothing is behind a link, nothing is left out by not following it.
        Err(_) if workspace.host_path().is_ok_and(|folder| !folder.join(PATH).exists()) => Ok(None),
        Err(problem) => Err(problem),
    }
}

/// What a workspace's file is told about when work begins in it.
pub fn remarks(trust: &Trust) -> Vec<String> {
    let mut lines = trust.warnings.clone();
    if !trust.trusted {
        let wants = trust.items.iter().map(|item| format!("{} = {}", item.key, item.value)).collect::<Vec<_>>().join(", ");
        lines.push(format!("{PATH} wants what needs your trust, and is not obeyed in: {wants}"));
    }
    lines
}
