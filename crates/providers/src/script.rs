//! Plays a file of scripted turns instead of a model.
//!
//! ```json
//! {
//!   "plan": [{ "text": "Looking.", "calls": [{ "tool": "read", "args": { "path": "/a" } }] }, { "text": "Done." }],
//!   "act":  [{ "text": "Working.", "delay_ms": 200 }],
//!   "repeat": true
//! }
//! ```
//!
//! Each mode has its own list, or `turns` serves both. The number of replies in that mode so far selects the turn, so a script
//! continues after a restart where it was. With `repeat` the list starts again at its end; without it, the run fails with an
//! error that says so.

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use planwright_agent::{Delta, IMAGE_PLACEHOLDER, ModelCall, ModelMessage, ModelRequest, Provider, Purpose, Replies};
use planwright_protocol::event::Usage;
use planwright_protocol::{CallId, ErrorCode, Mode, Problem};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::time::Duration;

/// A scripted model.
#[derive(Clone, Debug)]
pub struct Script {
    name: String,
    file: ScriptFile,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptFile {
    #[serde(default)]
    turns: Vec<ScriptTurn>,
    #[serde(default)]
    plan: Vec<ScriptTurn>,
    #[serde(default)]
    act: Vec<ScriptTurn>,
    /// The replies of delegates, by a text in their task.
    #[serde(default)]
    tasks: BTreeMap<String, Vec<ScriptTurn>>,
    #[serde(default)]
    repeat: bool,
    /// After all turns, follow the instructions in the newest text: a gullible model.
    #[serde(default)]
    obey: bool,
    /// The reply to a request for a summary.
    summary: Option<ScriptTurn>,
    /// The reply to a request to classify the user's message.
    intent: Option<ScriptTurn>,
    /// The model's context in tokens.
    context_tokens: Option<u64>,
    /// Whether the model accepts images.
    #[serde(default)]
    images: bool,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptTurn {
    #[serde(default)]
    reasoning: String,
    #[serde(default)]
    text: String,
    #[serde(default)]
    calls: Vec<ScriptCall>,
    /// Delay before each delta of the reply.
    #[serde(default)]
    delay_ms: u64,
    /// The usage of the reply (default: computed from its text).
    usage: Option<Usage>,
    /// Ends the reply with this error instead.
    error: Option<ErrorCode>,
    /// Texts that the request must contain: in the system prompt, the conversation or the tools.
    #[serde(default)]
    told: Vec<String>,
    /// Texts that it must not contain.
    #[serde(default)]
    not_told: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptCall {
    tool: String,
    /// Passed on as written, so that a script can send malformed arguments: a string is sent verbatim.
    args: Box<RawValue>,
}

impl Script {
    /// # Errors
    /// The mistake in the script, and where.
    pub fn parse(name: &str, text: &str) -> Result<Self, String> {
        let file: ScriptFile = serde_json::from_str(text).map_err(|error| format!("the script {name} is not well-formed: {error}"))?;
        if file.turns.is_empty() && file.plan.is_empty() && file.act.is_empty() {
            return Err(format!("the script {name} has no turns: give `turns`, or `plan` and `act`"));
        }
        Ok(Self { name: name.to_owned(), file })
    }

    /// Checks the texts that the request must and must not contain.
    fn check(&self, turn: &ScriptTurn, request: &ModelRequest) -> Result<(), Problem> {
        if turn.told.is_empty() && turn.not_told.is_empty() {
            return Ok(());
        }
        let mut heard = request.system.clone();
        for message in request.messages.iter() {
            heard.push('\n');
            match message {
                ModelMessage::User(text) | ModelMessage::Assistant { text, .. } | ModelMessage::ToolResult { text, .. } => {
                    heard.push_str(text);
                }
                ModelMessage::Image(image) => heard.push_str(&match request.images.get(&image.sha256) {
                    Some(bytes) => format!("[{}, {} bytes]", image.mime_type, bytes.len()),
                    None => IMAGE_PLACEHOLDER.to_owned(),
                }),
            }
        }
        for tool in &request.tools {
            heard.push_str(&format!("\n{}: {} {}", tool.name, tool.description, tool.schema));
        }
        let missing = turn.told.iter().find(|text| !heard.contains(text.as_str())).map(|text| ("not told", text));
        let unwanted = turn.not_told.iter().find(|text| heard.contains(text.as_str())).map(|text| ("told", text));
        match missing.or(unwanted) {
            None => Ok(()),
            Some((was, text)) => Err(Problem::new(ErrorCode::ProviderRejected, format!("The script {} was {was}: {text}", self.name))),
        }
    }

    /// The replies of the delegate with this task.
    fn of_task(&self, request: &ModelRequest) -> Option<&Vec<ScriptTurn>> {
        let task = request.task.as_deref()?;
        self.file.tasks.iter().find(|(about, _)| task.contains(about.as_str())).map(|(_, turns)| turns)
    }

    fn turn(&self, request: &ModelRequest) -> Result<ScriptTurn, Problem> {
        let plain = |text: &str| ScriptTurn { text: text.to_owned(), ..ScriptTurn::default() };
        match request.purpose {
            Purpose::Summary => return Ok(self.file.summary.clone().unwrap_or_else(|| plain("Nothing more to say."))),
            Purpose::Intent => return Ok(self.file.intent.clone().unwrap_or_else(|| plain("UNCLEAR"))),
            Purpose::Reply => {}
        }
        let of_mode = match (self.of_task(request), request.mode) {
            (Some(turns), _) => turns,
            (None, Mode::Plan) => &self.file.plan,
            (None, Mode::Act) => &self.file.act,
        };
        let shared = of_mode.is_empty();
        let turns = if shared { &self.file.turns } else { of_mode };
        let Replies { plan, act } = request.replies;
        let replies = match request.mode {
            Mode::Plan | Mode::Act if shared => plan + act,
            Mode::Plan => plan,
            Mode::Act => act,
        };
        let index = if self.file.repeat && !turns.is_empty() { replies % turns.len() } else { replies };
        let next = turns.get(index).cloned().or_else(|| self.file.obey.then(|| obedient(request)));
        next.ok_or_else(|| {
            Problem::new(
                ErrorCode::ProviderRejected,
                format!(
                    "The script {} has only {} turns for this mode, and all have been played. Add one, or set `repeat`.",
                    self.name,
                    turns.len()
                ),
            )
        })
    }
}

#[async_trait]
impl Provider for Script {
    fn name(&self) -> &str {
        &self.name
    }

    fn context_tokens(&self) -> u64 {
        self.file.context_tokens.unwrap_or(128_000)
    }

    fn takes_images(&self) -> bool {
        self.file.images
    }

    async fn stream(&self, request: ModelRequest) -> Result<BoxStream<'static, Result<Delta, Problem>>, Problem> {
        let turn = self.turn(&request)?;
        self.check(&turn, &request)?;
        let mut deltas: Vec<Result<Delta, Problem>> = words(&turn.reasoning).map(|word| Ok(Delta::Reasoning(word))).collect();
        deltas.extend(words(&turn.text).map(|word| Ok(Delta::Text(word))));
        deltas.extend(turn.calls.iter().map(|call| Ok(Delta::Call(call.to_model_call()))));
        let output_tokens = deltas.len() as u64;
        let counted = Usage { input_tokens: request.messages.len() as u64, output_tokens, ..Usage::default() };
        deltas.push(match turn.error {
            Some(code) => Err(Problem::new(code, format!("The script {} says so.", self.name))),
            None => Ok(Delta::Usage(turn.usage.unwrap_or(counted))),
        });
        let delay = Duration::from_millis(turn.delay_ms);
        Ok(stream::iter(deltas)
            .then(move |delta| async move {
                if !delay.is_zero() {
                    tokio::time::sleep(delay).await;
                }
                delta
            })
            .boxed())
    }
}

impl ScriptCall {
    fn to_model_call(&self) -> ModelCall {
        let args = match serde_json::from_str(self.args.get()) {
            Ok(Value::String(text)) => text,
            Ok(_) | Err(_) => self.args.get().to_owned(),
        };
        ModelCall { id: CallId::generate().to_string(), tool: self.tool.clone(), args }
    }
}

/// The calls in the newest text, each after the word `CALL`: the tool, then the arguments as JSON. The system prompt counts too
/// if the newest message is the user's.
fn obedient(request: &ModelRequest) -> ScriptTurn {
    let mut heard: Vec<&str> = Vec::new();
    for message in request.messages.iter().rev() {
        match message {
            ModelMessage::User(text) => heard.extend([text.as_str(), request.system.as_str()]),
            ModelMessage::ToolResult { text, .. } => heard.push(text),
            ModelMessage::Image(_) => {}
            ModelMessage::Assistant { .. } => break,
        }
    }
    let orders = heard.iter().flat_map(|text| text.split("CALL ").skip(1));
    let calls: Vec<ScriptCall> = orders.filter_map(ordered_call).collect();
    let text = if calls.is_empty() { "I was told to do nothing." } else { "As you say." };
    ScriptTurn { text: text.to_owned(), calls, ..ScriptTurn::default() }
}

fn ordered_call(order: &str) -> Option<ScriptCall> {
    let (tool, rest) = order.split_once(' ')?;
    let args = serde_json::Deserializer::from_str(rest).into_iter::<Box<RawValue>>().next()?.ok()?;
    Some(ScriptCall { tool: tool.to_owned(), args })
}

/// A text in deltas like a model's.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split_inclusive(' ').map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_delegate_plays_the_replies_of_its_task_and_the_others_those_of_their_mode() {
        let script = r#"{"turns": [{"text": "own"}], "tasks": {"greeting": [{"text": "greeted"}, {"text": "again"}]}}"#;
        let script = Script::parse("s", script).unwrap();
        let said = |task: Option<&str>, act: usize| {
            let request = ModelRequest {
                system: String::new(),
                messages: Vec::new().into(),
                images: std::collections::HashMap::new(),
                tools: Vec::new(),
                mode: Mode::Act,
                purpose: Purpose::Reply,
                replies: Replies { plan: 0, act },
                task: task.map(str::to_owned),
            };
            script.turn(&request).map(|turn| turn.text).unwrap_or_default()
        };
        assert_eq!(said(None, 0), "own");
        assert_eq!(said(Some("Write the greeting"), 0), "greeted");
        assert_eq!(said(Some("Write the greeting"), 1), "again");
        assert_eq!(said(Some("Write something else"), 0), "own");
    }

    #[tokio::test]
    async fn a_turn_that_was_told_too_little_or_too_much_fails_and_names_the_text() {
        let request = ModelRequest {
            system: "You are in PLAN mode".to_owned(),
            messages: vec![ModelMessage::User("Hello".to_owned())].into(),
            images: std::collections::HashMap::new(),
            tools: Vec::new(),
            mode: Mode::Plan,
            purpose: Purpose::Reply,
            replies: Replies::default(),
            task: None,
        };
        for (turn, fault) in [
            (r#""told": ["PLAN mode", "Hello"]"#, None),
            (r#""told": ["PLAN mode", "ACT mode"]"#, Some("not told: ACT mode")),
            (r#""not_told": ["ACT mode"]"#, None),
            (r#""not_told": ["Hello"]"#, Some("was told: Hello")),
        ] {
            let script = Script::parse("s", &format!(r#"{{"turns": [{{"text": "x", {turn}}}]}}"#)).unwrap();
            let problem = script.stream(request.clone()).await.err().map(|problem| problem.message);
            assert_eq!(problem.is_some(), fault.is_some(), "{turn}: {problem:?}");
            assert!(fault.is_none_or(|fault| problem.unwrap().contains(fault)), "{turn}");
        }
    }
}
