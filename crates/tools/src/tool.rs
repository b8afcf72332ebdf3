//! What a tool is.

use crate::builtin::BUILTIN;
use crate::command::CommandContext;
use crate::effect::{Effect, FileEffect};
use crate::gate::{Permit, Secrets};
use crate::path::WorkspacePath;
use crate::version::{FileChange, Version};
use crate::workspace::{Stamp, Workspace};
use planwright_protocol::plan::StepChoice;
use planwright_protocol::settings::Inspect;
use planwright_protocol::{ChatId, ErrorCode, Image, Mode, Permission, Problem, Question, Role};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};

pub use planwright_protocol::message::{Category, Risk};

/// What everyone needs to know of a tool: prompt, documentation, API and UI are computed from it.
#[derive(Clone, Copy, Debug)]
pub struct Spec<'a> {
    pub name: &'a str,
    pub category: Category,
    pub risk: Risk,
    /// Whether it can change nothing. False unless said.
    pub read_only: bool,
    /// The sets of rights of which each is enough for the tool to be listed to a role; the first is the usual one.
    pub needs: &'static [&'static [Permission]],
    pub examples: &'static [&'static str],
}

/// The arguments of a tool. The doc comment of the type is what the model reads; the schema is derived.
pub trait Input: DeserializeOwned + JsonSchema + Send + Sync + 'static {
    const SPEC: Spec<'static>;

    /// Turns the arguments into effects and a way to bring them about. Changes nothing.
    ///
    /// # Errors
    /// What is wrong with the call, for the model to mend.
    fn prepare(self, cx: &ToolContext) -> Result<Prepared, Problem>;
}

/// A tool, whatever its arguments.
pub trait Tool: Send + Sync {
    fn spec(&self) -> Spec<'_>;
    fn schema(&self) -> Value;

    /// Reads the arguments as the model wrote them and prepares the call.
    ///
    /// # Errors
    /// `INVALID_ARGUMENTS`, or what [`Input::prepare`] finds.
    fn prepare(&self, args: &str, cx: &ToolContext) -> Result<Prepared, Problem>;

    fn description(&self) -> String {
        self.schema().get("description").and_then(Value::as_str).unwrap_or_default().replace('\n', " ")
    }
}

/// Leaves out of a schema what tells a model nothing: it pays for every word. What may be left out is not required, and
/// need not be said to be `null` as well.
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

/// The schemas of the built-in tools. They go out with every request to a model, and are derived once.
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

/// Makes a [`Tool`] of its input type.
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
        // Read strictly first, so that no reader of the stored call sees other arguments than the tool does.
        let value = planwright_protocol::json::parse_strict(args).map_err(invalid)?;
        let input: I = serde_json::from_value(value).map_err(invalid)?;
        Ok(input.prepare(cx)?.with_folders_on_the_way(&cx.workspace).with_repositories(&cx.workspace))
    }
}

/// A call that has been understood, but not yet decided.
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

    /// Adds the folders that will be made for what is new.
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

    /// Adds the repositories under other names than `.git` that would be made or changed, so that the gate refuses the call.
    fn with_repositories(mut self, workspace: &Workspace) -> Self {
        let changed = self.effects.iter().flat_map(Effect::changed_paths);
        let found: BTreeSet<WorkspacePath> = changed.filter_map(|path| workspace.repository_at(path)).collect();
        self.effects.extend(found.into_iter().map(|folder| FileEffect::ChangeRepository(folder).into()));
        self
    }

    /// Brings the effects about.
    ///
    /// # Errors
    /// Why it did not happen; then nothing has changed.
    pub fn commit(self, permit: &Permit) -> Result<Output, Problem> {
        (self.commit)(permit)
    }
}

/// What a call gives back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// What the model reads.
    pub text: String,
    /// Facts for programs.
    pub data: Map<String, Value>,
    /// Something the session must do about it.
    pub signal: Option<Signal>,
}

/// What a tool can't do itself, because it is about the chat and not the workspace.
#[derive(Clone, Debug, PartialEq)]
pub enum Signal {
    /// A plan file was written, changed, moved here or removed.
    PlanFileChanged(WorkspacePath),
    /// Ask the user, and end the turn.
    Ask(Vec<Question>),
    /// The model holds its plan for final and wants to leave plan mode.
    ExitPlanMode(WorkspacePath),
    /// A command has ended, and what it changed waits to be judged.
    Staged,
    /// A review was handed in: as data, and as people read it.
    Reviewed { review: Value, text: String },
    /// Hand a task to another role.
    Delegate { role: Role, task: String },
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

    /// As the tools endpoint answers it: the facts, and the text as `output`.
    #[must_use]
    pub fn into_result(self) -> Value {
        let mut result = self.data;
        if !self.text.is_empty() {
            result.insert("output".to_owned(), self.text.into());
        }
        Value::Object(result)
    }
}

/// What reaches every tool besides its arguments. A new field touches no tool.
#[derive(Clone, Debug)]
pub struct ToolConfig {
    /// True unless the chat is known to be in act mode.
    pub plan_mode: bool,
    /// The chat's plan, once it has one.
    pub active_plan_path: Option<WorkspacePath>,
    /// What the user approved and the chat carries out, as the file was then.
    pub approved_plan: Option<Arc<str>>,
    /// The steps of it that the user approved.
    pub approved_steps: StepChoice,
    pub chat: Option<ChatId>,
    /// Plans that belong to other chats, also those whose files are gone.
    pub foreign_plans: Arc<BTreeSet<WorkspacePath>>,
    pub secrets: Arc<Secrets>,
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

/// How each file looked when the model last saw it, so that it can't overwrite what it doesn't know.
#[derive(Debug, Default)]
pub struct Seen(Mutex<HashMap<WorkspacePath, Stamp>>);

impl Seen {
    pub fn note(&self, path: &WorkspacePath, stamp: Stamp) {
        self.lock().insert(path.clone(), stamp);
    }

    /// # Errors
    /// `FILE_CHANGED` when the model saw another content than the present one.
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

/// The tool of exactly this name.
///
/// # Errors
/// `TOOL_UNKNOWN`, naming those there are.
pub fn tool_named(name: &str) -> Result<&'static dyn Tool, Problem> {
    BUILTIN.iter().copied().find(|tool| tool.spec().name == name).ok_or_else(|| {
        let names = BUILTIN.iter().map(|tool| tool.spec().name).collect::<Vec<_>>().join(", ");
        Problem::new(ErrorCode::ToolUnknown, format!("There is no tool {name:?}. The tools are: {names}."))
    })
}

/// The tools that are listed to a role: those whose needs it meets, all of them read-only in plan
/// mode but for the ways to write the plan and to leave.
pub fn tools_of(role: Role, inspect: Inspect) -> impl Iterator<Item = &'static dyn Tool> {
    BUILTIN.iter().copied().filter(move |tool| is_listed(&tool.spec(), role, inspect))
}

/// Whether a tool is listed to a role, wherever it comes from.
#[must_use]
pub fn is_listed(spec: &Spec<'_>, role: Role, inspect: Inspect) -> bool {
    let meets = |needs: &&[Permission]| needs.iter().all(|&need| role.has(need));
    let inspects = inspect == Inspect::On && role.mode() == Mode::Plan && role.has(Permission::Read) && spec.category == Category::Execute;
    spec.needs.iter().any(meets) || inspects
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tool_config_is_plan_mode_unless_said() {
        let config = ToolConfig::default();
        assert!(config.plan_mode && config.active_plan_path.is_none());
    }

    #[test]
    fn read_only_is_said_of_exactly_the_tools_that_change_nothing() {
        let marked: Vec<&str> = BUILTIN.iter().filter(|tool| tool.spec().read_only).map(|tool| tool.spec().name).collect();
        assert_eq!(marked, ["read", "ls", "history", "glob", "grep", "outline", "symbols", "references", "ask_user", "submit_review"]);
    }

    #[test]
    fn a_tool_is_known_by_exactly_its_name() {
        assert!(tool_named("write").is_ok());
        for name in ["Write", " write", "write ", "write\0", "../write", "shell", ""] {
            assert_eq!(tool_named(name).err().map(|problem| problem.code), Some(ErrorCode::ToolUnknown), "{name:?}");
        }
    }
}
