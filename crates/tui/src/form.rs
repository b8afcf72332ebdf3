//! Questions as a form: each JSON Schema becomes fields, and the fields become the answers.
//!
//! The server validates answers; what is checked here only saves a round trip.

mod field;
mod schema;

pub use field::{Choice, Field, FieldInput};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use planwright_protocol::Question;
use planwright_protocol::question::Variant;
use schema::{Place, add_fields, resolved};
use serde_json::{Map, Value, json};

#[derive(Clone, Debug)]
pub struct QuestionForm {
    pub fields: Vec<Field>,
    /// The field with the focus; `fields.len()` is the button that sends.
    pub focus: usize,
}

/// What a key did to the form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormOutcome {
    Edited,
    Submit,
    Ignored,
}

impl QuestionForm {
    #[must_use]
    pub fn new(questions: &[Question]) -> Self {
        let mut fields = Vec::new();
        for question in questions {
            let start = fields.len();
            let schema = resolved(&question.schema, &question.schema);
            let context = question.context.clone().unwrap_or_default();
            if question.buttons.is_empty() {
                let place = Place { path: vec![question.name.clone()], label: question.question.clone(), is_required: true };
                add_fields(&mut fields, place, &schema, &question.schema, 0);
            } else {
                let options = question.buttons.iter().map(|button| Choice {
                    label: button.label.clone(),
                    description: button.description.clone().unwrap_or_default(),
                    value: button.value.clone(),
                    is_danger: button.variant == Some(Variant::Danger),
                });
                let input = FieldInput::Choice { options: options.collect(), chosen: None, cursor: 0 };
                let path = vec![question.name.clone()];
                let (label, hint) = (question.question.clone(), String::new());
                fields.push(Field { path, label, hint, is_required: true, input, error: None, schema });
            }
            if let Some(first) = fields.get_mut(start)
                && !context.is_empty()
            {
                first.hint = if first.hint.is_empty() { context } else { format!("{context}\n{}", first.hint) };
            }
            let default = question.default.as_ref().or_else(|| question.schema.get("default"));
            if let Some(default) = default {
                for field in &mut fields[start..] {
                    let value = field.path.iter().skip(1).try_fold(default, |value, key| value.get(key));
                    if let Some(value) = value {
                        field.input.set(value);
                    }
                }
            }
        }
        Self { fields, focus: 0 }
    }

    /// Whether one choice is all there is: choosing sends it.
    #[must_use]
    pub fn is_one_choice(&self) -> bool {
        matches!(self.fields.as_slice(), [Field { input: FieldInput::Choice { .. }, .. }])
    }

    pub fn key(&mut self, key: KeyEvent) -> FormOutcome {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        if is_control && matches!(key.code, KeyCode::Char('s') | KeyCode::Enter) {
            return FormOutcome::Submit;
        }
        let is_one_choice = self.is_one_choice();
        let count = self.fields.len();
        let Some(field) = self.fields.get_mut(self.focus) else {
            return self.key_on_button(key);
        };
        if field.input.key(key) {
            field.error = None;
            if is_one_choice && matches!(key.code, KeyCode::Char(digit) if digit.is_ascii_digit()) {
                return FormOutcome::Submit;
            }
            return FormOutcome::Edited;
        }
        if is_one_choice && key.code == KeyCode::Enter {
            field.input.choose_cursor();
            return FormOutcome::Submit;
        }
        match (key.code, key.modifiers) {
            (KeyCode::Enter | KeyCode::Tab | KeyCode::Down, _) => {
                if key.code == KeyCode::Enter {
                    field.input.choose_cursor();
                }
                self.focus = (self.focus + 1).min(count);
                FormOutcome::Edited
            }
            (KeyCode::BackTab | KeyCode::Up, _) if self.focus > 0 => {
                self.focus -= 1;
                FormOutcome::Edited
            }
            _ => FormOutcome::Ignored,
        }
    }

    fn key_on_button(&mut self, key: KeyEvent) -> FormOutcome {
        match (key.code, key.modifiers) {
            (KeyCode::Enter, _) => FormOutcome::Submit,
            (KeyCode::Up | KeyCode::BackTab, _) if self.focus > 0 => {
                self.focus -= 1;
                FormOutcome::Edited
            }
            _ => FormOutcome::Ignored,
        }
    }

    pub fn paste(&mut self, text: &str) {
        if let Some(field) = self.fields.get_mut(self.focus)
            && let Some(entry) = field.input.entry()
        {
            entry.paste(text);
            field.error = None;
        }
    }

    /// The answers by question; `None` if a field is wrong, which then says so and has the focus.
    pub fn answers(&mut self) -> Option<Map<String, Value>> {
        let mut answers = Map::new();
        for field in &mut self.fields {
            match field.value() {
                Ok(Some(value)) => put(&mut answers, &field.path, value),
                Ok(None) if field.is_required => field.error = Some("This field is required.".to_owned()),
                Ok(None) => put_parents(&mut answers, &field.path),
                Err(error) => field.error = Some(error),
            }
        }
        match self.fields.iter().position(|field| field.error.is_some()) {
            Some(wrong) => {
                self.focus = wrong;
                None
            }
            None => Some(answers),
        }
    }

    /// Shows what the server found wrong, by the names in its error.
    pub fn show_errors(&mut self, fields: &Map<String, Value>) {
        for (name, error) in fields {
            let error = error.as_str().unwrap_or("Not valid.").to_owned();
            let keys: Vec<&str> = name.split(['.', '/']).filter(|key| !key.is_empty()).collect();
            let matches = |field: &Field| keys.ends_with(&field.path.iter().map(String::as_str).collect::<Vec<_>>());
            let at = self.fields.iter().position(matches);
            let at = at.or_else(|| self.fields.iter().position(|field| keys.contains(&field.path[0].as_str()))).unwrap_or(0);
            if let Some(field) = self.fields.get_mut(at) {
                field.error = Some(error);
                self.focus = at;
            }
        }
    }
}

fn put(answers: &mut Map<String, Value>, path: &[String], value: Value) {
    match path {
        [] => {}
        [last] => {
            answers.insert(last.clone(), value);
        }
        [first, rest @ ..] => {
            let inner = answers.entry(first.clone()).or_insert_with(|| json!({}));
            if let Value::Object(inner) = inner {
                put(inner, rest, value);
            }
        }
    }
}

/// An object whose fields are all left out is still an object.
fn put_parents(answers: &mut Map<String, Value>, path: &[String]) {
    if let [first, _, ..] = path {
        answers.entry(first.clone()).or_insert_with(|| json!({}));
    }
}

#[cfg(test)]
mod tests;
