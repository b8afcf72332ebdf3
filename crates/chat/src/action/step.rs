//! Records the model's reports on steps of the approved plan. A step with a check is done only if the server saw the check
//! succeed.

use super::agent_call::{CallOutcome, acting_agent};
use super::{plan_progress, result};
use crate::chat::{Change, Chat, Draft};
use crate::commits;
use crate::crash;
use crate::progress::Execution;
use planwright_protocol::Agent;
use planwright_protocol::api::chat::Pending;
use planwright_protocol::{CallMessage, ErrorCode, Event, PlanStep, Problem, QuestionKind, Severity, StepStatus};
use planwright_tools::tool::Input;
use planwright_tools::{Output, UpdateStep};
use serde_json::{Value, json};
use std::sync::Arc;

/// How much of a failed check's output is reported: its end says what is wrong.
const TAIL: usize = 3000;

/// Whether a call reports on a step.
pub fn is_report(call: &CallMessage) -> bool {
    call.body.tool == UpdateStep::SPEC.name
}

/// The output of a step's check that an interruption followed; `None` if there was no check.
pub fn verified(call: &CallMessage) -> Option<Output> {
    Some(Output { data: call.body.verified.clone()?, ..Output::default() })
}

/// Records the step, as far as the result of its check allows.
pub async fn conclude(chat: &Arc<Chat>, call: &CallMessage, outcome: Result<Output, Problem>) -> Result<CallOutcome, Problem> {
    let (chat, call) = (chat.clone(), call.clone());
    let work = {
        let chat = chat.clone();
        async move { record(&chat, call, outcome).await }
    };
    // A stop must not separate the box in the file from its record.
    chat.whole(work).await
}

async fn record(chat: &Arc<Chat>, call: CallMessage, outcome: Result<Output, Problem>) -> Result<CallOutcome, Problem> {
    let (Ok(report), Some(execution)) = (serde_json::from_str::<UpdateStep>(&call.body.args_text()), Execution::of(chat)) else {
        return result::record(chat, &call, outcome.map(Output::into_result), Change::default()).await;
    };
    let Some(step) = execution.plan().steps.into_iter().find(|step| step.step_number == report.step_number) else {
        return result::record(chat, &call, outcome.map(Output::into_result), Change::default()).await;
    };
    let agent = match acting_agent(chat, &call).await {
        Ok(agent) => agent,
        Err(problem) => return result::record(chat, &call, Err(problem), Change::default()).await,
    };
    let status = StepStatus::from(report.status);
    let check = step.verify.as_deref().filter(|_| status == StepStatus::Done);
    let outcome = match check {
        Some(command) => outcome.and_then(|output| passed(&step, command, output)),
        None => outcome,
    };
    match outcome {
        Ok(output) => {
            let call = if check.is_some() { keep_verdict(chat, call, &output).await? } else { call };
            let note = report.note.filter(|note| !note.trim().is_empty());
            moved(chat, &call, agent, execution, (&step, status, note), Ok(output)).await
        }
        Err(problem) if check.is_some() && begins(&problem) => {
            let failed = Problem { message: format!("Step {} is not done. {}", step.step_number, problem.message), ..problem };
            moved(chat, &call, agent, execution, (&step, StepStatus::InProgress, None), Err(failed)).await
        }
        Err(problem) => result::record(chat, &call, Err(problem), Change::default()).await,
    }
}

/// Whether the check ran at all, so that the step is in progress.
fn begins(problem: &Problem) -> bool {
    matches!(problem.code, ErrorCode::VerifyFailed | ErrorCode::CommandTimedOut | ErrorCode::OutcomeUnknown)
}

/// The check's result: exit code 0, and its changes are in the workspace.
fn passed(step: &PlanStep, command: &str, output: Output) -> Result<Output, Problem> {
    let facts = || json!({ "step_number": step.step_number, "command": command, "check": output.data });
    let failed = |how: &str| {
        let text = format!(
            "Its check `{command}` {how}. Fix the problem, then report the step again; don't weaken the check. It printed:\n{}",
            tail(&output.text)
        );
        Err(Problem::new(ErrorCode::VerifyFailed, text).with_details(facts()))
    };
    if output.data.contains_key("taken_back") {
        return failed("changed files, and the changes were reverted, so its result does not apply to the current workspace");
    }
    match output.data.get("exit_code").and_then(Value::as_i64) {
        Some(0) => Ok(output),
        Some(code) => failed(&format!("ended with exit code {code}")),
        None => failed("did not finish"),
    }
}

fn tail(text: &str) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(TAIL))..]
}

async fn keep_verdict(chat: &Arc<Chat>, mut call: CallMessage, output: &Output) -> Result<CallMessage, Problem> {
    call.body.verified = Some(output.data.clone());
    chat.publish(Change::default().event(result::updated(&call)), |_| {}).await?;
    crash::point("step_verified");
    Ok(call)
}

/// Ticks the box, stores the progress, and publishes it.
async fn moved(
    chat: &Arc<Chat>,
    call: &CallMessage,
    agent: Agent,
    execution: Execution,
    (step, status, note): (&PlanStep, StepStatus, Option<String>),
    outcome: Result<Output, Problem>,
) -> Result<CallOutcome, Problem> {
    let number = step.step_number;
    let mut execution = match Box::pin(plan_progress::tick(chat, agent, execution, call.id, (number, status))).await {
        Ok(execution) => execution,
        Err(problem) => return result::record(chat, call, Err(outcome.err().unwrap_or(problem)), Change::default()).await,
    };
    crash::point("step_ticked");
    if let Some(kept) = execution.progress.steps.iter_mut().find(|kept| kept.step_number == number) {
        kept.note = note.or(kept.note.take());
    }
    let mut change = Change::default();
    if step.status != status {
        let (plan_file, plan) = (execution.progress.plan_file.clone(), execution.plan());
        change = change.event(Event::PlanStep { step_number: number, status }).event(Event::PlanUpdated { plan_file, plan });
    }
    let outcome = outcome.map(|output| report(&execution, number, status, &output));
    let is_done = outcome.is_ok() && status == StepStatus::Done;
    let card = stop_card(&execution, agent, number).filter(|_| outcome.is_ok() && status.is_finished());
    let question = card.as_ref().map(|pending| pending.message_beside(chat.id, call.body.reply.id));
    if let (Some(pending), Some(question)) = (&card, &question) {
        change = change.event(Event::MessageCreated { message: question.clone() }).event(pending.event());
        change = change.log_question(pending, call.body.model());
    }
    let progress = execution.progress;
    // The stop is stored with the step, so that no crash can skip it.
    let edit = move |row: &mut Draft| {
        row.progress = Some(progress);
        if let Some(pending) = card {
            row.activity.ask(pending);
        }
    };
    let mut messages = result::record_with(chat, call, outcome, change, edit).await?;
    if is_done {
        let title = format!("Step {number}: {}", step.action);
        messages.extend(Box::pin(commits::commit_work(chat, Some(&title))).await);
    }
    Ok(match question {
        Some(question) => {
            messages.push(question);
            CallOutcome::Asked(messages)
        }
        None => CallOutcome::Done(messages),
    })
}

/// The card for the stop after this step, if the user wanted one there.
fn stop_card(execution: &Execution, agent: Agent, number: u32) -> Option<Pending> {
    if execution.choice.stop_after != Some(number) {
        return None;
    }
    let next = execution.choice.past_stop().open_steps(&execution.progress);
    let question = planwright_question::card::step_stop(number, &next);
    Some(Pending::new(agent, QuestionKind::StepStop, Severity::Minor, vec![question]))
}

/// The report to the model about a changed step.
fn report(execution: &Execution, number: u32, status: StepStatus, check: &Output) -> Value {
    let progress = &execution.progress;
    let open = execution.choice.open_steps(progress);
    let next = execution.plan().steps.into_iter().find(|step| open.contains(&step.step_number) && step.status == StepStatus::Pending);
    let verified = if check.data.is_empty() { "" } else { " Its check succeeded." };
    let is_stop = execution.choice.stop_after == Some(number) && status.is_finished();
    let rest = match (open.as_slice(), next) {
        _ if is_stop => "The user wants a stop here and decides how to continue.".to_owned(),
        ([], _) => "No step is open: report what changed and how it was verified.".to_owned(),
        (_, Some(next)) if status.is_finished() => format!("Next is step {}: {}", next.step_number, next.action),
        (open, _) => format!("{} of {} steps are open.", open.len(), progress.steps.len()),
    };
    let mut result = json!({
        "output": format!("Step {number} is {}.{verified} {rest}", status.label()), "step_number": number, "status": status,
        "done": progress.count(StepStatus::Done), "total": progress.steps.len(), "open_steps": open,
    });
    if !check.data.is_empty() {
        result["check"] = check.data.clone().into();
    }
    result
}
