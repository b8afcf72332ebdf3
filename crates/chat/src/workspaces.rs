//! The folders that chats work in: added, set up, forgotten.

use crate::chat::{broken, storage};
use crate::configuration::{self, Rules};
use crate::handle::Handle;
use crate::reserved::Reserved;
use crate::rules::{RulesView, WorkspaceSettings};
use crate::sessions::Sessions;
use crate::view::ChatView;
use planwright_feed::EventLog;
use planwright_protocol::{ErrorCode, Event, Problem, UserId, WorkspaceId};
use planwright_store::{Added, ChatFilter, WorkspaceRow};
use planwright_tools::Workspace;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

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

impl Sessions {
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
    pub async fn add_workspace(&self, new: NewWorkspace) -> Result<Added, Problem> {
        let path = self.checked_folder(&new.folder)?;
        let name = new.name.map_or_else(|| Ok(name_of(&new.folder)), checked_name)?;
        self.store().add_workspace(&name, path, new.owner).await.map_err(storage)
    }

    /// The workspace at an absolute path, for whoever runs the program; made if it is not known yet.
    ///
    /// # Errors
    /// The folder can't be opened, or must not be a workspace.
    pub async fn ensure_workspace(&self, path: PathBuf) -> Result<WorkspaceRow, Problem> {
        let folder = find_folder(path).await?;
        let path = self.checked_folder(&folder)?;
        self.store().ensure_workspace(&name_of(&folder), path).await.map_err(storage)
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
    pub async fn update_workspace(
        &self,
        id: WorkspaceId,
        name: Option<String>,
        settings: Map<String, Value>,
    ) -> Result<WorkspaceRow, Problem> {
        let mut row = self.workspace_row(id).await?;
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
            settings.check(&self.file_rules(id).await?)?;
        }
        self.store().update_workspace(&row).await.map_err(storage)?;
        Ok(row)
    }

    /// What holds in a workspace now, for people to see.
    ///
    /// # Errors
    /// No such workspace, or its file is wrong.
    pub async fn rules_view(&self, id: WorkspaceId) -> Result<RulesView, Problem> {
        Ok(RulesView::new(&self.rules(id).await?.0, &self.file_rules(id).await?))
    }

    /// What the files alone say.
    async fn file_rules(&self, id: WorkspaceId) -> Result<Rules, Problem> {
        let workspace = self.workspace(id).await?;
        Ok(configuration::of_files(&self.inner.configuration, self.store(), id, &workspace).await?.0)
    }

    /// Ends the chats of a workspace and forgets it. Nothing in the folder is touched.
    ///
    /// # Errors
    /// No such workspace, or the database failed.
    pub async fn delete_workspace(&self, id: WorkspaceId) -> Result<(), Problem> {
        self.workspace_row(id).await?;
        // Held to the end, so that nobody wakes a chat again.
        let mut open = self.inner.open.lock().await;
        let chats = self.store().chats_in(id).await.map_err(storage)?;
        let ended: Vec<_> = chats.iter().filter_map(|chat| open.remove(chat)).collect();
        futures::future::join_all(ended.iter().map(Handle::park)).await;
        self.store().delete_workspace(id).await.map_err(storage)?;
        self.inner.workspaces.lock().await.remove(&id);
        for handle in ended {
            let chat = handle.chat();
            chat.feed.close();
            self.inner.hub.announce(chat.feed.source, chat.newest().await, Event::ChatDeleted {});
        }
        Ok(())
    }

    /// The folder, opened. What stood there when it was added was looked at; a link that somebody put in its place was not.
    pub(crate) async fn workspace(&self, id: WorkspaceId) -> Result<Arc<Workspace>, Problem> {
        let mut workspaces = self.inner.workspaces.lock().await;
        if let Some(workspace) = workspaces.get(&id) {
            return Ok(workspace.clone());
        }
        let row = self.workspace_row(id).await?;
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

    /// The chats of a workspace, all of them.
    ///
    /// # Errors
    /// The database can't be read.
    pub async fn chats(&self, id: WorkspaceId) -> Result<Vec<ChatView>, Problem> {
        let rows = self.store().chats(id, ChatFilter::default()).await.map_err(storage)?;
        Ok(rows.into_iter().map(ChatView::from).collect())
    }

    /// # Errors
    /// No such workspace.
    pub async fn workspace_row(&self, id: WorkspaceId) -> Result<WorkspaceRow, Problem> {
        let row = self.store().workspace(id).await.map_err(storage)?;
        row.ok_or_else(|| Problem::new(ErrorCode::NotFound, format!("There is no workspace {id}.")))
    }
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
