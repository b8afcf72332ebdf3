//! `planwright mcp`

use crate::args::{BadUsage, McpArgs, McpCommand};
use crate::data_dir::{SharedDatabase, reserved};
use crate::lists::table;
use crate::output;
use crate::providers::vendor_names;
use crate::serve::add_workspace;
use crate::servers::{AskedPins, FolderServers, ReadPins, StoredPins, known_workspace, while_waiting};

use anyhow::{Context, bail};
use planwright_config::{Config, PATH};
use planwright_store::{Store, WorkspaceRow};
use planwright_tools::servers::{ChangedItem, Origin, ServerStatus};
use planwright_workspaces::ServerReport;
use planwright_workspaces::{ReservedFolders, Trust};
use serde_json::Value;
use std::io::{IsTerminal, stdin};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// One round for the command, one for the tools, and one to see no further change. A server that changes more often is not accepted.
const ROUNDS: usize = 3;

pub async fn mcp(args: McpArgs) -> anyhow::Result<ExitCode> {
    let config = Config::load(vendor_names())?;
    let (folder, url) = (args.storage.data_dir, args.storage.database_url);
    let accounts = SharedDatabase::open(folder.clone(), url.as_deref()).await?;
    let (store, own) = (&accounts.store, reserved(folder)?);
    let done = match args.command {
        McpCommand::List { workspace, json } => list(&config, store, &own, &workspace, json).await,
        McpCommand::Accept { name, workspace, yes } => {
            let workspace = add_workspace(store, &own, &workspace).await?;
            accept(&config, store, &own, &workspace, &name, yes).await
        }
    };
    store.close().await;
    done
}

async fn list(config: &Config, store: &Store, own: &ReservedFolders, folder: &Path, json: bool) -> anyhow::Result<ExitCode> {
    let id = known_workspace(store, folder).await?;
    let accepted = store.trusted(id).await?;
    let pins = Arc::new(ReadPins(StoredPins(store.clone())));
    let servers = FolderServers::open(config, (store, own), pins, folder, id, accepted.as_deref()).await?;
    servers.rules.servers.look(&servers.site).await;
    let reports = servers.rules.servers.reports(&servers.site).await;
    servers.close().await;
    if json {
        output::data(&serde_json::to_string_pretty(&reports)?);
        return Ok(ExitCode::SUCCESS);
    }
    if reports.is_empty() {
        output::note("there are no MCP servers here; docs/mcp.md explains how to add them under [mcp.servers] in config.toml");
        return Ok(ExitCode::SUCCESS);
    }
    let head = ["server", "whose", "state", "command"].map(str::to_owned).to_vec();
    let unasked = reports.iter().any(|report| report.status != ServerStatus::Untrusted);
    let waits = reports.iter().any(|report| report.status == ServerStatus::Untrusted);
    table(std::iter::once(head).chain(reports.iter().map(row)).collect());
    if waits {
        output::note("`planwright mcp accept NAME` shows what to accept, and accepts it");
    }
    if unasked {
        output::note("no server was started; `planwright doctor` starts yours and checks whether you accepted their tools");
    }
    Ok(ExitCode::SUCCESS)
}

fn row(report: &ServerReport) -> Vec<String> {
    let whose = match report.origin {
        Origin::User => "yours",
        Origin::Workspace => "the workspace's",
    };
    let state = match (&report.changed, report.status) {
        (Some(_), _) => "changed",
        (None, ServerStatus::Untrusted) => "needs your trust",
        (None, ServerStatus::Idle | ServerStatus::Ready | ServerStatus::Failed) => "command accepted",
    };
    let words = report.command.iter().flatten().map(|word| output::shell_word(word)).collect::<Vec<_>>().join(" ");
    vec![report.name.clone(), whose.to_owned(), state.to_owned(), report.url.clone().unwrap_or(words)]
}

async fn accept(
    config: &Config,
    store: &Store,
    own: &ReservedFolders,
    workspace: &WorkspaceRow,
    name: &str,
    yes: bool,
) -> anyhow::Result<ExitCode> {
    let servers = async || {
        let accepted = store.trusted(workspace.id).await?;
        let pins = Arc::new(AskedPins(StoredPins(store.clone())));
        FolderServers::open(config, (store, own), pins, Path::new(&workspace.path), workspace.id, accepted.as_deref()).await
    };
    let mut present = servers().await?;
    if wants(&present.trust, name) {
        show_file(&present.trust);
        if !agreed(yes)? {
            return Ok(not_accepted());
        }
        let sha256 = present.trust.sha256.clone().context("the workspace's file has been removed meanwhile")?;
        store.trust(workspace.id, &sha256).await?;
        present.close().await;
        present = servers().await?;
    }
    let done = accept_server(&present, name, yes).await;
    present.close().await;
    done
}

/// Whether the workspace's own file defines this server and is not trusted yet.
fn wants(trust: &Trust, name: &str) -> bool {
    !trust.file_trusted && trust.items.iter().any(|item| item.key == format!("mcp.servers.{name}"))
}

/// The file is trusted as a whole.
fn show_file(trust: &Trust) {
    output::line(&format!("You accept {PATH} of the workspace as a whole. It contains:"));
    for item in &trust.items {
        output::line(&format!("  {} = {}", item.key, item.value));
    }
}

async fn accept_server(folder: &FolderServers, name: &str, yes: bool) -> anyhow::Result<ExitCode> {
    let servers = &folder.rules.servers;
    for _ in 0..ROUNDS {
        while_waiting(&folder.pool, servers.ask(name, &folder.site)).await;
        let Some(report) = servers.reports(&folder.site).await.into_iter().find(|report| report.name == name) else {
            bail!(BadUsage(format!("there is no MCP server {name:?} here; `planwright mcp list` lists them")));
        };
        let Some(changed) = report.changed else {
            return report_accepted(&report);
        };
        let is_new = changed.items.iter().all(|item| item.before.is_null());
        let what = if is_new { "has tools that you have not accepted yet" } else { "is not what you accepted" };
        output::line(&format!("The MCP server `{name}` {what}:"));
        changed.items.iter().for_each(show);
        if !agreed(yes)? {
            return Ok(not_accepted());
        }
        if !servers.accept(&folder.site, &changed.sha256).await? {
            bail!("the MCP server `{name}` changed again meanwhile; nothing was accepted");
        }
    }
    bail!("the MCP server `{name}` changes on every check; its present tools were not accepted")
}

/// Reports the server's state when nothing is left to accept.
fn report_accepted(report: &ServerReport) -> anyhow::Result<ExitCode> {
    let why = report.error.as_deref();
    if report.status != ServerStatus::Ready {
        bail!("{}", why.unwrap_or("the server could not be started"));
    }
    output::line(&format!("The MCP server `{}` is accepted in its present state, with {} tools.", report.name, report.tools.len()));
    if let Some(why) = why {
        output::note(why);
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the old and the new value of each difference.
fn show(item: &ChangedItem) {
    let is_new = if item.before.is_null() { " (new)" } else { "" };
    output::line(&format!("  {}{is_new}", item.what));
    let Some(after) = item.after.as_object() else { return };
    let was = |key: &str| item.before.get(key);
    let gone = item.before.as_object().into_iter().flatten().filter(|(key, _)| !after.contains_key(*key));
    let differing: Vec<(&String, Option<&Value>, Option<&Value>)> = after
        .iter()
        .filter(|(key, value)| was(key) != Some(value))
        .map(|(key, value)| (key, was(key), Some(value)))
        .chain(gone.map(|(key, value)| (key, Some(value), None)))
        .collect();
    if differing.is_empty() {
        output::line("    the value of a variable (hidden)");
    }
    for (key, before, after) in differing {
        output::line(&format!("    {key}"));
        for (sign, value) in [("-", before), ("+", after)] {
            if let Some(value) = value {
                output::line(&format!("      {sign} {value}"));
            }
        }
    }
}

fn agreed(yes: bool) -> anyhow::Result<bool> {
    if yes {
        return Ok(true);
    }
    output::note_part("Accept it? [y/N] ");
    let mut line = String::new();
    stdin().read_line(&mut line).context("can't read the answer")?;
    if !stdin().is_terminal() {
        output::note("");
    }
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

fn not_accepted() -> ExitCode {
    output::note("planwright: not accepted, so the changes shown are not used; --yes accepts them without asking");
    ExitCode::FAILURE
}
