//! Detects calls that fail repeatedly in the same way.

use crate::chat::Chat;
use planwright_agent::thread::of_thread;
use planwright_agent::turn::LOOP_ENDS_RUN;
use planwright_protocol::message::ToolResult;
use planwright_protocol::{Author, CallMessage, ErrorCode, Message, Problem};
use serde_json::{Value, json};

/// From this number on the result tells the model.
const IS_LOOP: usize = 3;
/// Enough messages for all failures that matter, and for the other parts of their replies.
const LOOKED_AT: u32 = 64;

/// The error for the model: the failure itself, or that it has occurred too often.
pub async fn with_repetition(chat: &Chat, call: &CallMessage, problem: Problem) -> Result<Problem, Problem> {
    let newest = chat.store.messages_before(chat.id, None, LOOKED_AT).await?;
    let newest = of_thread(newest, call.delegation);
    let times = 1 + same_in_a_row(&newest, call, &problem);
    if times < IS_LOOP {
        return Ok(problem);
    }
    let text = format!(
        "You have made this call {times} times in a row, and it failed in the same way each time: {} Don't repeat it: do something else, or ask the user. At {LOOP_ENDS_RUN} times the run ends.",
        problem.message
    );
    Ok(Problem::new(ErrorCode::LoopDetected, text).with_details(json!({ "times": times, "error": failure_of_problem(&problem) })))
}

/// How many of the newest results are of the same call with the same failure. `newest` is newest first; a user message resets the
/// count.
fn same_in_a_row(newest: &[Message], call: &CallMessage, problem: &Problem) -> usize {
    let calls = || newest.iter().filter_map(|message| message.body.tool_call());
    let call_of = |result: &ToolResult| calls().find(|other| other.call_id == result.call_id);
    let since_user = newest.iter().take_while(|message| message.author != Author::User);
    let results = since_user.filter_map(|message| message.body.tool_result());
    let is_same = |result: &&ToolResult| {
        let same_call = call_of(result).is_some_and(|other| (&other.tool, &other.args) == (&call.body.tool, &call.body.args));
        same_call && failure_of(result).is_some_and(|failure| failure == failure_of_problem(problem))
    };
    results.take_while(is_same).count()
}

fn failure_of_problem(problem: &Problem) -> Value {
    json!({ "code": problem.code, "message": problem.message })
}

/// Why a stored call failed. For a loop, the underlying failure.
fn failure_of(result: &ToolResult) -> Option<Value> {
    let problem = result.outcome.error()?;
    match problem.details.as_ref().and_then(|details| details.get("error")) {
        Some(inner) if problem.code == ErrorCode::LoopDetected => Some(inner.clone()),
        Some(_) | None => Some(failure_of_problem(problem)),
    }
}
