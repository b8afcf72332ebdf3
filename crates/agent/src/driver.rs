//! The loop. It decides nothing: the turn says what comes next, the world does it.

use crate::turn::{LOOP_ENDS_RUN, Step, Turn};
use async_trait::async_trait;
use planwright_protocol::{CallMessage, ErrorCode, Message, Problem, QuestionId};

/// What a turn can have done. Each way stores what happened before it returns.
#[async_trait]
pub trait World: Send {
    /// What the user has written or done meanwhile.
    async fn heard(&mut self) -> Result<Vec<Message>, Problem>;

    /// Asks the model, with all that was said so far, and gives its reply.
    async fn model(&mut self, turn: &Turn) -> Result<Vec<Message>, Problem>;

    /// Carries out the calls that have no result yet, and gives their results, or the question
    /// that must be answered first.
    async fn tools(&mut self, calls: Vec<CallMessage>, history: &[Message]) -> Result<Vec<Message>, Problem>;
}

#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Done,
    /// The turn is over; the answer to this question starts it again.
    Parked(QuestionId),
    Failed(Problem),
}

pub async fn drive(turn: &mut Turn, world: &mut dyn World) -> Outcome {
    loop {
        let happened = match turn.next() {
            Step::CallModel => match world.heard().await {
                Ok(heard) => {
                    for message in heard {
                        turn.apply(message);
                    }
                    world.model(turn).await
                }
                Err(problem) => Err(problem),
            },
            Step::CallTools(calls) => world.tools(calls, turn.history()).await,
            Step::Ask(question) => return Outcome::Parked(question),
            Step::Done => return Outcome::Done,
            Step::OutOfTurns(limit) => Err(out_of_turns(limit)),
            Step::Loop => Err(Problem::new(
                ErrorCode::LoopDetected,
                format!(
                    "The model made the same failing call {LOOP_ENDS_RUN} times in a row, so the run was ended. Send a message that tells it what to do instead."
                ),
            )),
        };
        match happened {
            Ok(messages) => messages.into_iter().for_each(|message| turn.apply(message)),
            Err(problem) => return Outcome::Failed(problem),
        }
    }
}
/// Why a run ends that asked its model too often.
#[must_use]
pub fn out_of_turns(limit: u32) -> Problem {
    Problem::new(
        ErrorCode::LimitReached,
        format!("The run has asked the model {limit} times, which is the limit. Send a message to go on, or raise `turns` under [limits]."),
    )
}
