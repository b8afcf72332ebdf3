//! Requests of the screen, made by the client. Each runs as a task of its own and reports when it has its answer.

use crate::request::{AppReport, ChatChange, ChatPlace, ConnectionState, ServerRequest, Start};
use planwright_client::{ChangesFilter, ChatListFilter, Client, ClientError, FileDiffFilter, RemoteChat, StreamItem};
use planwright_protocol::api::requests::{NewChat, NewMessageBody, PlanContentBody, PlanEditBody};
use planwright_protocol::{Envelope, Event, WorkspaceId, time};
use std::path::Path;
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::AbortHandle;

const PAGE: u32 = 50;
const MOST_CHATS: u32 = 200;
const MOST_FOUND: u32 = 50;
const MOST_FILES: u32 = 20;

/// The server, the workspace of this screen, and the chat whose events are read.
pub struct ServerLink {
    client: Client,
    workspace: WorkspaceId,
    reports: UnboundedSender<AppReport>,
    following: Option<AbortHandle>,
}

/// The folder to work in.
#[derive(Clone, Debug)]
pub enum Folder {
    /// Added as a workspace if it is none yet.
    Path(String),
    /// A workspace that the server has: the one of this folder, else its first.
    Known(String),
}

impl ServerLink {
    /// Asks for everything that the screen begins with.
    ///
    /// # Errors
    /// The server can't be reached or refuses, or has no workspace.
    pub async fn begin(client: Client, folder: &Folder, reports: UnboundedSender<AppReport>) -> Result<Self, ClientError> {
        let me = client.me().await?;
        let workspace = match folder {
            Folder::Path(path) => client.add_workspace(path).await?.row,
            Folder::Known(path) => {
                let known = client.workspaces().await?;
                let at = known.iter().position(|workspace| Path::new(&workspace.row.path) == Path::new(path)).unwrap_or(0);
                let none = || {
                    ClientError::Foreign("The server has no workspace. Add one in its web page, or name one with --workspace.".to_owned())
                };
                known.into_iter().nth(at).ok_or_else(none)?.row
            }
        };
        let id = workspace.id;
        let query = ChatListFilter { limit: Some(MOST_CHATS), ..ChatListFilter::default() };
        let (chats, models, trust) = tokio::join!(client.chats(id, &query), client.models(id), client.trust(id));
        let start = Start { me, workspace, chats: chats?.0, models: models?, trust: trust? };
        let _ = reports.send(AppReport::Started(Box::new(start)));
        Ok(Self { client, workspace: id, reports, following: None })
    }

    pub fn ask(&self, request: ServerRequest) {
        let (client, workspace, reports) = (self.client.clone(), self.workspace, self.reports.clone());
        tokio::spawn(async move {
            let report = match answer(&client, workspace, request.clone()).await {
                Ok(report) => report,
                Err(error) => AppReport::Failed { request: Box::new(request), problem: error.into_problem() },
            };
            let _ = reports.send(report);
        });
    }

    /// Reads the events of a chat, and no longer those of the one before.
    pub fn follow(&mut self, place: ChatPlace, after: u64) {
        if let Some(following) = self.following.take() {
            following.abort();
        }
        let task = follow(self.chat(place), place, after, self.reports.clone());
        self.following = Some(tokio::spawn(task).abort_handle());
    }

    fn chat(&self, place: ChatPlace) -> RemoteChat {
        self.client.chat(place.workspace, place.chat)
    }
}

impl Drop for ServerLink {
    fn drop(&mut self) {
        if let Some(following) = self.following.take() {
            following.abort();
        }
    }
}

async fn follow(chat: RemoteChat, place: ChatPlace, after: u64, reports: UnboundedSender<AppReport>) {
    let event = |envelope| AppReport::Event { chat: place.chat, envelope: Box::new(envelope) };
    let of_client = |event| Envelope { event, seq: u64::MAX, at: time::now() };
    let mut events = chat.events(after);
    loop {
        let report = match events.next().await {
            Ok(StreamItem::Event(received)) => event(received.envelope),
            Ok(StreamItem::Reset) => event(of_client(Event::Reset {})),
            Ok(StreamItem::Lost(why)) => AppReport::Connected(ConnectionState::Lost(why)),
            Ok(StreamItem::Resumed) => AppReport::Connected(ConnectionState::Live),
            Err(_) => {
                let _ = reports.send(event(of_client(Event::ChatDeleted {})));
                return;
            }
        };
        if reports.send(report).is_err() {
            return;
        }
    }
}

/// Reads what a request asks for, or makes the change that it names.
async fn answer(client: &Client, workspace: WorkspaceId, request: ServerRequest) -> Result<AppReport, ClientError> {
    let chat = |place: &ChatPlace| client.chat(place.workspace, place.chat);
    Ok(match request {
        ServerRequest::Chats => {
            let query = ChatListFilter { limit: Some(MOST_CHATS), ..ChatListFilter::default() };
            AppReport::Chats(client.chats(workspace, &query).await?.0)
        }
        ServerRequest::Open(place) => AppReport::Opened(Box::new(chat(&place).snapshot().await?)),
        ServerRequest::Start { role, content } => {
            let agent_role = role.map(|role| role.row().name.to_owned());
            let new = client.create_chat(workspace, &NewChat { agent_role, ..NewChat::default() }).await?;
            let chat = client.chat(workspace, new.id);
            chat.say(&content).await?;
            AppReport::Opened(Box::new(chat.snapshot().await?))
        }
        ServerRequest::Older { place, before } => {
            let messages = chat(&place).messages(Some(before), PAGE).await?;
            AppReport::Older { chat: place.chat, messages }
        }
        ServerRequest::Body { place, message } => AppReport::Body(Box::new(chat(&place).message(message).await?)),
        ServerRequest::Plan(place) => AppReport::Plan(Box::new(chat(&place).plan().await?)),
        ServerRequest::Changes(place) => {
            let summary = ChangesFilter { summary: true, ..ChangesFilter::default() };
            AppReport::Changes(Box::new(chat(&place).changes(&summary).await?))
        }
        ServerRequest::FileDiff { place, path } => {
            AppReport::FileDiff(Box::new(chat(&place).changed_file(&path, &FileDiffFilter::default()).await?))
        }
        ServerRequest::Revert { place, body } => {
            let answer = Box::new(chat(&place).revert(&body).await?);
            AppReport::Reverted { body, answer }
        }
        ServerRequest::Grants(place) => AppReport::Grants(chat(&place).grants().await?),
        ServerRequest::Inbox => AppReport::Inbox(Box::new(client.inbox().await?)),
        ServerRequest::Search(query) => {
            let found = client.search(&query, MOST_FOUND).await?;
            AppReport::Found { query, found }
        }
        ServerRequest::Models => AppReport::Models(client.models(workspace).await?),
        ServerRequest::FindFiles(query) => {
            let paths = client.find_files(workspace, &query, MOST_FILES).await?;
            AppReport::Files { query, paths }
        }
        ServerRequest::Trust => AppReport::Trust(client.trust(workspace).await?),
        ServerRequest::AcceptTrust(sha256) => AppReport::Trust(client.accept_trust(workspace, &sha256).await?),
        ServerRequest::Change { place, change } => {
            make(&chat(&place), &change).await?;
            AppReport::Done { place, change }
        }
    })
}

async fn make(chat: &RemoteChat, change: &ChatChange) -> Result<(), ClientError> {
    match change {
        ChatChange::Send { content, comments } => {
            let (content, comments) = (content.clone(), comments.clone());
            chat.send(&NewMessageBody { content, comments, ..NewMessageBody::default() }).await.map(drop)
        }
        ChatChange::Answer { question_id, answers, comment } => chat.answer(*question_id, answers, comment).await.map(drop),
        ChatChange::Execute(body) => chat.execute(body).await.map(drop),
        ChatChange::Stop => chat.stop().await.map(drop),
        ChatChange::Retry => chat.retry().await.map(drop),
        ChatChange::Compact => chat.compact().await.map(drop),
        ChatChange::Update(update) => chat.update(update).await.map(drop),
        ChatChange::Delete => chat.delete().await,
        ChatChange::Withdraw(message) => chat.withdraw(*message).await,
        ChatChange::EditPlan { content, base_sha256 } => {
            let edit = PlanEditBody { content: PlanContentBody::Text(content.clone()), base_sha256: base_sha256.clone() };
            chat.edit_plan(&edit).await.map(drop)
        }
        ChatChange::RevokeGrant(id) => chat.revoke_grant(id).await,
    }
}
