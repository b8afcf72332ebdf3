//! All chats of a process.

use crate::actor;
use crate::chat::{Change, Chat, broken, no_chat, turn_window};
use crate::crash;
use crate::handle::Handle;
use crate::models::Models;
use crate::open_chats::OpenChats;
use crate::view::stored_snapshot;
use planwright_agent::Provider;
use planwright_agent::provider::DEFAULT_CONTEXT;
use planwright_feed::{Cursor, DistantChat, EventLog, Hub, Overview, Peers, Source, Visibility};
use planwright_protocol::api::chat::{ChatView, Snapshot};
use planwright_protocol::event::{ChatState, Usage};
use planwright_protocol::settings::DefaultMode;
use planwright_protocol::{ChatConfig, ChatId, Event, Mode, Op, Problem, Role, WorkspaceId};
use planwright_store::{AuditKind, ChatFilter, ChatRow, Marks, Store};
use planwright_tools::NoServers;
use planwright_tools::command::Stop;
use planwright_tools::workspace::Baseline;
use planwright_workspaces::{Settings, WorkspaceRules, Workspaces};
use serde_json::json;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;

/// The title of a chat without one.
pub const UNTITLED: &str = "New chat";
/// How long the chats may take to close.
const PARK_WITHIN: Duration = Duration::from_secs(10);
/// How often idle chats are searched.
const SWEEP_EVERY: Duration = Duration::from_secs(5);

#[derive(Clone)]
pub struct Sessions {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) workspaces: Workspaces,
    pub(crate) models: Arc<dyn Models>,
    pub(crate) open: OpenChats,
    pub(crate) hub: Arc<Hub>,
    /// Other nodes, and the chats of theirs that are followed here.
    pub(crate) peers: OnceLock<Peers>,
    pub(crate) remote: Mutex<HashMap<ChatId, Weak<DistantChat>>>,
    /// Stops commands that run without a chat.
    pub(crate) stop: Mutex<Stop>,
}

impl Inner {
    /// Starts, once, the task that removes idle chats from memory. It ends with the last user of these chats.
    fn sweep_idle_chats(self: &Arc<Self>) {
        if self.open.begin_sweeping() {
            let chats = Arc::downgrade(self);
            tokio::spawn(async move {
                loop {
                    tokio::time::sleep(SWEEP_EVERY).await;
                    let Some(chats) = chats.upgrade() else { return };
                    chats.open.sweep();
                }
            });
        }
    }
}

impl Sessions {
    /// With the same settings in all workspaces.
    #[must_use]
    pub fn with_settings(store: Store, settings: Settings, models: Arc<dyn Models>) -> Self {
        let rules = WorkspaceRules { settings: Arc::new(settings), servers: Arc::new(NoServers) };
        Self::new(Workspaces::new(store, Arc::new(rules)), models)
    }

    #[must_use]
    pub fn new(workspaces: Workspaces, models: Arc<dyn Models>) -> Self {
        let inner = Inner {
            workspaces,
            models,
            open: OpenChats::default(),
            hub: Arc::default(),
            peers: OnceLock::new(),
            remote: Mutex::default(),
            stop: Mutex::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    #[must_use]
    pub fn workspaces(&self) -> &Workspaces {
        &self.inner.workspaces
    }

    #[must_use]
    pub fn store(&self) -> &Store {
        self.inner.workspaces.store()
    }

    /// The model that settings name for a mode.
    ///
    /// # Errors
    /// There is none; the error says how to configure one.
    pub async fn model(&self, settings: &Settings, mode: Mode) -> Result<Arc<dyn Provider>, Problem> {
        self.inner.models.model(&settings.models, mode).await
    }

    /// Whether a model of the user's own configuration can read images.
    pub async fn takes_images(&self) -> bool {
        let settings = &self.workspaces().everywhere().settings.models;
        for mode in [Mode::Plan, Mode::Act] {
            if self.inner.models.model(settings, mode).await.is_ok_and(|model| model.takes_images()) {
                return true;
            }
        }
        false
    }

    /// A new chat, in the requested role or the configured one.
    ///
    /// # Errors
    /// There is no such workspace, or it can't be stored.
    pub async fn create(&self, workspace: WorkspaceId, title: Option<String>, role: Option<Role>) -> Result<Handle, Problem> {
        self.create_for(workspace, title, role, None).await
    }

    /// The same, for the account with this name.
    ///
    /// # Errors
    /// There is no such workspace, or it can't be stored.
    pub async fn create_for(
        &self,
        workspace: WorkspaceId,
        title: Option<String>,
        role: Option<Role>,
        person: Option<String>,
    ) -> Result<Handle, Problem> {
        let handle = self.create_silently(workspace, title, role, person).await?;
        self.announce(&handle);
        Ok(handle)
    }

    /// The same, without announcing it.
    pub(crate) async fn create_silently(
        &self,
        workspace: WorkspaceId,
        title: Option<String>,
        role: Option<Role>,
        person: Option<String>,
    ) -> Result<Handle, Problem> {
        let default_mode = self.workspaces().rules(workspace).await?.0.settings.default_mode;
        let default_role = match default_mode {
            DefaultMode::Plan | DefaultMode::Auto => Mode::Plan.default_role(),
            DefaultMode::Act => Mode::Act.default_role(),
        };
        let now = planwright_protocol::time::now();
        let row = ChatRow {
            id: ChatId::generate(),
            version: 0,
            workspace_id: workspace,
            title: title.map(actor::checked_title).transpose()?.unwrap_or_else(|| UNTITLED.to_owned()),
            config: ChatConfig { role: role.unwrap_or(default_role), plan_file: None },
            state: ChatState::Idle,
            pending: None,
            grants: Vec::new(),
            progress: None,
            epoch: 0,
            seq_ceiling: 0,
            usage: Usage::default(),
            run: None,
            turn_start: None,
            marks: Marks { person, ..Marks::default() },
            created_at: now,
            updated_at: now,
        };
        self.store().create_chat(&row).await?;
        crash::point("chat_stored");
        let handle = self.chat(row.id).await?;
        let undecided = role.is_none() && default_mode == DefaultMode::Auto;
        let entered = row.config.role;
        let change = Change::messages(undecided.then(|| actor::undecided(row.id))).log(
            AuditKind::ModeEntered,
            "",
            entered,
            json!({ "mode": entered.mode() }),
        );
        handle.chat.publish(change, |_| {}).await?;
        Ok(handle)
    }

    /// The chat with this id, opened if necessary.
    ///
    /// # Errors
    /// There is no such chat, or its workspace can't be opened.
    pub async fn chat(&self, id: ChatId) -> Result<Handle, Problem> {
        self.inner.sweep_idle_chats();
        let load = async || {
            let seen = self.inner.open.seen_of(id);
            let chat = Chat::load(id, self.workspaces().clone(), self.inner.models.clone(), self.inner.hub.clone(), seen).await?;
            Ok(Handle { ops: actor::spawn(chat.clone()), chat })
        };
        self.inner.open.get_or_load(id, load).await
    }

    /// The current state of the chat, without opening it.
    ///
    /// # Errors
    /// No such chat in this workspace.
    pub async fn look_at(&self, workspace: WorkspaceId, id: ChatId) -> Result<ChatView, Problem> {
        let view = match self.inner.open.get(id) {
            Some(handle) => ChatView::from(&handle.chat.record().row),
            None => ChatView::from(&self.store().chat(id).await?.ok_or_else(|| no_chat(id))?),
        };
        if view.workspace_id == workspace { Ok(view) } else { Err(no_chat(id)) }
    }

    /// Everything that a client needs to draw a chat, without opening it.
    ///
    /// # Errors
    /// No such chat in this workspace.
    pub async fn snapshot(&self, workspace: WorkspaceId, id: ChatId) -> Result<Snapshot, Problem> {
        if self.inner.open.get(id).is_none() {
            let row = self.store().chat(id).await?.filter(|row| row.workspace_id == workspace).ok_or_else(|| no_chat(id))?;
            let sleeping = stored_snapshot(self.store(), &row).await?;
            // Only a chat that was opened meanwhile can have changed.
            if self.inner.open.get(id).is_none() {
                return Ok(sleeping);
            }
        }
        self.chat_in(workspace, id).await?.chat.snapshot().await
    }

    /// Ends a chat and deletes it. Its plan and its changes in the workspace stay.
    ///
    /// # Errors
    /// There is no such chat, or it can't be removed from the database.
    pub async fn delete(&self, id: ChatId) -> Result<(), Problem> {
        let row = self.store().chat(id).await?.ok_or_else(|| no_chat(id))?;
        // The chat can't be opened again while this is held.
        let closed = self.inner.open.close(id).ok_or_else(|| no_chat(id))?;
        let handle = closed.handle().await;
        if let Some(handle) = &handle {
            handle.submit(Op::Stop).await?;
            handle.park().await;
        }
        self.store().delete_chat(id).await?;
        self.announce_end(&row, handle.as_ref());
        if let Some(commands) = &self.workspaces().everywhere().settings.commands {
            Baseline::remove(&commands.baseline_file(id));
        }
        // Without its folder the chat has no file.
        let Ok(workspace) = self.workspaces().open(row.workspace_id).await else { return Ok(()) };
        match tokio::task::spawn_blocking(move || workspace.remove_chat(id)).await.map_err(broken)? {
            Ok(()) => {}
            Err(problem) => tracing::warn!(chat = %id, %problem, "can't remove the file of a deleted chat"),
        }
        Ok(())
    }

    /// Ends the streams of a deleted chat, and announces its end.
    fn announce_end(&self, row: &ChatRow, handle: Option<&Handle>) {
        let source = Source { workspace: row.workspace_id, chat: row.id };
        let last = handle.map_or(row.seq_ceiling, |handle| handle.chat.newest());
        if let Some(handle) = handle {
            handle.chat.feed.close();
        }
        self.inner.hub.announce(source, last, Event::ChatDeleted {});
    }

    /// Announces a new chat.
    pub(crate) fn announce(&self, handle: &Handle) {
        let (row, seq) = (handle.chat.record(), handle.chat.newest());
        let chat = serde_json::to_value(ChatView::from(&row.row)).unwrap_or_default();
        self.inner.hub.announce(handle.chat.feed.source, seq, Event::ChatCreated { chat });
    }

    /// One stream over the visible chats. For named chats, with the number of the client's last event, it has every event; a
    /// named chat that is missing or not visible is skipped.
    ///
    /// # Errors
    /// The store can't be read.
    pub async fn overview(
        &self,
        visibility: Visibility,
        cursor: Option<&Cursor>,
        named: &[(ChatId, Option<u64>)],
    ) -> Result<Overview, Problem> {
        let mut followers = Vec::with_capacity(named.len());
        for &(id, seen) in named {
            // Checked before the chat is opened: nobody wakes chats that they may not see.
            let workspace = match self.inner.open.get(id) {
                Some(handle) => Some(handle.chat.feed.source.workspace),
                None => self.store().chat(id).await?.map(|row| row.workspace_id),
            };
            let Some(workspace) = workspace.filter(|workspace| visibility(*workspace)) else { continue };
            let last = cursor.and_then(|cursor| cursor.of(id)).or(seen);
            followers.extend(self.follow(workspace, id, last).await.ok());
        }
        Ok(Overview::new(self.inner.hub.clone(), visibility, cursor, followers))
    }

    /// Resumes the interrupted runs.
    ///
    /// # Errors
    /// The database can't be read.
    pub async fn resume_all(&self) -> Result<usize, Problem> {
        let unfinished = self.store().unfinished().await?;
        for &id in &unfinished {
            let resumed = match self.chat(id).await {
                Ok(handle) => handle.resume().await.map(|_| ()),
                Err(problem) => Err(problem),
            };
            match resumed {
                Ok(()) => {}
                Err(problem) => tracing::warn!(chat = %id, %problem, "can't resume a run"),
            }
        }
        Ok(unfinished.len())
    }

    /// Removes old staged changes of commands that no chat waits for. Call this before runs are resumed.
    ///
    /// # Errors
    /// The database failed.
    pub async fn sweep_stages(&self) -> Result<(), Problem> {
        let Some(commands) = self.workspaces().everywhere().settings.commands.clone() else { return Ok(()) };
        let mut old = commands.old_stages();
        if old.is_empty() {
            return Ok(());
        }
        for chat in self.store().unfinished().await? {
            let Some(row) = self.store().chat(chat).await? else { continue };
            let messages = self.store().turn_messages(chat, row.turn_start, turn_window(DEFAULT_CONTEXT)).await?.messages;
            old.retain(|call| messages.iter().all(|message| message.body.call_id() != Some(*call)));
        }
        tokio::task::spawn_blocking(move || commands.forget_stages(&old));
        Ok(())
    }

    /// The number of chats in memory.
    #[must_use]
    pub fn in_memory(&self) -> usize {
        self.inner.open.count()
    }

    /// Closes chats that nobody runs, follows or holds. Happens automatically every few seconds.
    pub fn release_idle(&self) {
        self.inner.open.sweep();
    }

    /// Closes all chats; their runs resume after the next start.
    pub async fn park_all(&self) {
        self.stop_lone_commands();
        let handles = self.inner.open.take_all();
        let parked = futures::future::join_all(handles.iter().map(Handle::park));
        if tokio::time::timeout(PARK_WITHIN, parked).await.is_err() {
            // Appends wait for an unreachable database. Unstored changes are lost, and runs resume from what is stored.
            tracing::warn!("the database does not answer; ending without unstored changes");
            self.store().close().await;
        }
    }

    /// Ends the chats of a workspace and deletes it. Nothing in the folder is touched. Not cancellable; the next start completes
    /// a deletion that the end of the process interrupted.
    ///
    /// # Errors
    /// There is no such workspace, or the database failed.
    pub async fn delete_workspace(&self, id: WorkspaceId) -> Result<(), Problem> {
        self.workspaces().row(id).await?;
        let sessions = self.clone();
        tokio::spawn(async move { sessions.end_workspace(id).await }).await.map_err(broken)?
    }

    async fn end_workspace(&self, id: WorkspaceId) -> Result<(), Problem> {
        self.workspaces().hide(id).await?;
        let mut ended = Vec::new();
        for chat in self.store().chats_in(id).await? {
            // A chat that another request is deleting needs nothing more.
            let Some(closed) = self.inner.open.close(chat) else { continue };
            let handle = closed.handle().await;
            ended.push((closed, handle));
        }
        let open = || ended.iter().filter_map(|(_, handle)| handle.as_ref());
        futures::future::join_all(open().map(Handle::park)).await;
        self.workspaces().forget(id).await?;
        for handle in open() {
            self.announce_end(&handle.chat.record().row, Some(handle));
        }
        Ok(())
    }

    /// All chats of a workspace.
    ///
    /// # Errors
    /// The database can't be read.
    pub async fn chats(&self, id: WorkspaceId) -> Result<Vec<ChatView>, Problem> {
        let rows = self.store().chats(id, ChatFilter::default()).await?;
        Ok(rows.iter().map(ChatView::from).collect())
    }
}
