//! During which step of the plan something was changed.

use planwright_protocol::message::CallStatus;
use planwright_protocol::{Message, MessageBody, MessageId};
use std::collections::HashMap;

/// The tool by which the agent reports on a step of the plan.
const UPDATE_STEP: &str = "update_step";

/// Which of the plan's steps was in progress at each message. Reports on steps are among them, because they tick the plan's boxes.
pub fn steps_in_progress(messages: &[Message]) -> HashMap<MessageId, u32> {
    let mut steps = HashMap::new();
    let mut current = None;
    for message in messages {
        if let MessageBody::ToolCall(call) = &message.body
            && call.tool == UPDATE_STEP
        {
            let number = call.args["step_number"].as_u64().and_then(|number| u32::try_from(number).ok());
            // A step whose check failed is still worked on.
            if call.args["status"] == "in_progress" || call.status == CallStatus::Failed {
                current = number;
            } else if current == number {
                current = None;
            }
        }
        steps.extend(current.map(|step| (message.id, step)));
    }
    steps
}
