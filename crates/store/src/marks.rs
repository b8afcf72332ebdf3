//! What people set on a chat.

use planwright_protocol::op::MarkChange;

/// What people set on a chat, which no run changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    pub pinned: bool,
    pub archived: bool,
    /// The name of the account that began the chat; `None` for the person who runs the server.
    pub person: Option<String>,
}

impl Marks {
    pub fn change(&mut self, change: MarkChange) {
        self.pinned = change.pinned.unwrap_or(self.pinned);
        self.archived = change.archived.unwrap_or(self.archived);
    }
}
