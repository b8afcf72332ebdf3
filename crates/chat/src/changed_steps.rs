//! Finds the step of the plan during which a file was changed.

use planwright_protocol::message::CallStatus;
use planwright_protocol::{Message, MessageBody, MessageId};
use std::collections::HashMap;

/// The tool that reports on a step of the plan.
const UPDATE_STEP: &str = "update_step";

/// The step that was in progress at each message, including reports on steps, because they tick the plan's boxes.
pub fn steps_in_progress(messages: &[Message]) -> HashMap<MessageId, u32> {
    let mut steps = HashMap::new();
    let mut current = None;
    for message in messages {
        if let MessageBody::ToolCall(call) = &message.body
            && call.tool == UPDATE_STEP
        {
            let number = call.args["step_number"].as_u64().and_then(|number| u32::try_from(number).ok());
            // A step whose check failed is still in progress.
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
