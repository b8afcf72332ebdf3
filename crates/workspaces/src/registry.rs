//! The registry of workspaces: folders added, configured, opened, removed.

use crate::reserved::Reserved;
use crate::rules::{self, RulesView};
use crate::settings::{Configuration, Rules, Settings};
use planwright_config::{Trust, WorkspaceSettings};
use planwright_protocol::{ErrorCode, Problem, UserId, WorkspaceId};
use planwright_store::{Added, Store, WorkspaceRow};
use planwright_tools::{Site, Workspace};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use tokio::sync::Mutex;

/// A folder to be made known.
pub struct NewWorkspace {
    pub name: Option<String>,
    /// As [`find_folder`] found it.
    pub folder: PathBuf,
    /// Whose it will be, if they have an account.
    pub owner: Option<UserId>,
}

/// The folder at an absolute path as it really is, links followed.
///
/// # Errors
/// It can't be opened.
pub async fn find_folder(path: PathBuf) -> Result<PathBuf, Problem> {
    if !path.is_absolute() {
        return Err(unfit("must be the absolute path of a folder on the server's machine"));
    }
    let open = move || Workspace::open(&path).map_err(|error| error.to_string())?.host_path().map_err(|problem| problem.message);
    let found = tokio::task::spawn_blocking(open).await.map_err(broken)?;
    found.map_err(|error| unfit(&format!("can't be opened: {error}")))
}

/// All workspaces of a process.
#[derive(Clone)]
pub struct Workspaces {
    inner: Arc<Inner>,
}

struct Inner {
    store: Store,
    configuration: Arc<dyn Configuration>,
    reserved: OnceLock<Reserved>,
    open: Mutex<HashMap<WorkspaceId, Arc<Workspace>>>,
    /// Held from reading the name and settings of a workspace to storing them.
    edits: Mutex<()>,
}

impl Workspaces {
    #[must_use]
    pub fn new(store: Store, configuration: Arc<dyn Configuration>) -> Self {
        Self { inner: Arc::new(Inner { store, configuration, reserved: OnceLock::new(), open: Mutex::default(), edits: Mutex::default() }) }
    }

    #[must_use]
    pub fn store(&self) -> &Store {
        &self.inner.store
    }

    /// The user's own rules, for what belongs to no workspace.
    #[must_use]
    pub fn everywhere(&self) -> &Rules {
        self.inner.configuration.everywhere()
    }

    /// Says once what can be no workspace.
    pub fn reserve(&self, reserved: Reserved) {
        // Whoever was first has said it.
        let _ = self.inner.reserved.set(reserved);
    }

    /// Why a folder can be no workspace, whoever asks.
    #[must_use]
    pub fn refusal(&self, folder: &Path) -> Option<&'static str> {
        self.inner.reserved.get().and_then(|reserved| reserved.refusal(folder))
    }

    /// Makes a folder known, unless others work there, around it or inside it.
    ///
    /// # Errors
    /// The folder must not be a workspace.
    pub async fn add(&self, new: NewWorkspace) -> Result<Added, Problem> {
        let path = self.checked_folder(&new.folder)?;
        let name = new.name.map_or_else(|| Ok(name_of(&new.folder)), checked_name)?;
        self.store().add_workspace(&name, path, new.owner).await.map_err(Problem::from)
    }

    /// The workspace at an absolute path, for whoever runs the program; made if it is not known yet.
    ///
    /// # Errors
    /// The folder can't be opened, or must not be a workspace.
    pub async fn ensure(&self, path: PathBuf) -> Result<WorkspaceRow, Problem> {
        let folder = find_folder(path).await?;
        let path = self.checked_folder(&folder)?;
        self.store().ensure_workspace(&name_of(&folder), path).await.map_err(Problem::from)
    }

    fn checked_folder<'f>(&self, folder: &'f Path) -> Result<&'f str, Problem> {
        match self.refusal(folder) {
            Some(why) => Err(unfit(why)),
            None => folder.to_str().ok_or_else(|| unfit("is not UTF-8")),
        }
    }

    /// Changes the name of a workspace, or its settings: null takes one away, what is not named stays.
    ///
    /// # Errors
    /// No such workspace, or a setting that does not fit.
    pub async fn update(&self, id: WorkspaceId, name: Option<String>, settings: Map<String, Value>) -> Result<WorkspaceRow, Problem> {
        // Two edits at once would each store what the other has not changed. No other process has this database.
        let _edit = self.inner.edits.lock().await;
        let mut row = self.row(id).await?;
        if let Some(name) = name {
            row.name = checked_name(name)?;
        }
        let is_changed = !settings.is_empty();
        for (key, value) in settings {
            if value.is_null() {
                row.settings.shift_remove(&key);
            } else {
                row.settings.insert(key, value);
            }
        }
        let settings = match serde_json::from_value::<WorkspaceSettings>(Value::Object(row.settings.clone())) {
            Ok(settings) => settings,
            Err(error) => {
                let details = json!({ "fields": { "settings": error.to_string() } });
                return Err(Problem::new(ErrorCode::ValidationFailed, format!("`settings` doesn't fit: {error}.")).with_details(details));
            }
        };
        if is_changed {
            rules::check(&settings, &*self.file_settings(id).await?, &*self.inner.configuration)?;
        }
        self.store().update_workspace(&row).await?;
        Ok(row)
    }

    /// The rules in force in a workspace, and what of its own file needs trust.
    ///
    /// # Errors
    /// No such workspace, or its file is wrong.
    pub async fn rules(&self, id: WorkspaceId) -> Result<(Rules, Trust), Problem> {
        let own = Value::Object(self.row(id).await?.settings);
        let own: WorkspaceSettings = serde_json::from_value(own).unwrap_or_default();
        let (rules, trust) = self.file_rules(id).await?;
        Ok((rules::lay_over(&own, rules, &*self.inner.configuration), trust))
    }

    /// The rules in force, for people to see.
    ///
    /// # Errors
    /// No such workspace, or its file is wrong.
    pub async fn rules_view(&self, id: WorkspaceId) -> Result<RulesView, Problem> {
        Ok(RulesView::new(&self.rules(id).await?.0.settings, &*self.file_settings(id).await?))
    }

    /// The rules by the files alone.
    async fn file_rules(&self, id: WorkspaceId) -> Result<(Rules, Trust), Problem> {
        let workspace = self.open(id).await?;
        let accepted = self.store().trusted(id).await?;
        let configuration = self.inner.configuration.clone();
        tokio::task::spawn_blocking(move || configuration.within(&workspace, accepted.as_deref())).await.map_err(broken)?
    }

    async fn file_settings(&self, id: WorkspaceId) -> Result<Arc<Settings>, Problem> {
        Ok(self.file_rules(id).await?.0.settings)
    }

    /// Where the workspace's MCP servers and commands work.
    ///
    /// # Errors
    /// No such workspace.
    pub async fn site(&self, id: WorkspaceId, settings: &Settings) -> Result<Site, Problem> {
        let workspace = self.open(id).await?;
        let neighbours = neighbours(self.store(), id).await?;
        Ok(Site { id, workspace, commands: settings.commands.clone(), secrets: settings.secrets.clone(), neighbours })
    }

    /// Takes a workspace out of all lists, before its chats end.
    ///
    /// # Errors
    /// The database failed.
    pub async fn hide(&self, id: WorkspaceId) -> Result<(), Problem> {
        Ok(self.store().hide_workspace(id).await?)
    }

    /// Forgets a workspace whose chats have ended. Nothing in the folder is touched.
    ///
    /// # Errors
    /// The database failed.
    pub async fn forget(&self, id: WorkspaceId) -> Result<(), Problem> {
        self.store().delete_workspace(id).await?;
        self.inner.open.lock().await.remove(&id);
        Ok(())
    }

    /// The folder, opened. It was checked when it was added; a link that replaced it since is refused.
    ///
    /// # Errors
    /// No such workspace, or its folder can't be opened.
    pub async fn open(&self, id: WorkspaceId) -> Result<Arc<Workspace>, Problem> {
        let mut workspaces = self.inner.open.lock().await;
        if let Some(workspace) = workspaces.get(&id) {
            return Ok(workspace.clone());
        }
        let row = self.row(id).await?;
        let closed = |why: &str| Problem::new(ErrorCode::NotFound, format!("The workspace folder {} {why}.", row.path));
        if let Some(why) = self.refusal(Path::new(&row.path)) {
            return Err(closed(why));
        }
        let path = row.path.clone();
        let workspace = tokio::task::spawn_blocking(move || Workspace::open_real(Path::new(&path))).await.map_err(broken)?;
        let workspace = Arc::new(workspace.map_err(|error| closed(&format!("can't be opened: {error}")))?);
        workspaces.insert(id, workspace.clone());
        Ok(workspace)
    }

    /// # Errors
    /// No such workspace.
    pub async fn row(&self, id: WorkspaceId) -> Result<WorkspaceRow, Problem> {
        let row = self.store().workspace(id).await?;
        row.ok_or_else(|| Problem::new(ErrorCode::NotFound, format!("There is no workspace {id}.")))
    }
}

/// The folders of the other workspaces.
///
/// # Errors
/// The database can't be read.
pub async fn neighbours(store: &Store, workspace: WorkspaceId) -> Result<Arc<[PathBuf]>, Problem> {
    let rows = store.workspaces().await?;
    Ok(rows.into_iter().filter(|row| row.id != workspace).map(|row| PathBuf::from(row.path)).collect())
}

/// A fault of our own, such as a task that ended by a panic.
#[must_use]
pub fn broken(error: impl std::fmt::Display) -> Problem {
    Problem::new(ErrorCode::Internal, format!("Something broke inside Planwright: {error}. Please report it."))
}

fn unfit(why: &str) -> Problem {
    Problem::new(ErrorCode::ValidationFailed, format!("`path` {why}.")).with_details(json!({ "fields": { "path": why } }))
}

/// What a workspace is called that nobody gave a name.
fn name_of(folder: &Path) -> String {
    folder.file_name().and_then(|name| name.to_str()).unwrap_or("workspace").to_owned()
}

fn checked_name(name: String) -> Result<String, Problem> {
    if name.trim().is_empty() || name.chars().count() > 200 || name.chars().any(char::is_control) {
        let why = "must be one line of 1 to 200 characters";
        return Err(Problem::new(ErrorCode::ValidationFailed, format!("`name` {why}.")).with_details(json!({ "fields": { "name": why } })));
    }
    Ok(name)
}
