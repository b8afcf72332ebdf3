//! An editable text with a cursor: the composer, the fields of forms, reasons, comments.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// A pasted text of more lines or characters is shown as one word.
const LONG_PASTE_LINES: usize = 8;
const LONG_PASTE: usize = 1000;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lines {
    #[default]
    One,
    Many,
}

#[derive(Clone, Debug, Default)]
pub struct TextField {
    text: String,
    /// A byte position at a grapheme's beginning.
    cursor: usize,
    lines: Lines,
    /// Long pasted texts, by the word that stands for each.
    pastes: Vec<(String, String)>,
}

impl TextField {
    #[must_use]
    pub fn new(lines: Lines) -> Self {
        Self { lines, ..Self::default() }
    }

    #[must_use]
    pub fn with(lines: Lines, text: &str) -> Self {
        let mut field = Self::new(lines);
        field.set(text);
        field
    }

    #[must_use]
    pub fn shown(&self) -> &str {
        &self.text
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// The text with every long paste in full.
    #[must_use]
    pub fn content(&self) -> String {
        self.pastes.iter().fold(self.text.clone(), |text, (word, paste)| text.replacen(word, paste, 1))
    }

    pub fn set(&mut self, text: &str) {
        text.clone_into(&mut self.text);
        self.cursor = self.text.len();
        self.pastes.clear();
    }

    pub fn clear(&mut self) {
        self.set("");
    }

    /// Empties the field; returns its content.
    pub fn take(&mut self) -> String {
        let content = self.content();
        self.clear();
        content
    }

    /// The text before the cursor.
    #[must_use]
    pub fn before_cursor(&self) -> &str {
        &self.text[..self.cursor]
    }

    /// Replaces the last `length` bytes before the cursor.
    pub fn replace_before(&mut self, length: usize, with: &str) {
        let start = self.cursor.saturating_sub(length);
        if self.text.is_char_boundary(start) {
            self.text.replace_range(start..self.cursor, with);
            self.cursor = start + with.len();
        }
    }

    pub fn insert(&mut self, text: &str) {
        self.text.insert_str(self.cursor, text);
        self.cursor += text.len();
    }

    pub fn paste(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        if self.lines == Lines::One {
            return self.insert(&text.replace('\n', " "));
        }
        let lines = text.lines().count();
        if lines <= LONG_PASTE_LINES && text.chars().count() <= LONG_PASTE {
            return self.insert(&text);
        }
        let word = format!("[pasted {}: {lines} lines, {} characters]", self.pastes.len() + 1, text.chars().count());
        self.insert(&word);
        self.pastes.push((word, text));
    }

    /// Edits the text by a key. Returns whether the key was an editing key.
    pub fn key(&mut self, key: KeyEvent) -> bool {
        let (control, alt) = (key.modifiers.contains(KeyModifiers::CONTROL), key.modifiers.contains(KeyModifiers::ALT));
        match (key.code, key.modifiers) {
            (KeyCode::Char('j'), _) if control && self.lines == Lines::Many => self.insert("\n"),
            (KeyCode::Enter, _) if self.lines == Lines::Many && (alt || key.modifiers.contains(KeyModifiers::SHIFT)) => self.insert("\n"),
            (KeyCode::Char('a'), _) if control => self.cursor = self.line_start(),
            (KeyCode::Char('e'), _) if control => self.cursor = self.line_end(),
            (KeyCode::Char('u'), _) if control => self.delete(self.line_start(), self.cursor),
            (KeyCode::Char('k'), _) if control => self.delete(self.cursor, self.line_end()),
            (KeyCode::Char('w'), _) if control => self.delete(self.word_start(), self.cursor),
            (KeyCode::Char('b'), _) if control => self.cursor = self.previous(),
            (KeyCode::Char('b'), _) if alt => self.cursor = self.word_start(),
            (KeyCode::Char('f'), _) if alt => self.cursor = self.word_end(),
            (KeyCode::Char('d'), _) if alt => self.delete(self.cursor, self.word_end()),
            (KeyCode::Char(character), _) if !control && !alt => self.insert(character.encode_utf8(&mut [0; 4])),
            (KeyCode::Backspace, _) if alt || control => self.delete(self.word_start(), self.cursor),
            (KeyCode::Backspace, _) => self.delete(self.previous(), self.cursor),
            (KeyCode::Delete, _) => self.delete(self.cursor, self.next()),
            (KeyCode::Left, _) if alt || control => self.cursor = self.word_start(),
            (KeyCode::Right, _) if alt || control => self.cursor = self.word_end(),
            (KeyCode::Left, _) => self.cursor = self.previous(),
            (KeyCode::Right, _) => self.cursor = self.next(),
            (KeyCode::Home, _) => self.cursor = self.line_start(),
            (KeyCode::End, _) => self.cursor = self.line_end(),
            (KeyCode::Up, _) if self.lines == Lines::Many => return self.up(),
            (KeyCode::Down, _) if self.lines == Lines::Many => return self.down(),
            _ => return false,
        }
        true
    }

    fn delete(&mut self, start: usize, end: usize) {
        self.text.replace_range(start..end, "");
        self.cursor = start;
    }

    fn previous(&self) -> usize {
        self.before_cursor().grapheme_indices(true).next_back().map_or(0, |(at, _)| at)
    }

    fn next(&self) -> usize {
        self.text[self.cursor..].graphemes(true).next().map_or(self.cursor, |first| self.cursor + first.len())
    }

    fn line_start(&self) -> usize {
        self.before_cursor().rfind('\n').map_or(0, |at| at + 1)
    }

    fn line_end(&self) -> usize {
        self.text[self.cursor..].find('\n').map_or(self.text.len(), |at| self.cursor + at)
    }

    fn word_start(&self) -> usize {
        self.before_cursor().unicode_word_indices().next_back().map_or(0, |(at, _)| at)
    }

    fn word_end(&self) -> usize {
        let after = &self.text[self.cursor..];
        after.unicode_word_indices().next().map_or(self.text.len(), |(at, word)| self.cursor + at + word.len())
    }

    /// One line up; `false` on the first line.
    fn up(&mut self) -> bool {
        let start = self.line_start();
        if start == 0 {
            return false;
        }
        let column = self.text[start..self.cursor].width();
        let above = self.text[..start - 1].rfind('\n').map_or(0, |at| at + 1);
        self.cursor = self.at_column(above, start - 1, column);
        true
    }

    /// One line down; `false` on the last line.
    fn down(&mut self) -> bool {
        let end = self.line_end();
        if end == self.text.len() {
            return false;
        }
        let column = self.text[self.line_start()..self.cursor].width();
        let below_end = self.text[end + 1..].find('\n').map_or(self.text.len(), |at| end + 1 + at);
        self.cursor = self.at_column(end + 1, below_end, column);
        true
    }

    fn at_column(&self, start: usize, end: usize, column: usize) -> usize {
        let mut used = 0;
        for (at, grapheme) in self.text[start..end].grapheme_indices(true) {
            if used + grapheme.width() > column {
                return start + at;
            }
            used += grapheme.width();
        }
        end
    }

    /// The lines at a width, and the cursor's column and line in them.
    #[must_use]
    pub fn layout(&self, width: usize) -> (Vec<String>, (usize, usize)) {
        let width = width.max(2);
        let (mut lines, mut used, mut place) = (vec![String::new()], 0, None);
        for (at, grapheme) in self.text.grapheme_indices(true) {
            let is_break = grapheme.contains('\n');
            let columns = if is_break { 0 } else { shown_width(grapheme) };
            if used + columns > width {
                lines.push(String::new());
                used = 0;
            }
            if at == self.cursor {
                place = Some((used, lines.len() - 1));
            }
            if is_break {
                lines.push(String::new());
                used = 0;
            } else if let Some(last) = lines.last_mut() {
                last.push_str(&shown(grapheme));
                used += columns;
            }
        }
        if used >= width && place.is_none() {
            lines.push(String::new());
            used = 0;
        }
        let last = lines.len() - 1;
        (lines, place.unwrap_or((used, last)))
    }
}

/// Typed and pasted text may have control characters; they are kept, and drawn as a sign.
fn shown(grapheme: &str) -> String {
    match grapheme {
        "\t" => "    ".to_owned(),
        _ if grapheme.chars().any(|c| crate::clean::clean(c.encode_utf8(&mut [0; 4])) != c.to_string()) => "�".to_owned(),
        _ => grapheme.to_owned(),
    }
}

fn shown_width(grapheme: &str) -> usize {
    shown(grapheme).width()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(field: &mut TextField, code: KeyCode, modifiers: KeyModifiers) -> bool {
        field.key(KeyEvent::new(code, modifiers))
    }

    #[test]
    fn wide_and_joined_characters_are_one_step() {
        let mut field = TextField::with(Lines::One, "a计e\u{301}");
        press(&mut field, KeyCode::Backspace, KeyModifiers::NONE);
        assert_eq!(field.shown(), "a计");
        press(&mut field, KeyCode::Left, KeyModifiers::NONE);
        press(&mut field, KeyCode::Char('x'), KeyModifiers::NONE);
        assert_eq!(field.shown(), "ax计");
        assert_eq!(field.layout(10).1, (2, 0));
    }

    #[test]
    fn lines_are_walked_by_column() {
        let mut field = TextField::with(Lines::Many, "first line\nab\nthird");
        assert!(press(&mut field, KeyCode::Up, KeyModifiers::NONE));
        assert!(press(&mut field, KeyCode::Up, KeyModifiers::NONE));
        assert!(!press(&mut field, KeyCode::Up, KeyModifiers::NONE), "the first line is the last one up");
        press(&mut field, KeyCode::Char('k'), KeyModifiers::CONTROL);
        assert_eq!(field.shown(), "fi\nab\nthird");
        press(&mut field, KeyCode::Enter, KeyModifiers::ALT);
        assert_eq!(field.before_cursor(), "fi\n");
    }

    #[test]
    fn a_long_paste_is_one_word_on_screen_and_whole_when_sent() {
        let mut field = TextField::new(Lines::Many);
        let long = "line\n".repeat(500);
        field.insert("See ");
        field.paste(&long);
        field.insert(" please");
        assert_eq!(field.shown(), "See [pasted 1: 500 lines, 2500 characters] please");
        assert_eq!(field.take(), format!("See {long} please"));
        assert!(field.is_empty());
        field.paste("short\r\nlines");
        assert_eq!(field.shown(), "short\nlines");
    }

    #[test]
    fn the_layout_wraps_and_knows_the_cursor() {
        let field = TextField::with(Lines::Many, "abcdef");
        assert_eq!(field.layout(3), (vec!["abc".to_owned(), "def".to_owned(), String::new()], (0, 2)));
        let field = TextField::with(Lines::Many, "计划\n");
        assert_eq!(field.layout(3), (vec!["计".to_owned(), "划".to_owned(), String::new()], (0, 2)));
        let field = TextField::with(Lines::Many, "a\u{1b}[31mb");
        assert_eq!(field.layout(20).0, ["a�[31mb"]);
    }

    #[test]
    fn words_are_deleted_whole() {
        let mut field = TextField::with(Lines::Many, "one two three");
        press(&mut field, KeyCode::Char('w'), KeyModifiers::CONTROL);
        assert_eq!(field.shown(), "one two ");
        press(&mut field, KeyCode::Left, KeyModifiers::ALT);
        press(&mut field, KeyCode::Char('u'), KeyModifiers::CONTROL);
        assert_eq!(field.shown(), "two ");
    }
}
