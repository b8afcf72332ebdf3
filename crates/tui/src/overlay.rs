//! What lies over a page and takes all keys: help, lists to choose from, questions of the program itself.

use crate::request::{AppCommand, ServerRequest};
use crate::text_field::{Lines, TextField};
use crossterm::event::{KeyCode, KeyEvent};
use planwright_protocol::Role;
use planwright_protocol::api::workspace::Trust;
use planwright_protocol::settings::ReasoningEffort;

#[derive(Clone, Debug)]
pub enum Overlay {
    Help {
        scroll: usize,
    },
    Picker(Picker),
    Confirm(ConfirmDialog),
    Prompt {
        title: String,
        field: TextField,
    },
    Trust {
        trust: Trust,
        scroll: usize,
    },
    /// Leaving while the agent works.
    Leave,
}

#[derive(Clone, Debug)]
pub struct Picker {
    pub title: &'static str,
    pub items: Vec<PickerItem>,
    pub selected: usize,
    pub filter: TextField,
}

#[derive(Clone, Debug)]
pub struct PickerItem {
    pub label: String,
    pub hint: String,
    pub picked: Picked,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Picked {
    Role(Role),
    Model(Option<String>),
    Effort(Option<ReasoningEffort>),
    /// What was always allowed, by its id: choosing revokes it.
    Grant(String),
}

#[derive(Clone, Debug)]
pub struct ConfirmDialog {
    pub title: String,
    pub lines: Vec<String>,
    pub yes: String,
    pub no: &'static str,
    pub then: Vec<AppCommand>,
}

/// What a key did to an overlay.
#[derive(Clone, Debug)]
pub enum OverlayOutcome {
    Stay,
    Close,
    Picked(Picked),
    Confirmed(Vec<AppCommand>),
    Entered(String),
    AcceptTrust(String),
    StopAndLeave,
    LeaveRunning,
}

impl Picker {
    #[must_use]
    pub fn new(title: &'static str, items: Vec<PickerItem>, selected: usize) -> Self {
        Self { title, items, selected, filter: TextField::new(Lines::One) }
    }

    /// The items that contain what was typed.
    #[must_use]
    pub fn shown(&self) -> Vec<&PickerItem> {
        let typed = self.filter.shown().to_lowercase();
        self.items.iter().filter(|item| item.label.to_lowercase().contains(&typed)).collect()
    }

    fn key(&mut self, key: KeyEvent) -> OverlayOutcome {
        let count = self.shown().len();
        match (key.code, count) {
            (KeyCode::Esc, _) => return OverlayOutcome::Close,
            (KeyCode::Up, 1..) => self.selected = (self.selected + count - 1) % count,
            (KeyCode::Down | KeyCode::Tab, 1..) => self.selected = (self.selected + 1) % count,
            (KeyCode::Enter, _) => {
                let picked = self.shown().get(self.selected).map(|item| item.picked.clone());
                return picked.map_or(OverlayOutcome::Stay, OverlayOutcome::Picked);
            }
            _ => {
                if self.filter.key(key) {
                    self.selected = 0;
                }
            }
        }
        OverlayOutcome::Stay
    }
}

impl Overlay {
    pub fn key(&mut self, key: KeyEvent) -> OverlayOutcome {
        match self {
            Overlay::Help { scroll } => match (key.code, key.modifiers) {
                (KeyCode::Down | KeyCode::Char('j'), _) => *scroll += 1,
                (KeyCode::PageDown | KeyCode::Char(' '), _) => *scroll += 10,
                (KeyCode::Up | KeyCode::Char('k'), _) => *scroll = scroll.saturating_sub(1),
                (KeyCode::PageUp, _) => *scroll = scroll.saturating_sub(10),
                _ => return OverlayOutcome::Close,
            },
            Overlay::Picker(picker) => return picker.key(key),
            Overlay::Confirm(confirm) => {
                return match (key.code, key.modifiers) {
                    (KeyCode::Char('y'), _) => OverlayOutcome::Confirmed(confirm.then.clone()),
                    (KeyCode::Char('n') | KeyCode::Esc, _) => OverlayOutcome::Close,
                    _ => OverlayOutcome::Stay,
                };
            }
            Overlay::Prompt { field, .. } => match (key.code, key.modifiers) {
                (KeyCode::Esc, _) => return OverlayOutcome::Close,
                (KeyCode::Enter, _) if !field.content().trim().is_empty() => return OverlayOutcome::Entered(field.take()),
                _ => {
                    field.key(key);
                }
            },
            Overlay::Trust { trust, scroll } => match (key.code, key.modifiers) {
                (KeyCode::Esc | KeyCode::Char('n'), _) => return OverlayOutcome::Close,
                (KeyCode::Char('t'), _) => {
                    let unaccepted = if trust.file_trusted { None } else { trust.sha256.clone() };
                    let hash = unaccepted.or_else(|| trust.items.iter().find_map(|item| item.sha256.clone()));
                    return hash.map_or(OverlayOutcome::Close, OverlayOutcome::AcceptTrust);
                }
                (KeyCode::Down | KeyCode::PageDown, _) => *scroll += 3,
                (KeyCode::Up | KeyCode::PageUp, _) => *scroll = scroll.saturating_sub(3),
                _ => {}
            },
            Overlay::Leave => match (key.code, key.modifiers) {
                (KeyCode::Char('s'), _) => return OverlayOutcome::StopAndLeave,
                (KeyCode::Char('k'), _) => return OverlayOutcome::LeaveRunning,
                (KeyCode::Esc | KeyCode::Char('c'), _) => return OverlayOutcome::Close,
                _ => {}
            },
        }
        OverlayOutcome::Stay
    }

    pub fn paste(&mut self, text: &str) {
        match self {
            Overlay::Picker(Picker { filter: field, .. }) | Overlay::Prompt { field, .. } => field.paste(text),
            Overlay::Help { .. } | Overlay::Confirm(_) | Overlay::Trust { .. } | Overlay::Leave => {}
        }
    }
}

impl ConfirmDialog {
    #[must_use]
    pub fn new(title: impl Into<String>, yes: impl Into<String>, request: ServerRequest) -> Self {
        Self { title: title.into(), lines: Vec::new(), yes: yes.into(), no: "Cancel", then: vec![request.into()] }
    }

    #[must_use]
    pub fn with_lines(mut self, lines: Vec<String>) -> Self {
        self.lines = lines;
        self
    }
}
