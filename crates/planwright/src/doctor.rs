//! `planwright doctor`

use crate::args::DoctorArgs;
use crate::config::Config;
use crate::configuration::Layers;
use crate::data_dir::DataDir;
use crate::models::{ConfiguredModels, ask_daemon};
use crate::output;
use crate::servers::NoPins;
use crate::workspace_file::PATH;
use planwright_protocol::{ErrorCode, Mode, Problem, WorkspaceId};
use planwright_sandbox::{Check, Outcome};
use planwright_session::{Configuration, Models, ServerReport, Settings, Trust};
use planwright_tools::servers::ServerStatus;
use planwright_tools::{Site, Workspace};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

pub async fn doctor(args: DoctorArgs) -> anyhow::Result<ExitCode> {
    let mut checks = Vec::new();
    // Read, and of use: what runs would refuse is refused here.
    let config = Config::load().and_then(|config| config.settings(PathBuf::new()).map(|_| config));
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
        // What the file has is not known, so nothing can be said about what it lacks.
        checks.push(weaker("models", "not looked at; mend the configuration first"));
        Config::default()
    };
    checks.extend(tokio::task::spawn_blocking(commands).await?);
    if config.sandbox.mode == planwright_tools::SandboxMode::Off {
        checks
            .push(weaker("sandbox setting", "SWITCHED OFF in your configuration: the Actor's commands run unconfined, and each one asks"));
    }
    checks.extend(args.workspace.as_deref().map(|folder| workspace(&config, folder)));
    checks.extend(servers(&config, args.workspace.as_deref()).await);
    let failed = checks.iter().any(|check| check.outcome == Outcome::Missing);
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
    let data = match DataDir::open(folder) {
        Ok(data) => data,
        // Whoever holds it has it in order.
        Err(error) if error.downcast_ref::<Problem>().is_some_and(|problem| problem.code == ErrorCode::DataDirLocked) => {
            return vec![good("data folder", "in use by a planwright that runs now")];
        }
        Err(error) => return vec![missing("data folder", &format!("{error:#}; give another --data-dir"))],
    };
    let kind = if database.is_some() { "PostgreSQL" } else { "SQLite, in the data folder" };
    let database = match data.store(database).await {
        Ok(store) => {
            store.close().await;
            good("database", kind)
        }
        Err(error) => missing("database", &format!("{error:#}")),
    };
    vec![good("data folder", &data.path().display().to_string()), database]
}

async fn models(models: &ConfiguredModels) -> Vec<Check> {
    let mut checks = Vec::new();
    for (name, mode) in [("plan model", Mode::Plan), ("act model", Mode::Act)] {
        checks.push(match models.model(mode).await {
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

/// The workspace's own configuration.
fn workspace(config: &Config, folder: &Path) -> Check {
    const NAME: &str = "workspace";
    let read = || {
        let layers = Layers::new(config.clone(), None, PathBuf::new(), Arc::new(NoPins), false)?;
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

/// The MCP servers, each one started and asked what it offers. Those of a workspace's own file are not.
async fn servers(config: &Config, folder: Option<&Path>) -> Vec<Check> {
    const NAME: &str = "mcp server";
    let place = std::env::temp_dir().join(format!("planwright-doctor-servers-{}", std::process::id()));
    let asked = async {
        let layers = Layers::new(config.clone(), None, place.join("commands"), Arc::new(NoPins), false)?;
        let workspace = Arc::new(Workspace::open(folder.unwrap_or(Path::new(".")))?);
        let (rules, _) = layers.within(&workspace, None)?;
        let Settings { commands, secrets, .. } = (*rules.settings).clone();
        let site = Site { id: WorkspaceId::generate(), workspace, commands, secrets };
        rules.servers.tools(&site).await;
        let reports = rules.servers.reports(&site).await;
        layers.pool().close().await;
        Ok::<_, anyhow::Error>(reports)
    };
    let reports = asked.await;
    planwright_sandbox::clear(&place);
    let reports = match reports {
        Ok(reports) => reports,
        Err(_) if config.mcp.servers.is_empty() => Vec::new(),
        Err(error) => return vec![missing(NAME, &format!("not looked at: {error:#}"))],
    };
    let told = reports.into_iter().map(|report| {
        let ServerReport { name, status, error, tools, .. } = report;
        match (status, error) {
            (ServerStatus::Ready, None) => good(NAME, &format!("{name}: {} tools", tools.len())),
            (ServerStatus::Ready, Some(why)) => weaker(NAME, &format!("{name}: {} tools; {why}", tools.len())),
            (ServerStatus::Untrusted, _) => weaker(NAME, &format!("{name}: of the workspace's own file, needs your trust; not started")),
            (ServerStatus::Failed | ServerStatus::Idle, why) => missing(NAME, &why.unwrap_or_else(|| format!("{name}: not started"))),
        }
    });
    told.collect()
}

/// Tried out in a folder that is there for a moment.
fn commands() -> Vec<Check> {
    let place = std::env::temp_dir().join(format!("planwright-doctor-{}", std::process::id()));
    let mut checks = planwright_sandbox::probe(&place);
    checks.push(planwright_sandbox::git());
    planwright_sandbox::clear(&place);
    checks
}

fn status(check: &Check) -> &'static str {
    match check.outcome {
        Outcome::Good => "ok",
        Outcome::Weaker => "warning",
        Outcome::Missing => "failed",
    }
}

fn good(name: &'static str, detail: &str) -> Check {
    Check { name, outcome: Outcome::Good, detail: detail.to_owned() }
}

fn weaker(name: &'static str, detail: &str) -> Check {
    Check { name, outcome: Outcome::Weaker, detail: detail.to_owned() }
}

fn missing(name: &'static str, detail: &str) -> Check {
    Check { name, outcome: Outcome::Missing, detail: detail.to_owned() }
}
