//! The `Tool` trait and its types.

use crate::builtin::BUILTIN;
use crate::command::CommandContext;
use crate::effect::{Effect, FileEffect};
use crate::gate::{Permit, Secrets};
use crate::path::WorkspacePath;
use crate::version::{FileChange, Version};
use crate::web::WebAccess;
use crate::workspace::{Stamp, Workspace};
use planwright_protocol::plan::StepChoice;
use planwright_protocol::{ChatId, ErrorCode, Image, Permission, Problem, Question, Role};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};

pub use planwright_protocol::message::{Category, Risk};

/// The description of a tool, from which prompt, documentation, API and UI are generated.
#[derive(Clone, Copy, Debug)]
pub struct Spec<'a> {
    pub name: &'a str,
    pub category: Category,
    pub risk: Risk,
    /// Whether the tool changes nothing (default false).
    pub read_only: bool,
    /// Sets of permissions, each of which suffices to list the tool to a role; the first is the usual one.
    pub needs: &'static [&'static [Permission]],
    pub examples: &'static [&'static str],
}

impl Spec<'static> {
    /// A tool that reads the workspace and changes nothing.
    pub(crate) const fn reading(name: &'static str, category: Category, examples: &'static [&'static str]) -> Self {
        Self { name, category, risk: Risk::Low, read_only: true, needs: &[&[Permission::Read]], examples }
    }

    /// A tool that changes files.
    pub(crate) const fn writing(
        name: &'static str,
        risk: Risk,
        needs: &'static [&'static [Permission]],
        examples: &'static [&'static str],
    ) -> Self {
        Self { name, category: Category::Write, risk, read_only: false, needs, examples }
    }
}

/// The arguments of a tool. The model reads the type's doc comment; the schema is derived.
pub trait Input: DeserializeOwned + JsonSchema + Send + Sync + 'static {
    const SPEC: Spec<'static>;

    /// Converts the arguments into effects and a way to execute them. Changes nothing.
    ///
    /// # Errors
    /// What is wrong with the call, for the model to fix.
    fn prepare(self, cx: &ToolContext) -> Result<Prepared, Problem>;
}

/// A tool with any kind of arguments.
pub trait Tool: Send + Sync {
    fn spec(&self) -> Spec<'_>;
    fn schema(&self) -> Value;

    /// Parses the model's arguments and prepares the call.
    ///
    /// # Errors
    /// `INVALID_ARGUMENTS`, or an error of [`Input::prepare`].
    fn prepare(&self, args: &str, cx: &ToolContext) -> Result<Prepared, Problem>;

    fn description(&self) -> String {
        self.schema().get("description").and_then(Value::as_str).unwrap_or_default().replace('\n', " ")
    }
}

/// Removes parts of a schema that tell a model nothing, because every word costs tokens. Optional properties are not required, so
/// they need not allow `null` as well.
fn plain(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if object.get("type").is_some_and(|kind| kind.is_string() || kind.is_array()) {
                object.retain(|key, value| match key.as_str() {
                    "format" | "writeOnly" => false,
                    "minimum" => *value != 0,
                    "default" => {
                        !matches!(value, Value::Null) && value.as_str() != Some("") && value.as_array().is_none_or(|all| !all.is_empty())
                    }
                    _ => true,
                });
            }
            if let Some(Value::Array(kinds)) = object.get("type")
                && let [kind, null] = &kinds[..]
                && null == "null"
            {
                let kind = kind.clone();
                object.insert("type".to_owned(), kind);
                if let Some(Value::Array(choices)) = object.get_mut("enum") {
                    choices.retain(|choice| !choice.is_null());
                }
            }
            if let Some(Value::Array(either)) = object.get("anyOf")
                && let [Value::Object(one), null] = &either[..]
                && null["type"] == "null"
            {
                let one = one.clone();
                object.remove("anyOf");
                object.extend(one);
            }
            object.values_mut().for_each(plain);
        }
        Value::Array(values) => values.iter_mut().for_each(plain),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The schemas of the built-in tools, which every model request includes. They are derived once.
static SCHEMAS: Mutex<BTreeMap<&str, Value>> = Mutex::new(BTreeMap::new());

fn derived_schema<I: Input>() -> Value {
    let mut schema = schemars::schema_for!(I).to_value();
    if let Some(object) = schema.as_object_mut() {
        object.remove("$schema");
        object.remove("title");
    }
    plain(&mut schema);
    schema
}

/// Implements [`Tool`] for an input type.
pub struct Builtin<I>(PhantomData<fn() -> I>);

impl<I> Builtin<I> {
    pub const TOOL: Self = Self(PhantomData);
}

impl<I: Input> Tool for Builtin<I> {
    fn spec(&self) -> Spec<'_> {
        I::SPEC
    }

    fn schema(&self) -> Value {
        let mut schemas = SCHEMAS.lock().unwrap_or_else(PoisonError::into_inner);
        schemas.entry(I::SPEC.name).or_insert_with(derived_schema::<I>).clone()
    }

    fn prepare(&self, args: &str, cx: &ToolContext) -> Result<Prepared, Problem> {
        let invalid = |error: serde_json::Error| {
            Problem::new(
                ErrorCode::InvalidArguments,
                format!("The arguments of `{}` don't fit: {error}. Send them again as its schema says.", I::SPEC.name),
            )
        };
        // Parsed strictly first, so that no reader of the stored call sees other arguments than the tool.
        let value = planwright_protocol::json::parse_strict(args).map_err(invalid)?;
        let input: I = serde_json::from_value(value).map_err(invalid)?;
        Ok(input.prepare(cx)?.with_folders_on_the_way(&cx.workspace).with_repositories(&cx.workspace))
    }
}

/// A call that is parsed but not decided yet.
pub struct Prepared {
    pub effects: Vec<Effect>,
    /// Everything it would change, before and after.
    pub changes: Vec<FileChange>,
    commit: Commit,
}

type Commit = Box<dyn FnOnce(&Permit) -> Result<Output, Problem> + Send>;

impl Prepared {
    pub fn new(
        effects: impl IntoIterator<Item: Into<Effect>>,
        commit: impl FnOnce(&Permit) -> Result<Output, Problem> + Send + 'static,
    ) -> Self {
        let effects = effects.into_iter().map(Into::into).collect();
        Self { effects, changes: Vec::new(), commit: Box::new(commit) }
    }

    #[must_use]
    pub fn changing(mut self, changes: Vec<FileChange>) -> Self {
        self.changes = changes;
        self
    }

    /// Adds the parent folders that will be created for new files.
    fn with_folders_on_the_way(mut self, workspace: &Workspace) -> Self {
        let mut known: BTreeSet<WorkspacePath> = self.changes.iter().map(|change| change.path.clone()).collect();
        let mut made = Vec::new();
        for change in self.changes.iter().filter(|change| change.before.is_absent()) {
            let mut folder = change.path.split().map(|(folder, _)| folder);
            while let Some(path) = folder.take_if(|path| !known.contains(path) && matches!(workspace.entry(path), Ok(None))) {
                folder = path.split().map(|(folder, _)| folder);
                known.insert(path.clone());
                made.push(FileChange { path, before: Version::absent(), after: Image::Folder { mode: None }.into() });
            }
        }
        self.changes.extend(made);
        self
    }

    /// Adds the repositories with other names than `.git` that would be created or changed, so that the gate refuses the call.
    fn with_repositories(mut self, workspace: &Workspace) -> Self {
        let changed = self.effects.iter().flat_map(Effect::changed_paths);
        let found: BTreeSet<WorkspacePath> = changed.filter_map(|path| workspace.repository_at(path)).collect();
        self.effects.extend(found.into_iter().map(|folder| FileEffect::ChangeRepository(folder).into()));
        self
    }

    /// Executes the effects.
    ///
    /// # Errors
    /// Why it failed; nothing has changed.
    pub fn commit(self, permit: &Permit) -> Result<Output, Problem> {
        (self.commit)(permit)
    }
}

/// The result of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// The text that the model reads.
    pub text: String,
    /// Facts for programs.
    pub data: Map<String, Value>,
    /// A follow-up action for the chat.
    pub signal: Option<Signal>,
}

/// A follow-up that a tool can't perform itself, because it concerns the chat and not the workspace.
#[derive(Clone, Debug, PartialEq)]
pub enum Signal {
    /// A plan file was written, changed, moved here or removed.
    PlanFileChanged(WorkspacePath),
    /// Ask the user, and end the turn.
    Ask(Vec<Question>),
    /// The model considers its plan final and wants to leave plan mode.
    ExitPlanMode(WorkspacePath),
    /// A command has ended, and its changes wait for a decision.
    Staged,
    /// A review was submitted: as data, and as text.
    Reviewed { review: Value, text: String },
    /// Delegate a task to another role.
    Delegate { role: Role, task: String },
    /// Let helpers read, one for each task.
    Explore { tasks: Vec<String> },
}

impl Output {
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.data.insert(key.to_owned(), value.into());
        self
    }

    #[must_use]
    pub fn signalling(mut self, signal: Signal) -> Self {
        self.signal = Some(signal);
        self
    }

    /// The tools endpoint's answer: the facts, and the text as `output`.
    #[must_use]
    pub fn into_result(self) -> Value {
        let mut result = self.data;
        if !self.text.is_empty() {
            result.insert("output".to_owned(), self.text.into());
        }
        Value::Object(result)
    }
}

/// Context that every tool gets besides its arguments. A new field affects no tool.
#[derive(Clone, Debug)]
pub struct ToolConfig {
    /// True unless the chat is in act mode.
    pub plan_mode: bool,
    /// The chat's plan, once it has one.
    pub active_plan_path: Option<WorkspacePath>,
    /// The approved plan that the chat executes, with the file's content at the approval.
    pub approved_plan: Option<Arc<str>>,
    /// The steps of it that the user approved.
    pub approved_steps: StepChoice,
    pub chat: Option<ChatId>,
    /// Plans of other chats, including those whose files are missing.
    pub foreign_plans: Arc<BTreeSet<WorkspacePath>>,
    pub secrets: Arc<Secrets>,
    pub web: Arc<WebAccess>,
}

impl Default for ToolConfig {
    fn default() -> Self {
        Self {
            plan_mode: true,
            active_plan_path: None,
            approved_plan: None,
            approved_steps: StepChoice::default(),
            chat: None,
            foreign_plans: Arc::default(),
            secrets: Arc::default(),
            web: Arc::default(),
        }
    }
}

/// Where a tool works.
#[derive(Clone)]
pub struct ToolContext {
    pub workspace: Arc<Workspace>,
    pub seen: Arc<Seen>,
    pub config: ToolConfig,
    pub command: CommandContext,
}

/// The state of each file when the model last read it, so that it can't overwrite content it does not know.
#[derive(Debug, Default)]
pub struct Seen(Mutex<HashMap<WorkspacePath, Stamp>>);

impl Seen {
    pub fn note(&self, path: &WorkspacePath, stamp: Stamp) {
        self.lock().insert(path.clone(), stamp);
    }

    /// # Errors
    /// `FILE_CHANGED` if the model read another content than the current one.
    pub fn check(&self, path: &WorkspacePath, present: &Stamp) -> Result<(), Problem> {
        match self.lock().get(path) {
            Some(seen) if seen != present => Err(file_changed(path)),
            Some(_) | None => Ok(()),
        }
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<WorkspacePath, Stamp>> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

pub(crate) fn file_changed(path: &WorkspacePath) -> Problem {
    Problem::new(ErrorCode::FileChanged, format!("{path} has changed since you last read it. Read it again, then make your change."))
}

/// The tool with exactly this name.
///
/// # Errors
/// `TOOL_UNKNOWN`, with the list of tools.
pub fn tool_named(name: &str) -> Result<&'static dyn Tool, Problem> {
    BUILTIN.iter().copied().find(|tool| tool.spec().name == name).ok_or_else(|| {
        let names = BUILTIN.iter().map(|tool| tool.spec().name).collect::<Vec<_>>().join(", ");
        Problem::new(ErrorCode::ToolUnknown, format!("There is no tool {name:?}. The tools are: {names}."))
    })
}

#[cfg(test)]
mod tests;
