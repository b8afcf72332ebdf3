//! `planwright` without a subcommand: the terminal UI.

use crate::args::{ClusterArgs, ScreenArgs};
use crate::data_dir;
use crate::host::{HostOptions, LocalServer};
use crate::output;
use crate::providers::vendor_names;
use crate::serve::check_workspace;
use planwright_client::{Client, ServerTarget};
use planwright_config::Config;
use planwright_tui::{Connecting, Folder, ReachedServer};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;

/// Whether there is a terminal to draw on.
pub fn has_terminal() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

pub async fn tui(args: ScreenArgs) -> anyhow::Result<()> {
    let named = args.workspace.clone().unwrap_or_else(|| PathBuf::from("."));
    let Some(url) = args.remote.server.clone() else { return on_this_machine(args, named).await };
    let path = std::path::absolute(&named)?.to_string_lossy().into_owned();
    let folder = if args.workspace.is_some() { Folder::Path(path) } else { Folder::Known(path) };
    let target = ServerTarget::Url { url, token: args.remote.token };
    let connecting: Connecting = Box::pin(async move { Ok(ReachedServer { client: connect(target).await?, is_here: false }) });
    Box::pin(planwright_tui::run(connecting, folder)).await.map_err(anyhow::Error::msg)
}

/// Attaches to whoever has the data folder, or hosts it.
async fn on_this_machine(args: ScreenArgs, named: PathBuf) -> anyhow::Result<()> {
    let reserved = data_dir::reserved(args.common.storage.data_dir.clone())?;
    let folder = Folder::Path(check_workspace(&reserved, &named)?);
    let options = HostOptions {
        config: Config::load(vendor_names())?,
        model: args.common.model,
        trusts_all: false,
        database_url: args.common.storage.database_url,
        cluster: ClusterArgs::default(),
        team: None,
        roots: Vec::new(),
        retries: None,
    };
    let local = LocalServer::new(args.common.storage.data_dir, options, args.remote.token);
    if std::io::stderr().is_terminal() {
        // A line of the host would end up in the middle of the picture.
        output::silence_notes(true);
    }
    let reached = local.clone();
    let connecting: Connecting = Box::pin(async move { reach(reached).await.map_err(|error| format!("{error:#}")) });
    let outcome = Box::pin(planwright_tui::run(connecting, folder)).await;
    local.close().await;
    output::silence_notes(false);
    outcome.map_err(anyhow::Error::msg)
}

async fn reach(local: Arc<LocalServer>) -> anyhow::Result<ReachedServer> {
    local.open().await?;
    let usable = local.with_folder(async |folder| folder.models.check().await).await;
    if let Some(Err(error)) = usable {
        return Err(error);
    }
    let client = connect(local.target()).await.map_err(anyhow::Error::msg)?;
    Ok(ReachedServer { client, is_here: local.is_host().await })
}

async fn connect(target: ServerTarget) -> Result<Client, String> {
    Client::connect(target).await.map_err(|error| error.to_string())
}
