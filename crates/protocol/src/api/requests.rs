//! The bodies of requests. Absent fields have their defaults.

use crate::config::RoleWord;
use crate::ids::{MessageId, QuestionId};
use crate::message::LineRange;
use crate::op::{FieldChange, PlanChange};
use crate::plan::Plan;
use crate::settings::ReasoningEffort;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A new chat. One of the three role fields is enough; conflicting ones are an error.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewChat {
    #[schemars(example = &"A farewell")]
    pub title: Option<String>,
    #[schemars(with = "Option<RoleWord>")]
    pub agent_role: Option<String>,
    #[schemars(with = "Option<RoleWord>", example = &"plan")]
    pub agent_mode: Option<String>,
    #[schemars(with = "Option<RoleWord>", example = &"plan")]
    pub mode: Option<String>,
}

/// The changes; absent fields stay as they are.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChatUpdate {
    #[schemars(example = &"A farewell")]
    pub title: Option<String>,
    #[schemars(with = "Option<RoleWord>", example = &"act")]
    pub agent_role: Option<String>,
    #[schemars(with = "Option<RoleWord>", example = &"act")]
    pub agent_mode: Option<String>,
    #[schemars(with = "Option<RoleWord>", example = &"build")]
    pub mode: Option<String>,
    /// A plan file of the workspace; null removes the chat's plan.
    #[serde(default, skip_serializing_if = "FieldChange::is_keep")]
    #[schemars(with = "Option<String>", example = "/plans/add-a-farewell.plan")]
    pub plan_file: PlanChange,
    /// Keep the chat at the top of lists.
    pub pinned: Option<bool>,
    /// Archive the chat; lists show it only on request.
    pub archived: Option<bool>,
    /// The model of this chat's runs, one of `GET …/models`; null restores the configured one.
    #[serde(default, skip_serializing_if = "FieldChange::is_keep")]
    #[schemars(with = "Option<String>", example = &"anthropic/claude-sonnet-4-5")]
    pub model: FieldChange<String>,
    /// How much the model reasons before it replies; null restores the configured effort. Models without such a setting ignore it.
    #[serde(default, skip_serializing_if = "FieldChange::is_keep")]
    #[schemars(with = "Option<ReasoningEffort>")]
    pub effort: FieldChange<ReasoningEffort>,
    /// Confirms that work in progress may end.
    #[serde(default)]
    pub confirm: bool,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForkBody {
    /// The new chat gets the messages before this one.
    pub message_id: MessageId,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExecuteBody {
    /// The plan to execute (default: the chat's own).
    #[schemars(example = "/plans/add-a-farewell.plan")]
    pub plan_file: Option<String>,
    /// The hash of the plan that the user looked at. Required with `steps` and `stop_after`.
    pub plan_sha256: Option<String>,
    /// Execute only these steps (default: all).
    #[schemars(example = vec![1, 2])]
    pub steps: Option<Vec<u32>>,
    /// Stop after this step and ask the user.
    #[schemars(range(min = 1))]
    pub stop_after: Option<u32>,
    /// A comment for the Actor.
    #[schemars(length(max = 20_000))]
    pub comment: Option<String>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanEditBody {
    /// The next version: the text of the `.plan` file, or the plan as data. As data, other sections of the file stay.
    pub content: PlanContentBody,
    /// The `sha256` of the version that was edited, from `GET …/plan` or a Plan message.
    #[schemars(example = &"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")]
    pub base_sha256: String,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum PlanContentBody {
    #[schemars(example = &"# Say goodbye\n\n## Steps\n\n- [ ] 1. Write the farewell\n")]
    Text(String),
    Data(#[schemars(schema_with = "plan_to_write")] Plan),
}

/// A plan as a body may have it: inline, because in answers more fields are always there.
fn plan_to_write(_: &mut SchemaGenerator) -> Schema {
    let inline = |settings: &mut SchemaSettings| (settings.inline_subschemas, settings.meta_schema) = (true, None);
    SchemaSettings::default().with(inline).into_generator().into_root_schema_for::<Plan>()
}

/// Either `message_id` or `files`.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RevertBody {
    /// Revert everything from this message on.
    pub message_id: Option<MessageId>,
    /// Revert the changes of these files.
    pub files: Option<Vec<RevertedFile>>,
    /// Only report what would happen.
    #[serde(default)]
    pub preview: bool,
    /// Skip files that somebody else changed, and revert the others.
    #[serde(default)]
    pub skip_conflicts: bool,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RevertedFile {
    #[schemars(example = "/src/farewell.rs")]
    pub path: String,
    /// The file's content as it was shown, from `GET …/changes/file`; null or absent for a deleted file.
    pub after_sha256: Option<String>,
    /// Revert only the changes with these numbers (default: the whole file).
    pub hunks: Option<Vec<usize>>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewWorkspaceBody {
    /// Its name (default: the folder's name).
    #[schemars(example = &"greeter")]
    pub name: Option<String>,
    /// The folder, as an absolute path on the server's machine.
    #[schemars(example = "/home/you/greeter")]
    pub path: String,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Accept {
    /// The hash of the reviewed content, from GET: of the file, or of an item with its own hash.
    #[schemars(example = &"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")]
    pub sha256: String,
}

#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewMessageBody {
    /// The user's text; with an answer, a comment on it.
    #[serde(default)]
    #[schemars(example = &"Add a farewell to the greeter.")]
    pub content: String,
    /// `question_answer {question_id, answers}` answers the pending question. The server stores everything else with the
    /// message as `metadata.client`, and never reads it.
    #[serde(default)]
    #[schemars(with = "Given")]
    pub metadata: Map<String, Value>,
    /// Attached images, by the ids from `POST …/images`; at most 8. An answer has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8))]
    pub images: Vec<String>,
    /// Comments of a review: on a step of the plan, or on lines of a file; at most 200. The server adds them to the message's
    /// text. An answer has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 200))]
    pub comments: Vec<CommentBody>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommentBody {
    /// The client's name for the comment, unique in the message. `write_plan` reports on it by this id.
    #[schemars(length(min = 1, max = 64), example = &"c1")]
    pub id: String,
    /// The step of the plan that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<u32>,
    /// The file that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "/src/farewell.rs")]
    pub path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<LineRange>,
    /// The text that the user selected.
    #[serde(default)]
    #[schemars(length(max = 8000))]
    pub quote: String,
    #[schemars(length(min = 1, max = 8000), example = &"Use the helper that is there already.")]
    pub text: String,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(example = Map::new())]
struct Given {
    #[expect(dead_code, reason = "described, and read on its own so that its errors are 400")]
    question_answer: Option<AnswerToQuestion>,
}

#[derive(Deserialize, JsonSchema)]
struct AnswerToQuestion {
    #[expect(dead_code, reason = "described here, and read as an answer of the protocol")]
    question_id: QuestionId,
    /// The questions' names are the keys.
    #[expect(dead_code, reason = "described here, and read as an answer of the protocol")]
    answers: Map<String, Value>,
}
