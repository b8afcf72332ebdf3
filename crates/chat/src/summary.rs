//! Compacts a conversation that has grown too long for its model.

use crate::chat::Change;
use crate::read_marker::read_up_to;
use crate::run::Run;
use futures::StreamExt;
use planwright_agent::compaction;
use planwright_agent::history::estimate_tokens;
use planwright_agent::turn::ReplyCounts;
use planwright_agent::{Delta, ModelMessage, ModelRequest, Provider, Purpose, Turn, TurnOutcome, fit};
use planwright_protocol::Agent;
use planwright_protocol::event::{ChatState, Usage};
use planwright_protocol::message::{CompactionFacts, CompactionNotice};
use planwright_protocol::{Author, Event, Message, Notice, Problem};
use planwright_store::TurnStart;
use std::sync::Arc;

impl Run {
    /// Compacts the conversation, and does nothing else.
    pub async fn compact(mut self) -> TurnOutcome {
        let summed_up = async {
            let agent = self.agent()?;
            let (provider, turn) = (self.chat.model(agent.role.mode()).await?, self.turn().await?);
            self.sum_up(agent, &*provider, &turn).await
        };
        match summed_up.await {
            Ok(_) => TurnOutcome::Done,
            Err(problem) => TurnOutcome::Failed(problem),
        }
    }

    /// Stores the message that replaces the history. It has the facts that must be kept even if the model fails. It names the
    /// last user message that it covers: later ones stay behind it.
    pub(crate) async fn sum_up(&mut self, agent: Agent, provider: &dyn Provider, turn: &Turn) -> Result<Vec<Message>, Problem> {
        self.chat.show(|_| ChatState::Thinking).await?;
        let mut usage = Usage::default();
        let summary = match self.summary(agent, provider, turn, &mut usage).await {
            Ok(summary) => summary,
            Err(problem) => {
                tracing::warn!(chat = %self.chat.id, %problem, "the model can't summarise the chat");
                String::new()
            }
        };
        let (context, conversation) = (provider.context_tokens(), turn.conversation());
        let facts = CompactionFacts { tokens_before: estimate_tokens(conversation.size(context)), by_model: !summary.is_empty() };
        // The user's decisions meanwhile, such as another role, are only there.
        let mut history = self.thread_of(self.chat.store.outline(self.chat.id).await?);
        let turn_start = self.turn_start_after(turn).await?;
        let first = history.iter().position(|message| turn.has(message.id)).unwrap_or(history.len());
        let later: Vec<Message> = history.split_off(first);
        history.extend(later.into_iter().filter(|message| message.author != Author::User || turn.has(message.id)));
        let text = compaction::text(&history, conversation.unanswered(), &summary, context);
        let notice = Notice::Compaction(CompactionNotice { facts, read_up_to: Some(read_up_to(turn.history())) });
        let message = agent.place(Message::notice(self.chat.id, notice, text));
        let change = Change::messages([message.clone()]).event(Event::Usage(usage));
        self.record_usage(change, usage, 0, move |row| row.turn_start = turn_start.or(row.turn_start)).await?;
        Ok(vec![message])
    }

    /// Where the conversation begins after the compaction of this turn; `None` if that does not change.
    async fn turn_start_after(&self, turn: &Turn) -> Result<Option<TurnStart>, Problem> {
        let (before, tail) = turn.tail();
        if !self.is_own() {
            return Ok(None);
        }
        // A turn has user messages from during a reply behind it, but they are stored before it.
        let is_user = |message: &&Message| message.author == Author::User;
        let firsts = [tail.iter().find(is_user), tail.iter().find(|message| !is_user(message))];
        let mut first = None;
        for message in firsts.into_iter().flatten() {
            let seq = self.chat.store.place(self.chat.id, message.id).await?;
            first = first.into_iter().chain(seq).min();
        }
        let ReplyCounts { since_user, replies } = before;
        Ok(first.map(|seq| TurnStart { seq, replies: since_user, plan_replies: replies.plan, act_replies: replies.act }))
    }

    /// If the model accepts less than its stated context, it is asked again with less of each message.
    async fn summary(&self, agent: Agent, provider: &dyn Provider, turn: &Turn, usage: &mut Usage) -> Result<String, Problem> {
        let mut context = provider.context_tokens();
        loop {
            let summary = self.summary_within(context, agent, provider, turn, usage).await;
            context = match summary {
                Err(problem) if compaction::is_too_long(&problem) => {
                    fit::next_smaller_context(&turn.conversation().entries(), context).ok_or(problem)?
                }
                summary => return summary,
            };
        }
    }

    /// Its usage is counted even if it fails.
    async fn summary_within(
        &self,
        context: u64,
        agent: Agent,
        provider: &dyn Provider,
        turn: &Turn,
        usage: &mut Usage,
    ) -> Result<String, Problem> {
        let mut messages = fit::shorten(turn.conversation().entries(), context).to_vec();
        messages.push(ModelMessage::User(compaction::INSTRUCTION.to_owned()));
        let images = self.chat.shown_images(provider, &messages).await?;
        let request = ModelRequest {
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
                // It had no tools, and its reasoning is not the summary.
                Delta::Call(_) | Delta::Reasoning(_) | Delta::Native(_) => {}
            }
        }
        Ok(text)
    }
}
