//! A prompt turn: from the client's prompt to the end of the run.

use super::answer;
use agent_client_protocol::Error;
use agent_client_protocol::v1::Responder;
use agent_client_protocol::v1::schema::{PromptResponse, StopReason};

pub struct PromptTurn {
    /// The last event before this turn.
    since: u64,
    /// More than one if the user sent further prompts during the run.
    waiting: Vec<Responder<PromptResponse>>,
}

impl PromptTurn {
    pub fn after(since: u64) -> Self {
        Self { since, waiting: Vec::new() }
    }

    pub fn wait(&mut self, responder: Responder<PromptResponse>) {
        self.waiting.push(responder);
    }

    /// Whether an event belongs to this turn; events that were sent before it do not.
    pub fn is_about(&self, seq: u64) -> bool {
        seq > self.since
    }

    pub fn end(self, result: &Result<StopReason, Error>) {
        for responder in self.waiting {
            answer(responder.respond_with_result(result.clone().map(PromptResponse::new)));
        }
    }
}
