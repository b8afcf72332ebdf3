//! Chats that choose their mode by their first message.

use super::{Actor, mode_changed, switch_note};
use crate::chat::{Change, Draft};
use planwright_agent::intent::is_simple_fix;
use planwright_protocol::{ChatId, Message, Mode, Notice, Problem, SwitchedBy};
use planwright_store::AuditKind;
use serde_json::json;

/// Stored in the history, so that the decision is still open after a restart.
pub fn note(chat: ChatId) -> Message {
    let text = "This chat plans first, unless its first message asks only for a simple fix.";
    Message::notice(chat, Notice::ModeUndecided, text)
}

impl Actor {
    /// Call before the first message is stored: a simple fix starts in act mode. If the user has chosen a role, it stays.
    pub(super) async fn choose_mode(&self, content: &str) -> Result<(), Problem> {
        if !is_simple_fix(content) || self.chat.record().config.role != Mode::Plan.default_role() {
            return Ok(());
        }
        // Enough messages to see everything before a first message.
        let newest = self.chat.store.messages_before(self.chat.id, None, 2).await?;
        let [only] = newest.as_slice() else { return Ok(()) };
        if only.body.notice() != Some(&Notice::ModeUndecided) {
            return Ok(());
        }
        let (row, role) = (self.chat.record(), Mode::Act.default_role());
        let note = switch_note(&row, role, SwitchedBy::Auto, "This is a simple fix, so it starts in act mode, without a plan.");
        let change = Change::messages([note]).event(mode_changed(&row, role, row.config.plan_file.clone(), SwitchedBy::Auto)).log(
            AuditKind::ModeEntered,
            "",
            role,
            json!({ "mode": role.mode(), "by": SwitchedBy::Auto }),
        );
        self.chat.switch(change, move |row: &mut Draft| row.config.role = role).await
    }
}
