//! The activity of a chat, as one value. Three columns of its row (`state`, `run`, `pending`) are computed from it, and it is
//! computed from them when the chat is loaded; only this file does either.

use planwright_protocol::api::chat::Pending;
use planwright_protocol::{ChatState, Mode, RunId};
use planwright_store::ChatRow;

#[derive(Clone, Debug)]
pub enum Activity {
    Idle,
    Running(Running),
    /// A question waits for the user's answer.
    Waiting(Box<Pending>),
    /// The user has stopped this run, and it is ending. Stored as running: after a crash the run resumes.
    Stopping(Running),
    /// A separate run compacts the conversation.
    Compacting(RunId),
    /// Changes are being reverted. Afterwards the chat is as before.
    Reverting(RunId, Rest),
    /// The last run failed.
    Failed,
}

#[derive(Clone, Debug)]
pub struct Running {
    pub id: RunId,
    pub phase: Phase,
    /// The question with which this run ends.
    pub asked: Option<Box<Pending>>,
}

/// The phase of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Thinking,
    Exploring,
    Planning,
    Executing,
}

/// The state of a chat without a run and without a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    Idle,
    Failed,
}

impl Activity {
    /// The activity of a stored chat. An inconsistent combination of columns loads as the nearest activity.
    pub fn load(row: &ChatRow) -> Self {
        let asked = row.pending.clone().and_then(|pending| match serde_json::from_value(pending) {
            Ok(pending) => Some(Box::new(pending)),
            Err(error) => {
                tracing::warn!(chat = %row.id, %error, "can't parse the pending question of a chat; dropping it");
                None
            }
        });
        match (row.run, row.state, asked) {
            // An interrupted run that has asked ends when it resumes.
            (Some(id), state, asked) if let Some(phase) = Phase::of(state) => Activity::Running(Running { id, phase, asked }),
            (Some(id), ChatState::AwaitingAnswer | ChatState::Stopping, asked) => {
                Activity::Running(Running { id, phase: Phase::Thinking, asked })
            }
            (Some(id), state, _) => Activity::Reverting(id, if state == ChatState::Failed { Rest::Failed } else { Rest::Idle }),
            (None, _, Some(asked)) => Activity::Waiting(asked),
            (None, ChatState::Failed, None) => Activity::Failed,
            (None, _, None) => Activity::Idle,
        }
    }

    /// Writes the columns of the row.
    pub fn store(&self, row: &mut ChatRow) {
        row.state = self.state();
        row.run = self.run();
        row.pending = self.pending().and_then(|pending| serde_json::to_value(pending).ok());
    }

    /// The state that clients see.
    pub fn state(&self) -> ChatState {
        match self {
            Activity::Idle => ChatState::Idle,
            Activity::Running(run) | Activity::Stopping(run) => run.phase.state(),
            Activity::Waiting(_) => ChatState::AwaitingAnswer,
            Activity::Compacting(_) => ChatState::Thinking,
            Activity::Reverting(_, Rest::Idle) => ChatState::Idle,
            Activity::Reverting(_, Rest::Failed) | Activity::Failed => ChatState::Failed,
        }
    }

    /// The unfinished run.
    pub fn run(&self) -> Option<RunId> {
        match self {
            Activity::Running(run) | Activity::Stopping(run) => Some(run.id),
            Activity::Compacting(id) | Activity::Reverting(id, _) => Some(*id),
            Activity::Idle | Activity::Waiting(_) | Activity::Failed => None,
        }
    }

    /// The question that is pending, or will be when the run has ended.
    pub fn pending(&self) -> Option<&Pending> {
        match self {
            Activity::Running(run) | Activity::Stopping(run) => run.asked.as_deref(),
            Activity::Waiting(pending) => Some(pending),
            Activity::Idle | Activity::Compacting(_) | Activity::Reverting(..) | Activity::Failed => None,
        }
    }

    pub fn begin_run(&mut self) {
        *self = Activity::Running(Running { id: RunId::generate(), phase: Phase::Thinking, asked: None });
    }

    /// The unfinished run continues as an ordinary one.
    pub fn continue_run(&mut self) {
        match self {
            Activity::Running(_) => {}
            Activity::Stopping(run) => *self = Activity::Running(run.clone()),
            Activity::Compacting(id) | Activity::Reverting(id, _) => {
                *self = Activity::Running(Running { id: *id, phase: Phase::Thinking, asked: None });
            }
            Activity::Idle | Activity::Waiting(_) | Activity::Failed => self.begin_run(),
        }
    }

    pub fn begin_stop(&mut self) {
        if let Activity::Running(run) = self {
            *self = Activity::Stopping(run.clone());
        }
    }

    pub fn begin_revert(&mut self) {
        let rest = if matches!(self, Activity::Failed) { Rest::Failed } else { Rest::Idle };
        *self = Activity::Reverting(RunId::generate(), rest);
    }

    pub fn end_revert(&mut self) {
        if let Activity::Reverting(_, rest) = self {
            *self = match rest {
                Rest::Idle => Activity::Idle,
                Rest::Failed => Activity::Failed,
            };
        }
    }

    /// A run that asks continues to its end; otherwise the chat waits immediately.
    pub fn ask(&mut self, pending: Pending) {
        match self {
            Activity::Running(run) | Activity::Stopping(run) => run.asked = Some(Box::new(pending)),
            Activity::Idle | Activity::Waiting(_) | Activity::Compacting(_) | Activity::Reverting(..) | Activity::Failed => {
                *self = Activity::Waiting(Box::new(pending));
            }
        }
    }

    /// The question was answered, or the user sent something else.
    pub fn resolve_question(&mut self) {
        match self {
            Activity::Running(run) | Activity::Stopping(run) => run.asked = None,
            Activity::Waiting(_) => *self = Activity::Idle,
            Activity::Idle | Activity::Compacting(_) | Activity::Reverting(..) | Activity::Failed => {}
        }
    }

    /// The run ends; the chat waits if it has asked.
    pub fn end_run(&mut self) {
        let asked = match self {
            Activity::Running(run) | Activity::Stopping(run) => run.asked.take(),
            Activity::Waiting(_) => return,
            Activity::Idle | Activity::Compacting(_) | Activity::Reverting(..) | Activity::Failed => None,
        };
        *self = asked.map_or(Activity::Idle, Activity::Waiting);
    }

    /// Changes the phase of a run. Other activities stay.
    pub fn enter(&mut self, state: ChatState) {
        let Some(phase) = Phase::of(state) else { return };
        if let Activity::Running(run) | Activity::Stopping(run) = self {
            run.phase = phase;
        }
    }

    /// A run that continues in another mode leaves the phases of the old one.
    pub fn change_mode(&mut self, mode: Mode) {
        if !self.state().exists_in(mode) {
            self.enter(ChatState::Thinking);
        }
    }
}

impl Phase {
    fn of(state: ChatState) -> Option<Self> {
        match state {
            ChatState::Thinking => Some(Phase::Thinking),
            ChatState::Exploring => Some(Phase::Exploring),
            ChatState::Planning => Some(Phase::Planning),
            ChatState::Executing => Some(Phase::Executing),
            ChatState::Idle | ChatState::AwaitingAnswer | ChatState::Stopping | ChatState::Failed => None,
        }
    }

    fn state(self) -> ChatState {
        match self {
            Phase::Thinking => ChatState::Thinking,
            Phase::Exploring => ChatState::Exploring,
            Phase::Planning => ChatState::Planning,
            Phase::Executing => ChatState::Executing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_protocol::Agent;
    use planwright_protocol::event::Usage;
    use planwright_protocol::{ChatConfig, ChatId, QuestionKind, Role, Severity, Timestamp, WorkspaceId};
    use planwright_store::Marks;
    use serde_json::{Value, json};

    fn pending() -> Pending {
        Pending::new(Agent::own(Role::Actor), QuestionKind::User, Severity::Major, Vec::new())
    }

    fn row(state: ChatState, run: Option<RunId>, pending: Option<Value>) -> ChatRow {
        ChatRow {
            id: ChatId::generate(),
            version: 0,
            workspace_id: WorkspaceId::generate(),
            title: String::new(),
            config: ChatConfig { role: Role::Actor, plan_file: None },
            state,
            pending,
            grants: Vec::new(),
            progress: None,
            epoch: 0,
            seq_ceiling: 0,
            usage: Usage::default(),
            run,
            turn_start: None,
            marks: Marks::default(),
            created_at: Timestamp::now(),
            updated_at: Timestamp::now(),
        }
    }

    fn columns(row: &ChatRow) -> (ChatState, Option<RunId>, bool) {
        (row.state, row.run, row.pending.is_some())
    }

    #[test]
    fn every_activity_has_columns_of_its_own_and_comes_back_from_them() {
        let (id, card) = (RunId::generate(), serde_json::to_value(pending()).unwrap());
        for (state, run, pending) in [
            (ChatState::Idle, None, None),
            (ChatState::Failed, None, None),
            (ChatState::AwaitingAnswer, None, Some(card.clone())),
            (ChatState::Thinking, Some(id), None),
            (ChatState::Executing, Some(id), Some(card)),
            (ChatState::Idle, Some(id), None),
            (ChatState::Failed, Some(id), None),
        ] {
            let before = row(state, run, pending);
            let mut after = before.clone();
            Activity::load(&before).store(&mut after);
            assert_eq!(columns(&after), columns(&before), "{state:?}");
        }
        assert!(matches!(Activity::load(&row(ChatState::Failed, Some(id), None)), Activity::Reverting(_, Rest::Failed)));
    }

    #[test]
    fn columns_that_contradict_each_other_load_as_an_activity_that_exists() {
        let (id, card) = (RunId::generate(), serde_json::to_value(pending()).unwrap());
        let loaded = |state, run, pending| {
            let mut row = row(state, run, pending);
            Activity::load(&row.clone()).store(&mut row);
            columns(&row)
        };
        assert_eq!(loaded(ChatState::AwaitingAnswer, None, None), (ChatState::Idle, None, false), "nothing to answer");
        assert_eq!(loaded(ChatState::AwaitingAnswer, None, Some(json!("noise"))), (ChatState::Idle, None, false));
        assert_eq!(loaded(ChatState::Idle, None, Some(card.clone())), (ChatState::AwaitingAnswer, None, true));
        assert_eq!(loaded(ChatState::Thinking, None, None), (ChatState::Idle, None, false), "no run is under way");
        assert_eq!(loaded(ChatState::AwaitingAnswer, Some(id), Some(card)), (ChatState::Thinking, Some(id), true));
    }

    #[test]
    fn a_run_that_asks_waits_when_it_has_ended_and_not_if_the_user_wrote_meanwhile() {
        let mut activity = Activity::Idle;
        activity.begin_run();
        activity.ask(pending());
        assert_eq!(activity.state(), ChatState::Thinking);
        let mut superseded = activity.clone();
        activity.end_run();
        assert!(matches!(activity, Activity::Waiting(_)));
        superseded.resolve_question();
        superseded.end_run();
        assert!(matches!(superseded, Activity::Idle));
    }
}
