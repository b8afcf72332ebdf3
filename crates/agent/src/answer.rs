//! Plans and questions in a model's answer: the whole of it, or exactly one fenced JSON block in it.
//!
//! What a model leaves out or adds on the way is forgiven where only one thing can be meant. Anything else
//! is text, with the reason when it looks as if it was meant to be more.

use planwright_protocol::json::parse_strict;
use planwright_protocol::question::Button;
use planwright_protocol::{Plan, Question, Severity, StepStatus};
use serde_json::{Map, Value, json};
use std::ops::Range;

/// A longer answer is not searched.
pub const MAX_ANSWER_BYTES: usize = 1024 * 1024;

/// What a model's answer is. Which of it counts in which mode is for the caller to say.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// `prose` is what stands around the JSON.
    Plan {
        plan: Plan,
        prose: String,
    },
    Question {
        question: Question,
        severity: Severity,
        prose: String,
    },
    /// `reason` says why what looks like a plan or a question is none.
    Text {
        reason: Option<String>,
    },
}

/// Reads an answer, in time linear in its length.
#[must_use]
pub fn read_answer(text: &str) -> Answer {
    if text.len() > MAX_ANSWER_BYTES {
        return Answer::Text { reason: Some("the answer is longer than 1 MiB and was not searched for a plan".to_owned()) };
    }
    let text = text.trim_start_matches('\u{feff}').trim();
    match json_parts(text).as_slice() {
        [] => Answer::Text { reason: None },
        [part] => {
            let around = [text[..part.outer.start].trim(), text[part.outer.end..].trim()];
            let prose = around.into_iter().filter(|prose| !prose.is_empty()).collect::<Vec<_>>().join("\n\n");
            read_json(&text[part.inner.clone()], prose).unwrap_or_else(|reason| Answer::Text { reason })
        }
        parts => {
            let is_meant = parts.iter().any(|part| Kind::looks_like(&text[part.inner.clone()]).is_some());
            let reason = format!("the answer has {} JSON blocks; a plan or a question must be the only one", parts.len());
            Answer::Text { reason: is_meant.then_some(reason) }
        }
    }
}

/// A part of the answer that may be JSON: `outer` with its fences, `inner` without.
struct Part {
    outer: Range<usize>,
    inner: Range<usize>,
}

/// The whole answer if it begins as an object does, else its fenced blocks that are marked as JSON, or not marked and begin so.
fn json_parts(text: &str) -> Vec<Part> {
    if text.starts_with('{') {
        return vec![Part { outer: 0..text.len(), inner: 0..text.len() }];
    }
    let mut parts = Vec::new();
    let mut open: Option<(Fence<'_>, usize, usize)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        let fence = Fence::of(line);
        open = match (open, fence) {
            (None, Some(fence)) => Some((fence, at, end)),
            (Some((opening, start, inner)), Some(fence)) if fence.closes(&opening) => {
                parts.push((opening, Part { outer: start..end, inner: inner..at }));
                None
            }
            (open, _) => open,
        };
        at = end;
    }
    // As in Markdown, a block that is never closed goes to the end.
    parts.extend(open.map(|(opening, start, inner)| (opening, Part { outer: start..at, inner: inner..at })));
    parts.retain(|(fence, part)| match fence.info.split_whitespace().next() {
        Some(word) => ["json", "jsonc", "json5"].iter().any(|known| known.eq_ignore_ascii_case(word)),
        None => text[part.inner.clone()].trim_start().starts_with('{'),
    });
    parts.into_iter().map(|(_, part)| part).collect()
}

struct Fence<'a> {
    mark: char,
    length: usize,
    info: &'a str,
}

impl<'a> Fence<'a> {
    fn of(line: &'a str) -> Option<Fence<'a>> {
        let line = line.trim();
        let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let info = line.trim_start_matches(mark);
        let length = line.len() - info.len();
        (length >= 3 && !info.contains('`')).then(|| Fence { mark, length, info: info.trim() })
    }

    fn closes(&self, opening: &Fence<'_>) -> bool {
        self.mark == opening.mark && self.length >= opening.length && self.info.is_empty()
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Plan,
    Question,
}

impl Kind {
    fn of(object: &Map<String, Value>) -> Option<Kind> {
        if object.get("type").is_some_and(|kind| kind == "question") {
            Some(Kind::Question)
        } else if object.contains_key("steps") || (object.contains_key("goal") && object.get("type").is_none_or(|kind| kind == "plan")) {
            Some(Kind::Plan)
        } else {
            None
        }
    }

    /// What JSON that can't be read was probably meant to be.
    fn looks_like(json: &str) -> Option<Kind> {
        if json.contains("\"goal\"") || json.contains("\"steps\"") {
            Some(Kind::Plan)
        } else {
            (json.contains("\"type\"") && json.contains("\"question\"")).then_some(Kind::Question)
        }
    }

    fn word(self) -> &'static str {
        match self {
            Kind::Plan => "plan",
            Kind::Question => "question",
        }
    }
}

/// The plan or question in JSON; else the reason, if it looks like one.
fn read_json(json: &str, prose: String) -> Result<Answer, Option<String>> {
    let value = parse_strict(json)
        .map_err(|error| Kind::looks_like(json).map(|kind| format!("the JSON of the {} can't be read: {error}", kind.word())))?;
    let Value::Object(mut object) = value else { return Err(None) };
    if let Some(Value::Object(_)) = object.get("plan")
        && Kind::of(&object).is_none()
        && let Some(Value::Object(inner)) = object.remove("plan")
    {
        object = inner;
    }
    match Kind::of(&object) {
        Some(Kind::Plan) => read_plan(object).map(|plan| Answer::Plan { plan, prose }).map_err(Some),
        Some(Kind::Question) => {
            read_question(&object).map(|(question, severity)| Answer::Question { question, severity, prose }).map_err(Some)
        }
        None => Err(None),
    }
}

fn read_plan(object: Map<String, Value>) -> Result<Plan, String> {
    let mut tidy = Tidy::default();
    let plan = tidy.plan(object);
    if !tidy.wrong.is_empty() {
        return Err(tidy.wrong.join("; "));
    }
    Plan::from_json(plan).map_err(|problem| {
        let fields = problem.details.as_ref().and_then(|details| details["fields"].as_object()).into_iter().flatten();
        let reasons: Vec<String> = fields.map(|(field, reason)| format!("{field} {}", reason.as_str().unwrap_or_default())).collect();
        if reasons.is_empty() { problem.message.clone() } else { reasons.join("; ") }
    })
}

/// Makes a model's JSON fit the plan's types where only one thing can be meant, and notes where not.
/// Fields that a plan does not have are left out: models like to add some.
#[derive(Default)]
struct Tidy {
    wrong: Vec<String>,
}

impl Tidy {
    fn plan(&mut self, mut given: Map<String, Value>) -> Value {
        let mut plan = Map::new();
        plan.insert("goal".to_owned(), self.text("goal", given.remove("goal")).unwrap_or_default().into());
        if let Some(time) = self.text("estimated_total_time", given.remove("estimated_total_time")).filter(|time| !time.trim().is_empty()) {
            plan.insert("estimated_total_time".to_owned(), time.into());
        }
        for key in ["risks", "prerequisites", "assumptions", "validation"] {
            plan.insert(key.to_owned(), self.texts(key, given.remove(key)));
        }
        let steps = match given.remove("steps") {
            Some(Value::Array(steps)) => steps,
            None | Some(Value::Null) => Vec::new(),
            Some(_) => {
                self.wrong.push("steps must be a list".to_owned());
                Vec::new()
            }
        };
        let steps: Vec<Value> = steps.into_iter().enumerate().map(|(index, step)| self.step(index, step)).collect();
        plan.insert("steps".to_owned(), steps.into());
        Value::Object(plan)
    }

    fn step(&mut self, index: usize, given: Value) -> Value {
        let mut given = match given {
            Value::Object(given) => given,
            Value::String(action) => Map::from_iter([("action".to_owned(), action.into())]),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => {
                self.wrong.push(format!("steps[{index}] must be an object with an action"));
                Map::new()
            }
        };
        let mut step = Map::new();
        let place = |key: &str| format!("steps[{index}].{key}");
        step.insert("step_number".to_owned(), self.number(&place("step_number"), given.get("step_number"), index + 1));
        for key in ["action", "reason"] {
            step.insert(key.to_owned(), self.text(&place(key), given.remove(key)).unwrap_or_default().into());
        }
        for key in ["tools_needed", "files"] {
            step.insert(key.to_owned(), self.texts(&place(key), given.remove(key)));
        }
        for key in ["estimated_time", "verify"] {
            if let Some(text) = self.text(&place(key), given.remove(key)).filter(|text| !text.trim().is_empty()) {
                step.insert(key.to_owned(), text.into());
            }
        }
        // A status that we don't have says nothing that a new plan needs.
        if let Some(status) = given.remove("status").filter(|status| serde_json::from_value::<StepStatus>(status.clone()).is_ok()) {
            step.insert("status".to_owned(), status);
        }
        Value::Object(step)
    }

    fn text(&mut self, place: &str, given: Option<Value>) -> Option<String> {
        match given {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text),
            Some(Value::Number(number)) => Some(number.to_string()),
            Some(Value::Bool(_) | Value::Array(_) | Value::Object(_)) => {
                self.wrong.push(format!("{place} must be text"));
                None
            }
        }
    }

    fn texts(&mut self, place: &str, given: Option<Value>) -> Value {
        let items = match given {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(items)) => items,
            Some(single) => return self.text(place, Some(single)).into_iter().collect(),
        };
        items.into_iter().enumerate().filter_map(|(index, item)| self.text(&format!("{place}[{index}]"), Some(item))).collect()
    }

    fn number(&mut self, place: &str, given: Option<&Value>, position: usize) -> Value {
        let number = match given {
            None | Some(Value::Null) => return position.into(),
            Some(Value::Number(number)) => number.as_u64().or_else(|| number.as_f64().and_then(whole)),
            Some(Value::String(text)) => text.trim().parse().ok(),
            Some(Value::Bool(_) | Value::Array(_) | Value::Object(_)) => None,
        };
        if let Some(number) = number.and_then(|number| u32::try_from(number).ok()) {
            return number.into();
        }
        self.wrong.push(format!("{place} must be {position}: steps are numbered 1, 2, 3 in order"));
        position.into()
    }
}

/// The number in a float such as `2.0`.
fn whole(number: f64) -> Option<u64> {
    format!("{number}").parse().ok()
}

/// More options than a person reads.
const MAX_OPTIONS: usize = 50;

fn read_question(object: &Map<String, Value>) -> Result<(Question, Severity), String> {
    let question = object.get("question").and_then(Value::as_str).filter(|question| !question.trim().is_empty());
    let Some(question) = question else { return Err("question must say what is asked".to_owned()) };
    let options = match object.get("options") {
        None | Some(Value::Null) => &[],
        Some(Value::Array(options)) if options.len() <= MAX_OPTIONS => options.as_slice(),
        Some(_) => return Err(format!("options must be a list of at most {MAX_OPTIONS}")),
    };
    let mut buttons: Vec<Button> = Vec::new();
    for (index, option) in options.iter().enumerate() {
        let button = read_option(option).ok_or_else(|| format!("options[{index}] must have a label and a value"))?;
        if !buttons.iter().any(|other| other.value == button.value) {
            buttons.push(button);
        }
    }
    let question = Question {
        name: "answer".to_owned(),
        question: question.to_owned(),
        schema: schema_of(&buttons),
        default: read_default(object.get("default"), &buttons),
        context: object.get("context").and_then(Value::as_str).filter(|context| !context.trim().is_empty()).map(str::to_owned),
        buttons,
    };
    Ok((question, read_severity(object.get("severity"))))
}

/// An option is `{label, value, description}`; a bare text is both.
fn read_option(option: &Value) -> Option<Button> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()).filter(|text| !text.trim().is_empty()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    };
    let Some(object) = option.as_object() else {
        return Some(Button { label: text(option)?, value: option.clone(), variant: None, description: None });
    };
    let value = object.get("value").or_else(|| object.get("label")).filter(|value| !value.is_null())?;
    let label = object.get("label").unwrap_or(value);
    let description = object.get("description").and_then(text);
    Some(Button { label: text(label)?, value: value.clone(), variant: None, description })
}

/// Without options the answer is free text.
fn schema_of(buttons: &[Button]) -> Value {
    let values: Vec<&Value> = buttons.iter().map(|button| &button.value).collect();
    match (values.is_empty(), values.iter().all(|value| value.is_string())) {
        (true, _) => json!({ "type": "string", "minLength": 1 }),
        (false, true) => json!({ "type": "string", "enum": values }),
        (false, false) => json!({ "enum": values }),
    }
}

/// A default that is no option, nor the label of one, can't be meant and is left out.
fn read_default(default: Option<&Value>, buttons: &[Button]) -> Option<Value> {
    let default = default.filter(|default| !default.is_null())?;
    if buttons.is_empty() {
        return Some(default).filter(|default| default.as_str().is_some_and(|text| !text.is_empty())).cloned();
    }
    let named = |button: &&Button| button.value == *default || default.as_str() == Some(button.label.as_str());
    buttons.iter().find(named).map(|button| button.value.clone())
}

fn read_severity(severity: Option<&Value>) -> Severity {
    let word = severity.and_then(Value::as_str).map(|word| word.trim().to_lowercase());
    word.and_then(|word| serde_json::from_value(word.into()).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan_of(text: &str) -> (Plan, String) {
        match read_answer(text) {
            Answer::Plan { plan, prose } => (plan, prose),
            other @ (Answer::Question { .. } | Answer::Text { .. }) => panic!("{other:?}"),
        }
    }

    fn reason_of(text: &str) -> String {
        match read_answer(text) {
            Answer::Text { reason } => reason.unwrap_or_default(),
            other @ (Answer::Plan { .. } | Answer::Question { .. }) => panic!("{other:?}"),
        }
    }

    const PLAN: &str = r#"{"goal": "Tidy", "steps": [{"action": "sweep"}, {"action": "wash"}]}"#;

    #[test]
    fn a_plan_is_the_whole_answer_or_its_only_json_block_and_prose_stays() {
        assert_eq!(plan_of(&format!("\n {PLAN} \n")).1, "");
        assert_eq!(plan_of(&format!("Here:\n\n```JSON\n{PLAN}\n```\n\nAgreed?\n")).1, "Here:\n\nAgreed?");
        assert_eq!(plan_of(&format!("```sh\nls\n```\n  ~~~\n{PLAN}\n~~~~")).1, "```sh\nls\n```");
        assert_eq!(plan_of(&format!("Cut off:\n```json\n{PLAN}")).0.steps.len(), 2);
        assert_eq!(plan_of(&format!("{{\"type\": \"plan\", \"plan\": {PLAN}}}")).0.goal, "Tidy");
    }

    #[test]
    fn what_a_model_leaves_out_or_adds_is_forgiven() {
        let json = json!({
            "type": "plan", "title": "extra", "goal": "Tidy", "risks": "dust", "prerequisites": null, "estimated_total_time": 2,
            "steps": ["sweep", {"step_number": "2", "action": "wash", "estimated_time": 5, "owner": "Ann", "tools_needed": "run", "status": "todo", "verify": ""},
                {"step_number": 3.0, "action": "dry", "files": ["a"], "status": "done"}],
        });
        let plan = plan_of(&json.to_string()).0;
        assert_eq!(plan.steps.iter().map(|step| step.step_number).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!((plan.risks, plan.estimated_total_time.as_deref()), (vec!["dust".to_owned()], Some("2")));
        assert_eq!(
            (plan.steps[1].estimated_time.as_deref(), &plan.steps[1].verify, plan.steps[1].status),
            (Some("5"), &None, StepStatus::Pending)
        );
        assert_eq!((plan.steps[1].tools_needed.as_slice(), plan.steps[2].status), (["run".to_owned()].as_slice(), StepStatus::Done));
    }

    #[test]
    fn what_looks_like_a_plan_but_is_none_is_text_with_the_reason() {
        let reasons = [
            (r#"{"goal": "x", "steps": [{"action": "a"}, {"reason": "r"}]}"#, "steps[1].action must say what is done"),
            (r#"{"steps": [{"action": "a"}]}"#, "goal must say what the plan is for"),
            (r#"{"goal": "x", "steps": []}"#, "steps must have at least one step"),
            (r#"{"goal": "x", "steps": {"action": "a"}}"#, "steps must be a list"),
            (r#"{"goal": "x", "steps": [1]}"#, "steps[0] must be an object"),
            (r#"{"goal": "x", "steps": [{"action": ["a"]}]}"#, "steps[0].action must be text"),
            (r#"{"goal": "x", "steps": [{"action": "a", "step_number": "one"}]}"#, "steps[0].step_number must be 1"),
            (r#"{"goal": "x", "steps": [{"action": "a", "step_number": 7}]}"#, "steps[0].step_number must be 1"),
            (r#"{"goal": "x", "goal": "y", "steps": [{"action": "a"}]}"#, "the key \"goal\" stands twice"),
            (r#"{"goal": "x", "steps": [{"action": "a"},]}"#, "can't be read: trailing comma"),
            (r#"{"goal": "x", "steps": [{"action": "a"}]} Agreed?"#, "trailing characters"),
        ];
        for (text, expected) in reasons {
            assert!(reason_of(text).contains(expected), "{text}: {}", reason_of(text));
        }
        assert!(reason_of(&format!("```json\n{PLAN}\n```\n```\n{PLAN}\n```")).contains("2 JSON blocks"));
    }

    #[test]
    fn other_text_is_text_without_a_reason() {
        for text in [
            "",
            "Hello",
            "{",
            r#"{"a": 1}"#,
            "```json\n[1]\n```",
            "```json\n{}\n```\n```json\n{}\n```",
            "the \"goal\" and \"steps\"",
            "[1]",
        ] {
            assert_eq!(read_answer(text), Answer::Text { reason: None }, "{text}");
        }
        assert!(reason_of(&format!("{PLAN}{}", " ".repeat(MAX_ANSWER_BYTES))).contains("1 MiB"));
        assert!(reason_of(&format!("{{\"goal\": {}", "[".repeat(500_000))).contains("recursion limit"));
        assert_eq!(reason_of(&"```json\n{\n```\n".repeat(60_000)), "");
    }

    fn question_of(json: &Value) -> (Question, Severity) {
        match read_answer(&format!("Hm.\n```json\n{json}\n```")) {
            Answer::Question { question, severity, .. } => (question, severity),
            other @ (Answer::Plan { .. } | Answer::Text { .. }) => panic!("{other:?}"),
        }
    }

    #[test]
    fn question_json_becomes_one_question_with_a_button_per_option() {
        let option = |label: &str, value: &str| json!({"label": label, "value": value, "description": "d"});
        let (question, severity) = question_of(&json!({
            "type": "question", "question": "Also the tests?", "context": "They use the old API", "severity": "Minor",
            "options": [option("Yes", "update"), option("No", "skip"), option("Again", "skip")], "default": "No", "extra": 1,
        }));
        assert_eq!(
            (question.name.as_str(), severity, question.context.as_deref()),
            ("answer", Severity::Minor, Some("They use the old API"))
        );
        assert_eq!(question.schema, json!({"type": "string", "enum": ["update", "skip"]}));
        assert_eq!(
            (question.buttons.len(), question.buttons[1].description.as_deref(), question.default),
            (2, Some("d"), Some(json!("skip")))
        );
    }

    #[test]
    fn a_question_with_less_is_read_and_one_without_a_question_is_not() {
        let (question, severity) =
            question_of(&json!({"type": "question", "question": "Which?", "severity": "huge", "options": ["a", 2], "default": "z"}));
        assert_eq!((question.schema, question.default, severity), (json!({"enum": ["a", 2]}), None, Severity::Major));
        let (question, _) = question_of(&json!({"type": "question", "question": "Which name?", "default": "bye"}));
        assert_eq!((question.schema["type"].as_str(), question.buttons.len(), question.default), (Some("string"), 0, Some(json!("bye"))));
        assert_eq!(reason_of(r#"{"type": "question", "question": " "}"#), "question must say what is asked");
        assert_eq!(reason_of(r#"{"type": "question", "question": "x", "options": [{}]}"#), "options[0] must have a label and a value");
    }
}
