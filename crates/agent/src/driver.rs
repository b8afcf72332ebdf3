//! The loop. It decides nothing: the turn says what comes next, and the `World` does it.

use crate::turn::{LOOP_ENDS_RUN, Step, Turn};
use async_trait::async_trait;
use planwright_protocol::{CallMessage, ErrorCode, Message, Problem, QuestionId};

/// Everything a turn can request. Each method stores what happened before it returns.
#[async_trait]
pub trait World: Send {
    /// Returns the messages that arrived since the last call.
    async fn take_messages(&mut self) -> Result<Vec<Message>, Problem>;

    /// Calls the model with the conversation so far and returns its reply.
    async fn model(&mut self, turn: &Turn) -> Result<Vec<Message>, Problem>;

    /// Executes the calls without a result and returns their results, or the question that must be answered first.
    async fn tools(&mut self, calls: Vec<CallMessage>, history: &[Message]) -> Result<Vec<Message>, Problem>;
}

#[derive(Clone, Debug, PartialEq)]
pub enum TurnOutcome {
    Done,
    /// The turn ended; the answer to this question restarts it.
    Parked(QuestionId),
    Failed(Problem),
}

pub async fn drive(turn: &mut Turn, world: &mut dyn World) -> TurnOutcome {
    loop {
        let happened = match turn.next() {
            Step::CallModel => match world.take_messages().await {
                Ok(heard) => {
                    for message in heard {
                        turn.apply(message);
                    }
                    world.model(turn).await
                }
                Err(problem) => Err(problem),
            },
            Step::CallTools(calls) => world.tools(calls, turn.history()).await,
            Step::Ask(question) => return TurnOutcome::Parked(question),
            Step::Done => return TurnOutcome::Done,
            Step::OutOfTurns(limit) => Err(out_of_turns(limit)),
            Step::Loop => Err(Problem::new(
                ErrorCode::LoopDetected,
                format!(
                    "The model made the same failing call {LOOP_ENDS_RUN} times in a row, so the run ended. Send a message that tells it what to do instead."
                ),
            )),
        };
        match happened {
            Ok(messages) => messages.into_iter().for_each(|message| turn.apply(message)),
            Err(problem) => return TurnOutcome::Failed(problem),
        }
    }
}
/// Why a run ended that reached its limit of model requests.
#[must_use]
pub fn out_of_turns(limit: u32) -> Problem {
    Problem::new(
        ErrorCode::LimitReached,
        format!("The run reached its limit of {limit} requests to the model. Send a message to continue, or raise `turns` under [limits]."),
    )
}
