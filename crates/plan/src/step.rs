//! One step of a plan file: `- [ ] 1. action`, followed by lines with a key.

use crate::outline::{Bullet, Line};
use crate::text::{TextKind, after_bullet, indent_of, read_list, read_text, write_list, write_text};
use planwright_protocol::{PlanStep, StepStatus};
use std::ops::Range;

/// The keys of the lines below a step's box. `Action` is the text of the box itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Action,
    Reason,
    Tools,
    Files,
    Time,
    Verify,
}

impl Key {
    /// The words for each key; we write the first one.
    const WORDS: [(Key, &'static [&'static str]); 5] = [
        (Key::Reason, &["reason"]),
        (Key::Tools, &["tools", "tool", "tools_needed"]),
        (Key::Files, &["files", "file"]),
        (Key::Time, &["time", "estimated_time"]),
        (Key::Verify, &["verify"]),
    ];

    pub(crate) fn word(self) -> &'static str {
        Key::WORDS.iter().find(|(key, _)| *key == self).map_or("action", |(_, words)| words[0])
    }

    /// The key of a line, and the text after it. Accepts a bullet and bold type around the key.
    pub(crate) fn of_line(line: &str) -> Option<(Key, &str)> {
        let (word, value) = word_and_value(line)?;
        let (key, _) = Key::WORDS.iter().find(|(_, words)| words.iter().any(|known| known.eq_ignore_ascii_case(word)))?;
        Some((*key, value))
    }
}

/// The word before a line's first colon, if it looks like a key, and the text after it.
pub(crate) fn word_and_value(line: &str) -> Option<(&str, &str)> {
    let line = after_bullet(line).unwrap_or(line).trim_start();
    let bold = line.strip_prefix("**");
    let rest = bold.unwrap_or(line);
    let end = rest.bytes().position(|byte| !byte.is_ascii_alphabetic() && byte != b'_').filter(|end| *end > 0)?;
    let (word, rest) = rest.split_at(end);
    let value = match bold {
        Some(_) => rest.strip_prefix(":**").or_else(|| rest.strip_prefix("**:"))?,
        None => rest.strip_prefix(':')?,
    };
    // An address such as `file:///x` or a path such as `std::fs` is not a key.
    (!value.starts_with(['/', ':'])).then(|| (word, value.trim()))
}

/// The parts of a step's first line, as byte ranges of its text.
pub(crate) struct Head<'a> {
    pub(crate) bullet_end: usize,
    pub(crate) checkbox: Option<Checkbox>,
    pub(crate) number: Option<Number>,
    pub(crate) action: &'a str,
}

pub(crate) struct Checkbox {
    pub(crate) range: Range<usize>,
    /// `None` for an unknown mark.
    pub(crate) status: Option<StepStatus>,
}

pub(crate) struct Number {
    pub(crate) range: Range<usize>,
    pub(crate) value: u32,
}

impl<'a> Head<'a> {
    pub(crate) fn of(text: &'a str) -> Head<'a> {
        let (mut at, digits) = Bullet::of(text).map_or((0, None), |bullet| (bullet.end, bullet.digits));
        let bullet_end = at;
        at = skip_spaces(text, at);
        let checkbox = checkbox(text, at);
        if let Some(checkbox) = &checkbox {
            at = skip_spaces(text, checkbox.range.end);
        }
        let mut range = digits;
        if range.is_none()
            && let Some(Bullet { end, digits: Some(digits) }) = Bullet::of(&text[at..])
        {
            range = Some(at + digits.start..at + digits.end);
            at += end;
        }
        let number = range.and_then(|range| Some(Number { value: text[range.clone()].parse().ok()?, range }));
        Head { bullet_end, checkbox, number, action: text[at..].trim() }
    }

    pub(crate) fn status(&self) -> StepStatus {
        self.checkbox.as_ref().and_then(|checkbox| checkbox.status).unwrap_or_default()
    }

    /// The line with another status and number, otherwise unchanged.
    pub(crate) fn patched(&self, raw: &str, status: StepStatus, step_number: u32) -> String {
        let mut line = raw.to_owned();
        let mut changes: Vec<(Range<usize>, String)> = Vec::new();
        if let Some(number) = &self.number
            && number.value != step_number
        {
            changes.push((number.range.clone(), step_number.to_string()));
        }
        match &self.checkbox {
            Some(checkbox) if self.status() != status => changes.push((checkbox.range.clone(), box_of(status).to_owned())),
            None if status != StepStatus::Pending => changes.push((self.bullet_end..self.bullet_end, format!(" {}", box_of(status)))),
            Some(_) | None => {}
        }
        // From the right, so that no change moves the position of another.
        changes.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
        for (range, text) in changes {
            line.replace_range(range, &text);
        }
        line
    }
}

/// A key and its raw text.
pub(crate) struct Field<'a> {
    pub(crate) key: Key,
    pub(crate) line: Line<'a>,
    pub(crate) first: &'a str,
    pub(crate) below: Vec<Line<'a>>,
}

impl<'a> Field<'a> {
    pub(crate) fn names(&self) -> Vec<String> {
        self.lists().flat_map(|(_, list)| read_list(list)).collect()
    }

    /// The lines of a list, with the list's part of each: one line with commas, or one name per line.
    pub(crate) fn lists(&self) -> impl Iterator<Item = (Line<'a>, &'a str)> {
        let below = self.below.iter().map(|line| (*line, after_bullet(line.text).unwrap_or(line.text)));
        std::iter::once((self.line, self.first)).chain(below)
    }

    /// A key without a value counts as not filled in; an empty text is written as `""`.
    fn is_empty(&self) -> bool {
        self.first.is_empty() && self.below.is_empty()
    }

    fn text(&self) -> String {
        let (kind, indent) = match self.key {
            Key::Action => (TextKind::Prose, 4),
            Key::Verify => (TextKind::Command, 2),
            Key::Reason | Key::Tools | Key::Files | Key::Time => (TextKind::Prose, 2),
        };
        let below: Vec<&str> = self.below.iter().map(|line| line.text).collect();
        read_text(self.first, &below, kind, indent_of(self.line.text) + indent)
    }
}

/// The fields of a step's lines; the first is always its action.
pub(crate) fn fields<'a>(own: &[Line<'a>]) -> Vec<Field<'a>> {
    let mut fields: Vec<Field<'a>> = Vec::new();
    for line in own {
        match (Key::of_line(line.text), fields.last_mut()) {
            (_, None) => fields.push(Field { key: Key::Action, line: *line, first: Head::of(line.text).action, below: Vec::new() }),
            (Some((key, first)), Some(_)) => fields.push(Field { key, line: *line, first, below: Vec::new() }),
            (None, Some(field)) => field.below.push(*line),
        }
    }
    for field in &mut fields {
        while field.below.last().is_some_and(|line| line.text.is_empty()) {
            field.below.pop();
        }
    }
    fields
}

pub(crate) fn read_step(own: &[Line<'_>], step_number: u32) -> PlanStep {
    let status = own.first().map_or(StepStatus::Pending, |line| Head::of(line.text).status());
    let mut step = PlanStep { step_number, status, ..PlanStep::default() };
    for field in fields(own) {
        match field.key {
            Key::Action => step.action = field.text(),
            Key::Reason => add_text(&mut step.reason, &field.text()),
            Key::Tools => step.tools_needed.extend(field.names()),
            Key::Files => step.files.extend(field.names()),
            Key::Time if !field.is_empty() => add_text(step.estimated_time.get_or_insert_default(), &field.text()),
            Key::Verify if !field.is_empty() => add_text(step.verify.get_or_insert_default(), &field.text()),
            Key::Time | Key::Verify => {}
        }
    }
    step
}

pub(crate) fn write_step(step: &PlanStep) -> String {
    let action = write_text(&step.action, TextKind::Prose, 4);
    let mut written = format!("- {} {}. {action}\n", box_of(step.status), step.step_number);
    let mut field = |key: Key, value: &str| {
        written.extend(["  ", key.word(), ": ", value, "\n"]);
    };
    if !step.reason.is_empty() {
        field(Key::Reason, &write_text(&step.reason, TextKind::Prose, 4));
    }
    for (key, names) in [(Key::Tools, &step.tools_needed), (Key::Files, &step.files)] {
        if !names.is_empty() {
            field(key, &write_list(names));
        }
    }
    if let Some(time) = &step.estimated_time {
        field(Key::Time, &write_text(time, TextKind::Prose, 4));
    }
    if let Some(verify) = &step.verify {
        field(Key::Verify, &write_text(verify, TextKind::Command, 4));
    }
    written
}

/// A repeated key joins both texts, so that none is lost.
fn add_text(text: &mut String, more: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(more);
}

fn skip_spaces(text: &str, at: usize) -> usize {
    text.len() - text[at..].trim_start().len()
}

fn checkbox(text: &str, at: usize) -> Option<Checkbox> {
    let inside = text[at..].strip_prefix('[')?;
    let close = inside.find(']').filter(|close| inside[..*close].chars().count() <= 1)?;
    let end = at + close + 2;
    if !(text.len() == end || text[end..].starts_with([' ', '\t'])) {
        return None;
    }
    let status = match &inside[..close] {
        "" | " " => Some(StepStatus::Pending),
        "x" | "X" => Some(StepStatus::Done),
        "~" => Some(StepStatus::InProgress),
        "-" => Some(StepStatus::Skipped),
        _ => None,
    };
    Some(Checkbox { range: at..end, status })
}

fn box_of(status: StepStatus) -> &'static str {
    match status {
        StepStatus::Pending => "[ ]",
        StepStatus::InProgress => "[~]",
        StepStatus::Done => "[x]",
        StepStatus::Skipped => "[-]",
    }
}
