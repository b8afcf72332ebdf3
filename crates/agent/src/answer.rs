//! Finds plans and questions in a model's answer: the whole answer, or exactly one fenced JSON block in it.
//!
//! Small mistakes and extra fields are repaired where only one meaning is possible. Anything else is text, with a reason
//! if it looks like a plan or a question.

use planwright_protocol::json::parse_strict;
use planwright_protocol::{Plan, Question, Severity, StepStatus};
use serde_json::{Map, Value};
use std::ops::Range;

/// Longer answers are not searched.
pub const MAX_ANSWER_BYTES: usize = 1024 * 1024;

/// The content of a model's answer. The caller decides which of these counts in which mode.
#[derive(Clone, Debug, PartialEq)]
pub enum ParsedAnswer {
    /// `prose` is the text around the JSON.
    Plan {
        plan: Plan,
        prose: String,
    },
    Question {
        question: Question,
        severity: Severity,
        prose: String,
    },
    /// `reason` says why the text is not a plan or a question, though it looks like one.
    Text {
        reason: Option<String>,
    },
}

/// Parses an answer, in time linear in its length.
#[must_use]
pub fn parse_answer(text: &str) -> ParsedAnswer {
    if text.len() > MAX_ANSWER_BYTES {
        return ParsedAnswer::Text { reason: Some("the answer is longer than 1 MiB and was not searched for a plan".to_owned()) };
    }
    let text = text.trim_start_matches('\u{feff}').trim();
    match json_parts(text).as_slice() {
        [] => ParsedAnswer::Text { reason: None },
        [part] => {
            let around = [text[..part.outer.start].trim(), text[part.outer.end..].trim()];
            let prose = around.into_iter().filter(|prose| !prose.is_empty()).collect::<Vec<_>>().join("\n\n");
            read_json(&text[part.inner.clone()], prose).unwrap_or_else(|reason| ParsedAnswer::Text { reason })
        }
        parts => {
            let is_meant = parts.iter().any(|part| Kind::looks_like(&text[part.inner.clone()]).is_some());
            let reason = format!("the answer has {} JSON blocks; a plan or a question must be the only one", parts.len());
            ParsedAnswer::Text { reason: is_meant.then_some(reason) }
        }
    }
}

/// A part of the answer that may be JSON: `outer` includes its fences, `inner` does not.
struct Part {
    outer: Range<usize>,
    inner: Range<usize>,
}

/// The whole answer if it starts like an object; otherwise its fenced blocks that are marked as JSON, or unmarked and start like one.
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
    // As in Markdown, an unclosed block extends to the end.
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
        } else if object.contains_key("steps")
            || (object.contains_key("goal") && object.get("type").is_none_or(|kind| matches!(kind.as_str(), Some("plan"))))
        {
            Some(Kind::Plan)
        } else {
            None
        }
    }

    /// The likely purpose of JSON that doesn't parse.
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

/// The plan or question in the JSON; otherwise the reason, if it looks like one.
fn read_json(json: &str, prose: String) -> Result<ParsedAnswer, Option<String>> {
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
        Some(Kind::Plan) => read_plan(object).map(|plan| ParsedAnswer::Plan { plan, prose }).map_err(Some),
        Some(Kind::Question) => {
            let (question, severity) =
                planwright_question::parse_question_json(&Value::Object(object)).map_err(|problem| Some(problem.message))?;
            Ok(ParsedAnswer::Question { question, severity, prose })
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
    planwright_plan::from_json(plan).map_err(|problem| {
        let fields = problem.details.as_ref().and_then(|details| details["fields"].as_object()).into_iter().flatten();
        let reasons: Vec<String> = fields.map(|(field, reason)| format!("{field} {}", reason.as_str().unwrap_or_default())).collect();
        if reasons.is_empty() { problem.message.clone() } else { reasons.join("; ") }
    })
}

/// Converts a model's JSON to the plan's types where only one meaning is possible, and collects the other mistakes.
/// Unknown fields are dropped: models often add some.
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
        // A new plan does not need an unknown status.
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

/// The integer in a float such as `2.0`.
fn whole(number: f64) -> Option<u64> {
    format!("{number}").parse().ok()
}

#[cfg(test)]
mod tests;
