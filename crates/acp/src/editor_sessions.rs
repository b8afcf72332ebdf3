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
use planwright_client::{ChatListFilter, Client as ChatServer, ClientError, RemoteChat};
use planwright_protocol::api::chat::ChatView;
use planwright_protocol::api::requests::NewChat;
use planwright_protocol::api::workspace::{Trust, WorkspaceRow};
use planwright_protocol::{ChatId, ErrorCode, Problem, Role};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::sync::{mpsc, oneshot};

/// Maximum number of listed chats per folder.
const MAX_LISTED: u32 = 200;

/// The remark about MCP servers that the client sends.
const UNUSED: &str = "Planwright does not use the editor's MCP servers. Add the ones you want under [mcp.servers] in Planwright's configuration, where each needs your trust.";

pub struct EditorSessions {
    pub server: ChatServer,
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
    pub fn new(server: ChatServer, remarks: fn(&Trust) -> Vec<String>) -> Self {
        Self { server, remarks, client: OnceLock::new(), open: Mutex::default() }
    }

    pub fn initialize(&self, client: ClientCapabilities) {
        let _ = self.client.set(client);
    }

    /// # Errors
    /// The folder can't be a workspace.
    pub async fn begin(&self, folder: PathBuf, connection: &ConnectionTo<Client>) -> Result<Opened, Problem> {
        let workspace = self.workspace(&folder).await?;
        let chat = self.server.create_chat(workspace.id, &NewChat::default()).await.map_err(ClientError::into_problem)?;
        let chat = self.server.chat(workspace.id, chat.id);
        self.open_session(chat, Path::new(&workspace.path), Delivery::News, connection).await
    }

    async fn workspace(&self, folder: &Path) -> Result<WorkspaceRow, Problem> {
        let path = folder.to_string_lossy();
        Ok(self.server.add_workspace(&path).await.map_err(ClientError::into_problem)?.row)
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
        let workspace = self.workspace(&folder).await?;
        let found = self.server.chat(workspace.id, chat);
        match found.show().await {
            Ok(_) => {}
            Err(error) if error.code() == Some(ErrorCode::NotFound) => {
                let home = self.home_of(chat).await.map_err(ClientError::into_problem)?;
                return Err(home.map_or_else(missing, |home| elsewhere(&id.to_string(), &home)));
            }
            Err(error) => return Err(error.into_problem()),
        }
        self.close(id).await;
        self.open_session(found, Path::new(&workspace.path), delivery, connection).await
    }

    /// The folder of a chat.
    async fn home_of(&self, chat: ChatId) -> Result<Option<String>, ClientError> {
        for workspace in self.server.workspaces().await? {
            if self.server.chat(workspace.row.id, chat).show().await.is_ok() {
                return Ok(Some(workspace.row.path));
            }
        }
        Ok(None)
    }

    async fn open_session(
        &self,
        chat: RemoteChat,
        root: &Path,
        delivery: Delivery,
        connection: &ConnectionTo<Client>,
    ) -> Result<Opened, Problem> {
        let view = chat.show().await.map_err(ClientError::into_problem)?;
        let trust = self.server.trust(chat.workspace).await.map_err(ClientError::into_problem)?;
        let id = SessionId::new(view.id.to_string());
        let has_forms = self.client.get().and_then(|client| client.elicitation.as_ref()).is_some_and(|can| can.form.is_some());
        let asker = Asker { connection: connection.clone(), session: id.clone(), root: root.to_owned(), has_forms };
        let commands = Session::open(chat, asker, delivery).await?;
        self.lock().insert(view.id, commands);
        Ok(Opened { id, role: view.config.role, remarks: (self.remarks)(&trust) })
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
        for workspace in self.server.workspaces().await.map_err(ClientError::into_problem)? {
            if folder.is_some_and(|folder| folder != Path::new(&workspace.row.path)) {
                continue;
            }
            let path = workspace.row.path;
            let newest = ChatListFilter { limit: Some(MAX_LISTED), ..ChatListFilter::default() };
            let (page, _) = self.server.chats(workspace.row.id, &newest).await.map_err(ClientError::into_problem)?;
            chats.extend(page.into_iter().map(|chat| (chat, path.clone())));
        }
        chats.sort_by_key(|(chat, _)| std::cmp::Reverse(chat.updated_at));
        let info = |(chat, path): (ChatView, String)| {
            SessionInfo::new(chat.id.to_string(), path).title(chat.title).updated_at(chat.updated_at.to_string())
        };
        Ok(chats.into_iter().take(MAX_LISTED as usize).map(info).collect())
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
