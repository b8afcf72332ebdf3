//! Idempotency of ops, and withdrawing messages before the agent reads them.

use super::{Actor, Reply};
use crate::chat::Change;
use planwright_protocol::sha256_hex;
use planwright_protocol::{ErrorCode, Event, Message, MessageId, Op, Problem};
use planwright_store::OpRecord;
use serde::Serialize;

/// A client's idempotency key, and the hash of its request.
#[derive(Clone, Debug)]
pub struct SentKey {
    pub key: String,
    pub sha256: String,
}

impl SentKey {
    /// For an op that is identified by its fields.
    pub fn of_op(key: String, op: &Op) -> Self {
        Self { key, sha256: sha256_hex(format!("{op:?}").as_bytes()) }
    }

    /// `content` must be the same for the key to identify the same request.
    pub fn new(key: String, content: &impl Serialize) -> Self {
        let json = serde_json::to_vec(content).unwrap_or_default();
        Self { key, sha256: sha256_hex(&json) }
    }
}

impl Actor {
    /// Admits an op, unless it was admitted before with the same key: then it returns the same answer.
    pub(super) async fn admit_once(&mut self, op: Op, key: Option<SentKey>) -> Result<Reply, Problem> {
        if let Some(reply) = self.known_reply(key.as_ref()).await? {
            return Ok(reply);
        }
        self.key = key;
        let admitted = self.admit(op).await;
        self.reply_once(admitted).await
    }

    /// The answer to an earlier op with the same key.
    pub(super) async fn known_reply(&self, key: Option<&SentKey>) -> Result<Option<Reply>, Problem> {
        let Some(sent) = key else { return Ok(None) };
        match self.chat.store.op(self.chat.id, &sent.key).await? {
            Some(known) => self.reply_again(known, sent).await.map(Some),
            None => Ok(None),
        }
    }

    /// The answer to an op whose key is `self.key`, unless the key was stored with the op's effect.
    pub(super) async fn reply_once(&mut self, admitted: Result<Option<Message>, Problem>) -> Result<Reply, Problem> {
        let rest = self.key.take();
        let reply = self.reply(admitted?);
        if let Some(sent) = rest {
            // There was nothing to change, so no key was stored.
            let message_id = reply.message.as_ref().map(|message| message.id);
            self.chat.publish(Change { op: Some(record_of(sent, message_id)), ..Change::default() }, |_| {}).await?;
        }
        Ok(reply)
    }

    async fn reply_again(&self, known: OpRecord, sent: &SentKey) -> Result<Reply, Problem> {
        if known.sha256 != sent.sha256 {
            let text = "This `Idempotency-Key` was used for another request. Use a new key for each request.";
            return Err(Problem::new(ErrorCode::Conflict, text));
        }
        let message = match known.message_id {
            Some(id) => self.chat.store.message(self.chat.id, id).await?,
            None => None,
        };
        let reply = self.reply(message);
        let chat = known.result.and_then(|result| serde_json::from_value(result).ok()).unwrap_or(reply.chat);
        Ok(Reply { chat, ..reply })
    }

    /// The user's message, to be stored with its key.
    pub(super) fn sent(&mut self, message: &Message) -> Change {
        self.keyed(Change::messages([message.clone()]), Some(message.id))
    }

    /// The op's own change: stored with its key, and with the message that it creates.
    pub(super) fn keyed(&mut self, mut change: Change, message: Option<MessageId>) -> Change {
        if let Some(sent) = self.key.take() {
            change.op = Some(record_of(sent, message));
        }
        change
    }

    /// Withdraws a message that the agent has not read yet.
    pub(super) async fn withdraw(&mut self, id: MessageId) -> Result<(), Problem> {
        if self.chat.inbox.remove(id) {
            let change = self.keyed(Change::default().event(Event::MessageDeleted { message_id: id }), None);
            return self.chat.publish(change, |_| {}).await;
        }
        match self.chat.store.message(self.chat.id, id).await? {
            Some(_) => {
                Err(Problem::new(ErrorCode::Conflict, "The agent has already read this message. Stop the run if it should not act on it."))
            }
            None => Err(Problem::new(ErrorCode::NotFound, format!("There is no message {id} in this chat."))),
        }
    }
}

/// The chat's owner adds the answer to the op.
pub(super) fn record_of(SentKey { key, sha256 }: SentKey, message_id: Option<MessageId>) -> OpRecord {
    OpRecord { id: key, sha256, message_id, result: None }
}
