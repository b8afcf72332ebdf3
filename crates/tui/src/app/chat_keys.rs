//! Keys on the page of a chat: in the composer, in the history, in the dock.

use super::{AppState, Focus, PageName};
use crate::composer::{ComposerOutcome, SLASH_COMMANDS};
use crate::dock::DockOutcome;
use crate::overlay::Overlay;
use crate::request::{AppCommand, ChatChange, ServerRequest};
use crate::transcript::RowContent;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use planwright_protocol::api::requests::RevertBody;

impl AppState {
    pub(super) fn key_in_chat(&mut self, key: KeyEvent) -> Vec<AppCommand> {
        if key.modifiers.contains(KeyModifiers::ALT)
            && let Some(commands) = self.dock_key_from_anywhere(key)
        {
            return commands;
        }
        let has_text = self.dock.as_ref().is_some_and(|dock| dock.text.is_some());
        match (key.code, self.focus) {
            (KeyCode::BackTab, Focus::Composer | Focus::History) => return self.toggle_mode(),
            (KeyCode::Tab, Focus::Composer) if self.composer.suggestions.items.is_empty() => self.focus_next(),
            (KeyCode::Tab, Focus::History) => self.focus_next(),
            (KeyCode::Esc, Focus::Dock) if !has_text => self.focus = Focus::Composer,
            (KeyCode::PageUp, Focus::Composer | Focus::History) => return self.scroll_up(),
            (KeyCode::PageDown, Focus::Composer | Focus::History) => self.history.view.down(self.history.view.page()),
            (_, Focus::Composer) => return self.key_in_composer(key),
            (_, Focus::History) => return self.key_in_history(key),
            (_, Focus::Dock) => return self.key_in_dock(key),
        }
        Vec::new()
    }

    /// Composer, dock, history, and round again.
    fn focus_next(&mut self) {
        self.focus = match self.focus {
            Focus::Composer if self.dock.is_some() => Focus::Dock,
            Focus::Composer | Focus::Dock => {
                self.history.selected = self.history.rows.len().checked_sub(1);
                self.history.view.hold();
                Focus::History
            }
            Focus::History => {
                self.leave_history();
                Focus::Composer
            }
        };
    }

    fn leave_history(&mut self) {
        self.history.selected = None;
        self.history.view.to_end();
        self.focus = Focus::Composer;
    }

    fn scroll_up(&mut self) -> Vec<AppCommand> {
        self.history.view.up(self.history.view.page());
        let chat = self.chat.as_ref().filter(|chat| chat.has_older && self.history.view.is_at_start());
        let first = chat.and_then(|chat| chat.messages.first()).map(|message| message.id);
        match (self.place(), first) {
            (Some(place), Some(before)) => vec![ServerRequest::Older { place, before }.into()],
            _ => Vec::new(),
        }
    }

    /// Alt with the letter of a decision takes it wherever the focus is.
    fn dock_key_from_anywhere(&mut self, key: KeyEvent) -> Option<Vec<AppCommand>> {
        let KeyCode::Char(letter) = key.code else { return None };
        if letter == 'q' && self.dock.is_some() {
            self.focus = Focus::Dock;
            return Some(Vec::new());
        }
        let dock = self.dock.as_mut().filter(|dock| dock.text.is_none())?;
        let at = dock.action_of(letter)?;
        let outcome = dock.take(at);
        self.focus = Focus::Dock;
        Some(self.follow_dock(outcome))
    }

    fn key_in_dock(&mut self, key: KeyEvent) -> Vec<AppCommand> {
        let Some(dock) = &mut self.dock else {
            self.focus = Focus::Composer;
            return Vec::new();
        };
        let outcome = dock.key(key);
        if outcome == DockOutcome::Ignored && key.code == KeyCode::Char('?') {
            self.overlay = Some(Overlay::Help { scroll: 0 });
        }
        if outcome == DockOutcome::Ignored && key.code == KeyCode::Tab {
            self.focus_next();
        }
        self.follow_dock(outcome)
    }

    fn follow_dock(&mut self, outcome: DockOutcome) -> Vec<AppCommand> {
        match outcome {
            DockOutcome::Ignored | DockOutcome::Edited => Vec::new(),
            DockOutcome::ShowPlan => self.open_plan(),
            DockOutcome::Answer { answers, comment } => {
                let place = self.place();
                let Some((dock, place)) = self.dock.as_mut().zip(place) else { return Vec::new() };
                dock.is_sending = true;
                vec![ChatChange::Answer { question_id: dock.pending.question_id, answers, comment }.of(place).into()]
            }
        }
    }

    fn key_in_composer(&mut self, key: KeyEvent) -> Vec<AppCommand> {
        if key.code == KeyCode::Char('?') && self.composer.field.is_empty() {
            self.overlay = Some(Overlay::Help { scroll: 0 });
            return Vec::new();
        }
        match self.composer.key(key) {
            ComposerOutcome::Edited => Vec::new(),
            ComposerOutcome::FindFiles(query) => vec![ServerRequest::FindFiles(query).into()],
            ComposerOutcome::Send(content) => self.send(content),
            ComposerOutcome::Ignored => {
                if key.code == KeyCode::Esc {
                    self.history.view.to_end();
                }
                Vec::new()
            }
        }
    }

    fn send(&mut self, content: String) -> Vec<AppCommand> {
        if let Some(commands) = self.slash(&content) {
            return commands;
        }
        // A path such as /src/lib.rs is a message; a lone unknown word with a slash is a typing mistake.
        let word = content.trim();
        let is_mistyped = word.starts_with('/') && !word[1..].contains(['/', '.', ' ', '\n']) && word.len() > 1;
        if is_mistyped && !SLASH_COMMANDS.iter().any(|(name, _)| *name == word) {
            self.complain(format!("There is no command {word}. Press ? for the list."));
            self.composer.field.set(&content);
            return Vec::new();
        }
        self.history.view.to_end();
        match self.place() {
            Some(place) => vec![ChatChange::Send { content, comments: Vec::new() }.of(place).into()],
            None => vec![ServerRequest::Start { role: self.next_role, content }.into()],
        }
    }

    fn key_in_history(&mut self, key: KeyEvent) -> Vec<AppCommand> {
        let last = self.history.rows.len().saturating_sub(1);
        let selected = self.history.selected.unwrap_or(last);
        match (key.code, key.modifiers) {
            (KeyCode::Esc, _) => self.leave_history(),
            (KeyCode::Up | KeyCode::Char('k'), _) => {
                self.history.view.hold();
                self.history.selected = Some(selected.saturating_sub(1));
                if selected == 0 {
                    return self.scroll_up();
                }
            }
            (KeyCode::Down | KeyCode::Char('j'), _) => {
                self.history.view.hold();
                self.history.selected = Some((selected + 1).min(last));
            }
            (KeyCode::Home, _) => self.history.selected = Some(0),
            (KeyCode::End, _) => self.history.selected = Some(last),
            (KeyCode::Enter | KeyCode::Char(' '), _) => return self.toggle_selected(),
            (KeyCode::Char('o'), _) => {
                self.history.all_open = !self.history.all_open;
                self.history.open.clear();
            }
            (KeyCode::Char('z'), _) => return self.preview_take_back(),
            (KeyCode::Char('w'), _) => return self.withdraw_selected(),
            (KeyCode::Char('?'), _) => self.overlay = Some(Overlay::Help { scroll: 0 }),
            // Typing goes on in the composer.
            (KeyCode::Char(_), KeyModifiers::NONE) => {
                self.leave_history();
                return self.key_in_composer(key);
            }
            _ => {}
        }
        Vec::new()
    }

    /// Folds a row; a plan opens on its page.
    fn toggle_selected(&mut self) -> Vec<AppCommand> {
        let Some(row) = self.history.selected_row() else { return Vec::new() };
        let id = row.id;
        if matches!(row.content, RowContent::Plan(_)) {
            return self.open_plan();
        }
        self.history.toggle(id);
        Vec::new()
    }

    /// Asks what taking back everything since the selected row would do.
    fn preview_take_back(&mut self) -> Vec<AppCommand> {
        let row = self.history.selected_row().map(|row| row.id);
        let body = |message_id| RevertBody { message_id: Some(message_id), preview: true, ..RevertBody::default() };
        row.zip(self.place()).map(|(id, place)| ServerRequest::Revert { place, body: body(id) }.into()).into_iter().collect()
    }

    fn withdraw_selected(&mut self) -> Vec<AppCommand> {
        let is_queued = |content: &RowContent| matches!(content, RowContent::User { is_queued: true, .. });
        let row = self.history.selected_row().filter(|row| is_queued(&row.content)).map(|row| row.id);
        if let Some((message, place)) = row.zip(self.place()) {
            return vec![ChatChange::Withdraw(message).of(place).into()];
        }
        self.say("Only a message that waits to be read can be withdrawn.");
        Vec::new()
    }

    /// Shows the chat again after something was done elsewhere.
    pub(super) fn show_chat(&mut self) {
        self.page = PageName::Chat;
        self.focus = Focus::Composer;
    }
}
