//! The chat's plan as its file is now, for clients.

use crate::chat::{Chat, broken};
use planwright_plan::{PlanDocument, lint};
use planwright_protocol::api::plan::{Finding, PlanFileView, PlanFinding};
use planwright_protocol::{ErrorCode, Problem, sha256_hex};
use planwright_tools::WorkspacePath;
use planwright_tools::plan_callers::callers_outside;

impl Chat {
    /// # Errors
    /// `NO_PLAN`: the chat has no plan, or its file is gone.
    pub async fn plan_view(&self) -> Result<PlanFileView, Problem> {
        let no_plan = |text: String| Problem::new(ErrorCode::NoPlan, text);
        let record = self.record();
        let plan_file = record.config.plan_file.clone().ok_or_else(|| no_plan("This chat has no plan yet.".to_owned()))?;
        let path = WorkspacePath::parse(&plan_file)?;
        let (workspace, secrets) = (self.workspace.clone(), self.settings().secrets.clone());
        let look = move || {
            let content = String::from_utf8_lossy(&workspace.read_plan(&path)?.bytes).into_owned();
            let mut findings = lint(&content);
            findings.extend(callers_outside(&workspace, &secrets, &content));
            findings.sort_by_key(|finding| (finding.line, finding.column));
            Ok((content, findings))
        };
        let read: Result<_, Problem> = tokio::task::spawn_blocking(look).await.map_err(broken)?;
        let (content, findings) =
            read.map_err(|problem| no_plan(format!("The plan file {plan_file} can't be read. {}", problem.message)))?;
        let document = PlanDocument::parse(&content).ok();
        let at_step = |finding: Finding| PlanFinding { step: planwright_plan::step_at(&content, finding.line), finding };
        Ok(PlanFileView {
            sha256: document.as_ref().map_or_else(|| sha256_hex(content.as_bytes()), PlanDocument::sha256),
            findings: findings.into_iter().map(at_step).collect(),
            revision: document.as_ref().map(|document| document.revision),
            status: document.as_ref().map(|document| document.status),
            plan: document.map(|document| document.plan),
            approved_sha256: record.approval().map(|approval| approval.sha256.clone()),
            plan_file,
            content,
        })
    }
}
