//! The user's own changes to the chat's plan, and to what they always allowed.

use super::{Actor, plan};
use crate::action::plan_edit::{self, EditedPlan};
use crate::chat::Change;
use crate::plan::StoredPlan;
use planwright_protocol::op::PlanContent;
use planwright_protocol::{ErrorCode, Event, Message, MessageId, Problem, SwitchedBy};
use planwright_store::AuditKind;
use serde_json::json;

impl Actor {
    /// Writes the user's version of the plan, and records it in the history as the next revision.
    pub(super) async fn edit_plan(&mut self, content: PlanContent, base_sha256: &str) -> Result<Message, Problem> {
        if self.running.is_some() {
            return Err(Problem::new(ErrorCode::Conflict, "A run is in progress. Stop it, or wait for its end, then edit the plan."));
        }
        let plan_file = self.chat.record().config.plan_file.clone();
        let plan_file = plan_file.ok_or_else(|| Problem::new(ErrorCode::NoPlan, "This chat has no plan yet. Ask the agent for one."))?;
        let (path, id) = (plan::named(&plan_file)?, MessageId::generate());
        let edit = EditedPlan { path: path.clone(), content, base_sha256: base_sha256.to_owned() };
        plan_edit::write(&self.chat, self.account().cloned(), edit, id).await?;
        let unread = || Problem::new(ErrorCode::PlanInvalid, "The plan was written, but can't be read back. Load it again.");
        let stored = StoredPlan::read(&self.chat, &path).await.ok_or_else(unread)?;
        let message = match stored.user_version(&self.chat, self.account().cloned()).await? {
            Some(message) => Message { id, ..message },
            None => return stored.newest_message(&self.chat).await?.ok_or_else(unread),
        };
        let change = stored.change(self.chat.record().config.role, "").by(self.account());
        let mut change = self.keyed(change, Some(message.id));
        change.events.insert(0, Event::MessageCreated { message: message.clone() });
        self.chat.publish(change, |_| {}).await?;
        if let Some(card) = self.chat.pending().filter(|pending| pending.shows_plan(&stored.path)) {
            let approval = self.approval(Some(stored.path.clone()), SwitchedBy::Approval).await?;
            self.raise_card(&approval, Some(&card)).await?;
        }
        Ok(message)
    }

    /// Revokes an "always allow". Later calls ask again.
    pub(super) async fn revoke_grant(&mut self, id: &str) -> Result<(), Problem> {
        let record = self.chat.record();
        let Some(grant) = record.grants.iter().find(|grant| grant.id() == id) else {
            return Err(Problem::new(ErrorCode::NotFound, "This chat has no such permission. It may have been revoked already."));
        };
        let facts = json!({ "tool": grant.tool, "folder": grant.folder });
        let change = Change::default().log(AuditKind::GrantRevoked, "", record.config.role, facts).by(self.account());
        let (change, id) = (self.keyed(change, None), id.to_owned());
        self.chat.publish(change, move |row| row.grants.retain(|grant| grant.id() != id)).await
    }
}
