//! Summing a conversation up when it has grown too long for its model.

use crate::agent::Agent;
use crate::chat::Change;
use crate::run::Run;
use futures::StreamExt;
use planwright_agent::compaction::{self, COMPACTION};
use planwright_agent::{Delta, ModelMessage, Provider, Purpose, Request, Turn};
use planwright_protocol::event::{ChatState, Usage};
use planwright_protocol::{Author, Event, Message, MessageType, Problem};
use serde_json::json;
use std::sync::Arc;

impl Run {
    /// Stores the message that takes the place of the history. What must be kept is in it even if the model fails.
    pub(crate) async fn sum_up(&mut self, agent: Agent, provider: &dyn Provider, turn: &Turn) -> Result<Vec<Message>, Problem> {
        self.chat.show(|_| ChatState::Thinking).await?;
        let mut usage = Usage::default();
        let summary = match self.summary(agent, provider, turn, &mut usage).await {
            Ok(summary) => summary,
            Err(problem) => {
                tracing::warn!(chat = %self.chat.id, %problem, "the model could not sum the chat up");
                String::new()
            }
        };
        let facts = json!({ "tokens_before": turn.conversation().estimated_tokens(), "by_model": !summary.is_empty() });
        let text = compaction::text(turn.history(), &summary);
        let message = agent.place(Message::new(self.chat.id, Author::System, MessageType::Text, text).with(COMPACTION, facts));
        let change = Change::messages([message.clone()]).event(Event::Usage(usage));
        self.spent(change, usage, 0, |_| {}).await?;
        Ok(vec![message])
    }

    /// What it used is counted even if it fails.
    async fn summary(&self, agent: Agent, provider: &dyn Provider, turn: &Turn, usage: &mut Usage) -> Result<String, Problem> {
        let mut messages = turn.conversation().entries().to_vec();
        messages.push(ModelMessage::User(compaction::ORDER.to_owned()));
        let images = self.chat.shown_images(provider, &messages).await?;
        let request = Request {
            system: compaction::system_prompt().to_owned(),
            images,
            messages: Arc::new(messages),
            tools: Vec::new(),
            mode: agent.role.mode(),
            purpose: Purpose::Summary,
            replies: turn.conversation().replies(),
            task: None,
        };
        let mut text = String::new();
        let mut stream = provider.stream(request).await?;
        while let Some(delta) = stream.next().await {
            match delta? {
                Delta::Text(more) => text.push_str(&more),
                Delta::Usage(used) => *usage = used,
                // It was given no tool, and its thoughts are not the summary.
                Delta::Call(_) | Delta::Reasoning(_) | Delta::Native(_) => {}
            }
        }
        Ok(text)
    }
}
