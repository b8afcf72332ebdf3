//! `planwright serve`

use crate::args::{Auth, BadUsage, ServeArgs};
use crate::browser;
use crate::data_dir::{self, DataDir};
use crate::host::{HostOptions, OpenFolder, Yielding, ask_to_yield, lock_of_yielding};
use crate::models::ask_daemon;
use crate::output;
use crate::process_limits;
use crate::providers::vendor_names;
use crate::sign_in;
use crate::signals::Interrupts;
use anyhow::{Context, bail};
use planwright_config::Config;
use planwright_server::{AccessControl, ExternalAccess, SignInMethod};
use planwright_store::Store;
use planwright_workspaces::ReservedFolders;
use planwright_workspaces::remarks;
use std::path::{Path, PathBuf};
use tokio::net::TcpListener;

pub async fn serve(args: ServeArgs) -> anyhow::Result<()> {
    process_limits::raise_descriptors();
    sign_in::check_reach(args.listen, args.auth, args.public_url.is_some() || !args.trusted_proxy.is_empty())?;
    let mut interrupts = Interrupts::new()?;
    let mut config = Config::load(vendor_names())?;
    ask_daemon(&mut config, args.common.model.as_deref()).await;
    let folders = if args.workspace.is_empty() { vec![PathBuf::from(".")] } else { args.workspace };
    let folders_of_users = sign_in::folders(&args.workspace_root)?;
    // Before anything is created in the data folder, which may be in a forbidden place.
    let reserved = data_dir::reserved(args.common.storage.data_dir.clone())?;
    folders.iter().try_for_each(|folder| check_workspace(&reserved, folder).map(drop))?;
    let data = lock(args.common.storage.data_dir).await?;
    let options = HostOptions {
        config,
        model: args.common.model,
        trusts_all: false,
        database_url: args.common.storage.database_url,
        cluster: args.cluster,
        team: (args.auth == Auth::Users).then(|| folders_of_users.roots.clone()),
        roots: folders_of_users.roots.clone(),
        retries: None,
    };
    let folder = OpenFolder::new(data, options).await?;
    folder.models.check().await?;
    folder.models.say_choice(None);
    begin(&folder, &folders).await?;

    let sign_in = sign_in::sign_in(args.auth, args.listen, &folder.data, &folder.store).await?;
    let listener = TcpListener::bind(args.listen)
        .await
        .with_context(|| format!("can't listen on {}; is another server running? --listen 127.0.0.1:0 chooses a free port", args.listen))?;
    let address = listener.local_addr()?;
    let mut page = args.public_url.as_ref().map_or_else(|| format!("http://{address}/"), ToString::to_string);
    let mut lines = vec![format!("listening on http://{address}")];
    if let SignInMethod::Token(token) = &sign_in {
        page = format!("http://{address}/#token={token}");
        lines.push(format!("sign in at {page}"));
    }
    let outside = ExternalAccess {
        public_url: args.public_url,
        proxies: args.trusted_proxy,
        requests_per_minute: args.requests_per_minute,
        folders: folders_of_users,
    };
    let host = folder.host(AccessControl::new(sign_in, address, outside), None);
    let server = host.server.clone();
    let serving = tokio::spawn(async move { server.serve(listener).await });
    for line in lines {
        output::line(&line);
    }
    if args.open {
        browser::open(&page);
    }
    interrupts.next().await;
    output::note("shutting down; runs in progress resume after the next start");
    host.end().await;
    let _ = serving.await;
    Ok(())
}

/// Locks the data folder. A process that has it for a while, such as a run or an editor, is asked to hand it over.
async fn lock(folder: Option<PathBuf>) -> anyhow::Result<DataDir> {
    let path = DataDir::path_of(folder.clone())?;
    if let Some(data) = DataDir::try_open(folder.clone())? {
        return Ok(data);
    }
    match ask_to_yield(&path).await {
        Yielding::Yields => lock_of_yielding(folder, &path).await,
        // The kernel may release the lock of a killed process a moment late.
        Yielding::Stays | Yielding::Silent => DataDir::open(folder),
    }
}

/// Adds the workspaces of the command line, and resumes interrupted runs.
async fn begin(folder: &OpenFolder, workspaces: &[PathBuf]) -> anyhow::Result<()> {
    for path in workspaces {
        let workspace = add_workspace(&folder.store, &folder.data.reserved(), path).await?;
        folder.sessions.workspaces().settle(&workspace).await?;
        if !folder.store.leases().holds(workspace.id) {
            continue;
        }
        // An invalid file stops only the chats of its own workspace.
        let rules = folder.sessions.workspaces().rules(workspace.id).await;
        for line in rules.map_or_else(|problem| vec![problem.message], |(_, trust)| remarks(&trust)) {
            output::note(&format!("{}: {line}", workspace.path));
        }
    }
    let resumed = folder.resume().await?;
    if resumed > 0 {
        output::note(&format!("resuming {resumed} interrupted runs, in their own folders"));
    }
    Ok(())
}

/// Adds a folder as a workspace.
pub async fn add_workspace(store: &Store, reserved: &ReservedFolders, folder: &Path) -> anyhow::Result<planwright_store::WorkspaceRow> {
    let path = check_workspace(reserved, folder)?;
    let name = Path::new(&path).file_name().and_then(|name| name.to_str()).unwrap_or("workspace");
    Ok(store.ensure_workspace(name, &path).await?)
}

/// The real path of a folder that can be a workspace.
pub fn check_workspace(reserved: &ReservedFolders, folder: &Path) -> anyhow::Result<String> {
    let wrong = |why: &str| BadUsage(format!("the workspace {} {why}", folder.display()));
    let path = std::fs::canonicalize(folder).map_err(|error| wrong(&format!("can't be opened: {error}")))?;
    if !path.is_dir() {
        bail!(wrong("is not a folder"));
    }
    if let Some(why) = reserved.refusal(&path) {
        bail!(wrong(why));
    }
    Ok(path.to_str().ok_or_else(|| wrong("has a path that is not UTF-8"))?.to_owned())
}
