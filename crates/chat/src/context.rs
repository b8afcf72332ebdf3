//! The parts of the next model request, and how much of the context they take.

use crate::chat::Chat;
use crate::inbox::Inbox;
use crate::run::Run;
use planwright_agent::provider::DEFAULT_CONTEXT;
use planwright_agent::{ModelMessage, ModelRequest, ToolDefinition};
use planwright_protocol::{Mode, Notice, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::Arc;

/// The content of a chat's context.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ContextView {
    /// The model of the chat's mode, as PROVIDER/MODEL; null where there is none.
    pub model: Option<String>,
    /// Maximum tokens of a request and its reply together; null without a model.
    pub limit: Option<u64>,
    /// Tokens of the newest request and its reply, as the model counted; 0 before the first request and after a compaction.
    pub used: u64,
    /// The parts of the next request. Estimated.
    pub parts: Vec<ContextPart>,
    /// Whether the conversation can be compacted.
    pub can_compact: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ContextPart {
    pub part: Part,
    /// Estimated, too high rather than too low.
    pub tokens: u64,
    /// Number of items.
    pub count: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The prompt of mode and role.
    Prompt,
    /// The tools and their schemas.
    Tools,
    /// `AGENTS.md` of the workspace and its folders.
    Instructions,
    /// The approved plan.
    Plan,
    /// The summary of the last compaction.
    Summary,
    /// The user's messages.
    Words,
    /// The model's texts.
    Replies,
    /// The model's calls.
    Calls,
    /// The tools' results.
    Results,
}

impl Chat {
    /// # Errors
    /// The history can't be read.
    pub async fn context(self: &Arc<Self>) -> Result<ContextView, Problem> {
        Run::new(self.clone(), Inbox::default()).context().await
    }
}

impl Run {
    async fn context(mut self) -> Result<ContextView, Problem> {
        let (agent, turn) = (self.agent()?, self.turn().await?);
        self.available_tools.look(&self.chat).await;
        let model = self.chat.model(agent.role.mode()).await.ok();
        let context = model.as_ref().map_or(DEFAULT_CONTEXT, |model| model.context_tokens());
        let request = self.request(agent, &turn, context).await?;
        let plan = match agent.role.mode() {
            Mode::Plan => None,
            Mode::Act => crate::progress::Execution::of(&self.chat).map(|execution| execution.text()),
        };
        let is_summed_up = turn.history().iter().any(|message| matches!(message.body.notice(), Some(Notice::Compaction(_))));
        let instructions = self.prompt_context.instructions(context);
        let instructions: Vec<&str> = instructions.iter().map(|(_, text)| text.as_str()).collect();
        let parts = parts(&request, &instructions, plan.as_deref(), is_summed_up);
        Ok(ContextView {
            model: model.as_ref().map(|model| model.name().to_owned()),
            limit: model.as_ref().map(|model| model.context_tokens()),
            used: self.chat.record().usage.context_tokens,
            parts,
            can_compact: turn.conversation().has_grown(),
        })
    }
}

fn parts(request: &ModelRequest, instructions: &[&str], plan: Option<&str>, is_summed_up: bool) -> Vec<ContextPart> {
    let mut parts = Parts::default();
    let told: usize = instructions.iter().map(|text| text.len()).sum();
    let planned = plan.map_or(0, str::len);
    parts.add(Part::Prompt, request.system.len().saturating_sub(told + planned));
    for tool in &request.tools {
        parts.add(Part::Tools, size(tool));
    }
    for text in instructions {
        parts.add(Part::Instructions, text.len());
    }
    if let Some(text) = plan {
        parts.add(Part::Plan, text.len());
    }
    for (place, message) in request.messages.iter().enumerate() {
        match message {
            ModelMessage::User(text) if place == 0 && is_summed_up => parts.add(Part::Summary, text.len()),
            ModelMessage::User(_) | ModelMessage::Image(_) => parts.add(Part::Words, message.size()),
            ModelMessage::Assistant { text, calls, .. } => {
                if !text.is_empty() {
                    parts.add(Part::Replies, text.len());
                }
                for call in calls {
                    parts.add(Part::Calls, call.tool.len() + call.args.len());
                }
            }
            ModelMessage::ToolResult { text, .. } => parts.add(Part::Results, text.len()),
        }
    }
    parts.0
}

#[derive(Default)]
struct Parts(Vec<ContextPart>);

impl Parts {
    fn add(&mut self, part: Part, bytes: usize) {
        let tokens = planwright_agent::history::estimate_tokens(bytes);
        match self.0.iter_mut().find(|known| known.part == part) {
            Some(known) => {
                known.tokens += tokens;
                known.count += 1;
            }
            None => self.0.push(ContextPart { part, tokens, count: 1 }),
        }
    }
}

fn size(tool: &ToolDefinition) -> usize {
    tool.name.len() + tool.description.len() + tool.schema.to_string().len()
}
