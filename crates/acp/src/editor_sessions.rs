//! The open sessions of the client.

use crate::commands;
use crate::problem::{elsewhere, no_session};
use crate::question::Asker;
use crate::session::{Session, SessionCommand};
use crate::updates::{Delivery, remark};
use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema::{ClientCapabilities, McpServer, SessionId, SessionInfo, SessionNotification, SessionUpdate};
use agent_client_protocol::{Client, Error};
use futures::future::join_all;
use planwright_chat::{Handle, Sessions};
use planwright_protocol::api::chat::ChatView;
use planwright_protocol::{ChatId, Problem, Role};
use planwright_workspaces::Trust;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::sync::{mpsc, oneshot};

/// Maximum number of listed chats per folder.
const MAX_LISTED: usize = 200;

/// The remark about MCP servers that the client sends.
const UNUSED: &str = "Planwright does not use the editor's MCP servers. Add the ones you want under [mcp.servers] in Planwright's configuration, where each needs your trust.";

pub struct EditorSessions {
    pub sessions: Sessions,
    remarks: fn(&Trust) -> Vec<String>,
    client: OnceLock<ClientCapabilities>,
    open: Mutex<HashMap<ChatId, mpsc::UnboundedSender<SessionCommand>>>,
}

/// A chat that was opened for the client.
pub struct Opened {
    pub id: SessionId,
    pub role: Role,
    remarks: Vec<String>,
}

impl Opened {
    /// Sends the first updates, once the client knows the session.
    ///
    /// # Errors
    /// The client disconnected.
    pub fn introduce(&self, offered: &[McpServer], connection: &ConnectionTo<Client>) -> Result<(), Error> {
        let commands = SessionUpdate::AvailableCommandsUpdate(commands::available());
        let unused = (!offered.is_empty()).then_some(UNUSED);
        let remarks = self.remarks.iter().map(String::as_str).chain(unused).map(remark);
        for update in std::iter::once(commands).chain(remarks) {
            connection.send_notification(SessionNotification::new(self.id.clone(), update))?;
        }
        Ok(())
    }
}

impl EditorSessions {
    pub fn new(sessions: Sessions, remarks: fn(&Trust) -> Vec<String>) -> Self {
        Self { sessions, remarks, client: OnceLock::new(), open: Mutex::default() }
    }

    pub fn initialize(&self, client: ClientCapabilities) {
        let _ = self.client.set(client);
    }

    /// # Errors
    /// The folder can't be a workspace.
    pub async fn begin(&self, folder: PathBuf, connection: &ConnectionTo<Client>) -> Result<Opened, Problem> {
        let workspace = self.sessions.workspaces().ensure(folder).await?;
        let handle = self.sessions.create(workspace.id, None, None).await?;
        self.open_session(handle, Path::new(&workspace.path), Delivery::News, connection).await
    }

    /// Opens an existing chat.
    ///
    /// # Errors
    /// The folder has no chat with this id.
    pub async fn reopen(
        &self,
        id: &SessionId,
        folder: PathBuf,
        delivery: Delivery,
        connection: &ConnectionTo<Client>,
    ) -> Result<Opened, Problem> {
        let missing = || no_session(&id.to_string());
        let chat: ChatId = id.to_string().parse().map_err(|_| missing())?;
        let workspace = self.sessions.workspaces().ensure(folder).await?;
        let row = self.sessions.store().chat(chat).await?.ok_or_else(missing)?;
        if row.workspace_id != workspace.id {
            let home = self.sessions.store().workspace(row.workspace_id).await?;
            return Err(home.map_or_else(missing, |home| elsewhere(&id.to_string(), &home.path)));
        }
        self.close(id).await;
        self.open_session(self.sessions.chat(chat).await?, Path::new(&workspace.path), delivery, connection).await
    }

    async fn open_session(
        &self,
        handle: Handle,
        root: &Path,
        delivery: Delivery,
        connection: &ConnectionTo<Client>,
    ) -> Result<Opened, Problem> {
        let row = handle.chat().record();
        let (_, trust) = self.sessions.workspaces().rules(row.workspace_id).await?;
        let id = SessionId::new(row.id.to_string());
        let has_forms = self.client.get().and_then(|client| client.elicitation.as_ref()).is_some_and(|can| can.form.is_some());
        let asker = Asker { connection: connection.clone(), session: id.clone(), root: root.to_owned(), has_forms };
        let commands = Session::open(handle, asker, delivery).await?;
        self.lock().insert(row.id, commands);
        Ok(Opened { id, role: row.config.role, remarks: (self.remarks)(&trust) })
    }

    /// # Errors
    /// The client has not opened it.
    pub fn session(&self, id: &SessionId) -> Result<mpsc::UnboundedSender<SessionCommand>, Problem> {
        let missing = || no_session(&id.to_string());
        let chat: ChatId = id.to_string().parse().map_err(|_| missing())?;
        self.lock().get(&chat).cloned().ok_or_else(missing)
    }

    /// The chats of a folder, or all chats, newest first.
    ///
    /// # Errors
    /// The database can't be read.
    pub async fn list(&self, folder: Option<&Path>) -> Result<Vec<SessionInfo>, Problem> {
        let mut chats = Vec::new();
        for workspace in self.sessions.store().workspaces().await? {
            if folder.is_some_and(|folder| folder != Path::new(&workspace.path)) {
                continue;
            }
            let path = workspace.path;
            chats.extend(self.sessions.chats(workspace.id).await?.into_iter().map(|chat| (chat, path.clone())));
        }
        chats.sort_by_key(|(chat, _)| std::cmp::Reverse(chat.updated_at));
        let info = |(chat, path): (ChatView, String)| {
            SessionInfo::new(chat.id.to_string(), path).title(chat.title).updated_at(chat.updated_at.to_string())
        };
        Ok(chats.into_iter().take(MAX_LISTED).map(info).collect())
    }

    pub async fn close(&self, id: &SessionId) {
        let Ok(chat) = id.to_string().parse::<ChatId>() else { return };
        let session = self.lock().remove(&chat);
        if let Some(session) = session {
            closed(session).await;
        }
    }

    pub async fn close_all(&self) {
        let open: Vec<_> = self.lock().drain().map(|(_, session)| session).collect();
        join_all(open.into_iter().map(closed)).await;
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ChatId, mpsc::UnboundedSender<SessionCommand>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn closed(session: mpsc::UnboundedSender<SessionCommand>) {
    let (done, closed) = oneshot::channel();
    if session.send(SessionCommand::Close(done)).is_ok() {
        let _ = closed.await;
    }
}
