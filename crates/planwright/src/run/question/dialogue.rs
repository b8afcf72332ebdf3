//! Asks the user at the terminal, line by line.

use super::{PendingQuestion, plain};
use crate::output;
use planwright_protocol::{Question, QuestionKind};
use serde_json::{Map, Value};
use std::io::{BufRead, IsTerminal};
use tokio::sync::mpsc;

/// Lines of a diff or of a list that are shown with an approval.
const MOST_LINES: usize = 60;
/// The answer to an approval that may come with a reason.
const DENY: &str = "deny";

/// The user at the terminal.
pub struct Dialogue {
    /// What they type; made with the first question, because reading takes the input from everybody else.
    lines: Option<mpsc::UnboundedReceiver<String>>,
    asking: Option<Asking>,
}

struct Asking {
    pending: PendingQuestion,
    answers: Map<String, Value>,
}

/// One possible answer.
struct AnswerChoice {
    label: String,
    value: Value,
    description: String,
}

impl Dialogue {
    /// `None` where nobody can be asked.
    pub fn at_terminal() -> Option<Self> {
        let is_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        is_terminal.then_some(Self { lines: None, asking: None })
    }

    pub fn is_asking(&self) -> bool {
        self.asking.is_some()
    }

    /// Asks the first question.
    pub fn begin(&mut self, pending: PendingQuestion) {
        self.lines.get_or_insert_with(read_lines);
        for line in context(&pending) {
            output::note(&line);
        }
        self.asking = Some(Asking { pending, answers: Map::new() });
        self.ask();
    }

    /// The question was resolved elsewhere.
    pub fn end(&mut self) {
        self.asking = None;
    }

    /// The question that nobody will answer, at the end of the input.
    pub fn give_up(&mut self) -> Option<PendingQuestion> {
        self.asking.take().map(|asking| asking.pending)
    }

    pub async fn next_line(&mut self) -> Option<String> {
        self.lines.as_mut()?.recv().await
    }

    /// Takes a line as the answer to the present question. Returns the answers once there are all of them, with the comment on a
    /// denial.
    pub fn read(&mut self, line: &str) -> Option<(PendingQuestion, Map<String, Value>, String)> {
        let asking = self.asking.as_mut()?;
        let question = asking.pending.questions.get(asking.answers.len())?;
        let Some((value, comment)) = answer(question, asking.pending.kind, line.trim()) else {
            output::note("Type one of the answers, or its number.");
            self.ask();
            return None;
        };
        asking.answers.insert(question.name.clone(), value);
        if asking.answers.len() < asking.pending.questions.len() {
            self.ask();
            return None;
        }
        let Asking { pending, answers } = self.asking.take()?;
        Some((pending, answers, comment))
    }

    fn ask(&self) {
        let Some(asking) = &self.asking else { return };
        let Some(question) = asking.pending.questions.get(asking.answers.len()) else { return };
        output::note(&format!("? {}", question.question));
        if let Some(context) = &question.context {
            output::note(&format!("  {context}"));
        }
        for (number, choice) in choices(question).iter().enumerate() {
            let description = if choice.description.is_empty() { String::new() } else { format!(" ({})", choice.description) };
            output::note(&format!("  {}. {}{description}", number + 1, choice.label));
        }
        if asking.pending.kind == QuestionKind::ToolApproval {
            output::note("  A reason after the word deny reaches the agent, such as: deny keep the old name");
        }
        let default = planwright_question::default_answer(question).map(|default| format!(" [{}]", plain(default))).unwrap_or_default();
        output::note_part(&format!("answer{default}> "));
    }
}

/// Reads lines in a thread, which the end of the process ends: a read from a terminal can't be cancelled.
fn read_lines() -> mpsc::UnboundedReceiver<String> {
    let (sender, lines) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// What an approval is about: the effects, the diff, what would be deleted; or the plan.
fn context(pending: &PendingQuestion) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(plan) = &pending.plan {
        lines.push(format!("Plan: {}", plan.goal));
        lines.extend(plan.steps.iter().map(|step| format!("  {}. {}", step.step_number, step.action)));
    }
    if let Some(call) = &pending.call {
        for effect in &call.effects {
            let target = effect.target.as_ref().map(|target| format!(" {}", plain(target))).unwrap_or_default();
            lines.push(format!("  {}{target}", effect.effect));
        }
        lines.extend(call.diff.iter().flat_map(|diff| diff.lines()).map(|line| format!("  {line}")));
        lines.extend(call.deleted.iter().map(|entry| format!("  deletes {}", entry.path)));
        let unnamed = call.deleted_count.saturating_sub(call.deleted.len() as u64);
        lines.extend((unnamed > 0).then(|| format!("  deletes {unnamed} more")));
        if call.reversible == Some(false) {
            lines.push("  This can't be taken back.".to_owned());
        }
    }
    let count = lines.len();
    if count > MOST_LINES {
        lines.truncate(MOST_LINES);
        lines.push(format!("  … and {} more lines", count - MOST_LINES));
    }
    lines
}

fn choices(question: &Question) -> Vec<AnswerChoice> {
    if !question.buttons.is_empty() {
        let choice = |button: &planwright_protocol::question::Button| AnswerChoice {
            label: button.label.clone(),
            value: button.value.clone(),
            description: button.description.clone().unwrap_or_default(),
        };
        return question.buttons.iter().map(choice).collect();
    }
    let values = question.schema.get("enum").and_then(Value::as_array).into_iter().flatten();
    values.map(|value| AnswerChoice { label: plain(value), value: value.clone(), description: String::new() }).collect()
}

/// The value that a line means, with the comment on a denial; `None` if it means none. The server validates it.
fn answer(question: &Question, kind: QuestionKind, line: &str) -> Option<(Value, String)> {
    if line.is_empty() {
        return planwright_question::default_answer(question).map(|default| (default.clone(), String::new()));
    }
    let choices = choices(question);
    let same = |text: &str| text.to_lowercase() == line.to_lowercase();
    let by_number = line.parse::<usize>().ok().and_then(|number| choices.get(number.checked_sub(1)?));
    let chosen = by_number.or_else(|| choices.iter().find(|choice| same(&choice.label) || same(&plain(&choice.value))));
    if let Some(choice) = chosen {
        return Some((choice.value.clone(), String::new()));
    }
    if kind == QuestionKind::ToolApproval {
        let reason = line.get(..DENY.len()).filter(|word| word.eq_ignore_ascii_case(DENY)).map(|_| line[DENY.len()..].trim());
        return reason.map(|reason| (Value::from(DENY), reason.to_owned()));
    }
    match question.schema.get("type").and_then(Value::as_str) {
        Some("boolean") if same("y") || same("yes") => Some((true.into(), String::new())),
        Some("boolean") if same("n") || same("no") => Some((false.into(), String::new())),
        Some("boolean") => None,
        Some("string") => Some((line.into(), String::new())),
        _ if choices.is_empty() => Some((serde_json::from_str(line).unwrap_or_else(|_| list_or_text(question, line)), String::new())),
        _ => None,
    }
}

/// Several values, separated by commas, where a list is wanted.
fn list_or_text(question: &Question, line: &str) -> Value {
    if question.schema.get("type").and_then(Value::as_str) == Some("array") {
        return line.split(',').map(|part| Value::from(part.trim())).collect();
    }
    line.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(schema: Value, line: &str) -> Option<Value> {
        let question: Question = serde_json::from_value(json!({ "name": "q", "question": "?", "schema": schema })).unwrap();
        answer(&question, QuestionKind::User, line).map(|(value, _)| value)
    }

    #[test]
    fn a_line_is_read_by_number_by_label_by_value_as_text_and_as_json() {
        assert_eq!(read(json!({"enum": ["Red", "Blue"]}), "2"), Some(json!("Blue")));
        assert_eq!(read(json!({"enum": ["Red", "Blue"]}), "red"), Some(json!("Red")));
        assert_eq!(read(json!({"enum": ["Red", "Blue"]}), "green"), None);
        assert_eq!(read(json!({"type": "string"}), "42"), Some(json!("42")));
        assert_eq!(read(json!({"type": "integer"}), "42"), Some(json!(42)));
        assert_eq!(read(json!({"type": "boolean"}), "y"), Some(json!(true)));
        assert_eq!(read(json!({"type": "boolean"}), "perhaps"), None);
        assert_eq!(read(json!({"type": "array"}), "a, b"), Some(json!(["a", "b"])));
        assert_eq!(read(json!({"type": "array"}), "[1]"), Some(json!([1])));
    }

    #[test]
    fn a_denial_may_have_a_reason_and_nothing_else_means_yes() {
        let question: Question = serde_json::from_value(
            json!({ "name": "decision", "question": "?", "schema": {"enum": ["approve", "approve_always", "deny"]} }),
        )
        .unwrap();
        let read = |line: &str| answer(&question, QuestionKind::ToolApproval, line);
        assert_eq!(read("deny keep the old name"), Some((json!("deny"), "keep the old name".to_owned())));
        assert_eq!(read("DENY"), Some((json!("deny"), String::new())));
        assert_eq!(read("1"), Some((json!("approve"), String::new())));
        for unclear in ["y", "yes please", "ok", "", "4"] {
            assert_eq!(read(unclear), None, "{unclear}");
        }
    }
}
