//! A chat in memory, and the one way to change it.

mod baseline;
mod circumstances;
mod file;
mod telling;

use crate::card::Pending;
use crate::chat_file::{ChatFile, header};
use crate::crash;
use crate::inbox::Inbox;
use crate::models::Models;
use crate::view::{Partial, RunEnd, Snapshot, shorten};
use async_trait::async_trait;
use planwright_feed::{ChatFeed, EventLog, Hub, Moment, PartialAnswer, Source};
use planwright_protocol::message::{AssistantText, ServerTrouble};
use planwright_protocol::{
    CallId, ChatId, ChatState, Envelope, ErrorCode, Event, InvalidTransition, Message, MessageBody, Mode, Problem, Role, Timestamp,
};
use planwright_store::{Append, ApprovalRow, AuditKind, AuditRow, ChatRow, GrantRow, Marks, MessageKey, Store, Versions};
use planwright_tools::command::Stop;
use planwright_tools::tool::Seen;
use planwright_tools::{Epoch, Fence, Workspace};
pub use planwright_workspaces::broken;
use planwright_workspaces::{Rules, Settings, Workspaces};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::Mutex;
use tokio_util::task::TaskTracker;

/// How many numbers are set aside at a time for events that are not stored, so that numbers grow
/// even over a crash.
const RESERVE: u64 = 4096;

pub struct Chat {
    pub id: ChatId,
    pub store: Store,
    rules: std::sync::RwLock<Rules>,
    pub(crate) workspaces: Workspaces,
    pub(crate) models: Arc<dyn Models>,
    pub workspace: Arc<Workspace>,
    pub fence: Arc<Fence>,
    seen: Arc<Seen>,
    pub(crate) feed: ChatFeed,
    live: Mutex<Live>,
    writes: TaskTracker,
    /// Calls that are being carried out, and what ends their commands.
    pub(crate) work: TaskTracker,
    pub(crate) stop: std::sync::Mutex<Stop>,
    /// How the workspace was when the run began.
    baseline: std::sync::Mutex<Option<Arc<planwright_tools::workspace::Baseline>>>,
    pub file: ChatFile,
    /// What the user wrote while a run was under way.
    pub(crate) inbox: Inbox,
    /// MCP servers that the chat was told it can't use.
    pub(crate) told_of_servers: std::sync::Mutex<BTreeMap<String, ServerTrouble>>,
}

struct Live {
    row: ChatRow,
    seq: u64,
    /// Events that were published and are stored with the next change. None of them was acknowledged to anybody.
    unstored: Vec<Envelope>,
    partial: Option<Partial>,
    /// What commands have printed that have no result yet, by call.
    printed: BTreeMap<CallId, String>,
    approval: Option<Arc<ApprovalRow>>,
}

/// One change to a chat: stored whole or not at all, then published.
#[derive(Default)]
pub struct Change {
    pub events: Vec<Event>,
    pub audit: Vec<AuditRow>,
    pub approval: Option<ApprovalRow>,
    pub grants: Vec<GrantRow>,
    /// What it is about to do to files.
    pub versions: Box<Versions>,
    /// The key that the client sent with the message.
    pub key: Option<MessageKey>,
}

impl Change {
    pub fn messages(messages: impl IntoIterator<Item = Message>) -> Self {
        Self { events: messages.into_iter().map(|message| Event::MessageCreated { message }).collect(), ..Self::default() }
    }

    pub fn event(mut self, event: Event) -> Self {
        self.events.push(event);
        self
    }

    /// What is logged was done by this user, not by a model.
    pub fn by(mut self, user: Option<&String>) -> Self {
        self.audit.iter_mut().for_each(|row| row.user = user.cloned());
        self
    }

    fn tells_state(&self) -> bool {
        self.events.iter().any(|event| matches!(event, Event::StateChanged { .. }))
    }

    /// Logs what the user is asked.
    pub fn log_question(self, pending: &Pending, model: &str) -> Self {
        let (kind, details) = pending.audit();
        self.log(kind, model, pending.by.role, details)
    }

    pub fn log(mut self, kind: AuditKind, model: &str, role: Role, details: Value) -> Self {
        self.audit.push(AuditRow { kind, model: model.to_owned(), role: Some(role), user: None, details, at: Timestamp::now() });
        self
    }
}

impl Chat {
    pub async fn load(id: ChatId, workspaces: Workspaces, models: Arc<dyn Models>, hub: Arc<Hub>) -> Result<Arc<Self>, Problem> {
        let store = workspaces.store().clone();
        let row = store.chat(id).await?.ok_or_else(|| no_chat(id))?;
        let workspace = workspaces.open(row.workspace_id).await?;
        let approval = store.approval(id).await?.map(Arc::new);
        let fence = Fence::new(Epoch(row.epoch));
        // Numbers up to the ceiling may have been given away before a crash.
        let seq = row.seq_ceiling;
        let source = Source { workspace: row.workspace_id, chat: id };
        let live = Mutex::new(Live { row, seq, unstored: Vec::new(), partial: None, printed: BTreeMap::new(), approval });
        let (writes, work) = (TaskTracker::new(), TaskTracker::new());
        let chat = Arc::new(Self {
            id,
            store,
            rules: std::sync::RwLock::new(workspaces.everywhere().clone()),
            workspaces,
            models,
            workspace,
            fence,
            seen: Arc::default(),
            feed: ChatFeed::new(source, seq, hub),
            live,
            writes,
            work,
            stop: std::sync::Mutex::default(),
            baseline: std::sync::Mutex::default(),
            file: ChatFile::default(),
            inbox: Inbox::default(),
            told_of_servers: std::sync::Mutex::default(),
        });
        // A file that can't be read is told of when something is to be done; looking at the chat needs none.
        let _ = chat.configure().await;
        Ok(chat)
    }

    /// Goes by what is configured now.
    pub async fn configure(&self) -> Result<(), Problem> {
        let id = self.row().await.workspace_id;
        let (rules, _) = self.workspaces.rules(id).await?;
        *self.rules.write().unwrap_or_else(std::sync::PoisonError::into_inner) = rules;
        Ok(())
    }

    pub fn rules(&self) -> Rules {
        self.rules.read().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    pub fn settings(&self) -> Arc<Settings> {
        self.rules().settings
    }

    pub async fn row(&self) -> ChatRow {
        self.live.lock().await.row.clone()
    }

    pub async fn snapshot(&self) -> Result<Snapshot, Problem> {
        // Held, so that the messages are those of this very number.
        let mut live = self.live.lock().await;
        self.store_all(&mut live).await?;
        let mut messages = self.store.messages_before(self.id, None, 50).await?;
        messages.reverse();
        messages.iter_mut().for_each(shorten);
        let ended = match live.row.run {
            Some(_) => None,
            None => self.store.newest_named(self.id, "run_finished").await?,
        };
        Ok(Snapshot {
            chat: live.row.clone().into(),
            pending_question: live.row.pending.clone(),
            messages,
            partial: live.partial.clone(),
            printed: live.printed.clone(),
            last_run: ended.and_then(|event| RunEnd::read(&event.envelope)),
            queued: self.inbox.ids(),
            last_event_id: live.seq,
        })
    }

    /// Changes the chat: `edit` its row, store everything in one transaction, publish the events.
    pub async fn publish(self: &Arc<Self>, change: Change, edit: impl FnOnce(&mut ChatRow) + Send + 'static) -> Result<(), Problem> {
        let chat = self.clone();
        // To its end, because what the database took must be known here as well.
        let work = async move {
            let mut live = chat.live.lock().await;
            let before = header(&live.row);
            chat.commit(&mut live, change, edit).await?;
            crash::point("file_unwritten");
            let only_longer = chat.file.is_begun() && before.tells_the_same(&header(&live.row));
            drop(live);
            if only_longer {
                // Nobody waits for a line of the transcript.
                let writer = chat.clone();
                chat.writes.spawn(async move { writer.write_file().await });
            } else {
                chat.write_file().await;
            }
            Ok(())
        };
        self.whole(work).await
    }

    /// Does something to its end, also when its caller is cancelled.
    pub(crate) async fn whole<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, Problem>> + Send + 'static,
    ) -> Result<T, Problem> {
        self.writes.spawn(work).await.map_err(broken)?
    }

    /// Like [`Self::publish`], for a change of role: when it is answered, no effect of the old role can land any more.
    pub async fn switch(self: &Arc<Self>, change: Change, edit: impl FnOnce(&mut ChatRow) + Send + 'static) -> Result<(), Problem> {
        let chat = self.clone();
        let work = async move {
            chat.end_commands().await;
            crash::point("switch_unfenced");
            let mut live = chat.live.lock().await;
            let epoch = chat.close_fence().await?;
            crash::point("switch_fenced");
            let edit = |row: &mut ChatRow| {
                edit(row);
                row.epoch = epoch.0;
                // A run that goes on in another mode leaves the states of the old one.
                if !row.state.is_of(row.config.role.mode()) {
                    row.state = ChatState::Thinking;
                }
            };
            let (before, told) = (live.row.state, change.tells_state());
            chat.commit(&mut live, change, edit).await?;
            crash::point("switch_stored");
            let state = live.row.state;
            if state != before && !told {
                chat.publish_unstored(&mut live, Event::StateChanged { state });
            }
            drop(live);
            chat.write_file().await;
            Ok(())
        };
        self.whole(work).await
    }

    /// Ends every permit given so far. Waits for commits under way, so it may not hold up a thread that others run on.
    pub async fn close_fence(&self) -> Result<Epoch, Problem> {
        let fence = self.fence.clone();
        tokio::task::spawn_blocking(move || fence.advance()).await.map_err(broken)
    }

    /// Waits for writes whose callers were cancelled. Gives what had come of an answer that nobody goes on with.
    pub async fn settle(&self) -> Option<Message> {
        self.writes.close();
        self.writes.wait().await;
        self.writes.reopen();
        let mut live = self.live.lock().await;
        let partial = live.partial.take()?;
        let said = Message::new(self.id, AssistantText { is_interrupted: true, ..AssistantText::default() }, partial.text);
        Some(Message { id: partial.message_id, ..partial.by.sign(said) })
    }

    async fn commit(&self, live: &mut Live, change: Change, edit: impl FnOnce(&mut ChatRow)) -> Result<(), Problem> {
        let mut row = live.row.clone();
        edit(&mut row);
        row.state = live.row.state.enter(row.state, row.config.role.mode()).map_err(invalid)?;
        row.grants.extend(change.grants);
        let mut events = change.events;
        if row.title != live.row.title || row.marks != live.row.marks {
            let Marks { pinned, archived, model, effort, .. } = row.marks.clone();
            events.push(Event::ChatUpdated { title: row.title.clone(), pinned, archived, model, effort });
        }
        let at = planwright_protocol::time::now();
        // What was told without being stored may have had numbers since the newest of the unstored.
        let seq = live.seq + events.len() as u64;
        let news = events.into_iter().zip(live.seq + 1..).map(|(event, seq)| Envelope { event, seq, at });
        let envelopes: Vec<Envelope> = live.unstored.iter().cloned().chain(news).collect();
        // When something was last said or done in it; clients tell by that what has not been read.
        let told = envelopes.iter().filter(|envelope| matches!(envelope.event, Event::MessageCreated { .. }));
        row.updated_at = told.map(|envelope| envelope.at).max().unwrap_or(row.updated_at);
        row.seq_ceiling = seq + RESERVE;
        self.store
            .append(
                &row,
                Append {
                    events: &envelopes,
                    approval: change.approval.as_ref(),
                    audit: &change.audit,
                    versions: Some(&change.versions),
                    key: change.key.as_ref(),
                },
            )
            .await?;
        live.row = row;
        live.seq = seq;
        self.file.note(&envelopes);
        if let Some(approval) = change.approval {
            live.approval = Some(Arc::new(approval));
        }
        let published = std::mem::take(&mut live.unstored).len();
        for envelope in &envelopes[published..] {
            if let (Event::MessageCreated { message }, Some(partial)) = (&envelope.event, &live.partial)
                && message.id == partial.message_id
            {
                live.partial = None;
            }
            if let Event::MessageCreated { message } = &envelope.event
                && let MessageBody::ToolResult(result) = &message.body
            {
                live.printed.remove(&result.call_id);
            }
            self.feed.publish(envelope);
        }
        Ok(())
    }

    /// The approval that the present role works under, if there is one.
    pub async fn approval(&self) -> Option<Arc<ApprovalRow>> {
        let live = self.live.lock().await;
        live.approval.clone().filter(|approval| live.row.config.plan_file.as_ref() == Some(&approval.plan_file))
    }

    /// Whether the chat carries out an approved plan.
    pub async fn is_bound(&self) -> bool {
        self.approval().await.is_some() && self.row().await.config.role.mode() == Mode::Act
    }

    /// The question that waits for an answer.
    pub async fn pending(&self) -> Option<Pending> {
        self.row().await.pending.and_then(|value| serde_json::from_value(value).ok())
    }
}

#[async_trait]
impl EventLog for Chat {
    fn feed(&self) -> &ChatFeed {
        &self.feed
    }

    fn store(&self) -> &Store {
        &self.store
    }

    async fn newest(&self) -> u64 {
        self.live.lock().await.seq
    }

    async fn moment(&self) -> Result<Moment, Problem> {
        let mut live = self.live.lock().await;
        self.store_all(&mut live).await?;
        if live.partial.is_some() {
            // The answer so far is told under a number of its own, so that numbers grow for whoever comes back.
            self.next_number(&mut live).await?;
        }
        let partial = live.partial.as_ref().map(|partial| PartialAnswer { message_id: partial.message_id, text: partial.text.clone() });
        Ok(Moment { seq: live.seq, partial })
    }
}

/// The machine of states has no such step; nothing was changed.
fn invalid(error: InvalidTransition) -> Problem {
    Problem::new(ErrorCode::Internal, format!("Something broke inside Planwright: {error}. Please report it."))
}

pub fn no_chat(id: ChatId) -> Problem {
    Problem::new(ErrorCode::NotFound, format!("There is no chat {id}."))
}
