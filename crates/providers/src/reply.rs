//! A reply as it comes: words at once, calls only when all of it is there.

use crate::actions;
use crate::endpoint::ToolCalls;
use crate::problem::{Heard, rejected};
use crate::remote::About;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use planwright_agent::{Delta, ModelCall};
use planwright_protocol::Problem;
use rig_core::completion::{CompletionResponse, FinishReason};
use rig_core::message::{AssistantContent, StopReason, ToolCall};
use rig_core::streaming::{CompletionStream, Item, StreamEvent};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// More than any answer has; whoever writes more does not stop by itself.
const LONGEST: usize = 4 * 1024 * 1024;

pub(crate) struct Reply {
    about: Arc<About>,
    /// Gone once the reply is over, by its end or by a failure.
    stream: Option<CompletionStream>,
    ready: VecDeque<Result<Delta, Problem>>,
    /// The arguments of each call, as the model wrote them.
    arguments: BTreeMap<usize, String>,
    calls: Vec<ModelCall>,
    /// What a model without tool calls has written.
    written: String,
    length: usize,
}

impl Reply {
    pub(crate) fn new(about: Arc<About>, stream: CompletionStream, first: Option<Item<StreamEvent>>) -> Self {
        let mut reply = Self {
            about,
            stream: Some(stream),
            ready: VecDeque::new(),
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

    /// Dropping it ends the request.
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
                Some(Err(error)) => self.fail(self.about.teller.failure(&error, Heard::Something).problem),
                None => {
                    let ended = self.stream.take()?.finish().await;
                    match ended {
                        Ok(response) => self.end(&response),
                        Err(error) => self.fail(self.about.teller.failure(&error, Heard::Something).problem),
                    }
                }
            }
        }
    }

    fn fail(&mut self, problem: Problem) {
        self.stream = None;
        self.ready.push_back(Err(problem));
    }

    fn take(&mut self, item: Item<StreamEvent>) {
        // What a vendor adds to its wire is of no concern here.
        let Item::Event(event) = item else { return };
        match event {
            StreamEvent::Text { text, .. } => {
                self.length += text.len();
                match self.about.tools {
                    ToolCalls::Native => self.ready.push_back(Ok(Delta::Text(text))),
                    ToolCalls::Json => self.written.push_str(&text),
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
            self.fail(self.about.teller.limit(&what));
        }
    }

    /// All has come: now the calls are passed on, or none of them.
    fn end(&mut self, response: &CompletionResponse) {
        // It is paid for, whatever it is worth.
        self.ready.push_back(Ok(self.about.usage(response)));
        if let Err(problem) = self.whole(response).and_then(|()| self.read_actions()) {
            return self.fail(problem);
        }
        self.ready.extend(self.calls.drain(..).map(|call| Ok(Delta::Call(call))));
        self.ready.extend(self.about.native(response).map(Ok));
    }

    /// Whether the model came to its end by itself.
    fn whole(&self, response: &CompletionResponse) -> Result<(), Problem> {
        let teller = &self.about.teller;
        match (response.finish_reason(), response.stop()) {
            (Some(FinishReason::Length), _) | (_, StopReason::Length) => Err(teller.garbled(
                "it was cut off where the model may write no more; ask for less at a time, or raise `max_output_tokens` of the provider",
            )),
            (Some(FinishReason::ContentFilter), _) => Err(rejected(format!(
                "{}/{} withheld its answer: its filter found something in it. Put the task differently, or choose another model.",
                teller.provider, teller.model
            ))),
            (_, StopReason::Error(why) | StopReason::Aborted(why)) => Err(teller.garbled(&teller.words(&why))),
            _ => Ok(()),
        }
    }

    fn read_actions(&mut self) -> Result<(), Problem> {
        if self.about.tools == ToolCalls::Native {
            return Ok(());
        }
        let (say, calls) = actions::read(&self.written).map_err(|why| self.about.teller.garbled(&why))?;
        if !say.is_empty() {
            self.ready.push_back(Ok(Delta::Text(say)));
        }
        self.calls = calls;
        Ok(())
    }
}

/// The call with its arguments as the model wrote them; a call without any has none.
fn model_call(call: &ToolCall, written: Option<String>) -> ModelCall {
    let function = &call.function;
    let args = match written {
        Some(text) if !text.trim().is_empty() => text,
        Some(_) | None => function.invalid_arguments.clone().unwrap_or_else(|| function.arguments_value().to_string()),
    };
    ModelCall { id: call.id.to_string(), tool: function.name.to_string(), args }
}
