//! The server, its workspaces and all chats: a method for each route that front ends need.

use crate::chat::RemoteChat;
use crate::client::{Body, Client};
use crate::error::ClientError;
use crate::events::EventFollower;
use hyper::Method;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use planwright_protocol::api::chat::ChatView;
use planwright_protocol::api::inbox::InboxView;
use planwright_protocol::api::requests::{Accept, NewChat, NewWorkspaceBody};
use planwright_protocol::api::server::Me;
use planwright_protocol::api::workspace::{FileContent, FileNode, FoundExcerpt, ModelOptions, PlanView, RulesView, Trust, WorkspaceView};
use planwright_protocol::{ChatId, ChatState, WorkspaceId};

const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// A query, from the parameters that have a value.
pub(crate) fn query(parameters: &[(&str, Option<String>)]) -> String {
    let given = parameters.iter().filter_map(|(name, value)| Some(format!("{name}={}", utf8_percent_encode(value.as_ref()?, PLAIN))));
    let joined = given.collect::<Vec<_>>().join("&");
    if joined.is_empty() { joined } else { format!("?{joined}") }
}

/// Which chats of a workspace.
#[derive(Clone, Debug, Default)]
pub struct ChatListFilter {
    /// Any word for a mode.
    pub mode: Option<String>,
    pub state: Option<ChatState>,
    pub archived: Option<bool>,
    /// Part of the title.
    pub title: Option<String>,
    /// The cursor that came with the page before.
    pub cursor: Option<String>,
    pub limit: Option<u32>,
}

impl Client {
    pub async fn me(&self) -> Result<Me, ClientError> {
        self.get("/me").await
    }

    pub async fn inbox(&self) -> Result<InboxView, ClientError> {
        self.get("/inbox").await
    }

    /// Searches the messages of all chats, newest first.
    pub async fn search(&self, text: &str, limit: u32) -> Result<Vec<FoundExcerpt>, ClientError> {
        self.get(&format!("/search{}", query(&[("q", Some(text.to_owned())), ("limit", Some(limit.to_string()))]))).await
    }

    pub async fn workspaces(&self) -> Result<Vec<WorkspaceView>, ClientError> {
        self.get("/workspaces").await
    }

    /// The workspace of a folder on the server's machine; added if there is none.
    pub async fn add_workspace(&self, path: &str) -> Result<WorkspaceView, ClientError> {
        self.post("/workspaces", &NewWorkspaceBody { name: None, path: path.to_owned() }).await
    }

    pub async fn models(&self, workspace: WorkspaceId) -> Result<ModelOptions, ClientError> {
        self.get(&format!("/workspaces/{workspace}/models")).await
    }

    /// The settings in force.
    pub async fn rules(&self, workspace: WorkspaceId) -> Result<RulesView, ClientError> {
        self.get(&format!("/workspaces/{workspace}/rules")).await
    }

    pub async fn trust(&self, workspace: WorkspaceId) -> Result<Trust, ClientError> {
        self.get(&format!("/workspaces/{workspace}/trust")).await
    }

    /// Trusts what was shown under this hash.
    pub async fn accept_trust(&self, workspace: WorkspaceId, sha256: &str) -> Result<Trust, ClientError> {
        self.post(&format!("/workspaces/{workspace}/trust"), &Accept { sha256: sha256.to_owned() }).await
    }

    pub async fn files(&self, workspace: WorkspaceId, path: &str, depth: u32) -> Result<FileNode, ClientError> {
        let query = query(&[("path", Some(path.to_owned())), ("depth", Some(depth.to_string()))]);
        self.get(&format!("/workspaces/{workspace}/files{query}")).await
    }

    pub async fn file(&self, workspace: WorkspaceId, path: &str) -> Result<FileContent, ClientError> {
        self.get(&format!("/workspaces/{workspace}/files/content{}", query(&[("path", Some(path.to_owned()))]))).await
    }

    /// The paths that have these letters in this order, the best first.
    pub async fn find_files(&self, workspace: WorkspaceId, letters: &str, limit: u32) -> Result<Vec<String>, ClientError> {
        let query = query(&[("q", Some(letters.to_owned())), ("limit", Some(limit.to_string()))]);
        self.get(&format!("/workspaces/{workspace}/files/find{query}")).await
    }

    pub async fn plans(&self, workspace: WorkspaceId) -> Result<Vec<PlanView>, ClientError> {
        self.get(&format!("/workspaces/{workspace}/plans")).await
    }

    /// A page of chats, most recently used first, and the cursor of the next page.
    pub async fn chats(&self, workspace: WorkspaceId, of: &ChatListFilter) -> Result<(Vec<ChatView>, Option<String>), ClientError> {
        let state = of.state.and_then(|state| serde_json::to_value(state).ok()?.as_str().map(str::to_owned));
        let query = query(&[
            ("mode", of.mode.clone()),
            ("state", state),
            ("archived", of.archived.map(|archived| archived.to_string())),
            ("title", of.title.clone()),
            ("cursor", of.cursor.clone()),
            ("limit", of.limit.map(|limit| limit.to_string())),
        ]);
        let (head, body) = self.answer(Method::GET, &format!("/workspaces/{workspace}/chats{query}"), Body::Empty).await?;
        let next = head.get("x-next-cursor").and_then(|cursor| cursor.to_str().ok()).map(str::to_owned);
        let chats = serde_json::from_slice(&body);
        Ok((chats.map_err(|error| ClientError::Foreign(format!("The server's answer can't be read: {error}.")))?, next))
    }

    pub async fn create_chat(&self, workspace: WorkspaceId, chat: &NewChat) -> Result<ChatView, ClientError> {
        self.post(&format!("/workspaces/{workspace}/chats"), chat).await
    }

    /// The calls of one chat.
    #[must_use]
    pub fn chat(&self, workspace: WorkspaceId, chat: ChatId) -> RemoteChat {
        RemoteChat::new(self.clone(), workspace, chat)
    }

    /// The events of all chats, with every event of the named ones after the given numbers. Each says its chat.
    #[must_use]
    pub fn events_of_all(&self, named: &[(ChatId, u64)]) -> EventFollower {
        let named = named.iter().map(|(chat, after)| format!("{chat}@{after}")).collect::<Vec<_>>().join(",");
        EventFollower::over_all(self.clone(), format!("/events{}", query(&[("chats", Some(named))])))
    }
}
