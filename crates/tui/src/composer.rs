//! The message that is being written: its text, its history, and suggestions for `/` and `@`.

use crate::text_field::{Lines, TextField};
use crossterm::event::{KeyCode, KeyEvent};

/// The commands that a message can be instead.
pub const SLASH_COMMANDS: &[(&str, &str)] = &[
    ("/help", "the keys and the commands"),
    ("/new", "a new chat"),
    ("/chats", "the chats of this folder"),
    ("/inbox", "chats of all folders that need you, run or are done"),
    ("/search", "search all chats: /search TEXT"),
    ("/plan", "the plan: comment, execute all or some steps"),
    ("/execute", "execute the plan"),
    ("/changes", "the changed files; take back"),
    ("/mode", "switch between plan and build"),
    ("/role", "choose the agent's role"),
    ("/model", "choose the model of this chat"),
    ("/effort", "choose how much the model reasons"),
    ("/rename", "rename this chat: /rename TITLE"),
    ("/delete", "delete this chat"),
    ("/stop", "stop the run"),
    ("/retry", "continue after a failed run"),
    ("/compact", "replace the conversation by a summary"),
    ("/grants", "what you always allowed in this chat"),
    ("/trust", "review the folder's own configuration"),
    ("/editor", "write in $EDITOR"),
    ("/quit", "leave"),
];
const MOST_HISTORY: usize = 200;

#[derive(Clone, Debug)]
pub struct Composer {
    pub field: TextField,
    history: Vec<String>,
    /// The place in the history, and the text before it was walked.
    walking: Option<(usize, String)>,
    pub suggestions: Suggestions,
}

/// What the text could continue with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suggestions {
    pub items: Vec<Suggestion>,
    pub selected: usize,
    /// The word that is replaced.
    word: String,
    is_dismissed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    pub text: String,
    pub hint: String,
}

/// What a key did to the composer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ComposerOutcome {
    Ignored,
    Edited,
    /// The files whose paths match this are wanted.
    FindFiles(String),
    Send(String),
}

impl Default for Composer {
    fn default() -> Self {
        Self { field: TextField::new(Lines::Many), history: Vec::new(), walking: None, suggestions: Suggestions::default() }
    }
}

impl Composer {
    pub fn key(&mut self, key: KeyEvent) -> ComposerOutcome {
        if !self.suggestions.items.is_empty() && self.key_in_suggestions(key) {
            return ComposerOutcome::Edited;
        }
        let is_plain_enter = key.code == KeyCode::Enter && key.modifiers.is_empty();
        if is_plain_enter {
            // A backslash at the end continues the message, as in a shell.
            if self.field.before_cursor().ends_with('\\') {
                self.field.replace_before(1, "\n");
                return ComposerOutcome::Edited;
            }
            let content = self.field.content();
            if content.trim().is_empty() {
                return ComposerOutcome::Ignored;
            }
            self.field.clear();
            self.remember(&content);
            self.suggestions = Suggestions::default();
            return ComposerOutcome::Send(content);
        }
        if self.field.key(key) {
            if key.code != KeyCode::Left && key.code != KeyCode::Right {
                self.walking = None;
            }
            return self.suggest();
        }
        match (key.code, key.modifiers.is_empty()) {
            (KeyCode::Up, true) => self.walk_back(),
            (KeyCode::Down, true) => self.walk_on(),
            _ => return ComposerOutcome::Ignored,
        }
        ComposerOutcome::Edited
    }

    fn key_in_suggestions(&mut self, key: KeyEvent) -> bool {
        let count = self.suggestions.items.len();
        let selected = &mut self.suggestions.selected;
        match (key.code, key.modifiers.is_empty()) {
            (KeyCode::Up, true) => *selected = (*selected + count - 1) % count,
            (KeyCode::Down, true) => *selected = (*selected + 1) % count,
            (KeyCode::Tab, true) => self.accept(),
            (KeyCode::Enter, true) => {
                let is_whole = self.suggestions.items.get(self.suggestions.selected).is_some_and(|item| item.text == self.suggestions.word);
                if is_whole {
                    return false;
                }
                self.accept();
            }
            (KeyCode::Esc, true) => {
                self.suggestions.items.clear();
                self.suggestions.is_dismissed = true;
            }
            _ => return false,
        }
        true
    }

    fn accept(&mut self) {
        if let Some(item) = self.suggestions.items.get(self.suggestions.selected) {
            self.field.replace_before(self.suggestions.word.len(), &format!("{} ", item.text));
        }
        self.suggestions = Suggestions::default();
    }

    /// Suggestions for the word before the cursor.
    fn suggest(&mut self) -> ComposerOutcome {
        let before = self.field.before_cursor();
        let word = before.rsplit([' ', '\n']).next().unwrap_or_default().to_owned();
        if word.len() < self.suggestions.word.len() || word.is_empty() {
            self.suggestions.is_dismissed = false;
        }
        let is_first = before.trim_start() == word;
        if self.suggestions.is_dismissed {
            return ComposerOutcome::Edited;
        }
        if word.starts_with('/') && is_first {
            let matching = SLASH_COMMANDS.iter().filter(|(name, _)| name.starts_with(&word));
            let items = matching.map(|(name, hint)| Suggestion { text: (*name).to_owned(), hint: (*hint).to_owned() }).collect();
            self.suggestions = Suggestions { items, selected: 0, word, is_dismissed: false };
            return ComposerOutcome::Edited;
        }
        match word.strip_prefix('@') {
            Some(query) if !query.contains('@') => {
                let query = query.to_owned();
                self.suggestions.word = word;
                ComposerOutcome::FindFiles(query)
            }
            _ => {
                self.suggestions = Suggestions::default();
                ComposerOutcome::Edited
            }
        }
    }

    /// Shows found files, if the word is still the one they were found for.
    pub fn show_files(&mut self, query: &str, paths: Vec<String>) {
        if self.suggestions.word.strip_prefix('@') != Some(query) || self.suggestions.is_dismissed {
            return;
        }
        let item = |path: String| Suggestion { text: format!("@{}", path.trim_start_matches('/')), hint: String::new() };
        self.suggestions.items = paths.into_iter().map(item).collect();
        self.suggestions.selected = 0;
    }

    pub fn paste(&mut self, text: &str) {
        self.field.paste(text);
        self.suggestions = Suggestions::default();
    }

    /// Adds a sent message to the history.
    pub fn remember(&mut self, content: &str) {
        if self.history.last().is_none_or(|last| last != content) {
            self.history.push(content.to_owned());
        }
        if self.history.len() > MOST_HISTORY {
            self.history.remove(0);
        }
        self.walking = None;
    }

    /// Replaces the history, by the messages of another chat.
    pub fn set_history(&mut self, messages: Vec<String>) {
        self.history = messages;
        self.walking = None;
    }

    fn walk_back(&mut self) {
        let (at, draft) = self.walking.take().unwrap_or_else(|| (self.history.len(), self.field.content()));
        let at = at.saturating_sub(1);
        if let Some(entry) = self.history.get(at) {
            self.field.set(entry);
        }
        self.walking = Some((at, draft));
    }

    fn walk_on(&mut self) {
        let Some((at, draft)) = self.walking.take() else { return };
        match self.history.get(at + 1) {
            Some(entry) => {
                self.field.set(entry);
                self.walking = Some((at + 1, draft));
            }
            None => self.field.set(&draft),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossterm::event::KeyModifiers;

    fn press(composer: &mut Composer, code: KeyCode) -> ComposerOutcome {
        composer.key(KeyEvent::new(code, KeyModifiers::NONE))
    }

    fn type_text(composer: &mut Composer, text: &str) -> ComposerOutcome {
        text.chars().map(|character| press(composer, KeyCode::Char(character))).last().unwrap()
    }

    #[test]
    fn enter_sends_and_the_history_is_walked_with_the_draft_kept() {
        let mut composer = Composer::default();
        for text in ["first", "second"] {
            type_text(&mut composer, text);
            assert_eq!(press(&mut composer, KeyCode::Enter), ComposerOutcome::Send(text.to_owned()));
        }
        type_text(&mut composer, "draft");
        press(&mut composer, KeyCode::Up);
        assert_eq!(composer.field.shown(), "second");
        press(&mut composer, KeyCode::Up);
        press(&mut composer, KeyCode::Up);
        assert_eq!(composer.field.shown(), "first");
        press(&mut composer, KeyCode::Down);
        press(&mut composer, KeyCode::Down);
        assert_eq!(composer.field.shown(), "draft");
    }

    #[test]
    fn a_message_has_several_lines() {
        let mut composer = Composer::default();
        type_text(&mut composer, "one\\");
        press(&mut composer, KeyCode::Enter);
        composer.key(KeyEvent::new(KeyCode::Enter, KeyModifiers::ALT));
        type_text(&mut composer, "two");
        assert_eq!(press(&mut composer, KeyCode::Enter), ComposerOutcome::Send("one\n\ntwo".to_owned()));
        assert_eq!(press(&mut composer, KeyCode::Enter), ComposerOutcome::Ignored, "nothing is not sent");
    }

    #[test]
    fn slash_commands_are_suggested_and_completed() {
        let mut composer = Composer::default();
        type_text(&mut composer, "/re");
        let names: Vec<&str> = composer.suggestions.items.iter().map(|item| item.text.as_str()).collect();
        assert_eq!(names, ["/rename", "/retry"]);
        press(&mut composer, KeyCode::Down);
        press(&mut composer, KeyCode::Enter);
        assert_eq!(composer.field.shown(), "/retry ");
        let mut composer = Composer::default();
        type_text(&mut composer, "/stop");
        assert_eq!(press(&mut composer, KeyCode::Enter), ComposerOutcome::Send("/stop".to_owned()), "a whole command is sent");
    }

    #[test]
    fn files_are_found_for_the_word_at_the_cursor() {
        let mut composer = Composer::default();
        assert_eq!(type_text(&mut composer, "see @li"), ComposerOutcome::FindFiles("li".to_owned()));
        composer.show_files("l", vec!["/old.rs".to_owned()]);
        assert!(composer.suggestions.items.is_empty(), "an answer to an earlier word is dropped");
        composer.show_files("li", vec!["/src/lib.rs".to_owned()]);
        press(&mut composer, KeyCode::Tab);
        assert_eq!(composer.field.shown(), "see @src/lib.rs ");
        type_text(&mut composer, "me@x");
        assert!(composer.suggestions.items.is_empty());
    }
}
