//! A task that is handed to another role. The delegate works in the same chat, in a conversation of its own, which is
//! replayed like the chat's own: so a delegate that was cut off goes on where it was.

use crate::agent::Agent;
use crate::call;
use crate::chat::{Change, storage};
use crate::run::Run;
use planwright_agent::thread::{delegation, of_thread, task_message};
use planwright_agent::{Outcome, Turn, drive};
use planwright_protocol::{Author, CallId, ErrorCode, Message, MessageType, Problem, QuestionId, Role};
use planwright_tools::tool::Input;
use planwright_tools::{Delegate, Effect};
use serde_json::{Value, json};
use std::ops::ControlFlow;

/// So many tasks may be handed on before the user has another word.
const MOST_TASKS: usize = 20;

/// Whether a call hands on a task.
pub fn is_one(call: &Message) -> bool {
    call.meta("tool") == Delegate::SPEC.name
}

/// Why a task that the role may hand on is not handed on all the same.
pub fn beyond_limits(call: &Message, effects: &[Effect], history: &[Message]) -> Option<Problem> {
    delegated_to(effects)?;
    if delegation(call).is_some() {
        let text = "A delegate can't hand its task on. Do it yourself, or report back what should be handed to somebody else.";
        return Some(Problem::new(ErrorCode::LimitReached, text));
    }
    let since_user = history.iter().rposition(|message| message.author == Author::User).map_or(0, |place| place + 1);
    // Counted by calls: those of one reply are all in the history before the first of them has a result.
    let earlier = history[since_user..].iter().take_while(|message| message.id != call.id);
    let handed_on = earlier.filter(|message| message.message_type == MessageType::ToolCall && is_one(message)).count();
    (handed_on >= MOST_TASKS).then(|| {
        let text = format!(
            "You have handed on {MOST_TASKS} tasks since the user last wrote, which is the limit. Report what is done and what is open, and let the user decide."
        );
        Problem::new(ErrorCode::LimitReached, text)
    })
}

/// The message that a task begins with, of a call that hands one on.
pub fn task_of(call: &Message, effects: &[Effect]) -> Option<Message> {
    let role = delegated_to(effects)?;
    let task = call.metadata.get("args")?.get("task")?.as_str()?;
    Some(task_message(call.chat_id, role, call.meta("call_id").parse().ok()?, task))
}

/// What to tell of a task in the middle of which the run was stopped.
pub fn stopped() -> Problem {
    let text = "The user stopped the run in the middle of this task. What was done of it by then stands; look before you go on.";
    Problem::new(ErrorCode::Cancelled, text)
}

fn delegated_to(effects: &[Effect]) -> Option<Role> {
    effects.iter().find_map(|effect| if let Effect::Delegate(role) = effect { Some(*role) } else { None })
}

impl Run {
    /// Has a delegate work on the task of a call, from where its conversation is, until it reports, asks or fails.
    /// Gives the call's result; or breaks off with a question, because who waits for a delegate waits for the user's
    /// answer to it as well.
    pub(crate) async fn delegate(&self, call: Message) -> Result<ControlFlow<Vec<Message>, Vec<Message>>, Problem> {
        let (mut delegate, mut turn) = self.delegate_of(&call).await?;
        let mut change = Change::default();
        let outcome = match drive(&mut turn, &mut delegate).await {
            Outcome::Done => Ok(report(&turn)),
            Outcome::Parked(question) => return Ok(ControlFlow::Break(asked(&turn, question))),
            // Not the delegate's failure.
            Outcome::Failed(problem) if problem.code == ErrorCode::Internal => return Err(problem),
            Outcome::Failed(problem) => {
                // Half an answer would else be the beginning of the next one.
                change = Change::messages(self.chat.settle().await);
                let text = format!("The task was not finished, and what was done of it stands: {}", problem.message);
                Err(Problem { message: text, ..problem })
            }
        };
        call::finish_with(&self.chat, &call, outcome, change, |_| {}).await.map(ControlFlow::Continue)
    }

    async fn delegate_of(&self, call: &Message) -> Result<(Run, Turn), Problem> {
        let lost = || Problem::new(ErrorCode::Internal, "The task of a call to `delegate` is not in the history. Send a message to go on.");
        let id: CallId = call.meta("call_id").parse().map_err(|_| lost())?;
        let history = self.chat.store.messages(self.chat.id).await.map_err(storage)?;
        let thread = of_thread(history, Some(id));
        let role = thread.first().and_then(|task| task.agent_role).ok_or_else(lost)?;
        let run = self.for_delegate(Agent { role, delegation: Some(id) });
        let turn = run.turn().await?;
        Ok((run, turn))
    }
}

fn asked(turn: &Turn, question: QuestionId) -> Vec<Message> {
    turn.history().iter().filter(|message| message.meta("question_id") == question.to_string()).cloned().collect()
}

/// What the one who handed on the task reads of it.
fn report(turn: &Turn) -> Value {
    let is_said = |message: &&Message| {
        message.author == Author::Assistant && message.message_type != MessageType::ToolCall && message.meta("call_id").is_empty()
    };
    let last = turn.history().iter().rev().find(is_said);
    let text = last.map(|message| message.content.trim()).filter(|text| !text.is_empty()).unwrap_or("(It ended without a report.)");
    let plan = turn.history().iter().rev().find(|message| message.message_type == MessageType::Plan);
    match plan {
        Some(plan) => {
            let file = plan.meta("plan_file");
            json!({ "output": format!("{text}\n\nIts plan: {file}"), "plan_file": file })
        }
        None => json!({ "output": text }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_agent::thread::DELEGATION;
    use planwright_protocol::ChatId;

    fn said(author: Author, message_type: MessageType) -> Message {
        Message::new(ChatId::generate(), author, message_type, "")
    }

    fn delegate() -> Message {
        said(Author::Assistant, MessageType::ToolCall).with("tool", "delegate").with("args", json!({ "role": "actor", "task": "Look" }))
    }

    fn handed_on(times: usize) -> Vec<Message> {
        std::iter::once(said(Author::User, MessageType::Text)).chain((0..times).map(|_| delegate())).collect()
    }

    #[test]
    fn so_many_tasks_are_handed_on_and_no_more_until_the_user_speaks() {
        let effects = [Effect::Delegate(Role::Actor)];
        let limit = |history: &[Message]| beyond_limits(&delegate(), &effects, history).map(|problem| problem.code);
        assert_eq!(limit(&handed_on(MOST_TASKS - 1)), None);
        assert_eq!(limit(&handed_on(MOST_TASKS)), Some(ErrorCode::LimitReached));
        assert_eq!(limit(&[handed_on(MOST_TASKS), handed_on(0)].concat()), None);
        let together = handed_on(MOST_TASKS + 5);
        let refused = together[1..].iter().filter(|call| beyond_limits(call, &effects, &together).is_some()).count();
        assert_eq!(refused, 5, "also of the calls of one reply");
        assert!(beyond_limits(&delegate(), &[Effect::Progress], &handed_on(MOST_TASKS)).is_none());
    }

    #[test]
    fn a_delegate_hands_nothing_on_whatever_its_role_may() {
        let call = delegate().with(DELEGATION, CallId::generate().to_string());
        let problem = beyond_limits(&call, &[Effect::Delegate(Role::Actor)], &[]).unwrap();
        assert_eq!(problem.code, ErrorCode::LimitReached);
    }
}
