//! The pending question: an approval with its decisions, or a form.

use crate::approval::{CardAction, TextPrompt, actions};
use crate::form::{FormOutcome, QuestionForm};
use crate::text_field::{Lines, TextField};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use planwright_protocol::api::chat::Pending;
use planwright_protocol::{QuestionKind, Severity};
use serde_json::{Map, Value};

#[derive(Clone, Debug)]
pub struct Dock {
    pub pending: Pending,
    pub actions: Vec<CardAction>,
    pub form: QuestionForm,
    /// The selected decision. A critical card begins without one, so that Enter decides nothing.
    pub selected: Option<usize>,
    /// The text that goes along with a decision, while it is written.
    pub text: Option<(usize, TextField)>,
    /// How far the body is scrolled.
    pub scroll: usize,
    pub is_sending: bool,
    pub error: Option<String>,
}

/// What a key did to the dock.
#[derive(Clone, Debug, PartialEq)]
pub enum DockOutcome {
    Ignored,
    Edited,
    Answer { answers: Map<String, Value>, comment: String },
    ShowPlan,
}

impl Dock {
    #[must_use]
    pub fn new(pending: Pending) -> Self {
        let actions = actions(&pending);
        let form = QuestionForm::new(if pending.kind == QuestionKind::User { &pending.questions } else { &[] });
        let selected = (pending.severity == Severity::Minor && !actions.is_empty()).then_some(0);
        Self { pending, actions, form, selected, text: None, scroll: 0, is_sending: false, error: None }
    }

    pub fn key(&mut self, key: KeyEvent) -> DockOutcome {
        if self.is_sending {
            return DockOutcome::Ignored;
        }
        self.error = None;
        if self.text.is_some() {
            return self.key_in_text(key);
        }
        if self.scrolls(key) {
            return DockOutcome::Edited;
        }
        if self.actions.is_empty() {
            return match self.form.key(key) {
                FormOutcome::Edited => DockOutcome::Edited,
                FormOutcome::Ignored => DockOutcome::Ignored,
                FormOutcome::Submit => match self.form.answers() {
                    Some(answers) => DockOutcome::Answer { answers, comment: String::new() },
                    None => DockOutcome::Edited,
                },
            };
        }
        let count = self.actions.len();
        match (key.code, key.modifiers) {
            (KeyCode::Down | KeyCode::Right, _) => self.selected = Some(self.selected.map_or(0, |at| (at + 1) % count)),
            (KeyCode::Up | KeyCode::Left, _) => self.selected = Some(self.selected.map_or(count - 1, |at| (at + count - 1) % count)),
            (KeyCode::Enter, _) => return self.selected.map_or(DockOutcome::Ignored, |at| self.take(at)),
            (KeyCode::Char('p'), _) if self.pending.kind == QuestionKind::PlanApproval => return DockOutcome::ShowPlan,
            (KeyCode::Char(letter), KeyModifiers::NONE) => {
                return self.action_of(letter).map_or(DockOutcome::Ignored, |at| self.take(at));
            }
            _ => return DockOutcome::Ignored,
        }
        DockOutcome::Edited
    }

    #[must_use]
    pub fn action_of(&self, letter: char) -> Option<usize> {
        self.actions.iter().position(|action| action.key == letter)
    }

    /// Takes a decision, or opens the text that goes along with it.
    pub fn take(&mut self, at: usize) -> DockOutcome {
        if self.is_sending {
            return DockOutcome::Ignored;
        }
        let Some(action) = self.actions.get(at) else { return DockOutcome::Ignored };
        self.selected = Some(at);
        if action.text.is_some() {
            self.text = Some((at, TextField::new(Lines::Many)));
            return DockOutcome::Edited;
        }
        DockOutcome::Answer { answers: action.answers.clone(), comment: String::new() }
    }

    fn key_in_text(&mut self, key: KeyEvent) -> DockOutcome {
        let Some((at, field)) = &mut self.text else { return DockOutcome::Ignored };
        if key.code == KeyCode::Esc {
            self.text = None;
            return DockOutcome::Edited;
        }
        if key.code != KeyCode::Enter || !key.modifiers.is_empty() {
            let is_edited = field.key(key);
            return if is_edited { DockOutcome::Edited } else { DockOutcome::Ignored };
        }
        let Some(action) = self.actions.get(*at) else { return DockOutcome::Ignored };
        let comment = field.content().trim().to_owned();
        if comment.is_empty() && matches!(action.text, Some(TextPrompt::Required(_))) {
            self.error = Some("Write a reason, or press Esc.".to_owned());
            return DockOutcome::Edited;
        }
        DockOutcome::Answer { answers: action.answers.clone(), comment }
    }

    fn scrolls(&mut self, key: KeyEvent) -> bool {
        match (key.code, key.modifiers) {
            (KeyCode::PageDown, _) => self.scroll += 5,
            (KeyCode::PageUp, _) => self.scroll = self.scroll.saturating_sub(5),
            _ => return false,
        }
        true
    }

    pub fn paste(&mut self, text: &str) {
        match &mut self.text {
            Some((_, field)) => field.paste(text),
            None => self.form.paste(text),
        }
    }

    /// Shows why the server refused an answer.
    pub fn refuse(&mut self, message: &str, fields: Option<&Map<String, Value>>) {
        self.is_sending = false;
        self.error = Some(message.to_owned());
        if let Some(fields) = fields {
            self.form.show_errors(fields);
        }
    }
}
