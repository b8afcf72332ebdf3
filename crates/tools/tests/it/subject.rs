//! What is attacked: a call taken all the way from its name and argument bytes to the change on the disk.

use planwright_protocol::plan::StepChoice;
use planwright_protocol::{Mode, Problem, Role};
use planwright_testkit::guard::{CaseCall, CaseDecision, CaseOutcome, Fixture, Subject};
use planwright_tools::tool::{Seen, tool_named};
use planwright_tools::{
    CommandContext, Consent, Epoch, Fence, Grant, Output, Secrets, Signal, Situation, ToolConfig, ToolContext, Verdict, Workspace,
    WorkspacePath, decide,
};
use serde_json::Map;
use std::path::Path;
use std::sync::Arc;

/// The file tools on an open workspace.
pub struct FileTools {
    workspace: Arc<Workspace>,
    /// The shipped ones. Made once, as that takes longer than most calls.
    secrets: Arc<Secrets>,
}

/// Who makes a call, and what the user has said to it.
pub struct Caller {
    pub role: Role,
    pub foreign_plans: Vec<WorkspacePath>,
    pub own_plan: Option<WorkspacePath>,
    pub grants: Vec<Grant>,
    pub consent: Consent,
}

impl Caller {
    pub fn new(role: Role) -> Self {
        Self { role, foreign_plans: Vec::new(), own_plan: None, grants: Vec::new(), consent: Consent::Needed }
    }
}

impl FileTools {
    pub fn on(workspace: &Path) -> Self {
        Self { workspace: Arc::new(Workspace::open(workspace).unwrap()), secrets: Arc::default() }
    }

    /// Prepares, decides and commits.
    pub fn carry_out(&self, caller: &Caller, tool: &str, args: &str) -> CaseOutcome {
        let mode = caller.role.mode();
        let cx = ToolContext {
            workspace: self.workspace.clone(),
            seen: Arc::new(Seen::default()),
            config: ToolConfig {
                plan_mode: mode == Mode::Plan,
                active_plan_path: caller.own_plan.clone(),
                approved_plan: None,
                approved_steps: StepChoice::default(),
                chat: None,
                foreign_plans: Arc::new(caller.foreign_plans.iter().cloned().collect()),
                secrets: self.secrets.clone(),
            },
            command: CommandContext::default(),
        };
        let prepared = match tool_named(tool).and_then(|tool| tool.prepare(args, &cx)) {
            Ok(prepared) => prepared,
            Err(problem) => return refused(CaseDecision::Error, &problem, mode),
        };
        match decide(&self.situation(caller, tool), &prepared.effects) {
            Verdict::Deny(problem) => refused(CaseDecision::Deny, &problem, mode),
            Verdict::Ask(approval) => {
                CaseOutcome { decision: CaseDecision::Ask, code: None, output: approval.reason, facts: Map::new(), mode: word(mode) }
            }
            Verdict::Allow(permit) => match prepared.commit(&permit) {
                Ok(output) => allowed(output, mode),
                Err(problem) => refused(CaseDecision::Error, &problem, mode),
            },
        }
    }

    fn situation(&self, caller: &Caller, tool: &str) -> Situation {
        let fence = Fence::new(Epoch(1));
        Situation {
            role: caller.role,
            tool: tool.to_owned(),
            epoch: fence.epoch(),
            fence,
            own_plan: caller.own_plan.clone(),
            foreign_plans: Arc::new(caller.foreign_plans.iter().cloned().collect()),
            scope: None,
            missing_plan: None,
            approvals: Arc::default(),
            secrets: self.secrets.clone(),
            grants: Arc::new(caller.grants.clone()),
            consent: caller.consent,
        }
    }
}

impl Subject for FileTools {
    fn open(fixture: &Fixture) -> Self {
        Self::on(&fixture.workspace())
    }

    fn call(&self, call: &CaseCall) -> Result<CaseOutcome, String> {
        let args = std::str::from_utf8(&call.args).map_err(|error| format!("a tool takes text: {error}"))?;
        let role = Role::all().find(|role| role.to_string().eq_ignore_ascii_case(&call.role)).ok_or("no such role")?;
        let foreign_plans: Vec<WorkspacePath> = call.foreign_plans.iter().map(|plan| WorkspacePath::parse(plan).unwrap()).collect();
        // A plan that is nobody else's is the acting chat's.
        let named =
            serde_json::from_str::<serde_json::Value>(args).ok().and_then(|args| WorkspacePath::parse(args.get("path")?.as_str()?).ok());
        let own_plan =
            named.filter(|path| path.is_plan() && !foreign_plans.contains(path)).or_else(|| WorkspacePath::parse(&call.own_plan).ok());
        // In plan mode these are for the user, through the tools endpoint; a model is refused them all.
        let by_user = role.mode() == Mode::Plan && ["mv", "rm", "mkdir", "touch"].contains(&call.tool.as_str());
        let consent = if by_user { Consent::Given } else { Consent::Needed };
        let caller = Caller { foreign_plans, own_plan, consent, ..Caller::new(role) };
        Ok(self.carry_out(&caller, &call.tool, args))
    }
}

fn allowed(output: Output, mode: Mode) -> CaseOutcome {
    let mode = if matches!(output.signal, Some(Signal::ExitPlanMode(_))) { Mode::Act } else { mode };
    CaseOutcome { decision: CaseDecision::Allow, code: None, output: output.text, facts: output.data, mode: word(mode) }
}

fn refused(decision: CaseDecision, problem: &Problem, mode: Mode) -> CaseOutcome {
    let facts = problem.details.iter().map(|details| ("details".to_owned(), details.clone())).collect();
    CaseOutcome { decision, code: Some(problem.code.to_string()), output: problem.message.clone(), facts, mode: word(mode) }
}

fn word(mode: Mode) -> String {
    match mode {
        Mode::Plan => "plan".to_owned(),
        Mode::Act => "act".to_owned(),
    }
}
