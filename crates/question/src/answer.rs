//! Checks answers against their questions.

use crate::extent::{self, MAX_DEPTH};
use crate::findings::Findings;
use crate::schema::CompiledSchema;
use crate::text;
use planwright_protocol::{ErrorCode, Problem, Question};
use serde_json::{Map, Value};

/// Maximum bytes of the JSON of all answers to one card.
pub const MAX_ANSWER_BYTES: usize = 256 * 1024;
/// Maximum number of JSON nodes in an answer.
pub(crate) const MAX_ANSWER_NODES: u64 = 10_000;

/// The answers of a request, which must be an object.
///
/// # Errors
/// `VALIDATION_FAILED` for anything else.
pub fn read_answers(value: &Value) -> Result<&Map<String, Value>, Problem> {
    value.as_object().ok_or_else(|| refuse("answers", "must be an object with one entry for each question, by its name"))
}

/// Checks that every question has a valid answer, and that there is no other answer.
///
/// # Errors
/// `VALIDATION_FAILED` with all mistakes: `details.fields` has one message per question name, or per name and JSON Pointer for
/// a part of an answer.
pub fn validate_answers(questions: &[Question], answers: &Map<String, Value>) -> Result<(), Problem> {
    let mut nodes = 0;
    let mut length = 0;
    for (name, answer) in answers {
        let Some(parts) = extent::count_nodes(answer) else {
            return Err(refuse(&text::one_line(name, 80), &format!("is nested deeper than {MAX_DEPTH} levels")));
        };
        nodes += parts;
        length += name.len() + extent::byte_length(answer);
    }
    if length > MAX_ANSWER_BYTES {
        return Err(refuse("answers", &format!("are {length} bytes long; at most {MAX_ANSWER_BYTES} are allowed")));
    }
    if nodes > MAX_ANSWER_NODES {
        return Err(refuse("answers", &format!("have {nodes} parts; at most {MAX_ANSWER_NODES} are allowed")));
    }
    let mut findings = Findings::default();
    for question in questions {
        match answers.get(&question.name) {
            Some(answer) => check_answer(question, answer, &mut findings),
            None => findings.add(question.name.as_str(), "needs an answer"),
        }
    }
    for name in answers.keys().filter(|name| questions.iter().all(|question| question.name != **name)) {
        findings.add(text::one_line(name, 80), "is none of the questions asked");
    }
    findings.into_result(ErrorCode::ValidationFailed, LEAD)
}

const LEAD: &str = "The answer does not fit:";

fn check_answer(question: &Question, answer: &Value, findings: &mut Findings) {
    match CompiledSchema::compile(&question.schema) {
        Ok(schema) => {
            for complaint in schema.check(answer) {
                findings.add(format!("{}{}", question.name, text::one_line(&complaint.pointer, 200)), complaint.message);
            }
        }
        // Only a question that was stored unparsed gets here. It must accept nothing.
        Err(trouble) => {
            findings.add(question.name.as_str(), format!("can't be checked, because schema{} {}", trouble.pointer, trouble.message));
        }
    }
}

fn refuse(field: &str, message: &str) -> Problem {
    let mut findings = Findings::default();
    findings.add(field, message);
    match findings.into_result(ErrorCode::ValidationFailed, LEAD) {
        Err(problem) => problem,
        Ok(()) => Problem::new(ErrorCode::ValidationFailed, LEAD),
    }
}

/// The answer to use if nobody answers: the question's default, otherwise the default in its schema, if that is valid.
#[must_use]
pub fn default_answer(question: &Question) -> Option<&Value> {
    let candidate = question.default.as_ref().or_else(|| question.schema.get("default"))?;
    let schema = CompiledSchema::compile(&question.schema).ok()?;
    schema.check(candidate).is_empty().then_some(candidate)
}
