//! The changes that a chat's tasks request from its owner, and the events that they publish directly.

use super::change::Change;
use super::owner::Request;
use super::record::{ChatRecord, Draft};
use super::{Chat, broken};
use crate::chat_file::header;
use crate::crash;
use crate::view::StreamedReply;
use planwright_protocol::Agent;
use planwright_protocol::api::chat::{Partial, Snapshot};
use planwright_protocol::message::{AssistantText, ReplyPart};
use planwright_protocol::{CallId, ChatState, Event, Message, MessageId, Problem, Role};
use planwright_tools::Epoch;
use std::sync::Arc;
use tokio::sync::oneshot;

impl Chat {
    /// Changes the chat: `edit` it, store everything in one transaction, publish the events.
    pub async fn publish(self: &Arc<Self>, change: Change, edit: impl FnOnce(&mut Draft) + Send + 'static) -> Result<(), Problem> {
        let chat = self.clone();
        let work = async move {
            let (before, after) = chat.commit(change, edit).await?;
            crash::point("file_unwritten");
            if chat.file.is_begun() && header(&before.row).tells_the_same(&header(&after.row)) {
                // Append to the transcript in the background.
                let writer = chat.clone();
                chat.writes.spawn(async move { writer.write_file().await });
            } else {
                chat.write_file().await;
            }
            Ok(())
        };
        self.whole(work).await
    }

    /// Like [`Self::publish`], for a role switch: when it is answered, no effect of the old role can land.
    pub async fn switch(self: &Arc<Self>, change: Change, edit: impl FnOnce(&mut Draft) + Send + 'static) -> Result<(), Problem> {
        let chat = self.clone();
        let work = async move {
            chat.end_commands().await;
            crash::point("switch_unfenced");
            // From here to the commit no permit is valid: the record still has the ended epoch.
            let epoch = chat.advance_fence().await?;
            crash::point("switch_fenced");
            let edit = move |row: &mut Draft| {
                edit(row);
                row.epoch = epoch.0;
                row.activity.change_mode(row.config.role.mode());
            };
            if let Err(problem) = chat.commit(change, edit).await {
                // The role stays, but its permits have ended.
                chat.note_epoch(epoch).await?;
                return Err(problem);
            }
            crash::point("switch_stored");
            chat.write_file().await;
            Ok(())
        };
        self.whole(work).await
    }

    /// Ends every permit given so far. Waits for running file changes, so it must not block a runtime thread.
    pub async fn close_fence(&self) -> Result<(), Problem> {
        let epoch = self.advance_fence().await?;
        self.note_epoch(epoch).await
    }

    async fn note_epoch(&self, epoch: Epoch) -> Result<(), Problem> {
        self.amend(move |chat| chat.epoch = epoch.0).await
    }

    /// Changes the chat in memory. The next stored change includes it.
    pub async fn amend(&self, edit: impl FnOnce(&mut Draft) + Send + 'static) -> Result<(), Problem> {
        self.ask_owner(|answer| Request::Amend(Box::new(edit), answer)).await
    }

    async fn advance_fence(&self) -> Result<Epoch, Problem> {
        let fence = self.fence.clone();
        tokio::task::spawn_blocking(move || fence.advance()).await.map_err(broken)
    }

    /// Runs to its end even if the caller is cancelled.
    pub(crate) async fn whole<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, Problem>> + Send + 'static,
    ) -> Result<T, Problem> {
        self.writes.spawn(work).await.map_err(broken)?
    }

    /// Waits for writes whose callers were cancelled. Returns the partial answer that nobody will finish.
    pub async fn settle(&self) -> Option<Message> {
        self.writes.close();
        self.writes.wait().await;
        self.writes.reopen();
        let StreamedReply { answer: Partial { message_id, text, by }, reasoning, .. } = self.sequence.take_partial()?;
        let reply = ReplyPart { reasoning: reasoning.stored(), ..ReplyPart::default() };
        if text.is_empty() && reply.reasoning.is_none() {
            return None;
        }
        let said = Message::new(self.id, AssistantText { reply, is_interrupted: true, ..AssistantText::default() }, text);
        Some(Message { id: message_id, ..by.sign(said) })
    }

    pub async fn snapshot(&self) -> Result<Snapshot, Problem> {
        let snapshot = self.ask_owner(Request::Snapshot).await?;
        Ok(Snapshot { queued: self.inbox.ids(), ..snapshot })
    }

    /// Publishes the chat's state.
    ///
    /// # Errors
    /// The mode does not have this state.
    pub async fn show(&self, state: impl FnOnce(Role) -> ChatState + Send + 'static) -> Result<(), Problem> {
        self.ask_owner(|answer| Request::Enter(Box::new(state), answer)).await
    }

    /// Publishes events that the next append stores.
    pub fn publish_unstored(&self, events: impl IntoIterator<Item = Event>) {
        self.sequence.publish_unstored(events);
    }

    /// Publishes a part of the model's reasoning.
    pub(crate) async fn publish_reasoning(&self, by: Agent, message_id: MessageId, text: &str) -> Result<(), Problem> {
        self.numbered(|sequence| sequence.publish_reasoning(by, message_id, text)).await
    }

    /// Publishes the output of a running command.
    pub(crate) async fn publish_output(&self, call_id: CallId, text: &str) -> Result<(), Problem> {
        self.numbered(|sequence| sequence.publish_output(call_id, text)).await
    }

    /// Publishes a part of an answer.
    pub async fn delta(&self, by: Agent, message_id: MessageId, text: &str) -> Result<(), Problem> {
        self.numbered(|sequence| sequence.publish_delta(by, message_id, text)).await
    }

    /// Publishes without the owner. Waits for it if the reserved numbers are used up or an append takes long.
    async fn numbered(&self, publish: impl Fn(&super::sequence::Sequence) -> bool) -> Result<(), Problem> {
        while !publish(&self.sequence) {
            self.ask_owner(Request::Reserve).await?;
        }
        Ok(())
    }

    async fn commit(
        &self,
        change: Change,
        edit: impl FnOnce(&mut Draft) + Send + 'static,
    ) -> Result<(Arc<ChatRecord>, Arc<ChatRecord>), Problem> {
        self.ask_owner(|answer| Request::Commit(Box::new(change), Box::new(edit), answer)).await
    }

    pub(super) async fn ask_owner<T>(&self, request: impl FnOnce(oneshot::Sender<Result<T, Problem>>) -> Request) -> Result<T, Problem> {
        let (answer, answered) = oneshot::channel();
        self.owner.send(request(answer)).await.map_err(broken)?;
        answered.await.map_err(broken)?
    }
}
