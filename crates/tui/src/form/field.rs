//! A field of a form: how it is edited, and the value that it has.

use crate::text_field::TextField;
use crossterm::event::{KeyCode, KeyEvent};
use serde_json::Value;

#[derive(Clone, Debug)]
pub struct Field {
    /// The question's name, then the keys inside of its answer.
    pub path: Vec<String>,
    pub label: String,
    pub hint: String,
    pub is_required: bool,
    pub input: FieldInput,
    pub error: Option<String>,
    pub(super) schema: Value,
}

#[derive(Clone, Debug)]
pub enum FieldInput {
    Toggle(Option<bool>),
    /// One of several.
    Choice {
        options: Vec<Choice>,
        chosen: Option<usize>,
        cursor: usize,
    },
    /// Any of several.
    Checks {
        options: Vec<Choice>,
        checked: Vec<bool>,
        cursor: usize,
    },
    Text(TextField),
    Number(TextField),
    Tags {
        tags: Vec<String>,
        entry: TextField,
        are_numbers: bool,
    },
    Json(TextField),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    pub label: String,
    pub description: String,
    pub value: Value,
    pub is_danger: bool,
}

impl FieldInput {
    /// The text that is being typed.
    pub fn entry(&mut self) -> Option<&mut TextField> {
        match self {
            FieldInput::Text(text) | FieldInput::Number(text) | FieldInput::Json(text) | FieldInput::Tags { entry: text, .. } => Some(text),
            FieldInput::Toggle(_) | FieldInput::Choice { .. } | FieldInput::Checks { .. } => None,
        }
    }

    pub(super) fn set(&mut self, value: &Value) {
        match self {
            FieldInput::Toggle(toggle) => *toggle = value.as_bool(),
            FieldInput::Choice { options, chosen, cursor } => {
                *chosen = options.iter().position(|option| option.value == *value);
                *cursor = chosen.unwrap_or(0);
            }
            FieldInput::Checks { options, checked, .. } => {
                let values = value.as_array().cloned().unwrap_or_default();
                *checked = options.iter().map(|option| values.contains(&option.value)).collect();
            }
            FieldInput::Text(text) => text.set(value.as_str().unwrap_or_default()),
            FieldInput::Number(text) => text.set(&super::schema::label_of(value)),
            FieldInput::Tags { tags, .. } => *tags = value.as_array().into_iter().flatten().map(super::schema::label_of).collect(),
            FieldInput::Json(text) => text.set(&serde_json::to_string_pretty(value).unwrap_or_default()),
        }
    }

    pub(super) fn choose_cursor(&mut self) {
        if let FieldInput::Choice { chosen, cursor, .. } = self {
            *chosen = Some(*cursor);
        }
    }

    /// Edits the field. Returns whether the key belonged to it.
    pub(super) fn key(&mut self, key: KeyEvent) -> bool {
        match self {
            FieldInput::Toggle(toggle) => match (key.code, key.modifiers) {
                (KeyCode::Char(' ') | KeyCode::Left | KeyCode::Right, _) => *toggle = Some(!toggle.unwrap_or(false)),
                (KeyCode::Char('y'), _) => *toggle = Some(true),
                (KeyCode::Char('n'), _) => *toggle = Some(false),
                _ => return false,
            },
            FieldInput::Choice { options, chosen, cursor } => {
                if !move_cursor(cursor, options.len(), key) {
                    return false;
                }
                if matches!(key.code, KeyCode::Char(_)) {
                    *chosen = Some(*cursor);
                }
            }
            FieldInput::Checks { options, checked, cursor } => {
                if !move_cursor(cursor, options.len(), key) {
                    return false;
                }
                if let (KeyCode::Char(_), Some(checked)) = (key.code, checked.get_mut(*cursor)) {
                    *checked = !*checked;
                }
            }
            FieldInput::Tags { tags, entry, .. } => match (key.code, entry.is_empty()) {
                (KeyCode::Enter | KeyCode::Char(','), false) => tags.push(entry.take().trim().to_owned()),
                (KeyCode::Backspace, true) => return tags.pop().is_some(),
                _ => return entry.key(key),
            },
            FieldInput::Text(text) | FieldInput::Number(text) | FieldInput::Json(text) => return text.key(key),
        }
        true
    }
}

/// Arrows within the options, digits and the space bar. At either end the arrow leaves the field.
fn move_cursor(cursor: &mut usize, count: usize, key: KeyEvent) -> bool {
    match (key.code, key.modifiers) {
        (KeyCode::Up | KeyCode::Left, _) if *cursor > 0 => *cursor -= 1,
        (KeyCode::Down | KeyCode::Right, _) if *cursor + 1 < count => *cursor += 1,
        (KeyCode::Char(' '), _) => {}
        (KeyCode::Char(digit), _) => {
            let place = digit.to_digit(10).and_then(|digit| usize::try_from(digit).ok()).filter(|digit| (1..=count).contains(digit));
            let Some(place) = place else { return false };
            *cursor = place - 1;
        }
        _ => return false,
    }
    true
}

impl Field {
    /// The value; `None` if there is none.
    pub(super) fn value(&self) -> Result<Option<Value>, String> {
        let number = |text: &str| -> Result<Value, String> {
            let text = text.trim();
            let whole = text.parse::<i64>().map(Value::from).ok();
            let value = whole.or_else(|| text.parse::<f64>().ok().filter(|number| number.is_finite()).map(Value::from));
            value.ok_or_else(|| "Must be a number.".to_owned())
        };
        let value = match &self.input {
            FieldInput::Toggle(toggle) => (*toggle).or(self.is_required.then_some(false)).map(Value::from),
            FieldInput::Choice { options, chosen, .. } => chosen.and_then(|chosen| options.get(chosen)).map(|option| option.value.clone()),
            FieldInput::Checks { options, checked, .. } => {
                let values = options.iter().zip(checked).filter(|(_, checked)| **checked).map(|(option, _)| option.value.clone());
                Some(Value::Array(values.collect()))
            }
            FieldInput::Text(text) if text.is_empty() && !self.allows_empty() => None,
            FieldInput::Text(text) => Some(Value::from(text.content())),
            FieldInput::Number(text) if text.is_empty() => None,
            FieldInput::Number(text) => Some(number(&text.content())?),
            FieldInput::Tags { tags, entry, are_numbers } => {
                let all = tags.iter().cloned().chain((!entry.is_empty()).then(|| entry.content()));
                let values: Result<Vec<Value>, String> = all.map(|tag| if *are_numbers { number(&tag) } else { Ok(tag.into()) }).collect();
                Some(Value::Array(values?))
            }
            FieldInput::Json(text) if text.is_empty() => None,
            FieldInput::Json(text) => {
                Some(serde_json::from_str(&text.content()).map_err(|error| format!("This is not JSON yet: {error}"))?)
            }
        };
        if let Some(value) = &value {
            self.check(value)?;
        }
        Ok(value)
    }

    /// An empty text is an answer only where nothing demands more.
    fn allows_empty(&self) -> bool {
        self.is_required && self.schema["minLength"].as_u64() == Some(0)
    }

    fn check(&self, value: &Value) -> Result<(), String> {
        let limit = |key: &str| self.schema[key].as_u64().and_then(|limit| usize::try_from(limit).ok());
        if let Some(text) = value.as_str() {
            let length = text.chars().count();
            if let Some(least) = limit("minLength").filter(|least| length < *least) {
                return Err(format!("Must have at least {least} characters."));
            }
            if let Some(most) = limit("maxLength").filter(|most| length > *most) {
                return Err(format!("Must have at most {most} characters."));
            }
        }
        if let Some(number) = value.as_f64() {
            if self.schema["type"] == "integer" && number.fract() != 0.0 {
                return Err("Must be a whole number.".to_owned());
            }
            if let Some(least) = self.schema["minimum"].as_f64().filter(|least| number < *least) {
                return Err(format!("Must be at least {least}."));
            }
            if let Some(most) = self.schema["maximum"].as_f64().filter(|most| number > *most) {
                return Err(format!("Must be at most {most}."));
            }
        }
        if let Some(items) = value.as_array() {
            if let Some(least) = limit("minItems").filter(|least| items.len() < *least) {
                return Err(format!("Must have at least {least} entries."));
            }
            if let Some(most) = limit("maxItems").filter(|most| items.len() > *most) {
                return Err(format!("Must have at most {most} entries."));
            }
        }
        Ok(())
    }
}
