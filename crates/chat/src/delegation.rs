//! A task delegated to another role. The delegate works in the same chat, in a separate conversation, which is replayed like the
//! chat's own: so an interrupted delegate resumes.

use crate::action::result;
use crate::chat::Change;
use crate::exploration;
use crate::run::Run;
use planwright_agent::thread::{of_thread, task_message};
use planwright_agent::{Turn, TurnOutcome, drive};
use planwright_protocol::Agent;
use planwright_protocol::message::ToolCall;
use planwright_protocol::{Author, CallId, CallMessage, ErrorCode, Message, Problem, QuestionId, Role};
use planwright_tools::tool::Input;
use planwright_tools::{Delegate, Effect, RecordEffect};
use serde_json::{Value, json};
use std::ops::ControlFlow;

/// Maximum number of tasks between two user messages.
const MOST_TASKS: usize = 20;

/// Whether a call delegates tasks, to a delegate or to helpers.
pub fn is_one(call: &ToolCall) -> bool {
    call.tool == Delegate::SPEC.name || exploration::is_one(call)
}

/// Why a permitted delegation is still refused.
pub fn beyond_limits(call: &CallMessage, effects: &[Effect], history: &[Message]) -> Option<Problem> {
    let is_delegated = delegated_to(effects).is_some();
    if !is_delegated && !effects.contains(&RecordEffect::Explore.into()) {
        return None;
    }
    if is_delegated && call.delegation.is_some() {
        let text = "A delegate can't delegate. Do the task yourself, or report what another role should do.";
        return Some(Problem::new(ErrorCode::LimitReached, text));
    }
    let since_user = history.iter().rposition(|message| message.author == Author::User).map_or(0, |place| place + 1);
    // Counted by calls: those of one reply are all in the history before the first of them has a result.
    let earlier = history[since_user..].iter().take_while(|message| message.id != call.id);
    let handed_on = earlier.filter(|message| message.body.tool_call().is_some_and(is_one)).count();
    (handed_on >= MOST_TASKS).then(|| {
        let text = format!(
            "You have delegated {MOST_TASKS} tasks since the user's last message, which is the limit. Report what is done and what is open, and let the user decide."
        );
        Problem::new(ErrorCode::LimitReached, text)
    })
}

/// The first messages of the tasks that a call delegates.
pub fn tasks_of(call: &CallMessage, effects: &[Effect]) -> Vec<Message> {
    let task = call.body.args.get("task").and_then(Value::as_str);
    match (delegated_to(effects), task) {
        (Some(role), Some(task)) => vec![task_message(call.chat_id, role, call.body.call_id, task)],
        (Some(_), None) => Vec::new(),
        (None, _) if effects.contains(&RecordEffect::Explore.into()) => exploration::tasks_of(call),
        (None, _) => Vec::new(),
    }
}

/// The result of a task during which the run was stopped.
pub fn stopped() -> Problem {
    let text = "The user stopped the run during this task. Its changes so far are kept; check them before you continue.";
    Problem::new(ErrorCode::Cancelled, text)
}

fn delegated_to(effects: &[Effect]) -> Option<Role> {
    effects.iter().find_map(|effect| if let Effect::Record(RecordEffect::Delegate(role)) = effect { Some(*role) } else { None })
}

impl Run {
    /// Runs a delegate on the task of a call, from its current position, until it reports, asks or fails. Returns the call's
    /// result, or breaks with a question, because the delegating agent waits for the user's answer too.
    pub(crate) async fn delegate(&self, call: CallMessage) -> Result<ControlFlow<Vec<Message>, Vec<Message>>, Problem> {
        let (mut delegate, mut turn) = self.worker_in(call.body.call_id).await?;
        let mut change = Change::default();
        let outcome = match drive(&mut turn, &mut delegate).await {
            TurnOutcome::Done => Ok(report(&turn)),
            TurnOutcome::Parked(question) => return Ok(ControlFlow::Break(asked(&turn, question))),
            // Not the delegate's failure.
            TurnOutcome::Failed(problem) if problem.code == ErrorCode::Internal => return Err(problem),
            TurnOutcome::Failed(problem) => {
                // Otherwise the next answer would begin with this partial one.
                change = Change::messages(self.chat.settle().await);
                let text = format!("The task was not finished; its changes so far are kept: {}", problem.message);
                Err(Problem { message: text, ..problem })
            }
        };
        result::record_with(&self.chat, &call, outcome, change, |_| {}).await.map(ControlFlow::Continue)
    }

    /// The run of a conversation, and its turn so far.
    pub(crate) async fn worker_in(&self, id: CallId) -> Result<(Run, Turn), Problem> {
        let lost = || Problem::new(ErrorCode::Internal, "A delegated task is not in the history. Send a message to continue.");
        let thread = of_thread(self.chat.turn_messages().await?.messages, Some(id));
        let role = thread.first().and_then(|task| task.agent_role).ok_or_else(lost)?;
        let run = self.for_delegate(Agent { role, delegation: Some(id) });
        let turn = run.turn().await?;
        Ok((run, turn))
    }
}

fn asked(turn: &Turn, question: QuestionId) -> Vec<Message> {
    turn.history().iter().filter(|message| message.body.question_id() == Some(question)).cloned().collect()
}

/// The last word of a conversation.
pub(crate) fn last_word(turn: &Turn) -> Option<&str> {
    let is_said = |message: &&Message| message.author == Author::Assistant && message.body.call_id().is_none();
    let last = turn.history().iter().rev().find(is_said);
    last.map(|message| message.content.trim()).filter(|text| !text.is_empty())
}

/// What the one who handed on the task reads of it.
fn report(turn: &Turn) -> Value {
    let text = last_word(turn).unwrap_or("(It ended without a report.)");
    let plan = turn.history().iter().rev().find_map(|message| message.body.plan());
    match plan {
        Some(plan) => {
            let file = &plan.plan_file;
            json!({ "output": format!("{text}\n\nIts plan: {file}"), "plan_file": file })
        }
        None => json!({ "output": text }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_protocol::ChatId;
    use planwright_protocol::message::UserText;

    fn delegate() -> CallMessage {
        let call = ToolCall::new(CallId::generate(), "delegate", json!({ "role": "actor", "task": "Look" }));
        Message::new(ChatId::generate(), call, "").to_call().unwrap()
    }

    fn handed_on(times: usize) -> Vec<Message> {
        let order = Message::new(ChatId::generate(), UserText::default(), "");
        std::iter::once(order).chain((0..times).map(|_| delegate().into())).collect()
    }

    #[test]
    fn so_many_tasks_are_handed_on_and_no_more_until_the_user_speaks() {
        let effects = [RecordEffect::Delegate(Role::Actor).into()];
        let limit = |history: &[Message]| beyond_limits(&delegate(), &effects, history).map(|problem| problem.code);
        assert_eq!(limit(&handed_on(MOST_TASKS - 1)), None);
        assert_eq!(limit(&handed_on(MOST_TASKS)), Some(ErrorCode::LimitReached));
        assert_eq!(limit(&[handed_on(MOST_TASKS), handed_on(0)].concat()), None);
        let together = handed_on(MOST_TASKS + 5);
        let refused =
            together[1..].iter().filter_map(Message::to_call).filter(|call| beyond_limits(call, &effects, &together).is_some()).count();
        assert_eq!(refused, 5, "also of the calls of one reply");
        assert!(beyond_limits(&delegate(), &[RecordEffect::Progress.into()], &handed_on(MOST_TASKS)).is_none());
    }

    #[test]
    fn a_delegate_hands_nothing_on_whatever_its_role_may() {
        let call = delegate().in_thread(Some(CallId::generate()));
        let problem = beyond_limits(&call, &[RecordEffect::Delegate(Role::Actor).into()], &[]).unwrap();
        assert_eq!(problem.code, ErrorCode::LimitReached);
    }
}
