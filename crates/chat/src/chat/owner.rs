//! The owner of a chat: the only task that changes it. It awaits the store and nothing else.

use super::change::Change;
use super::record::{ChatRecord, Draft};
use super::sequence::Sequence;
use crate::chat_file::ChatFile;
use crate::view::stored_snapshot;
use planwright_feed::{Moment, PartialAnswer};
use planwright_protocol::api::chat::{ChatView, Snapshot};
use planwright_protocol::{ChatState, ErrorCode, Event, InvalidTransition, Problem, Role};
use planwright_store::{Append, Marks, OpRecord, Store, StoreError};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot, watch};

/// How many event numbers an append reserves for events that are not stored, so that numbers grow even across a crash.
const RESERVE: u64 = 4096;
/// Maximum number of waiting requests.
const MAILBOX: usize = 256;

pub type StateEdit = Box<dyn FnOnce(&mut Draft) + Send>;
type Answer<T> = oneshot::Sender<Result<T, Problem>>;

pub enum Request {
    /// Edits the chat, stores everything in one append, publishes the events. Answers with the row before and after.
    Commit(Box<Change>, StateEdit, Answer<(Arc<ChatRecord>, Arc<ChatRecord>)>),
    /// Edits the chat in memory; the next append stores it.
    Amend(StateEdit, Answer<()>),
    /// Publishes the chat's state. A run derives its state from its messages after a crash, so this needs no append.
    Enter(Box<dyn FnOnce(Role) -> ChatState + Send>, Answer<()>),
    /// Reserves more event numbers.
    Reserve(Answer<()>),
    Snapshot(Answer<Snapshot>),
    Moment(Answer<Moment>),
}

pub struct Owner {
    pub store: Store,
    pub file: Arc<ChatFile>,
    pub sequence: Arc<Sequence>,
    pub record: watch::Sender<Arc<ChatRecord>>,
}

impl Owner {
    /// Runs until all senders are dropped.
    pub fn spawn(self) -> mpsc::Sender<Request> {
        let (sender, mut requests) = mpsc::channel(MAILBOX);
        tokio::spawn(async move {
            while let Some(request) = requests.recv().await {
                self.serve(request).await;
            }
        });
        sender
    }

    async fn serve(&self, request: Request) {
        // A caller that was cancelled needs no answer.
        match request {
            Request::Commit(change, edit, answer) => {
                let before = self.record();
                let committed = self.commit(*change, edit).await;
                let _ = answer.send(committed.map(|()| (before, self.record())));
            }
            Request::Amend(edit, answer) => {
                let mut draft = self.record().draft();
                edit(&mut draft);
                self.replace(draft);
                let _ = answer.send(Ok(()));
            }
            Request::Enter(state, answer) => {
                let _ = answer.send(self.enter(state));
            }
            Request::Reserve(answer) => {
                let _ = answer.send(self.commit(Change::default(), Box::new(|_| {})).await);
            }
            Request::Snapshot(answer) => {
                let _ = answer.send(self.snapshot().await);
            }
            Request::Moment(answer) => {
                let _ = answer.send(self.moment().await);
            }
        }
    }

    fn record(&self) -> Arc<ChatRecord> {
        self.record.borrow().clone()
    }

    fn replace(&self, draft: Draft) {
        let (row, activity) = draft.finished();
        self.record.send_replace(Arc::new(self.record().followed_by(row, activity, None)));
    }

    fn enter(&self, state: impl FnOnce(Role) -> ChatState) -> Result<(), Problem> {
        let record = self.record();
        let role = record.config.role;
        let state = record.state.enter(state(role), role.mode()).map_err(invalid)?;
        let mut draft = record.draft();
        draft.activity.enter(state);
        if draft.activity.state() != record.state {
            self.replace(draft);
            self.sequence.publish_unstored([Event::StateChanged { state }]);
        }
        Ok(())
    }

    async fn commit(&self, change: Change, edit: StateEdit) -> Result<(), Problem> {
        let record = self.record();
        let mut draft = record.draft();
        edit(&mut draft);
        let (mut row, activity) = draft.finished();
        record.state.enter(row.state, row.config.role.mode()).map_err(invalid)?;
        row.grants.extend(change.grants);
        let mut events = change.events;
        if row.title != record.title || row.marks != record.marks {
            let Marks { pinned, archived, model, effort, .. } = row.marks.clone();
            events.push(Event::ChatUpdated { title: row.title.clone(), pinned, archived, model, effort });
        }
        if row.state != record.state && !events.iter().any(|event| matches!(event, Event::StateChanged { .. })) {
            events.push(Event::StateChanged { state: row.state });
        }
        let reserved = self.sequence.begin_append(events);
        let envelopes: Vec<_> = reserved.unstored.iter().chain(&reserved.new).cloned().collect();
        // The time of the newest message, by which clients recognise unread chats.
        let created = envelopes.iter().filter(|envelope| matches!(envelope.event, Event::MessageCreated { .. }));
        row.updated_at = created.map(|envelope| envelope.at).max().unwrap_or(row.updated_at);
        row.seq_ceiling = reserved.last + RESERVE;
        let op = change.op.map(|op| OpRecord { result: serde_json::to_value(ChatView::from(&row)).ok(), ..op });
        let append = Append {
            events: &envelopes,
            approval: change.approval.as_ref(),
            audit: &change.audit,
            versions: Some(&change.versions),
            op: op.as_ref(),
        };
        row.version = match self.store.append(&row, append).await {
            Ok(version) => version,
            Err(error) => {
                self.sequence.abandon_append();
                if matches!(error, StoreError::Stale | StoreError::OutcomeUnknown(_)) {
                    self.reload().await;
                }
                return Err(error.into());
            }
        };
        let ceiling = row.seq_ceiling;
        self.file.note(&envelopes);
        self.record.send_replace(Arc::new(record.followed_by(row, activity, change.approval)));
        self.sequence.end_append(reserved, ceiling);
        Ok(())
    }

    /// Reloads the chat from the store. Otherwise every later append would be refused.
    async fn reload(&self) {
        let record = self.record();
        match self.store.chat(record.id).await {
            Ok(Some(mut row)) => {
                // The fence of this process keeps counting.
                row.epoch = record.epoch;
                let ChatRecord { row, activity, .. } = ChatRecord::load(row, None);
                self.record.send_replace(Arc::new(record.followed_by(row, activity, None)));
            }
            Ok(None) => {}
            Err(error) => tracing::error!(chat = %record.id, %error, "can't reload a chat whose change may be stored"),
        }
    }

    /// Stores the events that were only published, for readers of the store.
    async fn store_all(&self) -> Result<(), Problem> {
        if self.sequence.has_unstored() { self.commit(Change::default(), Box::new(|_| {})).await } else { Ok(()) }
    }

    /// No commit happens between the parts, so they are consistent.
    async fn snapshot(&self) -> Result<Snapshot, Problem> {
        self.store_all().await?;
        let stored = stored_snapshot(&self.store, &self.record().row).await?;
        let live = self.sequence.live_parts();
        Ok(Snapshot { partial: live.partial.map(|reply| reply.answer), printed: live.printed, last_event_id: live.seq, ..stored })
    }

    async fn moment(&self) -> Result<Moment, Problem> {
        self.store_all().await?;
        if !self.sequence.number_partial() {
            self.commit(Change::default(), Box::new(|_| {})).await?;
            self.sequence.number_partial();
        }
        let live = self.sequence.live_parts();
        let partial = live.partial.map(|reply| PartialAnswer { message_id: reply.answer.message_id, text: reply.answer.text });
        Ok(Moment { seq: live.seq, partial })
    }
}

/// The state machine has no such transition; nothing was changed.
fn invalid(error: InvalidTransition) -> Problem {
    Problem::new(ErrorCode::Internal, format!("Planwright failed internally: {error}. Please report it."))
}
