//! The rows of the open chat, with what was drawn of them.

use crate::open_chat::OpenChat;
use crate::transcript::{Row, rows};
use crate::viewport::Viewport;
use planwright_protocol::MessageId;
use ratatui::text::Line;
use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

#[derive(Debug, Default)]
pub struct HistoryView {
    pub rows: Vec<HistoryRow>,
    /// Rows that are folded out.
    pub open: HashSet<MessageId>,
    pub all_open: bool,
    /// The row that keys act on, while the history has the focus.
    pub selected: Option<usize>,
    pub view: Viewport,
    seen: Option<(planwright_protocol::ChatId, u64)>,
}

#[derive(Debug)]
pub struct HistoryRow {
    pub row: Row,
    drawn: RefCell<Option<DrawnRow>>,
}

#[derive(Debug)]
struct DrawnRow {
    width: usize,
    is_open: bool,
    lines: Rc<Vec<Line<'static>>>,
}

impl HistoryRow {
    /// The row's lines; drawn again only when the width or the fold has changed.
    pub fn lines(&self, width: usize, is_open: bool, draw: impl FnOnce(&Row) -> Vec<Line<'static>>) -> Rc<Vec<Line<'static>>> {
        let mut drawn = self.drawn.borrow_mut();
        if let Some(known) = drawn.as_ref().filter(|known| known.width == width && known.is_open == is_open) {
            return Rc::clone(&known.lines);
        }
        let lines = Rc::new(draw(&self.row));
        *drawn = Some(DrawnRow { width, is_open, lines: Rc::clone(&lines) });
        lines
    }
}

impl HistoryView {
    /// Groups the messages anew if they have changed. Rows that stay the same keep what was drawn of them.
    pub fn refresh(&mut self, chat: &OpenChat) {
        let version = (chat.chat.id, chat.version);
        if self.seen == Some(version) {
            return;
        }
        if self.seen.is_none_or(|(seen, _)| seen != chat.chat.id) {
            *self = Self { all_open: self.all_open, ..Self::default() };
        }
        self.seen = Some(version);
        let mut old = std::mem::take(&mut self.rows).into_iter().peekable();
        for row in rows(chat) {
            while old.next_if(|known| known.row.id < row.id).is_some() {}
            let drawn = old.next_if(|known| known.row == row).map(|known| known.drawn).unwrap_or_default();
            self.rows.push(HistoryRow { row, drawn });
        }
        let last = self.rows.len().saturating_sub(1);
        self.selected = self.selected.map(|selected| selected.min(last));
    }

    #[must_use]
    pub fn is_open(&self, id: MessageId) -> bool {
        self.all_open != self.open.contains(&id)
    }

    pub fn toggle(&mut self, id: MessageId) {
        if !self.open.remove(&id) {
            self.open.insert(id);
        }
    }

    #[must_use]
    pub fn selected_row(&self) -> Option<&Row> {
        self.rows.get(self.selected?).map(|row| &row.row)
    }
}
