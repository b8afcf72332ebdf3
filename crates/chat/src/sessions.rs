//! All chats of a process.

use crate::actor;
use crate::chat::{Change, Chat, broken, no_chat, storage};
use crate::configuration::{self, Configuration, Rules, Trust};
use crate::crash;
use crate::handle::Handle;
use crate::models::Models;
use crate::reserved::Reserved;
use crate::view::ChatView;
use planwright_feed::{Cursor, EventLog, Follower, Hub, Overview, Sight};
use planwright_protocol::event::{ChatState, Usage};
use planwright_protocol::{ChatConfig, ChatId, ErrorCode, Event, Mode, Op, Problem, Role, WorkspaceId};
use planwright_store::{AuditKind, ChatRow, Store};
use planwright_tools::command::Stop;
use planwright_tools::{Approvals, Commands, Inspect, NoServers, Policy, Secrets, Workspace};
use serde_json::json;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use tokio::sync::Mutex;

/// The title of a chat that has none of its own.
pub const UNTITLED: &str = "New chat";

/// What the configuration says about chats.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub approvals: Arc<Approvals>,
    pub secrets: Arc<Secrets>,
    pub policy: Policy,
    pub default_mode: DefaultMode,
    pub intent_switch: IntentSwitch,
    pub intent_classifier: IntentClassifier,
    pub limits: Limits,
    pub git: GitSettings,
    /// How commands are run; `None` where none are.
    pub commands: Option<Arc<Commands>>,
}

impl Settings {
    #[must_use]
    pub fn inspect(&self) -> Inspect {
        self.commands.as_ref().map_or(Inspect::Off, |commands| commands.sandbox.inspect)
    }
}

/// What a message does that is an order to carry out the plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IntentSwitch {
    /// It approves the newest plan and switches.
    #[default]
    Switch,
    /// It shows a one-click card.
    Suggest,
    /// It is a message like any other.
    Off,
}

/// Who reads a message that the rules can't.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IntentClassifier {
    /// Nobody.
    #[default]
    Off,
    /// The plan mode's model. It can suggest to execute the plan, and never switches.
    Model,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DefaultMode {
    /// Nothing of the project can change.
    #[default]
    Plan,
    /// Whatever the role may do, and the plan names, can change.
    Act,
    /// Plan, unless the first message asks for a simple fix.
    Auto,
}

#[derive(Clone, Copy, Debug, serde::Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Requests to the model per run.
    pub turns: u32,
    /// What the replies of a chat may cost together, in the catalog's currency; `inf` for no limit.
    pub cost: f64,
}

/// What is done with the user's repository.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GitSettings {
    /// Whether finished work is committed, on a branch of its own.
    pub commit_steps: bool,
}

impl Limits {
    /// # Errors
    /// `LIMIT_REACHED`, when that much has been spent.
    pub fn check(&self, spent: &Usage) -> Result<(), Problem> {
        if spent.cost < self.cost {
            return Ok(());
        }
        let text = format!(
            "This chat has cost {:.2}, and the limit is {:.2}. Raise `cost` under [limits] in the configuration and start again, or go on in a new chat.",
            spent.cost, self.cost
        );
        Err(Problem::new(ErrorCode::LimitReached, text))
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { turns: 100, cost: 5.0 }
    }
}

#[derive(Clone)]
pub struct Sessions {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    store: Store,
    pub(crate) configuration: Arc<dyn Configuration>,
    pub(crate) reserved: OnceLock<Reserved>,
    pub(crate) open: Mutex<HashMap<ChatId, Handle>>,
    pub(crate) workspaces: Mutex<HashMap<WorkspaceId, Arc<Workspace>>>,
    pub(crate) hub: Arc<Hub>,
    /// Ends commands that run in no chat.
    pub(crate) stop: Stop,
}

impl Sessions {
    /// With one configuration for all workspaces.
    #[must_use]
    pub fn new(store: Store, settings: Settings, models: Arc<dyn Models>) -> Self {
        Self::configured(store, Arc::new(Rules { settings: Arc::new(settings), models, servers: Arc::new(NoServers) }))
    }

    #[must_use]
    pub fn configured(store: Store, configuration: Arc<dyn Configuration>) -> Self {
        Self {
            inner: Arc::new(Inner {
                store,
                configuration,
                reserved: OnceLock::new(),
                open: Mutex::default(),
                workspaces: Mutex::default(),
                hub: Arc::default(),
                stop: Stop::default(),
            }),
        }
    }

    /// The user's own settings, for what belongs to no workspace.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.inner.configuration.everywhere().settings
    }

    /// What holds in a workspace now, and what of its own file needs trust.
    ///
    /// # Errors
    /// No such workspace, or its file is wrong.
    pub async fn rules(&self, workspace: WorkspaceId) -> Result<(Rules, Trust), Problem> {
        let folder = self.workspace(workspace).await?;
        configuration::now(&self.inner.configuration, &self.inner.store, workspace, &folder).await
    }

    #[must_use]
    pub fn store(&self) -> &Store {
        &self.inner.store
    }

    /// A new chat, in the role asked for or the configured one.
    ///
    /// # Errors
    /// No such workspace, or it can't be stored.
    pub async fn create(&self, workspace: WorkspaceId, title: Option<String>, role: Option<Role>) -> Result<Handle, Problem> {
        let handle = self.create_silently(workspace, title, role).await?;
        self.announce(&handle).await;
        Ok(handle)
    }

    /// The same, before anybody is told of it.
    pub(crate) async fn create_silently(
        &self,
        workspace: WorkspaceId,
        title: Option<String>,
        role: Option<Role>,
    ) -> Result<Handle, Problem> {
        let default_mode = self.rules(workspace).await?.0.settings.default_mode;
        let default_role = match default_mode {
            DefaultMode::Plan | DefaultMode::Auto => Mode::Plan.default_role(),
            DefaultMode::Act => Mode::Act.default_role(),
        };
        let now = planwright_protocol::time::now();
        let row = ChatRow {
            id: ChatId::generate(),
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
            created_at: now,
            updated_at: now,
        };
        self.inner.store.create_chat(&row).await.map_err(storage)?;
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

    /// The chat of this id, woken if it sleeps.
    ///
    /// # Errors
    /// No such chat, or its workspace can't be opened.
    pub async fn chat(&self, id: ChatId) -> Result<Handle, Problem> {
        let mut open = self.inner.open.lock().await;
        if let Some(handle) = open.get(&id) {
            return Ok(handle.clone());
        }
        let row = self.inner.store.chat(id).await.map_err(storage)?.ok_or_else(|| no_chat(id))?;
        let workspace = self.workspace(row.workspace_id).await?;
        let chat = Chat::load(id, self.inner.store.clone(), self.inner.configuration.clone(), workspace, self.inner.hub.clone()).await?;
        let handle = Handle { ops: actor::spawn(chat.clone()), chat };
        open.insert(id, handle.clone());
        Ok(handle)
    }

    /// Ends a chat and forgets it. Its plan and what it changed in the workspace stay.
    ///
    /// # Errors
    /// No such chat, or it can't be removed from the database.
    pub async fn delete(&self, id: ChatId) -> Result<(), Problem> {
        self.chat(id).await?.submit(Op::Stop).await?;
        // Held to the end, so that nobody wakes the chat again.
        let mut open = self.inner.open.lock().await;
        let handle = open.remove(&id).ok_or_else(|| no_chat(id))?;
        handle.park().await;
        self.inner.store.delete_chat(id).await.map_err(storage)?;
        handle.chat.feed.close();
        handle.chat.forget_baseline();
        self.inner.hub.announce(handle.chat.feed.source, handle.chat.newest().await, Event::ChatDeleted {});
        let workspace = handle.chat.workspace.clone();
        match tokio::task::spawn_blocking(move || workspace.remove_chat(id)).await.map_err(broken)? {
            Ok(()) => {}
            Err(problem) => tracing::warn!(chat = %id, %problem, "the file of a deleted chat could not be removed"),
        }
        Ok(())
    }

    /// Tells all who listen of a new chat.
    pub(crate) async fn announce(&self, handle: &Handle) {
        let (row, seq) = (handle.chat.row().await, handle.chat.newest().await);
        let chat = serde_json::to_value(ChatView::from(row)).unwrap_or_default();
        self.inner.hub.announce(handle.chat.feed.source, seq, Event::ChatCreated { chat });
    }

    /// One stream over the chats in sight. Of those that are named, with the number of the last event that the client has,
    /// it gives every event; a named chat that is not there, or not in sight, is left out.
    ///
    /// # Errors
    /// The store can't be read.
    pub async fn overview(&self, sight: Sight, cursor: Option<&Cursor>, named: &[(ChatId, Option<u64>)]) -> Result<Overview, Problem> {
        let mut followers = Vec::with_capacity(named.len());
        for &(id, seen) in named {
            let Ok(handle) = self.chat(id).await else { continue };
            if !sight(handle.chat.feed.source.workspace) {
                continue;
            }
            let last = cursor.and_then(|cursor| cursor.of(id)).or(seen);
            followers.push(match last {
                Some(last) => Follower::after(handle.chat, last).await?,
                None => Follower::from_now(handle.chat).await?,
            });
        }
        Ok(Overview::new(self.inner.hub.clone(), sight, cursor, followers))
    }

    /// Goes on with the runs that were cut off.
    ///
    /// # Errors
    /// The database can't be read.
    pub async fn resume_all(&self) -> Result<usize, Problem> {
        let unfinished = self.inner.store.unfinished().await.map_err(storage)?;
        for &id in &unfinished {
            let resumed = match self.chat(id).await {
                Ok(handle) => handle.resume().await.map(|_| ()),
                Err(problem) => Err(problem),
            };
            match resumed {
                Ok(()) => {}
                Err(problem) => tracing::warn!(chat = %id, %problem, "a run could not be resumed"),
            }
        }
        Ok(unfinished.len())
    }

    /// Removes what commands staged long ago, where no chat waits for it. To be called before runs are resumed.
    ///
    /// # Errors
    /// The database failed.
    pub async fn sweep_stages(&self) -> Result<(), Problem> {
        let Some(commands) = self.settings().commands.clone() else { return Ok(()) };
        let mut old = commands.old_stages();
        if old.is_empty() {
            return Ok(());
        }
        for chat in self.inner.store.unfinished().await.map_err(storage)? {
            let messages = self.inner.store.messages(chat).await.map_err(storage)?;
            old.retain(|call| messages.iter().all(|message| message.meta("call_id").parse() != Ok(*call)));
        }
        tokio::task::spawn_blocking(move || commands.forget_stages(&old));
        Ok(())
    }

    /// Lets go of all chats; their runs go on after the next start.
    pub async fn park_all(&self) {
        self.inner.stop.now();
        let handles: Vec<Handle> = self.inner.open.lock().await.drain().map(|(_, handle)| handle).collect();
        futures::future::join_all(handles.iter().map(Handle::park)).await;
    }
}
