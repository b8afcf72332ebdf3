//! Stores the result of a model's call as a message.

use super::agent_call::CallOutcome;
use super::repetition;
use crate::chat::{Change, Chat, Draft};
use crate::crash;
use crate::versions;
use planwright_protocol::api::chat::Pending;
use planwright_protocol::event::ToolResponse;
use planwright_protocol::message::{CallStatus, ToolOutcome, ToolResult};
use planwright_protocol::{CallMessage, Event, Message, Problem};
use serde_json::{Value, json};
use std::sync::Arc;

/// Stores the result of a call.
pub async fn record(chat: &Arc<Chat>, call: &CallMessage, outcome: Result<Value, Problem>, change: Change) -> Result<CallOutcome, Problem> {
    record_with(chat, call, outcome, change, |_| {}).await.map(CallOutcome::Done)
}

/// Like [`record`], together with an edit of the chat. Returns the messages.
pub async fn record_with(
    chat: &Arc<Chat>,
    call: &CallMessage,
    outcome: Result<Value, Problem>,
    mut change: Change,
    edit: impl FnOnce(&mut Draft) + Send + 'static,
) -> Result<Vec<Message>, Problem> {
    let outcome = match outcome {
        Err(problem) => {
            versions::settle(chat, call.id).await?;
            Err(repetition::with_repetition(chat, call, problem).await?)
        }
        Ok(result) => Ok(result),
    };
    let response = ToolResponse::from(outcome);
    let call = call.clone().with_status(if response.success { CallStatus::Done } else { CallStatus::Failed });
    let (result, mut events) = message_and_events(chat, &call, response);
    events.append(&mut change.events);
    change.events = events;
    chat.publish(change, edit).await?;
    crash::point("result_stored");
    Ok(vec![call.into(), result])
}

/// Stores a result that says that a question is pending; in the model's context the answer replaces it.
pub async fn record_question(chat: &Arc<Chat>, call: &CallMessage, pending: Pending) -> Result<CallOutcome, Problem> {
    let response = Ok(json!({"status": "question_pending", "question_id": pending.question_id})).into();
    let (text, result) = text_and_facts(call, response);
    let result = message(chat, call, text, ToolResult { question_id: Some(pending.question_id), ..result });
    let question = pending.message(chat.id);
    let call = call.clone().with_status(CallStatus::Done);
    let mut change = Change::messages([result.clone(), question.clone()]).event(pending.event());
    change.events.insert(0, updated(&call));
    let change = change.log_question(&pending, call.body.model());
    chat.publish(change, move |chat| chat.activity.ask(pending)).await?;
    crash::point("question_stored");
    Ok(CallOutcome::Asked(vec![call.into(), result, question]))
}

/// The event about a call whose status has changed.
pub fn updated(call: &CallMessage) -> Event {
    Event::MessageUpdated { message: call.clone().into() }
}

/// The result of a call as a message, and the events about it.
pub fn message_and_events(chat: &Chat, call: &CallMessage, response: ToolResponse) -> (Message, Vec<Event>) {
    let (text, result) = text_and_facts(call, response.clone());
    let message = message(chat, call, text, result);
    let result = Event::ToolResult { call_id: call.body.call_id, result: response };
    (message.clone(), vec![updated(call), Event::MessageCreated { message }, result])
}

fn message(chat: &Chat, call: &CallMessage, text: String, result: ToolResult) -> Message {
    Message::new(chat.id, result, text).in_thread(call.delegation)
}

/// The text of a result, and its facts.
fn text_and_facts(call: &CallMessage, response: ToolResponse) -> (String, ToolResult) {
    let (text, outcome) = match (response.error, response.result) {
        (Some(problem), _) => (format!("{}: {}", problem.code, problem.message), ToolOutcome::Failed(problem)),
        (None, Some(mut result)) => {
            let text = result.get("output").and_then(Value::as_str).map_or_else(|| result.to_string(), str::to_owned);
            let facts = result.as_object_mut().map(std::mem::take).map(|mut facts| {
                facts.remove("output");
                facts
            });
            (text, ToolOutcome::Succeeded(facts))
        }
        (None, None) => (String::new(), ToolOutcome::Succeeded(None)),
    };
    (text, ToolResult { call_id: call.body.call_id, tool: call.body.tool.clone(), outcome, question_id: None, body_size: None })
}
