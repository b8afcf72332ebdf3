//! `planwright serve`

use crate::args::{Auth, BadUsage, ServeArgs};
use crate::config::Config;
use crate::configuration::{Layers, remarks};
use crate::data_dir::DataDir;
use crate::models::{ConfiguredModels, ask_daemon};
use crate::output;
use crate::signals::Interrupts;
use anyhow::{Context, bail};
use planwright_server::{Access, App};
use planwright_session::Sessions;
use planwright_store::Store;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// How long answers under way may take at a shutdown.
const DRAIN: Duration = Duration::from_secs(10);

pub async fn serve(args: ServeArgs) -> anyhow::Result<()> {
    if !args.listen.ip().is_loopback() {
        bail!("{} can be reached from other machines, which this version does not allow; listen on 127.0.0.1", args.listen);
    }
    let mut interrupts = Interrupts::new()?;
    let mut config = Config::load()?;
    ask_daemon(&mut config, args.common.model.as_deref()).await;
    let data = DataDir::open(args.common.data_dir)?;
    let store = data.store(args.common.database_url.as_deref()).await?;
    let folders = if args.workspace.is_empty() { vec![PathBuf::from(".")] } else { args.workspace };
    let models = ConfiguredModels::new(&config, args.common.model.clone());
    models.check().await?;
    models.say_choice();
    let names = models.names();
    let sessions = Sessions::configured(store.clone(), Arc::new(Layers::new(config, args.common.model, data.commands(), false)?));
    for folder in &folders {
        let workspace = add_workspace(&store, folder).await?;
        data.keep_out_of(Path::new(&workspace.path))?;
        // A file that is wrong stops the chats of its workspace, and no others.
        let lines = sessions.rules(workspace.id).await.map_or_else(|problem| vec![problem.message], |(_, trust)| remarks(&trust));
        for line in lines {
            output::note(&format!("{}: {line}", workspace.path));
        }
    }
    let resumed = sessions.resume_all().await?;
    if resumed > 0 {
        output::note(&format!("going on with {resumed} runs that were cut off, in the folders they were begun in"));
    }

    let token = match args.auth {
        Auth::Token => Some(data.token()?),
        Auth::Off => None,
    };
    let listener = TcpListener::bind(args.listen)
        .await
        .with_context(|| format!("can't listen on {}; is another server there? --listen 127.0.0.1:0 takes a free port", args.listen))?;
    let address = listener.local_addr()?;
    let access = Access { token: token.clone(), hosts: host_names(address) };
    let app = App {
        sessions: sessions.clone(),
        access: Arc::new(access),
        models: Arc::new(names),
        kept: data.real_path().into(),
        storage: Arc::new(data),
        closing: CancellationToken::new(),
    };
    output::line(&format!("listening on http://{address}"));
    if let Some(token) = token {
        output::line(&format!("sign in at http://{address}/#token={token}"));
    }

    let closing = app.closing.clone();
    let serving = tokio::spawn(planwright_server::serve(listener, app));
    interrupts.next().await;
    output::note("shutting down; runs in progress go on after the next start");
    closing.cancel();
    sessions.park_all().await;
    let _ = tokio::time::timeout(DRAIN, serving).await;
    store.close().await;
    Ok(())
}

/// Makes a folder known as a workspace.
pub async fn add_workspace(store: &Store, folder: &Path) -> anyhow::Result<planwright_store::WorkspaceRow> {
    let wrong = |why: &str| BadUsage(format!("the workspace {} {why}", folder.display()));
    let path = std::fs::canonicalize(folder).map_err(|error| wrong(&format!("can't be opened: {error}")))?;
    if !path.is_dir() {
        bail!(wrong("is not a folder"));
    }
    let text = path.to_str().ok_or_else(|| wrong("has a path that is not UTF-8"))?;
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("workspace");
    Ok(store.ensure_workspace(name, text).await?)
}

/// What `Host` may say: the address itself, or this machine's usual names.
fn host_names(address: SocketAddr) -> Vec<String> {
    let port = address.port();
    vec![address.to_string(), format!("localhost:{port}"), format!("127.0.0.1:{port}"), format!("[::1]:{port}")]
}
