//! Questions as a form of the client, which has flat fields of few types. Other answers are typed as JSON.

use crate::question::{AnswerChoice, choices, plain};
use agent_client_protocol::v1::schema::{ElicitationContentValue, ElicitationSchema};
use planwright_protocol::Question;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

pub struct Form {
    pub schema: ElicitationSchema,
    fields: Vec<(String, Field)>,
}

/// How to read the value of a field.
enum Field {
    /// Unchanged.
    Plain,
    /// By the labels of the values.
    OneOf(Vec<(String, Value)>),
    SomeOf(Vec<(String, Value)>),
    /// Typed as JSON.
    Json,
}

/// Keywords of JSON Schema that a field of the client supports too.
const OF_TEXT: &[&str] = &["minLength", "maxLength", "pattern", "default"];
const OF_NUMBERS: &[&str] = &["minimum", "maximum", "default"];
const OF_LISTS: &[&str] = &["minItems", "maxItems"];
const FORMATS: &[&str] = &["email", "uri", "date", "date-time"];

impl Form {
    pub fn of(questions: &[Question]) -> Self {
        let (mut properties, mut fields) = (Map::new(), Vec::new());
        for question in questions {
            let (mut property, field) = property(question);
            property.insert("title".to_owned(), question.question.clone().into());
            if let Some(context) = &question.context {
                let own = property.get("description").map(|own| format!("{context} {}", plain(own)));
                property.insert("description".to_owned(), own.unwrap_or_else(|| context.clone()).into());
            }
            if let (Field::Plain, Some(default)) = (&field, planwright_question::default_answer(question)) {
                property.insert("default".to_owned(), default.clone());
            }
            properties.insert(question.name.clone(), property.into());
            fields.push((question.name.clone(), field));
        }
        let names: Vec<&str> = questions.iter().map(|question| question.name.as_str()).collect();
        let schema = json!({ "type": "object", "properties": properties, "required": names });
        Self { schema: serde_json::from_value(schema).unwrap_or_default(), fields }
    }

    /// The user's input, by the questions' names. The chat validates it.
    pub fn answers(&self, content: &BTreeMap<String, ElicitationContentValue>) -> Map<String, Value> {
        let mut answers = Map::new();
        for (name, field) in &self.fields {
            let Some(value) = content.get(name).and_then(|value| serde_json::to_value(value).ok()) else { continue };
            answers.insert(name.clone(), field.read(value));
        }
        answers
    }
}

impl Field {
    fn read(&self, value: Value) -> Value {
        let meant = |known: &[(String, Value)], value: &Value| {
            let found = known.iter().find(|(word, _)| Some(word.as_str()) == value.as_str());
            found.map_or_else(|| value.clone(), |(_, meant)| meant.clone())
        };
        match (self, &value) {
            (Field::OneOf(known), _) => meant(known, &value),
            (Field::SomeOf(known), Value::Array(chosen)) => chosen.iter().map(|value| meant(known, value)).collect(),
            (Field::Json, Value::String(text)) => serde_json::from_str(text).unwrap_or(value),
            (Field::Plain | Field::SomeOf(_) | Field::Json, _) => value,
        }
    }
}

fn property(question: &Question) -> (Map<String, Value>, Field) {
    let schema = &question.schema;
    let kind = schema.get("type").and_then(Value::as_str).unwrap_or_default();
    let choices = choices(question);
    if kind == "boolean" && question.buttons.is_empty() {
        return (object(json!({ "type": "boolean" })), Field::Plain);
    }
    if !choices.is_empty() && kind != "array" {
        let known = known(&choices);
        let options: Vec<Value> = known.iter().zip(&choices).map(|((word, _), choice)| option(word, choice)).collect();
        return (object(json!({ "type": "string", "oneOf": options })), Field::OneOf(known));
    }
    let items = schema.get("items").and_then(|items| items.get("enum")).and_then(Value::as_array);
    match (kind, items) {
        ("string", _) => {
            let mut property = taken(schema, OF_TEXT, json!({ "type": "string" }));
            let format = schema.get("format").filter(|format| format.as_str().is_some_and(|format| FORMATS.contains(&format)));
            property.extend(format.map(|format| ("format".to_owned(), format.clone())));
            (property, Field::Plain)
        }
        ("integer" | "number", _) => (taken(schema, OF_NUMBERS, json!({ "type": kind })), Field::Plain),
        ("array", Some(values)) => {
            let words: Vec<String> = values.iter().map(plain).collect();
            let property = taken(schema, OF_LISTS, json!({ "type": "array", "items": { "type": "string", "enum": words } }));
            (property, Field::SomeOf(words.into_iter().zip(values.iter().cloned()).collect()))
        }
        (_, _) => (object(json!({ "type": "string", "description": format!("JSON that matches {schema}") })), Field::Json),
    }
}

/// A label for each choice; equal labels are numbered.
fn known(choices: &[AnswerChoice]) -> Vec<(String, Value)> {
    let mut known: Vec<(String, Value)> = Vec::new();
    for choice in choices {
        let word = plain(&choice.value);
        let is_taken = known.iter().any(|(other, _)| *other == word);
        known.push((if is_taken { format!("{word} ({})", known.len() + 1) } else { word }, choice.value.clone()));
    }
    known
}

fn option(word: &str, choice: &AnswerChoice) -> Value {
    let mut option = json!({ "const": word, "title": choice.label });
    if let Some(description) = &choice.description {
        option["description"] = description.as_str().into();
    }
    option
}

fn taken(schema: &Value, keys: &[&str], property: Value) -> Map<String, Value> {
    let mut property = object(property);
    property.extend(keys.iter().filter_map(|key| Some(((*key).to_owned(), schema.get(*key)?.clone()))));
    property
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(name: &str, schema: Value) -> Question {
        serde_json::from_value(json!({ "name": name, "question": format!("{name}?"), "schema": schema })).unwrap()
    }

    #[test]
    fn every_kind_of_question_has_a_field_and_its_value_is_read_back_as_the_schema_has_it() {
        let questions = [
            question("yes", json!({"type": "boolean"})),
            question("colour", json!({"type": "string", "enum": ["red", "blue"]})),
            question("size", json!({"enum": [1, 2, "2"]})),
            question("name", json!({"type": "string", "minLength": 2, "format": "email"})),
            question("count", json!({"type": "integer", "minimum": 3})),
            question("parts", json!({"type": "array", "items": {"enum": [1, 2]}, "minItems": 1})),
            question("shape", json!({"type": "object", "properties": {"a": {"type": "integer"}}})),
        ];
        let form = Form::of(&questions);
        let told = serde_json::to_value(&form.schema).unwrap();
        assert_eq!(told["required"].as_array().unwrap().len(), questions.len(), "{told}");
        assert_eq!(told["properties"]["size"]["oneOf"][2]["const"], "2 (3)");
        assert_eq!(told["properties"]["name"]["format"], "email");
        let content = json!({
            "yes": true, "colour": "blue", "size": "2 (3)", "name": "a@b.c", "count": 4, "parts": ["2"], "shape": "{\"a\": 1}",
        });
        let answers = form.answers(&serde_json::from_value(content).unwrap());
        let expected = json!({
            "yes": true, "colour": "blue", "size": "2", "name": "a@b.c", "count": 4, "parts": [2], "shape": {"a": 1},
        });
        assert_eq!(Value::Object(answers), expected);
    }

    #[test]
    fn what_is_left_out_of_a_form_is_no_answer() {
        let form = Form::of(&[question("name", json!({"type": "string", "default": "Ann"}))]);
        assert!(form.answers(&BTreeMap::new()).is_empty());
    }
}
