//! `planwright serve`

use crate::args::{Auth, BadUsage, ServeArgs};
use crate::browser;
use crate::data_dir::{self, DataDir};
use crate::disk;
use crate::models::{ConfiguredModels, Remotes, ask_daemon};
use crate::output;
use crate::process_limits;
use crate::providers::vendor_names;
use crate::retention;
use crate::servers::StoredPins;
use crate::sign_in;
use crate::signals::Interrupts;
use crate::wiring::ProcessOptions;
use anyhow::{Context, bail};
use planwright_chat::Sessions;
use planwright_config::Config;
use planwright_server::{AccessControl, App, ExternalAccess, SignInMethod};
use planwright_store::Store;
use planwright_workspaces::ReservedFolders;
use planwright_workspaces::remarks;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// Timeout for requests in progress at a shutdown.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

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
    let data = DataDir::open(args.common.storage.data_dir)?;
    let store = data.store(args.common.storage.database_url.as_deref()).await?;
    let models = ConfiguredModels::new(&config, args.common.model.clone());
    models.check().await?;
    models.say_choice(None);
    let retention = config.retention;
    let parts = ProcessOptions {
        config,
        model: args.common.model,
        trusts_all: false,
        commands: data.commands(),
        reserved: data.reserved(),
        team: (args.auth == Auth::Users).then(|| folders_of_users.roots.clone()),
        roots: folders_of_users.roots.clone(),
        pins: Arc::new(StoredPins(store.clone())),
    };
    let (sessions, pool) = parts.chats(store.clone(), Remotes::default())?;
    begin(&sessions, &data.reserved(), &folders).await?;

    let sign_in = sign_in::sign_in(args.auth, args.listen, &data, &store).await?;
    let listener = TcpListener::bind(args.listen)
        .await
        .with_context(|| format!("can't listen on {}; is another server running? --listen 127.0.0.1:0 chooses a free port", args.listen))?;
    let address = listener.local_addr()?;
    output::line(&format!("listening on http://{address}"));
    let mut page = args.public_url.as_ref().map_or_else(|| format!("http://{address}/"), ToString::to_string);
    if let SignInMethod::Token(token) = &sign_in {
        page = format!("http://{address}/#token={token}");
        output::line(&format!("sign in at {page}"));
    }
    let outside = ExternalAccess {
        public_url: args.public_url,
        proxies: args.trusted_proxy,
        requests_per_minute: args.requests_per_minute,
        folders: folders_of_users,
    };
    let access = AccessControl::new(sign_in, address, outside);
    let reserve = data.reserve();
    let folder = data.path().to_owned();
    let app = App {
        sessions: sessions.clone(),
        access: Arc::new(access),
        models: Arc::new(models),
        storage: Arc::new(data),
        closing: CancellationToken::new(),
    };

    let closing = app.closing.clone();
    tokio::spawn(disk::watch_disk(reserve.clone(), folder, sessions.clone(), closing.clone()));
    tokio::spawn(retention::observe(sessions.clone(), retention, closing.clone()));
    let serving = tokio::spawn(planwright_server::serve(listener, app));
    if args.open {
        browser::open(&page);
    }
    interrupts.next().await;
    output::note("shutting down; runs in progress resume after the next start");
    closing.cancel();
    sessions.park_all().await;
    pool.close().await;
    let _ = tokio::time::timeout(DRAIN_TIMEOUT, serving).await;
    store.close().await;
    reserve.keep_for_next_start();
    Ok(())
}

/// Adds the workspaces of the command line, and resumes interrupted runs.
async fn begin(sessions: &Sessions, reserved: &ReservedFolders, folders: &[PathBuf]) -> anyhow::Result<()> {
    for folder in folders {
        let workspace = add_workspace(sessions.store(), reserved, folder).await?;
        // An invalid file stops only the chats of its own workspace.
        let rules = sessions.workspaces().rules(workspace.id).await;
        for line in rules.map_or_else(|problem| vec![problem.message], |(_, trust)| remarks(&trust)) {
            output::note(&format!("{}: {line}", workspace.path));
        }
    }
    if let Err(problem) = sessions.sweep_stages().await {
        output::note(&format!("can't clean up after commands: {problem}"));
    }
    let resumed = sessions.resume_all().await?;
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
