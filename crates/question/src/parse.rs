//! Parses the model's JSON, of either form, into questions.

use crate::findings::Findings;
use crate::schema::CompiledSchema;
use crate::text;
use planwright_protocol::question::{Button, Variant};
use planwright_protocol::{ErrorCode, Problem, Question, Severity};
use serde_json::{Map, Value, json};

/// Maximum number of questions per card.
pub const MAX_QUESTIONS: usize = 20;
const MAX_BUTTONS: usize = 50;
const MAX_NAME_CHARACTERS: usize = 64;
const MAX_LABEL_CHARACTERS: usize = 200;
const MAX_TEXT_BYTES: usize = 16 * 1024;
/// Names with a special meaning in JavaScript.
const RESERVED_NAMES: [&str; 3] = ["__proto__", "constructor", "prototype"];

/// Parses the arguments of `ask_user`: `{questions: [{name, question, schema, buttons?}]}`.
///
/// # Errors
/// `INVALID_ARGUMENTS` with every mistake, each by its JSON Pointer.
pub fn parse_batch(arguments: &Value) -> Result<Vec<Question>, Problem> {
    let mut findings = Findings::default();
    let questions = read_batch(arguments, &mut findings);
    findings.into_result(ErrorCode::InvalidArguments, "ask_user was not understood:")?;
    Ok(questions)
}

/// Parses question JSON in the model's answer: `{type: "question", question, context?, severity?, options: [{label, value,
/// description?}], default?}` becomes one question named `answer`.
///
/// Parsing is lenient, because this is text of the model and not a call: unknown fields are ignored, an unknown severity is
/// `major`, a default that is not an option is dropped, and without options the answer is free text.
///
/// # Errors
/// `INVALID_ARGUMENTS` if it contains no question that could be answered.
pub fn parse_question_json(value: &Value) -> Result<(Question, Severity), Problem> {
    let mut findings = Findings::default();
    let members = value.as_object().filter(|members| members.get("type").is_some_and(|kind| kind == "question"));
    if members.is_none() {
        findings.add("/type", "must be \"question\"");
    }
    let read = members.and_then(|members| read_question_json(members, &mut findings));
    findings.into_result(ErrorCode::InvalidArguments, "The question was not understood:")?;
    read.ok_or_else(|| Problem::new(ErrorCode::InvalidArguments, "The question was not understood."))
}

/// The JSON that [`parse_question_json`] parses as this question.
#[must_use]
pub fn to_question_json(question: &Question, severity: Severity) -> Value {
    let option = |button: &Button| {
        let mut option = json!({ "label": button.label, "value": button.value });
        if let Some(description) = &button.description {
            option["description"] = description.as_str().into();
        }
        option
    };
    let mut json = json!({ "type": "question", "question": question.question, "severity": severity });
    let options: Vec<Value> = question.buttons.iter().map(option).collect();
    let more = [
        ("context", question.context.clone().map(Value::from)),
        ("options", (!options.is_empty()).then(|| options.into())),
        ("default", question.default.clone()),
    ];
    for (key, value) in more {
        if let Some(value) = value {
            json[key] = value;
        }
    }
    json
}

fn read_batch(arguments: &Value, findings: &mut Findings) -> Vec<Question> {
    let Some(members) = arguments.as_object() else {
        findings.add("/", "must be an object with \"questions\"");
        return Vec::new();
    };
    refuse_unknown(members, "", &["questions"], findings);
    let Some(Value::Array(items)) = members.get("questions") else {
        findings.add("/questions", "must be a list of questions");
        return Vec::new();
    };
    if items.is_empty() || items.len() > MAX_QUESTIONS {
        findings.add("/questions", format!("has {} questions; ask 1 to {MAX_QUESTIONS} at once", items.len()));
        return Vec::new();
    }
    let mut questions: Vec<Question> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let place = format!("/questions/{index}");
        let Some(question) = read_question(item, &place, findings) else { continue };
        if questions.iter().any(|earlier| earlier.name == question.name) {
            findings.add(format!("{place}/name"), format!("is {:?} as in an earlier question: give each its own name", question.name));
        }
        questions.push(question);
    }
    questions
}

/// `None` if the question can't be parsed; the findings say why.
fn read_question(item: &Value, place: &str, findings: &mut Findings) -> Option<Question> {
    let Some(members) = item.as_object() else {
        findings.add(place, "must be an object with \"name\", \"question\" and \"schema\"");
        return None;
    };
    refuse_unknown(members, place, &["name", "question", "schema", "buttons", "context", "default"], findings);
    let name = read_name(members.get("name"), &format!("{place}/name"), findings);
    let question = read_text(members.get("question"), &format!("{place}/question"), findings);
    let context = read_optional_text(members.get("context"), &format!("{place}/context"), findings);
    let buttons = read_buttons(members.get("buttons"), &format!("{place}/buttons"), findings);
    let Some(schema) = members.get("schema") else {
        findings.add(format!("{place}/schema"), "is missing: give a JSON Schema for the answer, such as {\"type\": \"boolean\"}");
        return None;
    };
    let question = Question {
        name: name?,
        question: question?,
        schema: schema.clone(),
        buttons: buttons?,
        context,
        default: members.get("default").filter(|value| !value.is_null()).cloned(),
    };
    check_values(&question, place, findings);
    Some(question)
}

/// The schema must be valid, and every offered answer must pass it.
fn check_values(question: &Question, place: &str, findings: &mut Findings) {
    let schema = match CompiledSchema::compile(&question.schema) {
        Ok(schema) => schema,
        Err(trouble) => {
            findings.add(format!("{place}/schema{}", trouble.pointer), trouble.message);
            return;
        }
    };
    let buttons = question.buttons.iter().enumerate().map(|(index, button)| (format!("{place}/buttons/{index}/value"), &button.value));
    let default = question.default.iter().map(|value| (format!("{place}/default"), value));
    for (field, value) in buttons.chain(default) {
        if let Some(complaint) = schema.check(value).into_iter().next() {
            let part = if complaint.pointer.is_empty() { String::new() } else { format!("{} ", complaint.pointer) };
            findings.add(
                field,
                format!("is {}, which the question's schema does not allow: {part}{}", text::bare(value, 80), complaint.message),
            );
        }
    }
}

fn read_name(value: Option<&Value>, field: &str, findings: &mut Findings) -> Option<String> {
    let allowed = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '.' | '-');
    match value.and_then(Value::as_str) {
        Some(name) if RESERVED_NAMES.contains(&name) => findings.add(field, format!("can't be {name:?}: choose another name")),
        Some(name) if !name.is_empty() && name.len() <= MAX_NAME_CHARACTERS && name.chars().all(allowed) => return Some(name.into()),
        Some(_) | None => {
            findings
                .add(field, format!("must be 1 to {MAX_NAME_CHARACTERS} characters out of letters A to Z, digits, \"_\", \".\" and \"-\""));
        }
    }
    None
}

fn read_text(value: Option<&Value>, field: &str, findings: &mut Findings) -> Option<String> {
    match value.and_then(Value::as_str) {
        Some(text) if text.len() > MAX_TEXT_BYTES => {
            findings.add(field, format!("is {} bytes long; at most {MAX_TEXT_BYTES} are allowed", text.len()));
        }
        Some(text) if !text.trim().is_empty() => return Some(text.into()),
        Some(_) | None => findings.add(field, "must be text that is not empty"),
    }
    None
}

fn read_optional_text(value: Option<&Value>, field: &str, findings: &mut Findings) -> Option<String> {
    match value {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) if text.trim().is_empty() => None,
        given => read_text(given, field, findings),
    }
}

fn read_buttons(value: Option<&Value>, place: &str, findings: &mut Findings) -> Option<Vec<Button>> {
    let items = match value {
        None | Some(Value::Null) => return Some(Vec::new()),
        Some(Value::Array(items)) if items.len() <= MAX_BUTTONS => items,
        Some(_) => {
            findings.add(place, format!("must be a list of at most {MAX_BUTTONS} buttons {{label, value, variant?}}"));
            return None;
        }
    };
    let buttons: Vec<Option<Button>> =
        items.iter().enumerate().map(|(index, item)| read_button(item, &format!("{place}/{index}"), findings)).collect();
    let buttons = buttons.into_iter().collect::<Option<Vec<Button>>>()?;
    refuse_same_labels(&buttons, place, findings);
    Some(buttons)
}

fn read_button(item: &Value, place: &str, findings: &mut Findings) -> Option<Button> {
    let Some(members) = item.as_object() else {
        findings.add(place, "must be an object with \"label\" and \"value\"");
        return None;
    };
    refuse_unknown(members, place, &["label", "value", "variant", "description"], findings);
    let label = read_label(members.get("label"), &format!("{place}/label"), findings);
    let description = read_optional_text(members.get("description"), &format!("{place}/description"), findings);
    let variant = members.get("variant").filter(|given| !given.is_null());
    let variant = variant.map(|given| serde_json::from_value::<Variant>(given.clone()));
    if matches!(variant, Some(Err(_))) {
        findings.add(format!("{place}/variant"), "must be primary, secondary or danger");
    }
    let Some(value) = members.get("value") else {
        findings.add(format!("{place}/value"), "is missing: give the answer for this button");
        return None;
    };
    Some(Button { label: label?, value: value.clone(), variant: variant.and_then(Result::ok), description })
}

fn read_label(value: Option<&Value>, field: &str, findings: &mut Findings) -> Option<String> {
    match value.and_then(Value::as_str) {
        Some(label) if !label.trim().is_empty() && label.chars().count() <= MAX_LABEL_CHARACTERS && !label.contains(char::is_control) => {
            Some(label.into())
        }
        Some(_) | None => {
            findings.add(field, format!("must be one line of 1 to {MAX_LABEL_CHARACTERS} characters"));
            None
        }
    }
}

/// Two answers that look the same are no choice.
fn refuse_same_labels(buttons: &[Button], place: &str, findings: &mut Findings) {
    for (index, button) in buttons.iter().enumerate() {
        if buttons.iter().take(index).any(|earlier| earlier.label == button.label) {
            findings.add(format!("{place}/{index}/label"), "is the label of an earlier one: give each its own");
        }
    }
}

fn refuse_unknown(members: &Map<String, Value>, place: &str, known: &[&str], findings: &mut Findings) {
    let unknown: Vec<String> =
        members.keys().filter(|key| !known.contains(&key.as_str())).map(|key| format!("{:?}", text::one_line(key, 80))).collect();
    if !unknown.is_empty() {
        let place = if place.is_empty() { "/" } else { place };
        let unknown = text::one_line(&unknown.join(", "), 400);
        findings.add(place, format!("has the unknown {unknown}: allowed are {}", known.join(", ")));
    }
}

fn read_question_json(members: &Map<String, Value>, findings: &mut Findings) -> Option<(Question, Severity)> {
    let text = read_text(members.get("question"), "/question", findings);
    let context = read_optional_text(members.get("context"), "/context", findings);
    let buttons = read_options(members.get("options"), findings)?;
    let mut question = Question { name: "answer".into(), question: text?, schema: schema_of(&buttons), buttons, context, default: None };
    question.default = members.get("default").and_then(|given| default_of(&question.buttons, given));
    check_values(&question, "", findings);
    Some((question, severity_of(members.get("severity"))))
}

fn read_options(value: Option<&Value>, findings: &mut Findings) -> Option<Vec<Button>> {
    let items = match value {
        None | Some(Value::Null) => return Some(Vec::new()),
        Some(Value::Array(items)) if items.len() <= MAX_BUTTONS => items,
        Some(_) => {
            findings.add("/options", format!("must be a list of at most {MAX_BUTTONS} options {{label, value, description?}}"));
            return None;
        }
    };
    let mut options: Vec<Button> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let place = format!("/options/{index}");
        // A bare string, or a label or value alone, serves as both.
        let value = item.get("value").or_else(|| item.get("label")).or(item.as_str().map(|_| item));
        let label = item.get("label").or(value);
        let label = read_label(label, &format!("{place}/label"), findings);
        let description = read_optional_text(item.get("description"), &format!("{place}/description"), findings);
        let (Some(label), Some(value)) = (label, value) else { continue };
        if options.iter().any(|earlier| earlier.value == *value) {
            findings.add(format!("{place}/value"), "is the value of an earlier option: give each its own");
        }
        options.push(Button { label, value: value.clone(), variant: None, description });
    }
    refuse_same_labels(&options, "/options", findings);
    Some(options)
}

fn schema_of(options: &[Button]) -> Value {
    if options.is_empty() {
        return json!({"type": "string", "minLength": 1});
    }
    let values: Vec<&Value> = options.iter().map(|option| &option.value).collect();
    if values.iter().all(|value| value.is_string()) { json!({"type": "string", "enum": values}) } else { json!({"enum": values}) }
}

/// The default as a value of the options; models also name it by its label.
fn default_of(options: &[Button], given: &Value) -> Option<Value> {
    if options.is_empty() {
        return given.as_str().filter(|text| !text.is_empty()).map(Value::from);
    }
    let by_value = options.iter().find(|option| option.value == *given);
    let option = by_value.or_else(|| options.iter().find(|option| given == option.label.as_str()))?;
    Some(option.value.clone())
}

fn severity_of(value: Option<&Value>) -> Severity {
    match value.and_then(Value::as_str).map(str::to_ascii_lowercase).as_deref() {
        Some("critical") => Severity::Critical,
        Some("minor") => Severity::Minor,
        Some(_) | None => Severity::Major,
    }
}
