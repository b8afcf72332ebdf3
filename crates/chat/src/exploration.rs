//! Tasks that helpers read for. Each helper has a conversation of its own in the chat, which is replayed like a delegate's;
//! whoever explores gets only what the helpers report.

use planwright_agent::thread::task_message;
use planwright_protocol::message::ToolCall;
use planwright_protocol::{CallId, CallMessage, ErrorCode, Message, Mode, Problem};
use planwright_tools::tool::Input;
use planwright_tools::{Approval, Explore};
use serde_json::Value;

/// Replies that one helper may give.
pub const MOST_REPLIES: u32 = 20;

/// Whether a call lets helpers read.
pub fn is_one(call: &ToolCall) -> bool {
    call.tool == Explore::SPEC.name
}

/// The messages that the helpers begin with.
pub fn tasks_of(call: &CallMessage) -> Vec<Message> {
    let role = Mode::Plan.default_role();
    tasks(&call.body).into_iter().map(|(thread, task)| task_message(call.chat_id, role, thread, task)).collect()
}

/// The conversation of each helper, with its task.
pub fn tasks(call: &ToolCall) -> Vec<(CallId, &str)> {
    let tasks = call.args.get("tasks").and_then(Value::as_array);
    let tasks = tasks.into_iter().flatten().filter_map(Value::as_str);
    tasks.zip(0..).map(|(task, number)| (call.call_id.helper(number), task)).collect()
}

/// The error of a helper's call that would need the user's approval.
pub fn nobody_to_ask(wanted: &Approval) -> Problem {
    let text =
        format!("This needs the user's approval ({}), and helpers ask nobody. Go on without it, and say so in your report.", wanted.reason);
    Problem::new(ErrorCode::ToolNotPermitted, text)
}
