//! `planwright run`
//!
//! | module | contents |
//! | --- | --- |
//! | [`task`] | the task, from the command line |
//! | [`watch`] | follows the run from its first event to its last |
//! | [`screen`], [`progress`] | output for people |
//! | [`question`] | questions: without a user, and at a terminal |

mod progress;
mod question;
mod screen;
mod task;
mod watch;

use crate::args::{BadUsage, ClusterArgs, RunArgs};
use crate::data_dir;
use crate::host::{HostOptions, LocalServer};
use crate::output;
use crate::providers::vendor_names;
use crate::serve::check_workspace;
use crate::signals::Interrupts;
use anyhow::bail;
use planwright_client::{Client, ClientError, RemoteChat, ServerTarget};
use planwright_config::Config;
use planwright_protocol::api::requests::{ChatUpdate, ExecuteBody};
use planwright_protocol::event::RunOutcome;
use planwright_protocol::op::FieldChange;
use planwright_protocol::{Envelope, ErrorCode, Event, Mode, Plan, Problem, Role, Timestamp};
use planwright_providers::RetryNotice;
use planwright_workspaces::remarks;
use std::process::ExitCode;
use std::sync::Arc;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
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
    /// The data folder; `None` with `--server`.
    local: Option<Arc<LocalServer>>,
    chat: RemoteChat,
    /// The last event before this run.
    since: u64,
    start: Start,
    role: Role,
    plan: Option<Plan>,
    /// Receives a notification when a request to a model is retried.
    again: UnboundedReceiver<RetryNotice>,
}

/// The request that starts the run.
enum Start {
    Execute(ExecuteBody),
    Say(String),
}

async fn headless(args: RunArgs) -> anyhow::Result<RunOutcome> {
    let words = task::read(&args.task)?;
    let mut interrupts = Interrupts::new()?;
    let (waits, again) = mpsc::unbounded_channel();
    let (client, local) = reach(&args, waits)?;
    let prepared = async {
        if let Some(local) = &local {
            local.open().await?;
        }
        prepare(&args, words, client, local.clone(), again).await
    };
    let prepared = tokio::select! {
        prepared = prepared => prepared,
        () = interrupts.next() => {
            if args.json {
                print_end(RunOutcome::Stopped, None, 0);
            }
            return Ok(RunOutcome::Stopped);
        }
    };
    let outcome = match prepared {
        Ok(prepared) => follow(prepared, &args, interrupts).await,
        Err(error) => Err(error),
    };
    if let Some(local) = local {
        local.close().await;
    }
    outcome
}

async fn follow(prepared: Prepared, args: &RunArgs, interrupts: Interrupts) -> anyhow::Result<RunOutcome> {
    let Prepared { local, chat, since, start, role, plan, again } = prepared;
    let events = chat.events(since);
    match start {
        Start::Execute(body) => chat.execute(&body).await.map(drop),
        Start::Say(words) => chat.say(&words).await.map(drop),
    }
    .map_err(ClientError::into_problem)?;
    Watcher::new(chat, args, role, plan.as_ref(), local).watch(events, again, interrupts).await
}

/// The client of a server, or of the data folder.
fn reach(args: &RunArgs, retries: UnboundedSender<RetryNotice>) -> anyhow::Result<(Client, Option<Arc<LocalServer>>)> {
    if let Some(url) = &args.remote.server {
        let target = ServerTarget::Url { url: url.clone(), token: args.remote.token.clone() };
        let client = Client::new(target).map_err(|error| BadUsage(format!("--server: {error}")))?;
        return Ok((client.leashed(), None));
    }
    check_workspace(&data_dir::reserved(args.common.storage.data_dir.clone())?, &args.workspace)?;
    let options = HostOptions {
        config: Config::load(vendor_names())?,
        model: args.common.model.clone(),
        trusts_all: args.trust,
        database_url: args.common.storage.database_url.clone(),
        cluster: ClusterArgs::default(),
        team: None,
        roots: Vec::new(),
        retries: Some(retries),
    };
    let local = LocalServer::new(args.common.storage.data_dir.clone(), options, args.remote.token.clone());
    let client = Client::new(local.target()).map_err(ClientError::into_problem)?;
    Ok((client.leashed(), Some(local)))
}

async fn prepare(
    args: &RunArgs,
    words: String,
    client: Client,
    local: Option<Arc<LocalServer>>,
    again: UnboundedReceiver<RetryNotice>,
) -> anyhow::Result<Prepared> {
    let asked = task::role(args)?;
    client.check_version().await.map_err(ClientError::into_problem)?;
    let folder = task::folder(args)?;
    let workspace = client.add_workspace(&folder).await.map_err(ClientError::into_problem)?.row;
    let plan = match &args.plan {
        Some(file) => Some(task::plan(&client, &workspace, file, local.is_some()).await?),
        None => None,
    };
    let trust = client.trust(workspace.id).await.map_err(ClientError::into_problem)?;
    let is_host = match &local {
        Some(local) => local.is_host().await,
        None => false,
    };
    if args.trust && !trust.trusted && !is_host {
        bail!(Problem::new(
            ErrorCode::Conflict,
            "another planwright has the chats, and --trust works only in a run that has them itself. Stop the other one, or accept the \
             settings there"
        ));
    }
    for remark in remarks(&trust) {
        output::note(&format!("planwright: {remark}"));
    }
    if !trust.trusted {
        output::note("planwright: --trust accepts it for this run");
    }
    let present = match args.chat {
        Some(id) => Some(task::chat_to_continue(&client, id, workspace.id).await?),
        None => None,
    };
    let usual = Mode::Plan.default_role();
    let mode = asked.or(present.as_ref().map(|chat| chat.config.role)).unwrap_or(usual).mode();
    let model = task::check_model(&client, local.as_deref(), workspace.id, mode, args).await?;
    // A plan is approved from plan mode; naming it is the approval.
    let first = if plan.is_some() { args.role } else { asked }.unwrap_or(usual);
    let (chat, since) = match present {
        None => task::new_chat(&client, workspace.id, title(&words), first).await?,
        Some(present) => task::continued(&client, &present, args).await?,
    };
    if let Some(model) = model {
        chat.update(&ChatUpdate { model: FieldChange::Take(model), ..ChatUpdate::default() }).await.map_err(ClientError::into_problem)?;
    }
    let role = chat.show().await.map_err(ClientError::into_problem)?.config.role;
    if plan.is_none() && role.mode() == Mode::Act && task::lacks_plan(&chat).await? {
        let text = "planwright: this workspace requires an approved plan before anything changes, so this run can only read and plan. --plan FILE approves a plan";
        output::note(text);
    }
    let (start, plan) = match plan {
        Some((path, document)) => (Start::Execute(task::execution(args, path, &document, words)), Some(document.plan)),
        None => (Start::Say(words), None),
    };
    Ok(Prepared { local, chat, since, start, role, plan, again })
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
