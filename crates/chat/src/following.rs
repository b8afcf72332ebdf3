//! Follows chats, wherever they are, and tells other nodes about those that are here.

use crate::chat::no_chat;
use crate::sessions::Sessions;
use planwright_feed::{ChatQuestion, DistantChat, EventLog, Follower, Peers, Source, answer_question};
use planwright_protocol::{ChatId, ErrorCode, Problem, WorkspaceId};
use std::sync::{Arc, PoisonError};

impl Sessions {
    /// Exchanges events with other nodes from now on.
    pub async fn join(&self, peers: Peers) {
        self.inner.hub.join(peers.clone()).await;
        let _ = self.inner.peers.set(peers);
    }

    /// The other nodes, if there are any.
    #[must_use]
    pub fn peers(&self) -> Option<&Peers> {
        self.inner.peers.get()
    }

    /// Follows a chat of this workspace after an event, or from now on.
    ///
    /// # Errors
    /// There is no such chat in it, or it can't be read.
    pub async fn follow(&self, workspace: WorkspaceId, id: ChatId, after: Option<u64>) -> Result<Follower, Problem> {
        let source = Source { workspace, chat: id };
        let chat: Arc<dyn EventLog> = match self.peers() {
            Some(peers) if !self.store().leases().holds(workspace) => self.distant_chat(peers, source).await?,
            Some(_) | None => self.chat_in(workspace, id).await?.chat,
        };
        match after {
            Some(after) => Follower::after(chat, after).await,
            None => Follower::from_now(chat).await,
        }
    }

    /// Answers another node's question about a chat that is here; `None` if it is not.
    pub async fn answer(&self, question: &ChatQuestion) -> Option<bytes::Bytes> {
        let (ChatQuestion::Moment(source) | ChatQuestion::Tail(source, _)) = question;
        let term = self.store().leases().tenure(source.workspace).ok()?.term();
        let handle = self.chat_in(source.workspace, source.chat).await.ok()?;
        answer_question(&*handle.chat, term, question).await
    }

    /// One listener for all followers of a chat here.
    async fn distant_chat(&self, peers: &Peers, source: Source) -> Result<Arc<DistantChat>, Problem> {
        let known = self.inner.remote.lock().unwrap_or_else(PoisonError::into_inner).get(&source.chat).and_then(std::sync::Weak::upgrade);
        if let Some(chat) = known {
            chat.catch_up().await;
            return Ok(chat);
        }
        let row = self.store().chat(source.chat).await?.filter(|row| row.workspace_id == source.workspace);
        let ceiling = row.ok_or_else(|| no_chat(source.chat))?.seq_ceiling;
        let chat = DistantChat::open(peers.clone(), source, ceiling).await?;
        let mut remote = self.inner.remote.lock().unwrap_or_else(PoisonError::into_inner);
        remote.retain(|_, chat| chat.strong_count() > 0);
        remote.insert(source.chat, Arc::downgrade(&chat));
        Ok(chat)
    }
}

/// The problem of a client whose workspace no node has at the moment.
#[must_use]
pub fn node_away(node: Option<&str>) -> Problem {
    let text = match node {
        Some(node) => format!("Node {node}, which has this workspace, is away. Its chats can be read; try again when it is back."),
        None => "No node has this workspace at the moment. Try again in a few seconds.".to_owned(),
    };
    Problem::new(ErrorCode::NodeAway, text)
}
