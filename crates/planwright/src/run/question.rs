//! Questions in a run: what `--yes` answers, what to say if it can't, and asking the user at the terminal.

mod dialogue;

pub use dialogue::Dialogue;

use planwright_protocol::api::chat::Pending;
use planwright_protocol::message::{CallToApprove, PlanToApprove};
use planwright_protocol::{Question, QuestionId, QuestionKind};
use serde_json::{Map, Value};

/// A pending question.
#[derive(Clone)]
pub struct PendingQuestion {
    pub id: QuestionId,
    pub questions: Vec<Question>,
    pub kind: QuestionKind,
    /// The call to approve.
    pub call: Option<CallToApprove>,
    /// The plan to approve.
    pub plan: Option<PlanToApprove>,
}

impl From<Pending> for PendingQuestion {
    fn from(pending: Pending) -> Self {
        let Pending { question_id, questions, kind, call, plan, .. } = pending;
        Self { id: question_id, questions, kind, call, plan }
    }
}

impl PendingQuestion {
    /// The answer of `--yes`: approves a tool call inside the sandbox and accepts a question's default. It never approves
    /// a plan or a web page, and never continues past a stop.
    pub fn yes(&self) -> Option<Map<String, Value>> {
        match self.kind {
            QuestionKind::PlanApproval | QuestionKind::StepStop => None,
            QuestionKind::ToolApproval if self.leaves_sandbox() || self.fetches() => None,
            QuestionKind::ToolApproval => Some([("decision".to_owned(), Value::from("approve"))].into_iter().collect()),
            QuestionKind::User => self
                .questions
                .iter()
                .map(|question| Some((question.name.clone(), planwright_question::default_answer(question)?.clone())))
                .collect(),
        }
    }

    /// The question and its options.
    pub fn text(&self) -> String {
        let mut lines = Vec::new();
        for question in &self.questions {
            lines.push(format!("? {}", question.question));
            lines.extend(question.context.iter().map(|context| format!("  {context}")));
            lines.extend(options(question).into_iter().map(|option| format!("  - {option}")));
            lines.extend(planwright_question::default_answer(question).map(|default| format!("  default: {}", plain(default))));
        }
        lines.join("\n")
    }

    /// Why the run can't continue, and what to do.
    pub fn hint(&self) -> &'static str {
        match self.kind {
            QuestionKind::PlanApproval => "the plan needs your approval",
            QuestionKind::StepStop => {
                "the run stopped where --stop-after wanted it; run the plan again with --steps to execute the other steps"
            }
            QuestionKind::ToolApproval if self.leaves_sandbox() => {
                "this command would leave the sandbox, which --yes does not approve; `network = true` in the [sandbox] section of your configuration gives commands the network"
            }
            QuestionKind::ToolApproval if self.fetches() => {
                "the page's host is not allowed, and --yes does not approve hosts; `allow` in the [web] section of your configuration does"
            }
            QuestionKind::ToolApproval => "this call needs your approval; --yes approves such calls",
            QuestionKind::User => {
                "the agent asks a question; continue with --chat and the answer as the task, or run again with --yes to accept its default"
            }
        }
    }

    /// Whether the call would leave the sandbox.
    fn leaves_sandbox(&self) -> bool {
        self.has_effect(&["network", "unconfined"])
    }

    /// Whether the call would fetch a web page.
    fn fetches(&self) -> bool {
        self.has_effect(&["fetch"])
    }

    fn has_effect(&self, names: &[&str]) -> bool {
        self.call.as_ref().is_some_and(|call| call.effects.iter().any(|shown| names.contains(&shown.effect.as_str())))
    }
}

fn options(question: &Question) -> Vec<String> {
    if question.buttons.is_empty() {
        let values = question.schema.get("enum").and_then(Value::as_array);
        return values.into_iter().flatten().map(plain).collect();
    }
    let option = |button: &planwright_protocol::question::Button| {
        let description = button.description.as_ref().map(|text| format!(" ({text})")).unwrap_or_default();
        format!("{}: {}{description}", plain(&button.value), button.label)
    };
    question.buttons.iter().map(option).collect()
}

pub(super) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
