//! Lists of chats: of this folder, of all folders that need attention, and of what was found.

use crate::request::ChatPlace;
use crate::text_field::{Lines, TextField};
use crate::viewport::Viewport;
use crossterm::event::{KeyCode, KeyEvent};
use planwright_protocol::api::chat::ChatView;
use planwright_protocol::api::inbox::{InboxChat, InboxView};
use planwright_protocol::api::workspace::FoundExcerpt;
use planwright_protocol::{ChatState, Role};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListKind {
    Chats,
    Inbox,
    Search,
}

#[derive(Debug)]
pub struct ListPage {
    pub kind: ListKind,
    pub rows: Vec<ListRow>,
    /// Narrows the list; in a search, what to search for.
    pub filter: TextField,
    pub selected: usize,
    pub is_loaded: bool,
    pub window: Viewport,
}

/// A chat in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct ListRow {
    pub place: ChatPlace,
    pub group: &'static str,
    pub title: String,
    pub detail: String,
    pub role: Option<Role>,
    pub state: Option<ChatState>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ListOutcome {
    Stay,
    Close,
    Open(ChatPlace),
    New,
    Rename(ListRow),
    Delete(ListRow),
    Search(String),
}

impl ListPage {
    #[must_use]
    pub fn new(kind: ListKind) -> Self {
        let filter = TextField::new(Lines::One);
        Self { kind, rows: Vec::new(), filter, selected: 0, is_loaded: false, window: Viewport::default() }
    }

    pub fn show(&mut self, rows: Vec<ListRow>) {
        self.rows = rows;
        self.is_loaded = true;
        self.selected = self.selected.min(self.shown().len().saturating_sub(1));
    }

    /// The rows that contain what was typed.
    #[must_use]
    pub fn shown(&self) -> Vec<&ListRow> {
        let typed = self.filter.shown().to_lowercase();
        let matches =
            |row: &&ListRow| self.kind == ListKind::Search || format!("{} {}", row.title, row.detail).to_lowercase().contains(&typed);
        self.rows.iter().filter(matches).collect()
    }

    pub fn key(&mut self, key: KeyEvent) -> ListOutcome {
        let count = self.shown().len();
        let selected = self.shown().get(self.selected).map(|row| (*row).clone());
        match (key.code, selected) {
            (KeyCode::Esc, _) => return ListOutcome::Close,
            (KeyCode::Down, _) => self.select((self.selected + 1).min(count.saturating_sub(1))),
            (KeyCode::Up, _) => self.select(self.selected.saturating_sub(1)),
            (KeyCode::PageDown, _) => self.select((self.selected + self.window.page()).min(count.saturating_sub(1))),
            (KeyCode::PageUp, _) => self.select(self.selected.saturating_sub(self.window.page())),
            (KeyCode::Enter, _) if self.kind == ListKind::Search && !self.is_loaded => {
                return ListOutcome::Search(self.filter.content());
            }
            (KeyCode::Enter, Some(row)) => return ListOutcome::Open(row.place),
            (KeyCode::F(2), Some(row)) if self.kind == ListKind::Chats => return ListOutcome::Rename(row),
            (KeyCode::Delete, Some(row)) if self.kind == ListKind::Chats => return ListOutcome::Delete(row),
            (KeyCode::F(3), _) => return ListOutcome::New,
            _ => {
                if self.filter.key(key) {
                    self.selected = 0;
                    if self.kind == ListKind::Search {
                        // The next Enter searches for what was typed.
                        self.is_loaded = false;
                    }
                }
            }
        }
        ListOutcome::Stay
    }

    fn select(&mut self, row: usize) {
        self.selected = row;
        self.window.hold();
    }
}

#[must_use]
pub fn chat_rows(chats: &[ChatView]) -> Vec<ListRow> {
    let row = |chat: &ChatView| ListRow {
        place: ChatPlace { workspace: chat.workspace_id, chat: chat.id },
        group: if chat.pinned { "Pinned" } else { "Chats" },
        title: title_or(&chat.title),
        detail: progress(chat.progress.as_ref().map(|progress| (progress.done + progress.skipped, progress.total))),
        role: Some(chat.config.role),
        state: Some(chat.state),
    };
    let mut rows: Vec<ListRow> = chats.iter().filter(|chat| !chat.archived).map(row).collect();
    rows.sort_by_key(|row| row.group != "Pinned");
    rows
}

#[must_use]
pub fn inbox_rows(inbox: &InboxView) -> Vec<ListRow> {
    let groups =
        [("Needs you", &inbox.needs_you), ("Running", &inbox.running), ("To review", &inbox.to_review), ("Recently done", &inbox.recent)];
    groups.into_iter().flat_map(|(group, chats)| chats.iter().map(move |chat| inbox_row(group, chat))).collect()
}

fn inbox_row(group: &'static str, chat: &InboxChat) -> ListRow {
    let steps = progress(chat.progress.as_ref().map(|progress| (progress.done + progress.skipped, progress.total)));
    let question = chat.question.as_ref().map(|question| question.text.lines().next().unwrap_or_default().to_owned());
    let files = (chat.files > chat.viewed).then(|| format!("{} changed files", chat.files));
    let parts = [Some(chat.workspace_name.clone()), question, Some(steps).filter(|steps| !steps.is_empty()), files];
    ListRow {
        place: ChatPlace { workspace: chat.workspace_id, chat: chat.id },
        group,
        title: title_or(&chat.title),
        detail: parts.into_iter().flatten().collect::<Vec<_>>().join(" · "),
        role: Some(chat.config.role),
        state: Some(chat.state),
    }
}

#[must_use]
pub fn found_rows(found: &[FoundExcerpt]) -> Vec<ListRow> {
    let row = |found: &FoundExcerpt| ListRow {
        place: ChatPlace { workspace: found.workspace_id, chat: found.message.chat_id },
        group: "Messages",
        title: title_or(&found.title),
        detail: found.message.content.split_whitespace().collect::<Vec<_>>().join(" "),
        role: found.message.agent_role,
        state: None,
    };
    found.iter().map(row).collect()
}

fn progress(steps: Option<(usize, usize)>) -> String {
    steps.map(|(done, total)| format!("{done} of {total} steps")).unwrap_or_default()
}

#[must_use]
pub fn title_or(title: &str) -> String {
    if title.trim().is_empty() { "New chat".to_owned() } else { title.to_owned() }
}
