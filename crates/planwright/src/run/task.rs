//! Reads the task from the command line.

use crate::args::{BadUsage, RunArgs, RunMode};
use crate::host::{LocalServer, OpenFolder};
use crate::models::model_error;
use crate::output;
use anyhow::bail;
use planwright_client::{Client, ClientError, RemoteChat};
use planwright_plan::PlanDocument;
use planwright_protocol::api::chat::ChatView;
use planwright_protocol::api::requests::{ChatUpdate, ExecuteBody, NewChat};
use planwright_protocol::api::workspace::WorkspaceRow;
use planwright_protocol::plan::StepChoice;
use planwright_protocol::{ChatId, ErrorCode, Mode, Problem, Role, WorkspaceId};
use planwright_server::LARGEST_BODY;
use planwright_tools::{Workspace, WorkspacePath};
use std::io::{IsTerminal, Read};
use std::path::Path;

/// The text of the task; `-` reads stdin.
pub fn read(task: &str) -> anyhow::Result<String> {
    let mut text = task.to_owned();
    if task == "-" {
        if std::io::stdin().is_terminal() {
            output::note("planwright: type the task, then press Ctrl-D");
        }
        text.clear();
        if let Err(error) = std::io::stdin().lock().take(LARGEST_BODY as u64 + 1).read_to_string(&mut text) {
            bail!(BadUsage(format!("can't read the task from stdin: {error}")));
        }
    }
    if text.len() > LARGEST_BODY {
        let most = LARGEST_BODY >> 20;
        bail!(BadUsage(format!("the task is longer than {most} MiB; put the material into files of the workspace and name them")));
    }
    if text.trim().is_empty() {
        bail!(BadUsage("the task is empty; describe what to do".to_owned()));
    }
    Ok(text)
}

/// The requested role, or the default role of the requested mode.
pub fn role(args: &RunArgs) -> anyhow::Result<Option<Role>> {
    let usual = args.mode.map(|mode| match mode {
        RunMode::Plan => Mode::Plan.default_role(),
        RunMode::Act => Mode::Act.default_role(),
    });
    let role = args.role.or(usual);
    if args.plan.is_some() && role.is_none_or(|role| role.mode() == Mode::Plan) {
        bail!(BadUsage("--plan executes a plan; add --mode act".to_owned()));
    }
    Ok(role)
}

/// The folder to work in, as the server knows it.
pub fn folder(args: &RunArgs) -> anyhow::Result<String> {
    let wrong = |why: String| BadUsage(format!("the workspace {} {why}", args.workspace.display()));
    let path = match &args.remote.server {
        // The folder is on the server's machine.
        Some(_) if args.workspace.is_absolute() => args.workspace.clone(),
        Some(_) | None => std::fs::canonicalize(&args.workspace).map_err(|error| wrong(format!("can't be opened: {error}")))?,
    };
    Ok(path.to_str().ok_or_else(|| wrong("has a path that is not UTF-8".to_owned()))?.to_owned())
}

/// The chat to continue.
///
/// # Errors
/// There is none, or it belongs to another folder.
pub async fn chat_to_continue(client: &Client, id: ChatId, workspace: WorkspaceId) -> anyhow::Result<ChatView> {
    let missing = match client.chat(workspace, id).show().await {
        Ok(chat) => return Ok(chat),
        Err(error) => error,
    };
    if missing.code() == Some(ErrorCode::NotFound) {
        for other in client.workspaces().await.map_err(ClientError::into_problem)? {
            if other.row.id != workspace && client.chat(other.row.id, id).show().await.is_ok() {
                bail!(BadUsage(format!("--chat {id}: the chat belongs to another folder; name it with --workspace")));
            }
        }
    }
    bail!(missing.into_problem())
}

/// Puts the chat into the requested role, and returns the number of its newest event.
pub async fn continued(client: &Client, present: &ChatView, args: &RunArgs) -> anyhow::Result<(RemoteChat, u64)> {
    let chat = client.chat(present.workspace_id, present.id);
    // A plan is approved from the chat's present mode.
    let wanted = role(args)?.filter(|role| args.plan.is_none() && *role != present.config.role);
    if let Some(role) = wanted {
        let change = ChatUpdate { agent_role: Some(role.row().name.to_owned()), confirm: true, ..ChatUpdate::default() };
        chat.update(&change).await.map_err(ClientError::into_problem)?;
    }
    let since = chat.snapshot().await.map_err(ClientError::into_problem)?.last_event_id;
    Ok((chat, since))
}

pub async fn new_chat(client: &Client, workspace: WorkspaceId, title: String, role: Role) -> anyhow::Result<(RemoteChat, u64)> {
    let body = NewChat { title: Some(title), agent_role: Some(role.row().name.to_owned()), ..NewChat::default() };
    let chat = match client.create_chat(workspace, &body).await {
        // The host ended in the middle: perhaps it made the chat, which then stays empty.
        Err(error) if error.code() == Some(ErrorCode::Conflict) => client.create_chat(workspace, &body).await,
        created => created,
    };
    let id = chat.map_err(ClientError::into_problem)?.id;
    Ok((client.chat(workspace, id), 0))
}

/// Finds out before the run starts whether there is a model. Returns the model to set for this chat: one that this command names
/// and the host would not use.
pub async fn check_model(
    client: &Client,
    local: Option<&LocalServer>,
    workspace: WorkspaceId,
    mode: Mode,
    args: &RunArgs,
) -> anyhow::Result<Option<String>> {
    let flag = args.common.model.as_deref();
    let checked = match local {
        Some(local) => local.with_folder(async |folder| check_own_model(folder, workspace, mode).await).await,
        None => None,
    };
    if let Some(checked) = checked {
        return checked.map(|()| None).map_err(|problem| model_error(problem, flag));
    }
    let models = client.models(workspace).await.map_err(ClientError::into_problem)?;
    let present = match mode {
        Mode::Plan => models.plan,
        Mode::Act => models.act,
    };
    match flag {
        Some(flag) if present.as_deref() == Some(flag) => Ok(None),
        Some(flag) if models.available.iter().any(|known| known == flag) => Ok(Some(flag.to_owned())),
        Some(flag) => bail!(BadUsage(format!(
            "--model: the planwright that has the chats does not know the model {flag}; add its provider and key there, or choose one of: {}",
            models.available.join(", ")
        ))),
        None if present.is_some() => Ok(None),
        None => bail!(Problem::new(
            ErrorCode::ProviderRejected,
            "No model is configured at the planwright that has the chats. Name one there, or with --model."
        )),
    }
}

/// The same where this process has the chats.
async fn check_own_model(folder: &OpenFolder, workspace: WorkspaceId, mode: Mode) -> Result<(), Problem> {
    let (rules, _) = folder.sessions.workspaces().rules(workspace).await?;
    let model = folder.sessions.model(&rules.settings, mode).await?;
    folder.models.say_choice(Some(model.name()));
    Ok(())
}

/// Whether the policy requires an approved plan, and the chat has none.
pub async fn lacks_plan(chat: &RemoteChat) -> anyhow::Result<bool> {
    let rules = chat.client().rules(chat.workspace).await.map_err(ClientError::into_problem)?;
    if !rules.policy.act_requires_plan {
        return Ok(false);
    }
    match chat.plan().await {
        Ok(plan) => Ok(plan.approved_sha256.is_none()),
        Err(error) if error.code() == Some(ErrorCode::NoPlan) => Ok(true),
        Err(error) => bail!(error.into_problem()),
    }
}

/// The request that approves the plan by its present content, or some steps of it.
pub fn execution(args: &RunArgs, path: WorkspacePath, document: &PlanDocument, words: String) -> ExecuteBody {
    let choice = StepChoice { steps: args.steps.clone().map(|list| list.0), stop_after: args.stop_after };
    // Without a choice, the chat compares the plan with the version that it showed.
    let plan_sha256 = (!choice.is_everything()).then(|| document.sha256());
    ExecuteBody { plan_file: Some(path.to_string()), plan_sha256, steps: choice.steps, stop_after: choice.stop_after, comment: Some(words) }
}

/// The plan to execute: its path in the workspace, and its present content.
pub async fn plan(client: &Client, workspace: &WorkspaceRow, file: &Path, is_here: bool) -> anyhow::Result<(WorkspacePath, PlanDocument)> {
    let wrong = |why: String| BadUsage(format!("--plan {}: {why}", file.display()));
    let path = if is_here { path(Path::new(&workspace.path), file) } else { named(file) }.map_err(wrong)?;
    if !path.is_plan() {
        bail!(wrong("it is not a plan: plans are called plans/NAME.plan in the workspace".to_owned()));
    }
    let text = if is_here {
        Workspace::open(Path::new(&workspace.path))?.read_plan(&path).map(|read| String::from_utf8_lossy(&read.bytes).into_owned())
    } else {
        client.file(workspace.id, &path.to_string()).await.map(|file| file.content.unwrap_or_default()).map_err(ClientError::into_problem)
    };
    let text = match text {
        Ok(text) => text,
        Err(problem) if matches!(problem.code, ErrorCode::PathNotFound | ErrorCode::NotFound) => {
            bail!(wrong(format!("there is no {path} in the workspace")))
        }
        Err(problem) => bail!(wrong(problem.message)),
    };
    match PlanDocument::parse(&text) {
        Ok(document) => Ok((path, document)),
        Err(findings) => {
            let findings: Vec<String> = findings.iter().map(|finding| format!("{}:{finding}", file.display())).collect();
            bail!("this plan can't be executed\n{}", findings.join("\n"))
        }
    }
}

fn named(path: &Path) -> Result<WorkspacePath, String> {
    WorkspacePath::parse_file(path.to_str().ok_or("its path is not UTF-8")?).map_err(|problem| problem.message)
}

/// Resolves a plan's path from the current folder, or as the workspace names it.
fn path(folder: &Path, file: &Path) -> Result<WorkspacePath, String> {
    let Ok(found) = std::fs::canonicalize(file) else { return named(file) };
    if let Ok(inside) = found.strip_prefix(folder) {
        return named(inside);
    }
    // `/plans/a.plan` may exist twice: on this machine, and in the workspace.
    named(file)
        .ok()
        .filter(|path| folder.join(path.relative()).exists())
        .ok_or_else(|| format!("it is outside the workspace {}; copy it into the folder plans there", folder.display()))
}
