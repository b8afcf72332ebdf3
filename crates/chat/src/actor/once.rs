//! What can be sent again without being done again, and what can be taken back before it is read.

use super::{Actor, Reply};
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
    /// For an op that is known by its fields.
    pub fn of_op(key: String, op: &Op) -> Self {
        Self { key, sha256: sha256_hex(format!("{op:?}").as_bytes()) }
    }

    /// `content` is what must be the same for the key to stand for the same thing.
    pub fn new(key: String, content: &impl Serialize) -> Self {
        let json = serde_json::to_vec(content).unwrap_or_default();
        Self { key, sha256: sha256_hex(&json) }
    }
}

impl Actor {
    /// Admits an op, unless it was admitted before under the same key: then it is answered as it was then.
    pub(super) async fn admit_once(&mut self, op: Op, key: Option<SentKey>) -> Result<Reply, Problem> {
        if let Some(reply) = self.known_reply(key.as_ref()).await? {
            return Ok(reply);
        }
        self.key = key;
        let admitted = self.admit(op).await;
        self.reply_once(admitted).await
    }

    /// What an op that came under the same key was answered with.
    pub(super) async fn known_reply(&self, key: Option<&SentKey>) -> Result<Option<Reply>, Problem> {
        let Some(sent) = key else { return Ok(None) };
        match self.chat.store.op(self.chat.id, &sent.key).await? {
            Some(known) => self.reply_again(known, sent).await.map(Some),
            None => Ok(None),
        }
    }

    /// The answer to an op whose key is `self.key`, unless it was stored with what the op did.
    pub(super) async fn reply_once(&mut self, admitted: Result<Option<Message>, Problem>) -> Result<Reply, Problem> {
        let rest = self.key.take();
        let reply = self.reply(admitted?);
        if let Some(sent) = rest {
            // There was nothing to change, so nothing was stored with the key.
            let message_id = reply.message.as_ref().map(|message| message.id);
            self.chat.publish(Change { op: Some(record_of(sent, message_id)), ..Change::default() }, |_| {}).await?;
        }
        Ok(reply)
    }

    async fn reply_again(&self, known: OpRecord, sent: &SentKey) -> Result<Reply, Problem> {
        if known.sha256 != sent.sha256 {
            let text = "This `Idempotency-Key` was used for something else. Take a new key for each request.";
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

    /// What the user sent, to be stored with the key that it came with.
    pub(super) fn sent(&mut self, message: &Message) -> Change {
        self.keyed(Change::messages([message.clone()]), Some(message.id))
    }

    /// The change that is the op's own: stored with the key that the op came with, and the message that the op creates.
    pub(super) fn keyed(&mut self, mut change: Change, message: Option<MessageId>) -> Change {
        if let Some(sent) = self.key.take() {
            change.op = Some(record_of(sent, message));
        }
        change
    }

    /// Takes back a message that waits to be read.
    pub(super) async fn withdraw(&mut self, id: MessageId) -> Result<(), Problem> {
        if self.chat.inbox.remove(id) {
            let change = self.keyed(Change::default().event(Event::MessageDeleted { message_id: id }), None);
            return self.chat.publish(change, |_| {}).await;
        }
        match self.chat.store.message(self.chat.id, id).await? {
            Some(_) => {
                Err(Problem::new(ErrorCode::Conflict, "The agent has read this message already. Stop the run if it should not act on it."))
            }
            None => Err(Problem::new(ErrorCode::NotFound, format!("There is no message {id} in this chat."))),
        }
    }
}

/// The chat's owner adds what the op is answered with.
pub(super) fn record_of(SentKey { key, sha256 }: SentKey, message_id: Option<MessageId>) -> OpRecord {
    OpRecord { id: key, sha256, message_id, result: None }
}
