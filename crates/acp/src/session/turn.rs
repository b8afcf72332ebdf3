//! A prompt turn: from the client's prompt to the end of the run.

use super::answer;
use agent_client_protocol::Error;
use agent_client_protocol::v1::Responder;
use agent_client_protocol::v1::schema::{PromptResponse, StopReason};

pub struct Turn {
    /// The number of the last event before it.
    since: u64,
    /// More than one when the user wrote on while the run was under way.
    waiting: Vec<Responder<PromptResponse>>,
}

impl Turn {
    pub fn after(since: u64) -> Self {
        Self { since, waiting: Vec::new() }
    }

    pub fn wait(&mut self, responder: Responder<PromptResponse>) {
        self.waiting.push(responder);
    }

    /// Whether an event is of this turn; what is still on its way from before is not.
    pub fn is_about(&self, seq: u64) -> bool {
        seq > self.since
    }

    pub fn end(self, result: &Result<StopReason, Error>) {
        for responder in self.waiting {
            answer(responder.respond_with_result(result.clone().map(PromptResponse::new)));
        }
    }
}
