use crate::effect::Effect;
use crate::tool::{Category, Input, Output, Prepared, Risk, Signal, Spec, ToolContext};
use planwright_protocol::Problem;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Ask the user what you can't find out, all at once, by booleans or few choices.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskUser {
    // Parsed by the protocol and not here, because it names every invalid field and not only the first.
    #[schemars(with = "Vec<AskedQuestion>")]
    questions: Value,
}

// The form of a question in the schema; [`planwright_question::parse_batch`] validates it.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, inline)]
#[expect(dead_code, reason = "only its schema is used")]
struct AskedQuestion {
    name: String,
    question: String,
    /// JSON Schema.
    schema: Map<String, Value>,
    /// Instead of a form.
    buttons: Option<Vec<AskedButton>>,
    context: Option<String>,
    /// If nobody answers.
    default: Option<Value>,
}

// Buttons accept a `variant` too; the schema omits it, because models need no colours.
#[derive(JsonSchema)]
#[schemars(inline)]
#[expect(dead_code, reason = "only its schema is used")]
struct AskedButton {
    label: String,
    value: Value,
    description: Option<String>,
}

impl Input for AskUser {
    const SPEC: Spec<'static> = Spec {
        name: "ask_user",
        category: Category::Other,
        risk: Risk::Low,
        read_only: true,
        needs: &[&[]],
        examples: &[
            r#"{"questions": [{"name": "db", "question": "Which?", "schema": {"enum": ["a", "b"]}}]}"#,
            r#"{"questions": [{"name": "tests", "question": "Add tests too?", "schema": {"type": "boolean"}, "buttons": [{"label": "Yes", "value": true, "variant": "primary"}, {"label": "No", "value": false}]}]}"#,
        ],
    };

    fn prepare(self, _: &ToolContext) -> Result<Prepared, Problem> {
        let questions = planwright_question::parse_batch(&json!({ "questions": self.questions }))?;
        Ok(Prepared::new(Vec::<Effect>::new(), move |_| {
            Ok(Output::default().with("status", "question_pending").signalling(Signal::Ask(questions)))
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::Trial;
    use super::*;
    use crate::tool::tool_named;
    use planwright_protocol::Role;

    #[test]
    fn questions_reach_the_session_in_every_role() {
        let trial = Trial::new(&[]);
        for role in Role::all() {
            for example in AskUser::SPEC.examples {
                let output = trial.call(role, "ask_user", example).unwrap();
                assert_eq!(output.data["status"], "question_pending");
                assert!(matches!(output.signal, Some(Signal::Ask(questions)) if questions.len() == 1));
            }
        }
    }

    #[test]
    fn a_bad_question_is_refused_with_the_names_of_its_fields() {
        let trial = Trial::new(&[]);
        let problem = trial.act("ask_user", r#"{"questions": [{"name": "", "schema": {"type": "nonsense"}}]}"#).unwrap_err();
        assert_eq!(problem.code.as_str(), "INVALID_ARGUMENTS");
        let told = format!("{}{:?}", problem.message, problem.details);
        assert!(told.contains("/questions/0/name") && told.contains("/questions/0/question"), "{told}");
    }

    #[test]
    fn the_model_reads_what_a_question_is_made_of() {
        let schema = tool_named("ask_user").unwrap().schema();
        let question = &schema["properties"]["questions"]["items"];
        assert_eq!(question["required"], json!(["name", "question", "schema"]));
        assert_eq!(question["additionalProperties"], false);
        assert_eq!(question["properties"]["buttons"]["items"]["required"], json!(["label", "value"]));
    }
}
