//! `planwright doctor`

use crate::args::{DoctorArgs, StorageArgs};
use crate::data_dir::{DataDirState, DatabaseState, look, reserved};
use crate::disk;
use crate::models::{ConfiguredModels, ask_daemon};
use crate::output;
use crate::providers::vendor_names;
use crate::servers::{FolderServers, NoPins, ReadPins, StoredPins, in_file, known_workspace, while_waiting};
use crate::wiring::ProcessOptions;
use anyhow::{Context, bail};
use planwright_config::{Config, PATH};
use planwright_protocol::Mode;
use planwright_protocol::settings::SandboxMode;
use planwright_sandbox::{Check, CheckResult, Reserve, Space};
use planwright_store::Store;
use planwright_tools::Workspace;
use planwright_tools::servers::ServerStatus;
use planwright_workspaces::{Configuration, ReservedFolders, ServerReport, Trust, settings};
use serde_json::json;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

pub async fn doctor(args: DoctorArgs) -> anyhow::Result<ExitCode> {
    let mut checks = Vec::new();
    // Parsed and validated: doctor rejects what a run would reject.
    let config = Config::load(vendor_names()).and_then(|config| settings(&config).map(|_| config).with_context(in_file));
    checks.push(match &config {
        Ok(_) => good("configuration", "read"),
        Err(error) => missing("configuration", &format!("{error:#}")),
    });
    checks.extend(storage(args.common.storage.data_dir.clone(), args.common.storage.database_url.as_deref()).await);
    let config = if let Ok(mut config) = config {
        ask_daemon(&mut config, args.common.model.as_deref()).await;
        checks.extend(models(&ConfiguredModels::new(&config, args.common.model)).await);
        config
    } else {
        // An unreadable file says nothing about which models are missing.
        checks.push(weaker("models", "not checked; fix the configuration first"));
        Config::default()
    };
    let data = crate::data_dir::database(args.common.storage.data_dir.clone()).ok();
    let data = data.as_deref().and_then(Path::parent).map(Path::to_owned);
    checks.extend(tokio::task::spawn_blocking(move || commands(data)).await?);
    if config.sandbox.mode == SandboxMode::Off {
        checks
            .push(weaker("sandbox setting", "SWITCHED OFF in your configuration: the Actor's commands run unconfined, and each one asks"));
    }
    checks.extend(args.workspace.as_deref().map(|folder| workspace(&config, folder)));
    checks.extend(servers(&config, args.workspace.as_deref(), args.common.storage).await);
    let failed = checks.iter().any(|check| check.outcome == CheckResult::Missing);
    if args.json {
        let checks: Vec<_> =
            checks.iter().map(|check| json!({"name": check.name, "status": status(check), "detail": check.detail})).collect();
        output::data(&serde_json::to_string_pretty(&checks)?);
    } else {
        for check in &checks {
            output::line(&format!("{:8} {:16} {}", status(check), check.name, check.detail));
        }
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

async fn storage(folder: Option<std::path::PathBuf>, database: Option<&str>) -> Vec<Check> {
    let mut checks = opened(folder.clone(), database).await;
    let file = crate::data_dir::database(folder).ok();
    checks.extend(file.as_deref().and_then(Path::parent).and_then(disk_of));
    checks
}

/// Whether the disk of the data folder has space; `None` if there is no such folder.
fn disk_of(folder: &Path) -> Option<Check> {
    let space = Space::of(folder).ok()?;
    let left = format!("{space} are free");
    Some(if Reserve::of(folder).is_in_use() {
        missing("disk", &format!("{}; {left}", disk::full(folder)))
    } else if space.is_nearly_full() {
        weaker("disk", &format!("nearly full, so no command can run: {left}; free some space on the disk of {}", folder.display()))
    } else {
        good("disk", &left)
    })
}

async fn opened(folder: Option<PathBuf>, url: Option<&str>) -> Vec<Check> {
    let (path, found) = match look(folder.clone()) {
        Ok(found) => found,
        Err(error) => return vec![missing("data folder", &format!("{error:#}"))],
    };
    let data = match found {
        // The process that holds it has checked it.
        DataDirState::InUse => return vec![good("data folder", "in use by a running planwright")],
        DataDirState::NotMade => good("data folder", &format!("{}, which the first start makes", path.display())),
        DataDirState::There => good("data folder", &path.display().to_string()),
    };
    let kind = if url.is_some() { "PostgreSQL" } else { "SQLite, in the data folder" };
    let database = match DatabaseState::look(folder, url).await {
        Ok(DatabaseState::There(store)) => {
            store.close().await;
            good("database", kind)
        }
        Ok(DatabaseState::NotMade) => good("database", &format!("{kind}; the first start makes it")),
        Ok(DatabaseState::Outdated) => good("database", &format!("{kind}; the next start brings its tables up to date")),
        Err(error) => missing("database", &format!("{error:#}")),
    };
    vec![data, database]
}

async fn models(models: &ConfiguredModels) -> Vec<Check> {
    let mut checks = Vec::new();
    for (name, mode) in [("plan model", Mode::Plan), ("act model", Mode::Act)] {
        checks.push(match models.model(mode, None).await {
            Ok(_) => match models.check_up(mode).await {
                Ok(detail) => good(name, &detail),
                Err(problem) => missing(name, &problem.message),
            },
            Err(problem) if models.name(mode).is_none() => weaker(name, &problem.message),
            Err(problem) => missing(name, &problem.message),
        });
    }
    for (name, checked) in models.check_up_others().await {
        checks.push(match checked {
            Ok(detail) => good("provider", &format!("{name}: {detail}")),
            Err(problem) => missing("provider", &format!("{name}: {}", problem.message)),
        });
    }
    checks
}

/// Checks the workspace's own configuration.
fn workspace(config: &Config, folder: &Path) -> Check {
    const NAME: &str = "workspace";
    let read = || {
        let parts = ProcessOptions {
            config: config.clone(),
            model: None,
            trusts_all: false,
            commands: PathBuf::new(),
            reserved: ReservedFolders::default(),
            team: None,
            roots: Vec::new(),
            pins: Arc::new(NoPins),
        };
        let (layers, _) = parts.layers()?;
        Ok::<_, anyhow::Error>(layers.within(&Workspace::open(folder)?, None)?.1)
    };
    match read() {
        Err(error) => missing(NAME, &format!("{}: {error:#}", folder.display())),
        Ok(trust) if trust.sha256.is_none() => good(NAME, "has no configuration of its own"),
        Ok(trust) if trust.items.is_empty() && trust.warnings.is_empty() => good(NAME, "its own configuration is in force"),
        Ok(Trust { items, warnings, .. }) => {
            let needs = items.iter().map(|item| format!("{PATH}:{}: {} needs your trust", item.line.unwrap_or_default(), item.key));
            weaker(NAME, &warnings.into_iter().chain(needs).collect::<Vec<_>>().join("; "))
        }
    }
}

/// Checks the MCP servers. Starts the accepted ones and lists their tools; does not start those of a workspace's own file.
async fn servers(config: &Config, folder: Option<&Path>, storage: StorageArgs) -> Vec<Check> {
    let asked = async {
        let own = reserved(storage.data_dir.clone())?;
        let store = match DatabaseState::look(storage.data_dir, storage.database_url.as_deref()).await? {
            DatabaseState::There(store) => store,
            // Nothing was accepted yet, as in a new one.
            DatabaseState::NotMade => return ask_anew(config, folder, &own).await,
            DatabaseState::Outdated => {
                bail!("the database is of an earlier version, or empty; start Planwright once to bring it up to date")
            }
        };
        let reports = ask(config, folder.unwrap_or(Path::new(".")), &store, &own).await;
        store.close().await;
        reports
    };
    match asked.await {
        Ok(reports) => reports.into_iter().map(|(report, is_accepted)| server(report, is_accepted, folder)).collect(),
        Err(_) if config.mcp.servers.is_empty() => Vec::new(),
        Err(error) => vec![missing(SERVER, &format!("not checked: {error:#}"))],
    }
}

/// Asks the servers with a database that is made for this alone.
async fn ask_anew(config: &Config, folder: Option<&Path>, own: &ReservedFolders) -> anyhow::Result<Vec<(ServerReport, bool)>> {
    let place = std::env::temp_dir().join(format!("planwright-doctor-data-{}", std::process::id()));
    std::fs::DirBuilder::new().mode(0o700).create(&place)?;
    let asked = async {
        let store = Store::open(&place.join("planwright.db")).await?;
        let reports = ask(config, folder.unwrap_or(Path::new(".")), &store, own).await;
        store.close().await;
        reports
    };
    let reports = asked.await;
    planwright_sandbox::remove_folder(&place);
    reports
}

const SERVER: &str = "mcp server";

/// The servers' reports, and whether the user trusts the file of the workspace's own servers.
async fn ask(config: &Config, folder: &Path, store: &Store, own: &ReservedFolders) -> anyhow::Result<Vec<(ServerReport, bool)>> {
    let id = known_workspace(store, folder).await?;
    let accepted = store.trusted(id).await?;
    let servers = FolderServers::open(config, (store, own), Arc::new(ReadPins(StoredPins(store.clone()))), folder, id, None).await?;
    while_waiting(&servers.pool, servers.rules.servers.tools(&servers.site)).await;
    let reports = servers.rules.servers.reports(&servers.site).await;
    let is_accepted = accepted.is_some() && accepted == servers.trust.sha256;
    servers.close().await;
    Ok(reports.into_iter().map(|report| (report, is_accepted)).collect())
}

fn server(report: ServerReport, is_accepted: bool, folder: Option<&Path>) -> Check {
    let ServerReport { name, status, error, tools, changed, .. } = report;
    let place = folder.map(|folder| format!(" --workspace {}", output::shell_word(&folder.display().to_string()))).unwrap_or_default();
    let how = format!("`planwright mcp accept {name}{place}` shows what to accept, and so does the web UI");
    let count = tools.len();
    match (status, changed, error) {
        (ServerStatus::Ready, None, None) => good(SERVER, &format!("{name}: {count} tools")),
        (ServerStatus::Ready, None, Some(why)) => weaker(SERVER, &format!("{name}: {count} tools; {why}")),
        (ServerStatus::Ready, Some(changed), why) => {
            let items = changed.items.iter().map(|item| item.what.as_str()).collect::<Vec<_>>().join(", ");
            let why = why.map(|why| format!(" {why}")).unwrap_or_default();
            weaker(SERVER, &format!("{name}: {count} tools; changed since you accepted it, and not used: {items}; {how}.{why}"))
        }
        (ServerStatus::Untrusted, Some(_), _) => {
            weaker(SERVER, &format!("{name}: its command changed since you accepted it, so it was not started; {how}"))
        }
        (ServerStatus::Untrusted, None, _) if is_accepted => {
            good(SERVER, &format!("{name}: in the workspace's own file, which you accepted; not started by doctor"))
        }
        (ServerStatus::Untrusted, None, _) => {
            weaker(SERVER, &format!("{name}: in the workspace's own file, needs your trust; not started; {how}"))
        }
        (ServerStatus::Failed | ServerStatus::Idle, _, why) => missing(SERVER, &why.unwrap_or_else(|| format!("{name}: not started"))),
    }
}

/// Runs commands in a temporary folder of the data folder, where chats stage theirs: overlays may or may not work on its file
/// system.
fn commands(data: Option<std::path::PathBuf>) -> Vec<Check> {
    let parent = data.filter(|data| data.is_dir()).unwrap_or_else(std::env::temp_dir);
    let place = parent.join(format!("planwright-doctor-{}", std::process::id()));
    let mut checks = planwright_sandbox::probe(&place);
    checks.push(planwright_sandbox::git());
    planwright_sandbox::remove_folder(&place);
    checks
}

fn status(check: &Check) -> &'static str {
    match check.outcome {
        CheckResult::Good => "ok",
        CheckResult::Weaker => "warning",
        CheckResult::Missing => "failed",
    }
}

fn good(name: &'static str, detail: &str) -> Check {
    Check { name, outcome: CheckResult::Good, detail: detail.to_owned() }
}

fn weaker(name: &'static str, detail: &str) -> Check {
    Check { name, outcome: CheckResult::Weaker, detail: detail.to_owned() }
}

fn missing(name: &'static str, detail: &str) -> Check {
    Check { name, outcome: CheckResult::Missing, detail: detail.to_owned() }
}
