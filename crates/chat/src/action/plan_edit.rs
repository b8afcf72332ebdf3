//! The next version of the chat's plan, as the user wrote it.

use super::{Action, Call, End, Preparation, Principal, Proposal, Refusal, perform};
use crate::chat::{Change, Chat};
use crate::versions;
use async_trait::async_trait;
use planwright_plan::PlanDocument;
use planwright_protocol::op::PlanContent;
use planwright_protocol::{ErrorCode, MessageId, Mode, Permission, PlanFileStatus, Problem, sha256_hex};
use planwright_tools::workspace::FileSnapshot;
use planwright_tools::{Consent, Effect, FileChange, FileEffect, Situation, Target, Version, WorkspacePath};
use serde_json::json;
use std::sync::Arc;
use tokio_util::task::TaskTracker;

/// The name under which the gate judges the edit.
const EDIT_PLAN: &str = "edit_plan";

/// The user's edit of a plan file.
pub struct EditedPlan {
    pub path: WorkspacePath,
    pub content: PlanContent,
    /// The version that the user edited.
    pub base_sha256: String,
}

/// Writes the edit as the plan's next revision. The change belongs to `message`. An edit that changes nothing writes nothing.
///
/// # Errors
/// `CONFLICT`: the plan changed meanwhile. `PLAN_INVALID`: the edit is no plan.
pub async fn write(chat: &Arc<Chat>, user: Option<String>, edit: EditedPlan, message: MessageId) -> Result<(), Problem> {
    let call = PlanEdit { chat, edit, message };
    perform(Action { principal: Principal::User(user), call }).await?
}

struct PlanEdit<'a> {
    chat: &'a Arc<Chat>,
    edit: EditedPlan,
    message: MessageId,
}

#[async_trait]
impl Call for PlanEdit<'_> {
    type Committed = ();
    type Outcome = Result<(), Problem>;

    async fn prepare(&mut self) -> Result<Preparation<(), Self::Outcome>, Problem> {
        let (workspace, path) = (self.chat.workspace.clone(), self.edit.path.clone());
        let snapshot = match self.chat.run_on_thread(move || workspace.read_plan(&path)).await? {
            Ok(snapshot) => snapshot,
            Err(problem) => return Ok(Preparation::Refused(Refusal::mistake(unread(&self.edit.path, problem)))),
        };
        let text = match next_text(&self.edit, &snapshot, &self.chat.id.to_string()) {
            Ok(Some(text)) => text,
            Ok(None) => return Ok(Preparation::Over(Ok(()))),
            Err(problem) => return Ok(Preparation::Refused(Refusal::mistake(problem))),
        };
        let (workspace, path, stamp) = (self.chat.workspace.clone(), self.edit.path.clone(), snapshot.stamp);
        let (before, after) = (Version::file(snapshot.bytes, None), Version::file(text.as_bytes(), None));
        let change = FileChange { path: path.clone(), before, after };
        let effects = vec![FileEffect::Write(path.clone()).into()];
        let proposal = Proposal::new(effects, vec![change], move |permit| {
            workspace.remove_leftovers(&path);
            let write = permit.to_write(&path, Target::of(Some(&stamp)))?;
            workspace.write(&write, &path, text.as_bytes(), Some(stamp)).map(|_| ())
        });
        Ok(Preparation::Proposed(proposal))
    }

    /// To edit the plan is to plan, whichever role the chat has.
    async fn situation(&mut self, consent: Consent) -> Result<Situation, Problem> {
        let mut situation = self.chat.situation(self.chat.agent(), EDIT_PLAN, consent).await?;
        if !situation.role.has(Permission::Plan) {
            situation.role = Mode::Plan.default_role();
        }
        Ok(situation)
    }

    async fn record_intent(&mut self, _: &Principal, _: &[Effect], changes: &[FileChange]) -> Result<(), Problem> {
        let change = Change { versions: Box::new(versions::of(self.message, changes)), ..Change::default() };
        self.chat.publish(change, |_| {}).await
    }

    fn threads(&self) -> TaskTracker {
        self.chat.work.clone()
    }

    async fn record_outcome(self, _: Principal, end: End<()>) -> Result<Self::Outcome, Problem> {
        match end {
            End::Refused(refusal) => Ok(Err(refusal.problem)),
            End::Asks(_, _, approval) => Ok(Err(Problem::new(ErrorCode::ToolNotPermitted, approval.reason))),
            End::Committed(Ok(())) => Ok(Ok(())),
            End::Committed(Err(problem)) => {
                versions::settle(self.chat, self.message).await?;
                let is_overtaken = matches!(problem.code, ErrorCode::FileChanged | ErrorCode::PathNotFound);
                Ok(Err(if is_overtaken { changed_meanwhile(&self.edit.path) } else { problem }))
            }
        }
    }
}

/// The text of the next revision; `None` if the edit changes nothing.
fn next_text(edit: &EditedPlan, snapshot: &FileSnapshot, chat: &str) -> Result<Option<String>, Problem> {
    if snapshot.links > 1 {
        let text = format!("{} has another name outside the workspace (a hard link), so it is not changed.", edit.path);
        return Err(Problem::new(ErrorCode::PathHardlinkRefused, text));
    }
    let present = std::str::from_utf8(&snapshot.bytes).ok().and_then(|text| PlanDocument::parse(text).ok());
    let mut next = match &edit.content {
        PlanContent::Text(text) => PlanDocument::parse(text).map_err(|findings| {
            let first = findings.first().map(ToString::to_string).unwrap_or_default();
            let fields = json!({ "fields": { "content": first.as_str() }, "findings": findings });
            Problem::new(ErrorCode::PlanInvalid, format!("`content` is not a valid plan: {first}")).with_details(fields)
        })?,
        PlanContent::Plan(plan) => {
            planwright_plan::check(plan)?;
            let new = || PlanDocument::new(plan.as_ref().clone(), Some(chat.to_owned()), 0);
            let mut document = present.clone().unwrap_or_else(new);
            document.plan = plan.as_ref().clone();
            document
        }
    };
    let is_base =
        edit.base_sha256 == sha256_hex(&snapshot.bytes) || present.as_ref().is_some_and(|present| edit.base_sha256 == present.sha256());
    if let Some(present) = &present {
        next.revision = present.revision;
        next.status = present.status;
        next.chat.clone_from(&present.chat);
        // Sent again after a lost answer, an edit is there already.
        if next.render().as_bytes() == snapshot.bytes || (!is_base && next.plan == present.plan) {
            return Ok(None);
        }
    }
    if !is_base {
        return Err(changed_meanwhile(&edit.path));
    }
    next.revision += 1;
    next.status = PlanFileStatus::Draft;
    next.chat = Some(chat.to_owned());
    let text = next.render();
    if text.len() > planwright_plan::MAX_PLAN_BYTES || PlanDocument::parse(&text).is_err() {
        return Err(Problem::new(ErrorCode::PlanInvalid, "The edited plan can't be written as a plan file of at most 1 MiB. Shorten it."));
    }
    Ok(Some(text))
}

fn changed_meanwhile(path: &WorkspacePath) -> Problem {
    let text = format!("{path} changed since you began to edit it. Load the newest version, then make your edit again.");
    Problem::new(ErrorCode::Conflict, text)
}

fn unread(path: &WorkspacePath, problem: Problem) -> Problem {
    if problem.code == ErrorCode::PathNotFound {
        return Problem::new(ErrorCode::NoPlan, format!("The plan file {path} is gone. Ask the agent for a plan."));
    }
    problem
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_protocol::Plan;

    const PLAN: &str = "---\ngoal: Greet\nstatus: draft\nchat: c\nrevision: 3\n---\n\n# Greet\n\n## Steps\n\n- [ ] 1. Say hello\n- [x] 2. Test it\n\n## Notes\n\nkept\n";

    #[expect(clippy::disallowed_methods, reason = "writes a file of its own")]
    fn snapshot(text: &str) -> FileSnapshot {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("plans")).unwrap();
        std::fs::write(folder.path().join("plans/a.plan"), text).unwrap();
        let workspace = planwright_tools::Workspace::open(folder.path()).unwrap();
        workspace.read_plan(&path()).unwrap()
    }

    fn path() -> WorkspacePath {
        WorkspacePath::parse("/plans/a.plan").unwrap()
    }

    fn edited(content: PlanContent, base_sha256: String) -> Result<Option<String>, Problem> {
        next_text(&EditedPlan { path: path(), content, base_sha256 }, &snapshot(PLAN), "c")
    }

    fn plan() -> Plan {
        PlanDocument::parse(PLAN).unwrap().plan
    }

    #[test]
    fn an_edit_as_data_is_the_next_revision_and_keeps_the_rest_of_the_file() {
        let mut plan = plan();
        plan.steps.swap(0, 1);
        (plan.steps[0].step_number, plan.steps[1].step_number) = (1, 2);
        for base in [sha256_hex(PLAN.as_bytes()), PlanDocument::parse(PLAN).unwrap().sha256()] {
            let text = edited(PlanContent::Plan(Box::new(plan.clone())), base).unwrap().unwrap();
            let document = PlanDocument::parse(&text).unwrap();
            assert_eq!((document.plan, document.revision, document.status), (plan.clone(), 4, PlanFileStatus::Draft));
            assert!(text.contains("## Notes\n\nkept"), "{text}");
        }
    }

    #[test]
    fn of_two_edits_of_the_same_version_the_second_is_a_conflict_and_a_repeated_one_is_none() {
        let stale = "0".repeat(64);
        let mut other = plan();
        "Wave".clone_into(&mut other.goal);
        let problem = edited(PlanContent::Plan(Box::new(other)), stale.clone()).unwrap_err();
        assert_eq!(problem.code, ErrorCode::Conflict);
        assert_eq!(edited(PlanContent::Plan(Box::new(plan())), stale), Ok(None), "it is there already");
    }

    #[test]
    fn what_is_no_plan_is_refused_with_its_place() {
        let base = sha256_hex(PLAN.as_bytes());
        let problem = edited(PlanContent::Text("# Goal\n\nno steps\n".to_owned()), base.clone()).unwrap_err();
        assert_eq!(problem.code, ErrorCode::PlanInvalid);
        assert!(problem.details.unwrap()["findings"][0]["line"].is_number());
        let empty = Plan { goal: "x".to_owned(), ..Plan::default() };
        assert_eq!(edited(PlanContent::Plan(Box::new(empty)), base.clone()).unwrap_err().code, ErrorCode::PlanInvalid);
        let forged = PLAN.replace("revision: 3", "revision: 99").replace("chat: c", "chat: other").replace("hello", "hi");
        let text = edited(PlanContent::Text(forged), base).unwrap().unwrap();
        let document = PlanDocument::parse(&text).unwrap();
        assert_eq!((document.revision, document.chat.as_deref()), (4, Some("c")), "the server counts the revisions");
    }
}
