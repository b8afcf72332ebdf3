//! What is to be done, as the command line says it.

use crate::args::{BadUsage, RunArgs, RunMode};
use crate::output;
use anyhow::bail;
use planwright_chat::{Handle, Sessions};
use planwright_feed::EventLog;
use planwright_plan::PlanDocument;
use planwright_protocol::op::{Confirm, MarkChange, PlanChange};
use planwright_protocol::{ChatId, ErrorCode, Mode, Op, Plan, Role, RoleRequest, WorkspaceId};
use planwright_server::LARGEST_BODY;
use planwright_tools::{Workspace, WorkspacePath};
use std::io::{IsTerminal, Read};
use std::path::Path;

/// The words of the task; `-` stands for what is on stdin.
pub fn words(task: &str) -> anyhow::Result<String> {
    let mut text = task.to_owned();
    if task == "-" {
        if std::io::stdin().is_terminal() {
            output::note("planwright: type the task, and end it with Ctrl-D");
        }
        text.clear();
        if let Err(error) = std::io::stdin().lock().take(LARGEST_BODY as u64 + 1).read_to_string(&mut text) {
            bail!(BadUsage(format!("the task on stdin can't be read: {error}")));
        }
    }
    if text.len() > LARGEST_BODY {
        let most = LARGEST_BODY >> 20;
        bail!(BadUsage(format!("the task has more than {most} MiB; put what it is about into files of the workspace, and name them")));
    }
    if text.trim().is_empty() {
        bail!(BadUsage("the task is empty; say what to do".to_owned()));
    }
    Ok(text)
}

/// The role asked for, or the usual one of the mode that is asked for.
pub fn role(args: &RunArgs) -> anyhow::Result<Option<Role>> {
    let usual = args.mode.map(|mode| match mode {
        RunMode::Plan => Mode::Plan.default_role(),
        RunMode::Act => Mode::Act.default_role(),
    });
    let role = args.role.or(usual);
    if args.plan.is_some() && role.is_none_or(|role| role.mode() == Mode::Plan) {
        bail!(BadUsage("--plan carries a plan out; say --mode act with it".to_owned()));
    }
    Ok(role)
}

/// The chat to go on with, in the role asked for, and the number of its newest event. What an earlier process left
/// unfinished in it goes on.
pub async fn reopened(sessions: &Sessions, id: ChatId, args: &RunArgs, workspace: WorkspaceId) -> anyhow::Result<(Handle, u64)> {
    let handle = sessions.chat(id).await?;
    let row = handle.chat().record();
    if row.workspace_id != workspace {
        bail!(BadUsage(format!("--chat {id}: it belongs to another folder; name that by --workspace")));
    }
    if row.run.is_some() {
        handle.resume().await?;
    }
    // A plan is approved from where the chat is.
    let wanted = role(args)?.filter(|role| args.plan.is_none() && *role != row.config.role);
    if let Some(role) = wanted {
        let role = RoleRequest::role(role.row().name);
        handle
            .submit(Op::Update { title: None, role, plan_file: PlanChange::Keep, confirm: Confirm::Given, marks: MarkChange::default() })
            .await?;
    }
    let since = handle.chat().newest();
    Ok((handle, since))
}

/// The plan that is to be carried out: where it is in the workspace, and what it says now.
pub fn plan(folder: &Path, file: &Path) -> anyhow::Result<(WorkspacePath, Plan)> {
    let wrong = |why: String| BadUsage(format!("--plan {}: {why}", file.display()));
    let path = path(folder, file).map_err(wrong)?;
    if !path.is_plan() {
        bail!(wrong("it is not a plan: plans are named plans/NAME.plan in the workspace".to_owned()));
    }
    let snapshot = match Workspace::open(folder)?.read_plan(&path) {
        Ok(snapshot) => snapshot,
        Err(problem) if problem.code == ErrorCode::PathNotFound => bail!(wrong(format!("there is no {path} in the workspace"))),
        Err(problem) => bail!(wrong(problem.message)),
    };
    match PlanDocument::parse(&String::from_utf8_lossy(&snapshot.bytes)) {
        Ok(document) => Ok((path, document.plan)),
        Err(findings) => {
            let findings: Vec<String> = findings.iter().map(|finding| format!("{}:{finding}", file.display())).collect();
            bail!("this is not a plan that can be carried out\n{}", findings.join("\n"))
        }
    }
}

/// A plan named from where the user stands, or as the workspace names it.
fn path(folder: &Path, file: &Path) -> Result<WorkspacePath, String> {
    let parse = |path: &Path| WorkspacePath::parse_file(path.to_str().ok_or("its path is not UTF-8")?).map_err(|problem| problem.message);
    let Ok(found) = std::fs::canonicalize(file) else { return parse(file) };
    if let Ok(inside) = found.strip_prefix(folder) {
        return parse(inside);
    }
    // `/plans/a.plan` may be there twice: on this machine, and in the workspace.
    parse(file)
        .ok()
        .filter(|path| folder.join(path.relative()).exists())
        .ok_or_else(|| format!("it is outside of the workspace {}; copy it into the folder plans there", folder.display()))
}
