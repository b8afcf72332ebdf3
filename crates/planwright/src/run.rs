//! `planwright run`
//!
//! | module | contents |
//! | --- | --- |
//! | [`task`] | the task, from the command line |
//! | [`watch`] | follows the run from its first event to its last |
//! | [`screen`], [`progress`] | output for people |
//! | [`question`] | questions in a run without a user |

mod progress;
mod question;
mod screen;
mod task;
mod watch;

use crate::args::{BadUsage, RunArgs};
use crate::data_dir::{self, DataDir};
use crate::models::{ConfiguredModels, Remotes, ask_daemon, model_error};
use crate::output;
use crate::providers::vendor_names;
use crate::serve::{add_workspace, check_workspace};
use crate::servers::{StoredPins, Waits};
use crate::signals::Interrupts;
use crate::wiring::ProcessOptions;
use planwright_chat::{Handle, Sessions};
use planwright_config::Config;
use planwright_feed::Follower;
use planwright_mcp::Pool;
use planwright_protocol::event::RunOutcome;
use planwright_protocol::{Envelope, ErrorCode, Event, Mode, Op, Plan, Problem, Role, Timestamp};
use planwright_providers::RetryNotice;
use planwright_store::Store;
use planwright_workspaces::remarks;
use serde_json::Map;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use tokio::sync::mpsc::{self, UnboundedReceiver};
use watch::Watcher;

pub async fn run(args: RunArgs) -> anyhow::Result<ExitCode> {
    let json = args.json;
    let outcome = headless(args).await;
    if json
        && let Err(error) = &outcome
        && !error.is::<BadUsage>()
    {
        let problem = error.downcast_ref::<Problem>().cloned();
        let problem = problem.unwrap_or_else(|| Problem::new(ErrorCode::Internal, format!("{error:#}")));
        print_end(RunOutcome::Failed, Some(problem), 0);
    }
    Ok(ExitCode::from(match outcome? {
        RunOutcome::Done => 0,
        RunOutcome::Failed => 1,
        RunOutcome::Blocked => 3,
        RunOutcome::Stopped => 130,
    }))
}

/// A run that is ready to start.
struct Prepared {
    store: Store,
    sessions: Sessions,
    /// MCP servers, to be stopped at the end.
    pool: Arc<Pool>,
    handle: Handle,
    /// The last event before this run.
    since: u64,
    op: Op,
    role: Role,
    plan: Option<Plan>,
    /// Receives a notification when a request is retried.
    again: UnboundedReceiver<RetryNotice>,
    /// Held for its lock.
    data: DataDir,
}

async fn headless(args: RunArgs) -> anyhow::Result<RunOutcome> {
    let words = task::read(&args.task)?;
    let mut interrupts = Interrupts::new()?;
    let Prepared { store, sessions, pool, handle, since, op, role, plan, again, data: _data } = tokio::select! {
        prepared = prepare(&args, words) => prepared?,
        () = interrupts.next() => {
            if args.json {
                print_end(RunOutcome::Stopped, None, 0);
            }
            return Ok(RunOutcome::Stopped);
        }
    };
    let follower = Follower::after(handle.chat().clone(), since).await?;
    handle.submit(op).await?;
    let outcome = Watcher::new(handle, &args, role, plan.as_ref(), Waits::new(pool.clone())).watch(follower, again, interrupts).await?;
    sessions.park_all().await;
    pool.close().await;
    store.close().await;
    Ok(outcome)
}

async fn prepare(args: &RunArgs, words: String) -> anyhow::Result<Prepared> {
    let asked = task::role(args)?;
    let mut config = Config::load(vendor_names())?;
    ask_daemon(&mut config, args.common.model.as_deref()).await;
    check_workspace(&data_dir::reserved(args.common.storage.data_dir.clone())?, &args.workspace)?;
    let data = DataDir::open(args.common.storage.data_dir.clone())?;
    let store = data.store(args.common.storage.database_url.as_deref()).await?;
    let workspace = add_workspace(&store, &data.reserved(), &args.workspace).await?;
    let folder = Path::new(&workspace.path);
    let plan = args.plan.as_deref().map(|file| task::plan(folder, file)).transpose()?;
    let models = ConfiguredModels::new(&config, args.common.model.clone());
    let (waits, again) = mpsc::unbounded_channel();
    let parts = ProcessOptions {
        config,
        model: args.common.model.clone(),
        trusts_all: args.trust,
        commands: data.commands(),
        reserved: data.reserved(),
        team: None,
        roots: Vec::new(),
        pins: Arc::new(StoredPins(store.clone())),
    };
    let (sessions, pool) = parts.chats(store.clone(), Remotes::reporting_to(waits))?;
    let (rules, trust) = sessions.workspaces().rules(workspace.id).await?;
    for remark in remarks(&trust) {
        output::note(&format!("planwright: {remark}"));
    }
    if !trust.trusted {
        output::note("planwright: --trust accepts it for this run");
    }
    let present = match args.chat {
        Some(id) => store.chat(id).await?.map(|row| row.config.role),
        None => None,
    };
    let usual = Mode::Plan.default_role();
    let mode = asked.or(present).unwrap_or(usual).mode();
    let model = sessions.model(&rules.settings, mode).await.map_err(|problem| model_error(problem, args.common.model.as_deref()))?;
    models.say_choice(Some(model.name()));
    // A plan is approved from plan mode; naming it is the approval.
    let first = if plan.is_some() { args.role } else { asked }.unwrap_or(usual);
    let (handle, since) = match args.chat {
        None => (sessions.create(workspace.id, Some(title(&words)), Some(first)).await?, 0),
        Some(id) => task::open_chat(&sessions, id, args, workspace.id).await?,
    };
    let role = handle.chat().record().config.role;
    if plan.is_none() && role.mode() == Mode::Act && handle.chat().missing_plan().await?.is_some() {
        let text = "planwright: this workspace requires an approved plan before anything changes, so this run can only read and plan. --plan FILE approves a plan";
        output::note(text);
    }
    let (op, plan) = match plan {
        Some((path, document)) => {
            let expected = task::expected(args, &document);
            (Op::Execute { plan_file: Some(path.to_string()), content: Some(words), expected }, Some(document.plan))
        }
        None => (Op::UserMessage { content: words, metadata: Map::new(), images: Vec::new(), comments: Vec::new() }, None),
    };
    Ok(Prepared { store, sessions, pool, handle, since, op, role, plan, again, data })
}

/// The first line of the task, as a title.
fn title(words: &str) -> String {
    let line = words.trim().lines().next().unwrap_or_default();
    line.chars().take(60).map(|character| if character.is_control() { ' ' } else { character }).collect()
}

/// The last line of `--json` if the chat itself reports no end.
fn print_end(outcome: RunOutcome, error: Option<Problem>, seq: u64) {
    let envelope = Envelope { event: Event::RunFinished { outcome, error, open_steps: Vec::new() }, seq, at: Timestamp::now() };
    if let Ok(json) = serde_json::to_string(&envelope) {
        output::data(&json);
    }
}
