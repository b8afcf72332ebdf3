//! One change to a chat: stored whole or not at all, then published.

use crate::card::audit_record;
use planwright_protocol::api::chat::Pending;
use planwright_protocol::{Event, Message, Role, Timestamp};
use planwright_store::{ApprovalRow, AuditKind, AuditRow, GrantRow, OpRecord, Versions};
use serde_json::Value;

#[derive(Default)]
pub struct Change {
    pub events: Vec<Event>,
    pub audit: Vec<AuditRow>,
    pub approval: Option<ApprovalRow>,
    pub grants: Vec<GrantRow>,
    /// The file changes that are about to happen.
    pub versions: Box<Versions>,
    /// The op that this change is the result of.
    pub op: Option<OpRecord>,
}

impl Change {
    pub fn messages(messages: impl IntoIterator<Item = Message>) -> Self {
        Self { events: messages.into_iter().map(|message| Event::MessageCreated { message }).collect(), ..Self::default() }
    }

    pub fn event(mut self, event: Event) -> Self {
        self.events.push(event);
        self
    }

    /// Names the user, not a model, as the author of the audit rows.
    pub fn by(mut self, user: Option<&String>) -> Self {
        self.audit.iter_mut().for_each(|row| row.user = user.cloned());
        self
    }

    pub fn log_question(self, pending: &Pending, model: &str) -> Self {
        let (kind, details) = audit_record(pending);
        self.log(kind, model, pending.by.role, details)
    }

    pub fn log(mut self, kind: AuditKind, model: &str, role: Role, details: Value) -> Self {
        self.audit.push(AuditRow { kind, model: model.to_owned(), role: Some(role), user: None, details, at: Timestamp::now() });
        self
    }
}
