//! `planwright run`

use crate::args::{RunArgs, RunMode};
use crate::config::Config;
use crate::data_dir::DataDir;
use crate::models::ConfiguredModels;
use crate::output;
use crate::serve::add_workspace;
use anyhow::{Context, bail};
use planwright_protocol::event::{ChatState, RunOutcome};
use planwright_protocol::{Envelope, Event, Mode, Op, Plan, Question, QuestionId, QuestionKind, Role, StepStatus};
use planwright_session::{Follower, Handle, Sessions};
use planwright_tools::WorkspacePath;
use serde_json::{Map, Value};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

const BAD_USAGE: u8 = 2;
const BLOCKED: u8 = 3;
const INTERRUPTED: u8 = 130;

pub async fn run(args: RunArgs) -> anyhow::Result<ExitCode> {
    if let Some(wrong) = misuse(&args) {
        output::note(&format!("planwright: {wrong}"));
        return Ok(ExitCode::from(BAD_USAGE));
    }
    let config = Config::load()?;
    let data = DataDir::open(args.common.data_dir.clone())?;
    let store = data.store(args.common.database_url.as_deref()).await?;
    let workspace = add_workspace(&store, &args.workspace).await?;
    data.keep_out_of(Path::new(&workspace.path))?;
    let plan_file = args.plan.as_deref().map(|file| plan_path(Path::new(&workspace.path), file)).transpose()?;
    let role = role(&args);
    let models = Arc::new(ConfiguredModels::new(&config, args.common.model.clone()));
    models.check().await?;
    let sessions = Sessions::new(store.clone(), config.settings(data.commands())?, models);
    // A plan is approved from plan mode; naming it is the approval.
    let first_role = if plan_file.is_some() { Mode::Plan.default_role() } else { role };
    let handle = sessions.create(workspace.id, Some(title(&args.task)), Some(first_role)).await?;
    let follower = Follower::after(handle.chat().clone(), 0).await?;
    let op = match plan_file {
        Some(path) => Op::Execute { plan_file: Some(path.to_string()), content: Some(args.task.clone()) },
        None => Op::UserMessage { content: args.task.clone(), metadata: Map::new() },
    };
    handle.submit(op).await?;
    let watcher = Watcher { handle: handle.clone(), yes: args.yes, json: args.json, plan: None, in_text: false };
    let code = tokio::select! {
        code = watcher.watch(follower) => code?,
        interrupt = tokio::signal::ctrl_c() => {
            interrupt?;
            handle.submit(Op::Stop).await?;
            INTERRUPTED
        }
    };
    sessions.park_all().await;
    store.close().await;
    Ok(ExitCode::from(code))
}

/// What the types of the arguments can't say.
fn misuse(args: &RunArgs) -> Option<&'static str> {
    if args.task.trim().is_empty() {
        return Some("the task is empty; say what to do");
    }
    let plans = args.role.is_some() || args.mode == RunMode::Plan;
    (args.plan.is_some() && plans).then_some("--plan carries a plan out; say --mode act with it")
}

/// The role asked for, or the usual one of the mode.
fn role(args: &RunArgs) -> Role {
    let mode = match args.mode {
        RunMode::Plan => Mode::Plan,
        RunMode::Act => Mode::Act,
    };
    args.role.unwrap_or(mode.default_role())
}

/// A plan named from where the user stands, or as the workspace names it.
fn plan_path(workspace: &Path, file: &Path) -> anyhow::Result<WorkspacePath> {
    let inside = std::fs::canonicalize(file).ok().and_then(|path| path.strip_prefix(workspace).ok().map(Path::to_owned));
    let path = inside.as_deref().unwrap_or(file).to_str().context("the plan's path is not UTF-8")?;
    let path = WorkspacePath::parse_file(path)?;
    if !path.is_plan() {
        bail!("{path} is not a plan: plans are named plans/NAME.plan in the workspace");
    }
    Ok(path)
}

fn title(task: &str) -> String {
    task.lines().next().unwrap_or_default().chars().take(60).collect()
}

struct Watcher {
    handle: Handle,
    yes: bool,
    json: bool,
    plan: Option<(String, Plan)>,
    /// Whether the cursor stands behind a piece of an answer.
    in_text: bool,
}

impl Watcher {
    /// Shows what happens, answers what it may, and gives the exit code.
    async fn watch(mut self, mut follower: Follower) -> anyhow::Result<u8> {
        let mut waiting = None;
        let mut kind = QuestionKind::User;
        let mut leaves = false;
        while let Some(frame) = follower.next().await? {
            let envelope: Envelope = serde_json::from_str(&frame.json)?;
            if self.json {
                output::data(&frame.json);
            } else {
                self.show(&envelope.event);
            }
            if let Event::QuestionPending { question_id, questions, kind: asked, call, .. } = &envelope.event {
                kind = *asked;
                leaves = call.as_ref().is_some_and(leaves_sandbox);
                waiting = self.answers(kind, questions).filter(|_| !leaves).map(|answers| (*question_id, answers));
            }
            if let Event::StateChanged { state: ChatState::AwaitingAnswer } = &envelope.event {
                let Some((question, answers)) = waiting.take() else {
                    output::note(if leaves { LEAVES } else { blocked_hint(kind) });
                    return Ok(BLOCKED);
                };
                self.answer(question, answers).await?;
            }
            if let Event::RunFinished { outcome, error, open_steps } = &envelope.event {
                return Ok(self.finish(*outcome, error.as_ref(), open_steps));
            }
        }
        bail!("the run ended without a word");
    }

    async fn answer(&self, question_id: QuestionId, answers: Map<String, Value>) -> anyhow::Result<()> {
        self.handle.submit(Op::Answer { question_id, answers, comment: String::new() }).await?;
        Ok(())
    }

    /// What `--yes` stands for: a tool call's approval, a question's default, and never a plan.
    fn answers(&self, kind: QuestionKind, questions: &[Question]) -> Option<Map<String, Value>> {
        if !self.yes {
            return None;
        }
        match kind {
            QuestionKind::PlanApproval => None,
            QuestionKind::ToolApproval => Some([("decision".to_owned(), Value::from("approve"))].into_iter().collect()),
            QuestionKind::User => {
                questions.iter().map(|question| Some((question.name.clone(), question.default_answer()?.clone()))).collect()
            }
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "most events say nothing that a terminal needs")]
    fn show(&mut self, event: &Event) {
        if let Event::TextDelta { text, .. } = event {
            self.in_text = true;
            return output::piece(text);
        }
        let line = match event {
            Event::ToolCall { tool, args, .. } => format!("→ {tool} {}", brief(args)),
            Event::ToolOutput { text, .. } => {
                self.in_text = !text.ends_with('\n');
                return output::piece(text);
            }
            Event::ToolResult { result, .. } => match (&result.error, result.result.as_ref().and_then(|result| result.get("exit_code"))) {
                (Some(problem), _) => format!("✗ {}: {}", problem.code, problem.message),
                (None, Some(code)) => format!("  exit code {code}"),
                (None, None) => return,
            },
            Event::QuestionPending { questions, .. } => questions
                .iter()
                .map(|question| format!("? {} {}", question.question, question.context.as_deref().unwrap_or_default()))
                .collect::<Vec<_>>()
                .join("\n"),
            Event::PlanStep { step_number, status } => format!("= step {step_number}: {}", status.words()),
            Event::ModeChanged { config, .. } => format!("= {} ({:?} mode)", config.role, config.role.mode()),
            Event::PlanUpdated { plan_file, plan } => {
                self.plan = Some((plan_file.clone(), plan.clone()));
                return;
            }
            _ => return,
        };
        if std::mem::take(&mut self.in_text) {
            output::line("");
        }
        output::line(&line);
    }

    fn finish(&mut self, outcome: RunOutcome, error: Option<&planwright_protocol::Problem>, open_steps: &[u32]) -> u8 {
        if !self.json {
            if self.in_text {
                output::line("");
            }
            if let Some((file, plan)) = self.plan.as_ref().filter(|(_, plan)| !is_begun(plan)) {
                show_plan(file, plan);
            }
        }
        if let Some(problem) = error {
            output::note(&format!("failed: {}: {}", problem.code, problem.message));
        }
        if !open_steps.is_empty() {
            let numbers = open_steps.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
            output::note(&format!("steps of the plan that are still open: {numbers}"));
        }
        match outcome {
            RunOutcome::Done => 0,
            RunOutcome::Failed => 1,
            RunOutcome::Blocked => BLOCKED,
            RunOutcome::Stopped => INTERRUPTED,
        }
    }
}

const LEAVES: &str = "blocked: this command would leave the sandbox, which --yes does not approve. Answer in the web page, or set network = true in the [sandbox] of your configuration.";

/// Whether a call that waits for approval would reach beyond the sandbox.
fn leaves_sandbox(call: &Value) -> bool {
    let effects = call.get("effects").and_then(Value::as_array);
    effects.is_some_and(|effects| {
        effects.iter().any(|effect| effect.get("effect").is_some_and(|name| name == "network" || name == "unconfined"))
    })
}

fn blocked_hint(kind: QuestionKind) -> &'static str {
    match kind {
        QuestionKind::PlanApproval => "blocked: the plan needs your approval. Read it, then run again with --mode act --plan FILE.",
        QuestionKind::ToolApproval => {
            "blocked: this call needs your approval. Run again with --yes to approve such calls, or answer in the web page."
        }
        QuestionKind::User => {
            "blocked: the agent asks something. Run again with the answer in the task, with --yes if its default will do, or answer in the web page."
        }
    }
}

/// A plan that is being carried out was seen before.
fn is_begun(plan: &Plan) -> bool {
    plan.steps.iter().any(|step| step.status != StepStatus::Pending)
}

fn show_plan(file: &str, plan: &Plan) {
    output::line(&format!("\nPlan: {}", plan.goal));
    for step in &plan.steps {
        output::line(&format!("  {}. {}", step.step_number, step.action));
        if !step.files.is_empty() {
            output::line(&format!("     files: {}", step.files.join(", ")));
        }
        if let Some(command) = &step.verify {
            output::line(&format!("     check: {command}"));
        }
    }
    output::line(&format!(
        "\nWritten to {file}. Carry it out with: planwright run \"Go\" --mode act --plan {}",
        file.trim_start_matches('/')
    ));
}

fn brief(args: &Value) -> String {
    let named = args.get("path").or(args.get("command")).and_then(Value::as_str);
    let text = named.map_or_else(|| args.to_string(), |text| text.replace(|character: char| character.is_control(), " "));
    if text.chars().count() > 80 { text.chars().take(79).chain(['…']).collect() } else { text }
}
