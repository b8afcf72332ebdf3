//! The history of a chat, for an editor that reopens it.

use super::Session;
use crate::updates::{Delivery, shown};
use planwright_client::{ClientError, RemoteChat};
use planwright_protocol::api::chat::Snapshot;
use planwright_protocol::{Message, Plan};

/// Messages that are read at a time.
const PAGE: u32 = 500;

impl Session {
    /// Sends the chat's history to a client that reopens it.
    pub(super) async fn send_history(&mut self, snapshot: &Snapshot) -> Result<(), ClientError> {
        let mut plan = None;
        for message in Self::history(&self.chat).await? {
            let changed = self.changed_by(&message).await;
            let update = self.updates.message(&message, Delivery::History, &changed);
            self.send(update);
            if !message.images().is_empty() {
                for image in self.chat.images(message.id).await? {
                    self.send(Some(shown(image, message.id)));
                }
            }
            plan = plan_of(&message).or(plan);
        }
        if let Some(mut plan) = plan {
            for done in snapshot.chat.progress.iter().flat_map(|progress| &progress.steps) {
                if let Some(step) = plan.steps.iter_mut().find(|step| step.step_number == done.step_number) {
                    step.status = done.status;
                }
            }
            let update = self.updates.plan(plan);
            self.send(update);
        }
        self.send_pending();
        Ok(())
    }

    /// All messages, oldest first.
    async fn history(chat: &RemoteChat) -> Result<Vec<Message>, ClientError> {
        let mut messages = Vec::new();
        loop {
            let page = chat.messages(messages.last().map(|message: &Message| message.id), PAGE).await?;
            let is_last = page.len() < PAGE as usize;
            messages.extend(page);
            if is_last {
                messages.reverse();
                return Ok(messages);
            }
        }
    }
}

/// The plan in a message, if there is one.
fn plan_of(message: &Message) -> Option<Plan> {
    message.body.plan().map(|version| version.plan.clone())
}
