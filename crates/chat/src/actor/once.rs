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
        let Some(sent) = key else {
            let message = self.admit(op).await?;
            return Ok(self.reply(message));
        };
        if let Some(known) = self.chat.store.op(self.chat.id, &sent.key).await? {
            return self.reply_again(known, &sent).await;
        }
        self.key = Some(sent);
        let admitted = self.admit(op).await;
        let rest = self.key.take();
        let message = admitted?;
        let reply = self.reply(message);
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

    /// The record of the op that is being admitted, for a change that is made elsewhere.
    pub(super) fn op_record(&self) -> Option<OpRecord> {
        self.key.clone().map(|sent| record_of(sent, None))
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
fn record_of(SentKey { key, sha256 }: SentKey, message_id: Option<MessageId>) -> OpRecord {
    OpRecord { id: key, sha256, message_id, result: None }
}
