//! A chat in memory, and the only way to change it.

mod activity;
mod baseline;
mod call_context;
mod change;
mod file;
mod owner;
mod publishing;
mod record;
mod sequence;

pub use activity::Activity;
pub use change::Change;
pub use record::{ChatRecord, Draft};

use crate::chat_file::ChatFile;
use crate::inbox::Inbox;
use crate::models::Models;
use crate::workspace_tenure::WorkspaceTenure;
use async_trait::async_trait;
use owner::{Owner, Request};
use planwright_agent::fit;
use planwright_agent::provider::DEFAULT_CONTEXT;
use planwright_feed::{ChatFeed, EventLog, Hub, Moment, Source};
use planwright_protocol::api::chat::Pending;
use planwright_protocol::message::ServerTrouble;
use planwright_protocol::{ChatId, ErrorCode, Problem};
use planwright_store::{ApprovalRow, Store, TurnMessages, TurnWindow};
use planwright_tools::command::Stop;
use planwright_tools::tool::Seen;
use planwright_tools::{Epoch, Fence, Workspace};
pub use planwright_workspaces::broken;
use planwright_workspaces::{Settings, WorkspaceRules, Workspaces};
use sequence::Sequence;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::{Semaphore, SemaphorePermit, mpsc, watch};
use tokio_util::task::TaskTracker;

/// More groups of calls than one chat ever has at a time.
const MOST_CALLS: u32 = 1 << 16;

pub struct Chat {
    pub id: ChatId,
    pub store: Store,
    rules: std::sync::RwLock<WorkspaceRules>,
    pub(crate) workspaces: Workspaces,
    pub(crate) models: Arc<dyn Models>,
    pub workspace: Arc<Workspace>,
    pub fence: Arc<Fence>,
    pub(crate) seen: Arc<Seen>,
    pub(crate) feed: Arc<ChatFeed>,
    record: watch::Receiver<Arc<ChatRecord>>,
    owner: mpsc::Sender<Request>,
    sequence: Arc<Sequence>,
    writes: TaskTracker,
    /// Calls in progress, and the handle that stops their commands.
    pub(crate) work: TaskTracker,
    pub(crate) stop: std::sync::Mutex<Stop>,
    /// One permit for each group of calls in progress; whoever has all of them is between calls.
    pub(crate) calls: Semaphore,
    /// The state of the workspace when the run began.
    baseline: std::sync::Mutex<Option<Arc<planwright_tools::workspace::Baseline>>>,
    pub file: Arc<ChatFile>,
    /// The user's messages during a run.
    pub(crate) inbox: Inbox,
    /// Unusable MCP servers that were already reported in the chat.
    pub(crate) reported_servers: std::sync::Mutex<BTreeMap<String, ServerTrouble>>,
}

impl Chat {
    pub async fn load(
        id: ChatId,
        workspaces: Workspaces,
        models: Arc<dyn Models>,
        hub: Arc<Hub>,
        seen: Arc<Seen>,
    ) -> Result<Arc<Self>, Problem> {
        let store = workspaces.store();
        let row = store.chat(id).await?.ok_or_else(|| no_chat(id))?;
        let tenure = store.leases().tenure(row.workspace_id)?;
        let store = store.under(&tenure);
        let workspace = workspaces.open(row.workspace_id).await?;
        let approval = store.approval(id).await?.map(Arc::new);
        let fence = Fence::within(Epoch(row.epoch), WorkspaceTenure(tenure.clone()));
        let source = Source { workspace: row.workspace_id, chat: id };
        let feed = Arc::new(ChatFeed::within(tenure.term(), source, row.seq_ceiling, hub));
        let sequence = Arc::new(Sequence::beginning_after(row.seq_ceiling, feed.clone()));
        let file = Arc::new(if row.seq_ceiling > 0 { ChatFile::of_old_chat() } else { ChatFile::default() });
        let (publisher, record) = watch::channel(Arc::new(ChatRecord::load(row, approval)));
        let owner = Owner { store: store.clone(), file: file.clone(), sequence: sequence.clone(), record: publisher }.spawn();
        let (writes, work) = (TaskTracker::new(), TaskTracker::new());
        let chat = Arc::new(Self {
            id,
            store,
            rules: std::sync::RwLock::new(workspaces.everywhere().clone()),
            workspaces,
            models,
            workspace,
            fence,
            seen,
            feed,
            record,
            owner,
            sequence,
            writes,
            work,
            stop: std::sync::Mutex::default(),
            calls: Semaphore::new(MOST_CALLS as usize),
            baseline: std::sync::Mutex::default(),
            file,
            inbox: Inbox::default(),
            reported_servers: std::sync::Mutex::default(),
        });
        // An unreadable configuration is reported when it is needed; reading the chat does not need it.
        let _ = chat.configure().await;
        Ok(chat)
    }

    /// Waits until no call is in progress, and lets none begin as long as the permit is kept.
    pub(crate) async fn pause_calls(&self) -> Option<SemaphorePermit<'_>> {
        self.calls.acquire_many(MOST_CALLS).await.ok()
    }

    /// Applies the current configuration.
    pub async fn configure(&self) -> Result<(), Problem> {
        let id = self.record().workspace_id;
        let (rules, _) = self.workspaces.rules(id).await?;
        *self.rules.write().unwrap_or_else(std::sync::PoisonError::into_inner) = rules;
        Ok(())
    }

    pub fn rules(&self) -> WorkspaceRules {
        self.rules.read().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    pub fn settings(&self) -> Arc<Settings> {
        self.rules().settings
    }

    /// Whether nothing would be lost if the chat left memory now.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.record().activity.run().is_none() && !self.sequence.has_unstored()
    }

    /// The current state of the chat.
    #[must_use]
    pub fn record(&self) -> Arc<ChatRecord> {
        self.record.borrow().clone()
    }

    /// The record after a switch or stop in progress: its epoch is then the fence's.
    pub async fn settled_record(&self) -> Arc<ChatRecord> {
        let mut records = self.record.clone();
        loop {
            let record = records.borrow_and_update().clone();
            // The owner has ended with the chat; nothing changes any more.
            if Epoch(record.epoch) == self.fence.epoch() || records.changed().await.is_err() {
                return record;
            }
        }
    }

    /// The messages of the model's conversation, including those of delegates; for a chat that is too long for its model, the
    /// newest.
    pub async fn turn_messages(&self) -> Result<TurnMessages, Problem> {
        let record = self.record();
        let model = self.model(record.config.role.mode()).await;
        let context = model.map_or(DEFAULT_CONTEXT, |model| model.context_tokens());
        Ok(self.store.turn_messages(self.id, record.turn_start, turn_window(context)).await?)
    }

    /// The approval of the chat's current plan.
    pub fn approval(&self) -> Option<Arc<ApprovalRow>> {
        self.record().approval()
    }

    /// Whether the chat executes an approved plan.
    pub fn is_bound(&self) -> bool {
        self.record().is_bound()
    }

    /// The pending question.
    pub fn pending(&self) -> Option<Pending> {
        self.record().pending()
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

    fn newest(&self) -> u64 {
        self.sequence.published()
    }

    async fn moment(&self) -> Result<Moment, Problem> {
        self.ask_owner(Request::Moment).await
    }
}

/// How much of a conversation is read for a model with this context size.
pub fn turn_window(context_tokens: u64) -> TurnWindow {
    TurnWindow { bytes: fit::window(context_tokens) as u64, bytes_of_one: fit::max_message_bytes(context_tokens) as u64 }
}

pub fn no_chat(id: ChatId) -> Problem {
    Problem::new(ErrorCode::NotFound, format!("There is no chat {id}."))
}
