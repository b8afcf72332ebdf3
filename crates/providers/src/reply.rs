//! Streams a reply: text at once, calls only when the reply is complete.

use crate::actions;
use crate::problem::{Received, rejected};
use crate::remote::About;
use crate::reply_start::ReplyStart;
use crate::thinking::Thoughts;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use planwright_agent::{Delta, ModelCall};
use planwright_protocol::Problem;
use planwright_protocol::settings::ProviderKind;
use planwright_protocol::settings::ToolCalls;
use rig_core::completion::{CompletionResponse, FinishReason};
use rig_core::message::{AssistantContent, StopReason, ToolCall};
use rig_core::streaming::{CompletionStream, Item, StreamEvent};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Maximum bytes of a reply; a model that writes more does not stop on its own.
const LONGEST: usize = 4 * 1024 * 1024;

pub(crate) struct Reply {
    about: Arc<About>,
    /// `None` once the reply is over, by its end or by a failure.
    stream: Option<CompletionStream>,
    ready: VecDeque<Result<Delta, Problem>>,
    /// The arguments of each call, as the model wrote them.
    arguments: BTreeMap<usize, String>,
    calls: Vec<ModelCall>,
    /// For models that may write reasoning into their answer.
    thoughts: Option<Thoughts>,
    /// The text so far of a model without native tool calls.
    written: String,
    length: usize,
}

impl Reply {
    pub(crate) fn new(
        about: Arc<About>,
        stream: CompletionStream,
        beginning: Option<&ReplyStart>,
        first: Option<Item<StreamEvent>>,
    ) -> Self {
        let usage = beginning.and_then(|beginning| about.usage_so_far(beginning));
        let mut reply = Self {
            thoughts: matches!(about.kind, ProviderKind::Openai | ProviderKind::Openrouter).then(Thoughts::default),
            about,
            stream: Some(stream),
            ready: usage.map(Ok).into_iter().collect(),
            arguments: BTreeMap::new(),
            calls: Vec::new(),
            written: String::new(),
            length: 0,
        };
        if let Some(item) = first {
            reply.take(item);
        }
        reply
    }

    /// Dropping the stream ends the request.
    pub(crate) fn deltas(self) -> BoxStream<'static, Result<Delta, Problem>> {
        stream::unfold(self, |mut reply| async move { reply.next().await.map(|delta| (delta, reply)) }).boxed()
    }

    async fn next(&mut self) -> Option<Result<Delta, Problem>> {
        loop {
            if let Some(delta) = self.ready.pop_front() {
                return Some(delta);
            }
            match self.stream.as_mut()?.next().await {
                Some(Ok(item)) => self.take(item),
                Some(Err(error)) => self.fail(self.about.reporter.failure(&error, Received::Something).problem),
                None => {
                    let ended = self.stream.take()?.finish().await;
                    match ended {
                        Ok(response) => self.end(&response),
                        Err(error) => self.fail(self.about.reporter.failure(&error, Received::Something).problem),
                    }
                }
            }
        }
    }

    fn fail(&mut self, problem: Problem) {
        self.stream = None;
        if let Some(held) = self.thoughts.as_mut().and_then(Thoughts::end) {
            self.pass_on(held);
        }
        self.ready.push_back(Err(problem));
    }

    fn take(&mut self, item: Item<StreamEvent>) {
        // Vendor-specific events are ignored.
        let Item::Event(event) = item else { return };
        match event {
            StreamEvent::Text { text, .. } => {
                self.length += text.len();
                match &mut self.thoughts {
                    Some(thoughts) => thoughts.hear(&text).into_iter().for_each(|delta| self.pass_on(delta)),
                    None => self.pass_on(Delta::Text(text)),
                }
            }
            StreamEvent::Reasoning { text, .. } => {
                self.length += text.len();
                self.ready.push_back(Ok(Delta::Reasoning(text)));
            }
            StreamEvent::Arguments { part, json } => {
                self.length += json.len();
                self.arguments.entry(part.index()).or_default().push_str(&json);
            }
            StreamEvent::End { part, content: AssistantContent::ToolCall(call) } => {
                let written = self.arguments.remove(&part.index());
                self.calls.push(model_call(&call, written));
            }
            StreamEvent::Start { .. } | StreamEvent::End { .. } => {}
        }
        if self.length > LONGEST {
            let what = format!("it is longer than {} MiB, which no answer needs", LONGEST / 1024 / 1024);
            self.fail(self.about.reporter.limit(&what));
        }
    }

    fn pass_on(&mut self, delta: Delta) {
        match (self.about.tools, delta) {
            (ToolCalls::Json, Delta::Text(text)) => self.written.push_str(&text),
            (ToolCalls::Native | ToolCalls::Json, delta) => self.ready.push_back(Ok(delta)),
        }
    }

    /// The reply is complete: passes on all calls, or none of them.
    fn end(&mut self, response: &CompletionResponse) {
        if let Some(held) = self.thoughts.as_mut().and_then(Thoughts::end) {
            self.pass_on(held);
        }
        // The reply is charged, whether or not it is usable.
        self.ready.push_back(Ok(self.about.usage(response)));
        if let Err(problem) = self.whole(response).and_then(|()| self.read_actions()) {
            return self.fail(problem);
        }
        self.ready.extend(self.calls.drain(..).map(|call| Ok(Delta::Call(call))));
        self.ready.extend(self.about.native(response).map(Ok));
    }

    /// Whether the model finished normally.
    fn whole(&self, response: &CompletionResponse) -> Result<(), Problem> {
        let reporter = &self.about.reporter;
        match (response.finish_reason(), response.stop()) {
            (Some(FinishReason::Length), _) | (_, StopReason::Length) => Err(reporter.unusable_reply(
                "it reached the model's output limit; ask for less at a time, or raise `max_output_tokens` of the provider",
            )),
            (Some(FinishReason::ContentFilter), _) => Err(rejected(format!(
                "{}/{} withheld its answer: its filter found something in it. Put the task differently, or choose another model.",
                reporter.provider, reporter.model
            ))),
            (_, StopReason::Error(why) | StopReason::Aborted(why)) => Err(reporter.unusable_reply(&reporter.words(&why))),
            _ => Ok(()),
        }
    }

    fn read_actions(&mut self) -> Result<(), Problem> {
        if self.about.tools == ToolCalls::Native {
            return Ok(());
        }
        let (say, calls) = actions::read(&self.written).map_err(|why| self.about.reporter.unusable_reply(&why))?;
        if !say.is_empty() {
            self.ready.push_back(Ok(Delta::Text(say)));
        }
        self.calls = calls;
        Ok(())
    }
}

/// The call with its arguments as the model wrote them.
fn model_call(call: &ToolCall, written: Option<String>) -> ModelCall {
    let function = &call.function;
    let args = match written {
        Some(text) if !text.trim().is_empty() => text,
        Some(_) | None => function.invalid_arguments.clone().unwrap_or_else(|| function.arguments_value().to_string()),
    };
    ModelCall { id: call.id.to_string(), tool: function.name.to_string(), args }
}
