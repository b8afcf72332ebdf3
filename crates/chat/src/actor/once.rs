//! What can be sent again without being done again, and what can be taken back before it is read.

use super::Actor;
use crate::chat::Change;
use planwright_protocol::sha256_hex;
use planwright_protocol::{ErrorCode, Event, Message, MessageId, Op, Problem};
use planwright_store::OpRecord;
use serde::Serialize;

/// A client's key for what it sends, and what it sends.
#[derive(Clone, Debug)]
pub struct SentKey {
    pub key: String,
    pub sha256: String,
}

impl SentKey {
    /// `content` is what must be the same for the key to stand for the same thing.
    pub fn new(key: String, content: &impl Serialize) -> Self {
        let json = serde_json::to_vec(content).unwrap_or_default();
        Self { key, sha256: sha256_hex(&json) }
    }
}

impl Actor {
    /// Admits an op, unless it was admitted before under the same key: then that is the answer.
    pub(super) async fn admit_once(&mut self, op: Op, key: Option<SentKey>) -> Result<Option<Message>, Problem> {
        let Some(sent) = key else { return self.admit(op).await };
        if let Some(known) = self.chat.store.op(self.chat.id, &sent.key).await? {
            if known.sha256 != sent.sha256 {
                let text = "This `Idempotency-Key` was used for another message. Take a new key for each message.";
                return Err(Problem::new(ErrorCode::Conflict, text));
            }
            let Some(message) = known.message_id else { return Ok(None) };
            return self.chat.store.message(self.chat.id, message).await.map_err(Problem::from);
        }
        self.key = Some(sent);
        let admitted = self.admit(op).await;
        self.key = None;
        admitted
    }

    /// What the user sent, to be stored with the key that it came with.
    pub(super) fn sent(&mut self, message: &Message) -> Change {
        let op = self.key.take().map(|SentKey { key, sha256 }| OpRecord { id: key, sha256, message_id: Some(message.id) });
        Change { op, ..Change::messages([message.clone()]) }
    }

    /// Takes back a message that waits to be read.
    pub(super) async fn withdraw(&mut self, id: MessageId) -> Result<(), Problem> {
        if self.chat.inbox.remove(id) {
            return self.chat.publish(Change::default().event(Event::MessageDeleted { message_id: id }), |_| {}).await;
        }
        match self.chat.store.message(self.chat.id, id).await? {
            Some(_) => {
                Err(Problem::new(ErrorCode::Conflict, "The agent has read this message already. Stop the run if it should not act on it."))
            }
            None => Err(Problem::new(ErrorCode::NotFound, format!("There is no message {id} in this chat."))),
        }
    }
}
