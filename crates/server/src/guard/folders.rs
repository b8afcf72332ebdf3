//! Which folders of the machine a user may add as workspaces.

use super::Caller;
use crate::App;
use crate::answer::ApiError;
use planwright_protocol::{ErrorCode, Problem};
use planwright_store::{Account, Added, Rank, Right, WorkspaceRow};
use planwright_workspaces::{NewWorkspace, find_folder};
use serde_json::json;
use std::path::{Component, Path, PathBuf};

/// The folders that are open to users. Without a limit, users could read everything that the server's own account can.
#[derive(Clone, Debug, Default)]
pub struct Folders {
    /// Users may add workspaces below these folders; if there are none, only admins add folders.
    pub roots: Vec<PathBuf>,
}

impl Folders {
    /// A root is shared by all users, so no user may own it or a folder around it.
    fn are_open(&self, folder: &Path) -> bool {
        self.are_around(folder) && !self.roots.iter().any(|root| root.starts_with(folder))
    }

    fn are_around(&self, folder: &Path) -> bool {
        self.roots.iter().any(|root| folder.starts_with(root))
    }
}

/// Whether the user may add any folder at all.
pub fn may_add_folders(app: &App, account: Option<&Account>) -> bool {
    account.is_none_or(|account| account.rank == Rank::Admin) || !app.access.folders.roots.is_empty()
}

/// Adds a folder as a workspace; the caller becomes its owner, if they have an account.
///
/// # Errors
/// The folder can't be opened, can't be a workspace, or is not open to the caller.
pub async fn add_folder(app: &App, caller: &Caller, name: Option<String>, path: PathBuf) -> Result<WorkspaceRow, ApiError> {
    let found = find_folder(path.clone()).await;
    let folder = match ordinary(caller) {
        Some(account) => open_folder(app, account, &path, found).await?,
        None => found?,
    };
    add(app, caller, NewWorkspace { name, folder, owner: caller.user() }).await
}

/// Adds a sample, which the server itself wrote for the caller, as a workspace.
///
/// # Errors
/// The database failed.
pub async fn add_sample(app: &App, caller: &Caller, folder: PathBuf) -> Result<WorkspaceRow, ApiError> {
    add(app, caller, NewWorkspace { name: Some("Sample".to_owned()), folder, owner: caller.user() }).await
}

async fn add(app: &App, caller: &Caller, new: NewWorkspace) -> Result<WorkspaceRow, ApiError> {
    match app.sessions.workspaces().add(new).await? {
        Added::Workspace(row) => Ok(row),
        Added::Taken(_) if ordinary(caller).is_some() => Err(closed(app).into()),
        Added::Taken(workspaces) => Err(taken(app, &workspaces).await?.into()),
    }
}

/// The account of a caller who is not an admin.
fn ordinary(caller: &Caller) -> Option<&Account> {
    caller.account.as_ref().filter(|account| account.rank != Rank::Admin)
}

/// The folder, if it is open to users. The error is the same whether or not a closed folder exists.
async fn open_folder(app: &App, account: &Account, asked: &Path, found: Result<PathBuf, Problem>) -> Result<PathBuf, ApiError> {
    let folders = &app.access.folders;
    let missing = match found {
        Ok(folder) if folders.are_open(&folder) && app.sessions.workspaces().refusal(&folder).is_none() => return Ok(folder),
        Ok(_) => return Err(closed(app).into()),
        Err(problem) => problem,
    };
    if !asked.is_absolute() {
        return Err(missing.into());
    }
    let Some(around) = around(asked).await.filter(|around| folders.are_around(around)) else { return Err(closed(app).into()) };
    let others = app.sessions.store().workspaces_of_others(account.id).await?;
    let is_foreign = others.iter().any(|other| around.starts_with(&other.path));
    Err(if is_foreign { closed(app).into() } else { missing.into() })
}

/// The nearest existing folder around a missing path, with links resolved; `None` if a link is in the way.
async fn around(path: &Path) -> Option<PathBuf> {
    if path.components().any(|part| part == Component::ParentDir) {
        return None;
    }
    // Without the trailing slash, which would follow a link.
    let path: PathBuf = path.components().collect();
    for folder in path.ancestors() {
        match tokio::fs::symlink_metadata(folder).await {
            Ok(_) => return tokio::fs::canonicalize(folder).await.ok(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(_) => return None,
        }
    }
    None
}

/// One message for every reason: the reason itself would reveal facts about others and about the machine.
fn closed(app: &App) -> Problem {
    let text = if app.access.folders.roots.is_empty() {
        "Only admins add folders on this server. Ask an admin, or ask for `--workspace-root DIR`, which lets users add workspaces below that folder."
    } else {
        "This folder can't be your workspace: it is not below the server's folder for workspaces, it belongs to the server or to git, or others work in it. Ask an admin."
    };
    Problem::new(ErrorCode::Forbidden, text)
}

/// For admins, who may know who works where.
async fn taken(app: &App, workspaces: &[WorkspaceRow]) -> Result<Problem, ApiError> {
    let members = app.sessions.store().all_members().await?;
    let told = workspaces.iter().map(|workspace| {
        let owners = members.get(&workspace.id).into_iter().flatten().filter(|member| member.role == Right::Owner);
        let owners = owners.map(|owner| owner.name.as_str()).collect::<Vec<_>>().join(", ");
        format!("{} (of {owners}, id {})", workspace.path, workspace.id)
    });
    let text = format!(
        "Others work in this folder, around it or inside it: {}. They or you can remove that workspace with DELETE /api/v1/admin/workspaces/ID.",
        told.collect::<Vec<_>>().join("; ")
    );
    let ids: Vec<_> = workspaces.iter().map(|workspace| workspace.id).collect();
    Ok(Problem::new(ErrorCode::Forbidden, text).with_details(json!({ "workspaces": ids })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_open_what_lies_below_the_roots_and_no_root_itself() {
        let open = |folders: &Folders, folder: &str| folders.are_open(Path::new(folder));
        for folder in ["/", "/home/svc/project", "/tmp"] {
            assert!(!open(&Folders::default(), folder), "{folder}");
        }
        let roots = Folders { roots: vec!["/srv/projects".into(), "/srv/projects/of/teams".into()] };
        for (folder, expected) in [
            ("/srv/projects/a", true),
            ("/srv/projects/of/teams/a", true),
            ("/srv/projects", false),
            ("/srv/projects/of/teams", false),
            ("/srv/projects/of", false),
            ("/srv", false),
            ("/srv/projects-of-others", false),
            ("/home/svc/project", false),
        ] {
            assert_eq!(open(&roots, folder), expected, "{folder}");
        }
    }
}
