//! Reads the task from the command line.

use crate::args::{BadUsage, RunArgs, RunMode};
use crate::output;
use anyhow::bail;
use planwright_chat::{Handle, Sessions};
use planwright_feed::EventLog;
use planwright_plan::PlanDocument;
use planwright_protocol::op::{Confirm, ExpectedPlan, MarkChange, PlanChange};
use planwright_protocol::plan::StepChoice;
use planwright_protocol::{ChatId, ErrorCode, Mode, Op, Role, RoleRequest, WorkspaceId};
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

/// Opens the chat to continue, in the requested role, and returns the number of its newest event. Work that an earlier process
/// left unfinished in it resumes.
pub async fn open_chat(sessions: &Sessions, id: ChatId, args: &RunArgs, workspace: WorkspaceId) -> anyhow::Result<(Handle, u64)> {
    let handle = sessions.chat(id).await?;
    let row = handle.chat().record();
    if row.workspace_id != workspace {
        bail!(BadUsage(format!("--chat {id}: the chat belongs to another folder; name it with --workspace")));
    }
    if row.run.is_some() {
        handle.resume().await?;
    }
    // A plan is approved from the chat's present mode.
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

/// The content that the user approves by naming the plan, and the steps of it.
pub fn expected(args: &RunArgs, document: &PlanDocument) -> ExpectedPlan {
    let choice = StepChoice { steps: args.steps.clone().map(|list| list.0), stop_after: args.stop_after };
    // Without a choice, the chat compares the plan with the version that it showed.
    let sha256 = (!choice.is_everything()).then(|| document.sha256());
    ExpectedPlan { sha256, choice }
}

/// The plan to execute: its path in the workspace, and its present content.
pub fn plan(folder: &Path, file: &Path) -> anyhow::Result<(WorkspacePath, PlanDocument)> {
    let wrong = |why: String| BadUsage(format!("--plan {}: {why}", file.display()));
    let path = path(folder, file).map_err(wrong)?;
    if !path.is_plan() {
        bail!(wrong("it is not a plan: plans are called plans/NAME.plan in the workspace".to_owned()));
    }
    let snapshot = match Workspace::open(folder)?.read_plan(&path) {
        Ok(snapshot) => snapshot,
        Err(problem) if problem.code == ErrorCode::PathNotFound => bail!(wrong(format!("there is no {path} in the workspace"))),
        Err(problem) => bail!(wrong(problem.message)),
    };
    match PlanDocument::parse(&String::from_utf8_lossy(&snapshot.bytes)) {
        Ok(document) => Ok((path, document)),
        Err(findings) => {
            let findings: Vec<String> = findings.iter().map(|finding| format!("{}:{finding}", file.display())).collect();
            bail!("this plan can't be executed\n{}", findings.join("\n"))
        }
    }
}

/// Resolves a plan's path from the current folder, or as the workspace names it.
fn path(folder: &Path, file: &Path) -> Result<WorkspacePath, String> {
    let parse = |path: &Path| WorkspacePath::parse_file(path.to_str().ok_or("its path is not UTF-8")?).map_err(|problem| problem.message);
    let Ok(found) = std::fs::canonicalize(file) else { return parse(file) };
    if let Ok(inside) = found.strip_prefix(folder) {
        return parse(inside);
    }
    // `/plans/a.plan` may exist twice: on this machine, and in the workspace.
    parse(file)
        .ok()
        .filter(|path| folder.join(path.relative()).exists())
        .ok_or_else(|| format!("it is outside the workspace {}; copy it into the folder plans there", folder.display()))
}
