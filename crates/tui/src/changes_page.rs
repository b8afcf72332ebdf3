//! The page of the changed files: their diffs, and taking them back.

use crate::request::{AppCommand, ChatPlace, ServerRequest};
use crate::viewport::Viewport;
use crossterm::event::{KeyCode, KeyEvent};
use planwright_protocol::api::changes::{ChangedFile, Changes, FileDiff};
use planwright_protocol::api::requests::{RevertBody, RevertedFile};

#[derive(Debug, Default)]
pub struct ChangesPage {
    pub files: Vec<ChangedFile>,
    pub is_loaded: bool,
    pub selected: usize,
    pub diff: Option<FileDiff>,
    /// The hunk that keys act on.
    pub hunk: usize,
    pub window: Viewport,
}

#[derive(Clone, Debug)]
pub enum ChangesOutcome {
    Stay,
    Close,
    Do(AppCommand),
    Say(&'static str),
}

impl ChangesPage {
    /// Shows the list; returns the file whose diff is wanted.
    pub fn show(&mut self, changes: Changes) -> Option<String> {
        self.files = changes.total.files.into_iter().filter(|file| !file.reverted).collect();
        self.is_loaded = true;
        self.selected = self.selected.min(self.files.len().saturating_sub(1));
        self.diff = None;
        self.path()
    }

    pub fn show_diff(&mut self, diff: FileDiff) {
        if self.path().as_deref() == Some(diff.file.path.as_str()) {
            self.hunk = self.hunk.min(diff.hunks.len().saturating_sub(1));
            self.diff = Some(diff);
        }
    }

    fn path(&self) -> Option<String> {
        self.files.get(self.selected).map(|file| file.path.clone())
    }

    pub fn key(&mut self, key: KeyEvent, place: ChatPlace) -> ChangesOutcome {
        let count = self.files.len();
        let hunks = self.diff.as_ref().map_or(0, |diff| diff.hunks.len());
        match (key.code, key.modifiers) {
            (KeyCode::Esc | KeyCode::Char('q'), _) => return ChangesOutcome::Close,
            (KeyCode::Down | KeyCode::Char('j'), _) if self.selected + 1 < count => return self.select(self.selected + 1, place),
            (KeyCode::Up | KeyCode::Char('k'), _) if self.selected > 0 => return self.select(self.selected - 1, place),
            (KeyCode::Char('n'), _) if self.hunk + 1 < hunks => self.go_to_hunk(self.hunk + 1),
            (KeyCode::Char('p'), _) if self.hunk > 0 => self.go_to_hunk(self.hunk - 1),
            (KeyCode::PageDown | KeyCode::Char(' '), _) => self.window.down(self.window.page()),
            (KeyCode::PageUp, _) => self.window.up(self.window.page()),
            (KeyCode::Char('z'), _) => return self.take_back(place, true),
            (KeyCode::Char('Z'), _) => return self.take_back(place, false),
            _ => {}
        }
        ChangesOutcome::Stay
    }

    fn go_to_hunk(&mut self, hunk: usize) {
        self.hunk = hunk;
        self.window.hold();
    }

    fn select(&mut self, file: usize, place: ChatPlace) -> ChangesOutcome {
        self.selected = file;
        self.hunk = 0;
        self.diff = None;
        self.window.to_start();
        let path = self.path().map(|path| ServerRequest::FileDiff { place, path }.into());
        path.map_or(ChangesOutcome::Stay, ChangesOutcome::Do)
    }

    /// Asks what taking back the selected hunk or file would do.
    fn take_back(&self, place: ChatPlace, is_one_hunk: bool) -> ChangesOutcome {
        let Some(diff) = &self.diff else { return ChangesOutcome::Stay };
        if diff.file.irreversible.is_some() {
            return ChangesOutcome::Say("This change can't be taken back.");
        }
        let hunks = diff.hunks.get(self.hunk).filter(|_| is_one_hunk && diff.hunks.len() > 1).map(|hunk| hunk.numbers.clone());
        let file = RevertedFile { path: diff.file.path.clone(), after_sha256: diff.after_sha256.clone(), hunks };
        let body = RevertBody { files: Some(vec![file]), preview: true, ..RevertBody::default() };
        ChangesOutcome::Do(ServerRequest::Revert { place, body }.into())
    }
}
