//! The user-defined properties of a chat.

use crate::db::Row;
use crate::error::StoreError;
use crate::store::parse_enum;
use planwright_protocol::op::MarkChange;
use planwright_protocol::settings::ReasoningEffort;

/// Properties that users set on a chat and that no run changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    pub pinned: bool,
    pub archived: bool,
    /// The name of the account that created the chat; `None` for the person who runs the server.
    pub person: Option<String>,
    /// The model for this chat's runs, as PROVIDER/MODEL; `None` for the configured model.
    pub model: Option<String>,
    /// The thinking effort of that model; `None` for the configured effort.
    pub effort: Option<ReasoningEffort>,
}

impl Marks {
    pub fn change(&mut self, change: MarkChange) {
        self.pinned = change.pinned.unwrap_or(self.pinned);
        self.archived = change.archived.unwrap_or(self.archived);
        change.model.apply(&mut self.model);
        change.effort.apply(&mut self.effort);
    }

    pub(crate) fn read(row: &Row) -> Result<Self, StoreError> {
        Ok(Self {
            pinned: row.number("pinned")? == 1,
            archived: row.number("archived")? == 1,
            person: row.optional_text("person")?,
            model: row.optional_text("model_choice")?,
            effort: row.optional_text("effort_choice")?.map(parse_enum).transpose()?,
        })
    }
}
