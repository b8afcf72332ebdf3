//! `planwright mcp`

use crate::args::{BadUsage, McpArgs, McpCommand};
use crate::data_dir::{Accounts, reserved};
use crate::lists::table;
use crate::output;
use crate::providers::vendor_names;
use crate::serve::add_workspace;
use crate::servers::{AskedPins, Bench, ReadPins, StoredPins, known_workspace, while_waiting};

use anyhow::{Context, bail};
use planwright_config::{Config, PATH};
use planwright_store::{Store, WorkspaceRow};
use planwright_tools::servers::{ChangedItem, Origin, ServerStatus};
use planwright_workspaces::ServerReport;
use planwright_workspaces::{Reserved, Trust};
use serde_json::Value;
use std::io::{IsTerminal, stdin};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// What is run, the tools, and that nothing has changed since; a server that changes more often is not to be accepted.
const ROUNDS: usize = 3;

pub async fn mcp(args: McpArgs) -> anyhow::Result<ExitCode> {
    let config = Config::load(vendor_names())?;
    let (folder, url) = (args.storage.data_dir, args.storage.database_url);
    let accounts = Accounts::open(folder.clone(), url.as_deref()).await?;
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

async fn list(config: &Config, store: &Store, own: &Reserved, folder: &Path, json: bool) -> anyhow::Result<ExitCode> {
    let id = known_workspace(store, folder).await?;
    let accepted = store.trusted(id).await?;
    let pins = Arc::new(ReadPins(StoredPins(store.clone())));
    let bench = Bench::open(config, (store, own), pins, folder, id, accepted.as_deref()).await?;
    bench.rules.servers.look(&bench.site).await;
    let reports = bench.rules.servers.reports(&bench.site).await;
    bench.close().await;
    if json {
        output::data(&serde_json::to_string_pretty(&reports)?);
        return Ok(ExitCode::SUCCESS);
    }
    if reports.is_empty() {
        output::note("there are no MCP servers here; docs/mcp.md says how to name some under [mcp.servers] in config.toml");
        return Ok(ExitCode::SUCCESS);
    }
    let head = ["server", "whose", "state", "what is run"].map(str::to_owned).to_vec();
    let unasked = reports.iter().any(|report| report.status != ServerStatus::Untrusted);
    let waits = reports.iter().any(|report| report.status == ServerStatus::Untrusted);
    table(std::iter::once(head).chain(reports.iter().map(row)).collect());
    if waits {
        output::note("`planwright mcp accept NAME` shows what is to be accepted, and accepts it");
    }
    if unasked {
        output::note("none was started; `planwright doctor` starts yours, and says whether their tools are what you accepted");
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
    own: &Reserved,
    workspace: &WorkspaceRow,
    name: &str,
    yes: bool,
) -> anyhow::Result<ExitCode> {
    let bench = async || {
        let accepted = store.trusted(workspace.id).await?;
        let pins = Arc::new(AskedPins(StoredPins(store.clone())));
        Bench::open(config, (store, own), pins, Path::new(&workspace.path), workspace.id, accepted.as_deref()).await
    };
    let mut present = bench().await?;
    if wants(&present.trust, name) {
        show_file(&present.trust);
        if !agreed(yes)? {
            return Ok(left());
        }
        let sha256 = present.trust.sha256.clone().context("the workspace's file has gone meanwhile")?;
        store.trust(workspace.id, &sha256).await?;
        present.close().await;
        present = bench().await?;
    }
    let done = accept_server(&present, name, yes).await;
    present.close().await;
    done
}

/// Whether the workspace's own file has this server, and waits for the user's word.
fn wants(trust: &Trust, name: &str) -> bool {
    !trust.file_trusted && trust.items.iter().any(|item| item.key == format!("mcp.servers.{name}"))
}

/// The file is accepted as a whole.
fn show_file(trust: &Trust) {
    output::line(&format!("{PATH} of the workspace, which is accepted as a whole, wants:"));
    for item in &trust.items {
        output::line(&format!("  {} = {}", item.key, item.value));
    }
}

async fn accept_server(bench: &Bench, name: &str, yes: bool) -> anyhow::Result<ExitCode> {
    let servers = &bench.rules.servers;
    for _ in 0..ROUNDS {
        while_waiting(&bench.pool, servers.ask(name, &bench.site)).await;
        let Some(report) = servers.reports(&bench.site).await.into_iter().find(|report| report.name == name) else {
            bail!(BadUsage(format!("no MCP server here is called {name:?}; `planwright mcp list` names those there are")));
        };
        let Some(changed) = report.changed else {
            return tell(&report);
        };
        let is_new = changed.items.iter().all(|item| item.before.is_null());
        let what = if is_new { "offers what you have not accepted yet" } else { "is not what you accepted" };
        output::line(&format!("The MCP server `{name}` {what}:"));
        changed.items.iter().for_each(show);
        if !agreed(yes)? {
            return Ok(left());
        }
        if !servers.accept(&bench.site, &changed.sha256).await? {
            bail!("the MCP server `{name}` has changed again meanwhile; nothing was accepted");
        }
    }
    bail!("the MCP server `{name}` changes whenever it is looked at; what it offers now was not accepted")
}

/// How it is when nothing of it waits any more.
fn tell(report: &ServerReport) -> anyhow::Result<ExitCode> {
    let why = report.error.as_deref();
    if report.status != ServerStatus::Ready {
        bail!("{}", why.unwrap_or("it could not be started"));
    }
    output::line(&format!("The MCP server `{}` is accepted as it is, with {} tools.", report.name, report.tools.len()));
    if let Some(why) = why {
        output::note(why);
    }
    Ok(ExitCode::SUCCESS)
}

/// What was and what is, of what differs.
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
        output::line("    the value of a variable, which is not shown");
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
    output::aside("Accept it? [y/N] ");
    let mut line = String::new();
    stdin().read_line(&mut line).context("the answer can't be read")?;
    if !stdin().is_terminal() {
        output::note("");
    }
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

fn left() -> ExitCode {
    output::note("planwright: not accepted, so what was shown is not used; --yes accepts it without asking");
    ExitCode::FAILURE
}
