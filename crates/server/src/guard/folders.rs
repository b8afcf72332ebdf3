//! Which folders of the machine somebody with an account may make a workspace of.

use super::Caller;
use crate::App;
use crate::answer::ApiError;
use planwright_protocol::{ErrorCode, Problem, WorkspaceId};
use planwright_session::storage;
use planwright_store::{Account, Rank};
use std::path::{Path, PathBuf};

/// What of the machine is open to users, who otherwise could read whatever the server's own account can.
#[derive(Clone, Debug, Default)]
pub struct Folders {
    /// Where they may have workspaces, if it is said.
    pub roots: Vec<PathBuf>,
    /// The server's own home: what is hidden there, and the home as a whole, is not for them.
    pub home: Option<PathBuf>,
}

impl Folders {
    fn are_open(&self, folder: &Path) -> bool {
        let below = |root: &PathBuf| folder.starts_with(root);
        if !self.roots.is_empty() {
            return self.roots.iter().any(below);
        }
        self.home.as_ref().is_none_or(|home| {
            let inside = folder.strip_prefix(home).unwrap_or(Path::new(""));
            !home.starts_with(folder) && !inside.components().any(|part| part.as_os_str().as_encoded_bytes().starts_with(b"."))
        })
    }
}

/// The folder as it really is, if the caller may make a workspace of it: not the server's own, and nothing of somebody else's.
///
/// # Errors
/// It is closed to them.
pub async fn check_folder(app: &App, caller: &Caller, path: PathBuf) -> Result<PathBuf, ApiError> {
    let Some(account) = &caller.account else { return Ok(path) };
    // What can't be found is told by whoever opens it.
    let Ok(folder) = tokio::fs::canonicalize(&path).await else { return Ok(path) };
    let kept = &*app.kept;
    let is_open = account.rank == Rank::Admin || app.access.folders.are_open(&folder);
    if is_open && !overlap(&folder, kept) && !is_foreign(app, account, &folder).await? {
        return Ok(folder);
    }
    Err(closed().into())
}

/// Makes the caller the owner of a workspace that is new. One that was there stays whose it is.
///
/// # Errors
/// It has become somebody else's.
pub async fn claim(app: &App, caller: &Caller, workspace: WorkspaceId) -> Result<(), ApiError> {
    let Some(user) = caller.user() else { return Ok(()) };
    let store = app.sessions.store();
    store.claim(workspace, user).await.map_err(storage)?;
    match store.right(user, workspace, None).await.map_err(storage)? {
        Some(_) => Ok(()),
        None => Err(closed().into()),
    }
}

/// Whether a workspace that they may not know of is in the folder, or the folder in it.
async fn is_foreign(app: &App, account: &Account, folder: &Path) -> Result<bool, ApiError> {
    let store = app.sessions.store();
    let own = store.workspaces_of(account.id).await.map_err(storage)?;
    let all = store.workspaces().await.map_err(storage)?;
    let mut foreign = all.iter().filter(|workspace| own.iter().all(|(own, _)| own.id != workspace.id));
    Ok(foreign.any(|workspace| overlap(folder, Path::new(&workspace.path))))
}

fn overlap(one: &Path, other: &Path) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

/// The same words for every reason: which one it is tells of others.
fn closed() -> Problem {
    Problem::new(
        ErrorCode::Forbidden,
        "This folder can't be a workspace of yours: it is not open to users, or others work in it. Ask an admin.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_open_what_lies_below_the_roots_or_else_nothing_hidden_in_the_home() {
        let open = |folders: &Folders, folder: &str| folders.are_open(Path::new(folder));
        let home = Folders { roots: Vec::new(), home: Some("/home/svc".into()) };
        for (folder, expected) in [
            ("/home/svc/project", true),
            ("/srv/.cache/project", true),
            ("/home/svc", false),
            ("/home", false),
            ("/", false),
            ("/home/svc/.ssh", false),
            ("/home/svc/project/.git", false),
        ] {
            assert_eq!(open(&home, folder), expected, "{folder}");
        }
        let roots = Folders { roots: vec!["/srv/projects".into()], ..home };
        for (folder, expected) in
            [("/srv/projects/a", true), ("/srv/projects", true), ("/srv/projects-of-others", false), ("/home/svc/project", false)]
        {
            assert_eq!(open(&roots, folder), expected, "{folder}");
        }
    }
}
