//! The registry of workspaces: adds, configures, opens and removes folders.

use crate::reserved::ReservedFolders;
use crate::rules::{self, rules_view};
use crate::settings::{Configuration, Settings, WorkspaceRules};
use planwright_config::{Trust, WorkspaceSettings};
use planwright_protocol::api::workspace::RulesView;
use planwright_protocol::{ErrorCode, Problem, UserId, WorkspaceId};
use planwright_store::{Added, NodePlace, Store, WorkspaceRow};
use planwright_tools::{Site, Workspace};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::{Mutex as EditLock, OnceCell};

/// How long to wait until a node has a new workspace.
const SETTLE_WITHIN: Duration = Duration::from_secs(5);

/// A folder to add.
pub struct NewWorkspace {
    pub name: Option<String>,
    /// From [`find_folder`].
    pub folder: PathBuf,
    /// The new owner, if they have an account.
    pub owner: Option<UserId>,
}

/// The real path of an absolute path, with links resolved.
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
    reserved: OnceLock<ReservedFolders>,
    shared: OnceLock<Vec<(PathBuf, String)>>,
    /// Locked only to look up and to note; whoever waits, waits at an entry.
    used: Mutex<HashMap<WorkspaceId, Arc<UsedWorkspace>>>,
}

/// A workspace that somebody opens, has open or edits.
#[derive(Default)]
struct UsedWorkspace {
    folder: OnceCell<Arc<Workspace>>,
    /// Held from reading the name and settings to storing them.
    edits: EditLock<()>,
}

impl Workspaces {
    #[must_use]
    pub fn new(store: Store, configuration: Arc<dyn Configuration>) -> Self {
        let (reserved, shared) = (OnceLock::new(), OnceLock::new());
        Self { inner: Arc::new(Inner { store, configuration, reserved, shared, used: Mutex::default() }) }
    }

    #[must_use]
    pub fn store(&self) -> &Store {
        &self.inner.store
    }

    /// The user's own rules, for work outside any workspace.
    #[must_use]
    pub fn everywhere(&self) -> &WorkspaceRules {
        self.inner.configuration.everywhere()
    }

    /// Sets the reserved folders, once.
    pub fn reserve(&self, reserved: ReservedFolders) {
        // The first call wins.
        let _ = self.inner.reserved.set(reserved);
    }

    /// Why a folder can't be a workspace, for every user.
    #[must_use]
    pub fn refusal(&self, folder: &Path) -> Option<&'static str> {
        self.inner.reserved.get().and_then(|reserved| reserved.refusal(folder))
    }

    /// Adds a folder, unless others work in it, around it or inside it.
    ///
    /// # Errors
    /// The folder can't be a workspace.
    pub async fn add(&self, new: NewWorkspace) -> Result<Added, Problem> {
        let path = self.checked_folder(&new.folder)?;
        let name = new.name.map_or_else(|| Ok(name_of(&new.folder)), checked_name)?;
        let added = self.store().add_workspace(&name, path, new.owner).await?;
        if let Added::Workspace(row) = &added {
            self.settle(row).await?;
        }
        Ok(added)
    }

    /// The workspace at an absolute path, for the person who runs the program; added if it is unknown.
    ///
    /// # Errors
    /// The folder can't be opened, or can't be a workspace.
    pub async fn ensure(&self, path: PathBuf) -> Result<WorkspaceRow, Problem> {
        let folder = find_folder(path).await?;
        let path = self.checked_folder(&folder)?;
        let row = self.store().ensure_workspace(&name_of(&folder), path).await?;
        self.settle(&row).await?;
        Ok(row)
    }

    /// Where nodes share a database, says which of them may take a workspace, and waits a little until one has it.
    ///
    /// # Errors
    /// Another node has a folder of its own at this path.
    pub async fn settle(&self, row: &WorkspaceRow) -> Result<(), Problem> {
        let Some(node) = self.store().leases().node().map(str::to_owned) else { return Ok(()) };
        let shared = self.inner.shared.get().and_then(|shared| shared.iter().find(|(folder, _)| Path::new(&row.path).starts_with(folder)));
        let home = self.store().settle(row.id, shared.map(|(_, id)| id.as_str())).await?;
        if let Some(other) = home.strip_prefix("node:").filter(|other| *other != node) {
            let text = format!(
                "The folder {} belongs to node {other}. Folders of two nodes need different paths; folders that both have belong into [cluster] shared.",
                row.path
            );
            return Err(Problem::new(ErrorCode::Conflict, text));
        }
        let began = std::time::Instant::now();
        while began.elapsed() < SETTLE_WITHIN && matches!(self.store().place_of(row.id).await?, NodePlace::Nowhere { .. }) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    /// Names the folders that other nodes have as well, with their ids, once.
    pub fn share(&self, folders: Vec<(PathBuf, String)>) {
        let _ = self.inner.shared.set(folders);
    }

    fn checked_folder<'f>(&self, folder: &'f Path) -> Result<&'f str, Problem> {
        match self.refusal(folder) {
            Some(why) => Err(unfit(why)),
            None => folder.to_str().ok_or_else(|| unfit("is not UTF-8")),
        }
    }

    /// Changes a workspace's name or settings: null removes a setting, absent ones stay.
    ///
    /// # Errors
    /// No such workspace, or an invalid setting.
    pub async fn update(&self, id: WorkspaceId, name: Option<String>, settings: Map<String, Value>) -> Result<WorkspaceRow, Problem> {
        // Without the lock, two concurrent edits would undo each other. No other process uses this database.
        let used = self.used(id);
        let edited = {
            let _edit = used.edits.lock().await;
            self.edit(id, name, settings).await
        };
        self.drop_unused(id, used);
        edited
    }

    async fn edit(&self, id: WorkspaceId, name: Option<String>, settings: Map<String, Value>) -> Result<WorkspaceRow, Problem> {
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

    /// The rules in force in a workspace, and which parts of its own file need trust.
    ///
    /// # Errors
    /// No such workspace, or its file is invalid.
    pub async fn rules(&self, id: WorkspaceId) -> Result<(WorkspaceRules, Trust), Problem> {
        let own = Value::Object(self.row(id).await?.settings);
        let own: WorkspaceSettings = serde_json::from_value(own).map_err(unreadable_settings)?;
        let (rules, trust) = self.file_rules(id).await?;
        Ok((rules::lay_over(&own, rules, &*self.inner.configuration), trust))
    }

    /// The rules in force, for people.
    ///
    /// # Errors
    /// No such workspace, or its file is invalid.
    pub async fn rules_view(&self, id: WorkspaceId) -> Result<RulesView, Problem> {
        Ok(rules_view(&self.rules(id).await?.0.settings, &*self.file_settings(id).await?))
    }

    /// The rules from the files alone.
    async fn file_rules(&self, id: WorkspaceId) -> Result<(WorkspaceRules, Trust), Problem> {
        let workspace = self.open(id).await?;
        let accepted = self.store().trusted(id).await?;
        let configuration = self.inner.configuration.clone();
        tokio::task::spawn_blocking(move || configuration.within(&workspace, accepted.as_deref())).await.map_err(broken)?
    }

    async fn file_settings(&self, id: WorkspaceId) -> Result<Arc<Settings>, Problem> {
        Ok(self.file_rules(id).await?.0.settings)
    }

    /// Where the workspace's MCP servers and commands run.
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

    /// Deletes a workspace whose chats have ended. The folder's files stay.
    ///
    /// # Errors
    /// The database failed.
    pub async fn forget(&self, id: WorkspaceId) -> Result<(), Problem> {
        self.store().delete_workspace(id).await?;
        self.all_used().remove(&id);
        Ok(())
    }

    /// Opens the folder. It was checked when it was added; a link that replaced it since is refused.
    ///
    /// # Errors
    /// No such workspace, or its folder can't be opened.
    pub async fn open(&self, id: WorkspaceId) -> Result<Arc<Workspace>, Problem> {
        let used = self.used(id);
        let opened = used.folder.get_or_try_init(|| self.open_folder(id)).await.cloned();
        self.drop_unused(id, used);
        opened
    }

    async fn open_folder(&self, id: WorkspaceId) -> Result<Arc<Workspace>, Problem> {
        let row = self.row(id).await?;
        // The folder of another node may be another one here.
        self.store().leases().tenure(id)?;
        let closed = |why: &str| Problem::new(ErrorCode::NotFound, format!("The workspace folder {} {why}.", row.path));
        if let Some(why) = self.refusal(Path::new(&row.path)) {
            return Err(closed(why));
        }
        let path = row.path.clone();
        let workspace = tokio::task::spawn_blocking(move || Workspace::open_real(Path::new(&path))).await.map_err(broken)?;
        Ok(Arc::new(workspace.map_err(|error| closed(&format!("can't be opened: {error}")))?))
    }

    fn all_used(&self) -> MutexGuard<'_, HashMap<WorkspaceId, Arc<UsedWorkspace>>> {
        self.inner.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn used(&self, id: WorkspaceId) -> Arc<UsedWorkspace> {
        self.all_used().entry(id).or_default().clone()
    }

    /// Forgets an entry that has no open folder and no other user, so that requests for unknown workspaces leave nothing behind.
    fn drop_unused(&self, id: WorkspaceId, used: Arc<UsedWorkspace>) {
        let mut all = self.all_used();
        let is_kept = all.get(&id).is_some_and(|kept| Arc::ptr_eq(kept, &used));
        // The map has one reference, and the caller.
        if is_kept && used.folder.get().is_none() && Arc::strong_count(&used) <= 2 {
            all.remove(&id);
        }
    }

    /// Forgets an open folder that another node works in from now on.
    pub fn leave(&self, id: WorkspaceId) {
        self.all_used().remove(&id);
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

/// Stored settings that can't be read may have been stricter than the files, so nothing runs without them.
fn unreadable_settings(error: serde_json::Error) -> Problem {
    let text = format!("The stored settings of this workspace can't be read: {error}. Send them again with `PATCH`.");
    Problem::new(ErrorCode::Internal, text)
}

/// An internal error, such as a panic in a task.
#[must_use]
pub fn broken(error: impl std::fmt::Display) -> Problem {
    Problem::new(ErrorCode::Internal, format!("Planwright has an internal error: {error}. Please report it."))
}

fn unfit(why: &str) -> Problem {
    Problem::new(ErrorCode::ValidationFailed, format!("`path` {why}.")).with_details(json!({ "fields": { "path": why } }))
}

/// The default name of a workspace.
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

#[cfg(test)]
mod tests;
