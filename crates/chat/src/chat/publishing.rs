//! What the tasks of a chat ask its owner to change, and what they publish past it.

use super::change::Change;
use super::owner::Request;
use super::record::ChatRecord;
use super::{Chat, broken};
use crate::agent::Agent;
use crate::chat_file::header;
use crate::crash;
use crate::view::Snapshot;
use planwright_protocol::message::AssistantText;
use planwright_protocol::{CallId, ChatState, Event, Message, MessageId, Problem, Role};
use planwright_store::ChatRow;
use planwright_tools::Epoch;
use std::sync::Arc;
use tokio::sync::oneshot;

impl Chat {
    /// Changes the chat: `edit` its row, store everything in one transaction, publish the events.
    pub async fn publish(self: &Arc<Self>, change: Change, edit: impl FnOnce(&mut ChatRow) + Send + 'static) -> Result<(), Problem> {
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

    /// Like [`Self::publish`], for a change of role: when it is answered, no effect of the old role can land any more.
    pub async fn switch(self: &Arc<Self>, change: Change, edit: impl FnOnce(&mut ChatRow) + Send + 'static) -> Result<(), Problem> {
        let chat = self.clone();
        let work = async move {
            chat.end_commands().await;
            crash::point("switch_unfenced");
            // From here to the commit no permit holds: the record still has the epoch that just ended.
            let epoch = chat.advance_fence().await?;
            crash::point("switch_fenced");
            let edit = move |row: &mut ChatRow| {
                edit(row);
                row.epoch = epoch.0;
                // A run that goes on in another mode leaves the states of the old one.
                if !row.state.exists_in(row.config.role.mode()) {
                    row.state = ChatState::Thinking;
                }
            };
            if let Err(problem) = chat.commit(change, edit).await {
                // The role stays, and so does the end of its permits.
                chat.note_epoch(epoch).await?;
                return Err(problem);
            }
            crash::point("switch_stored");
            chat.write_file().await;
            Ok(())
        };
        self.whole(work).await
    }

    /// Ends every permit given so far. Waits for file changes under way, so it must not block a runtime thread.
    pub async fn close_fence(&self) -> Result<(), Problem> {
        let epoch = self.advance_fence().await?;
        self.note_epoch(epoch).await
    }

    async fn note_epoch(&self, epoch: Epoch) -> Result<(), Problem> {
        self.ask_owner(|answer| Request::Amend(Box::new(move |row| row.epoch = epoch.0), answer)).await
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
        let partial = self.sequence.take_partial()?;
        let said = Message::new(self.id, AssistantText { is_interrupted: true, ..AssistantText::default() }, partial.text);
        Some(Message { id: partial.message_id, ..partial.by.sign(said) })
    }

    pub async fn snapshot(&self) -> Result<Snapshot, Problem> {
        let snapshot = self.ask_owner(Request::Snapshot).await?;
        Ok(Snapshot { queued: self.inbox.ids(), ..snapshot })
    }

    /// Publishes what the chat is doing.
    ///
    /// # Errors
    /// The mode does not have this state.
    pub async fn show(&self, state: impl FnOnce(Role) -> ChatState + Send + 'static) -> Result<(), Problem> {
        self.ask_owner(|answer| Request::Enter(Box::new(state), answer)).await
    }

    /// Publishes events that the next append stores.
    pub fn tell(&self, events: impl IntoIterator<Item = Event>) {
        self.sequence.publish_unstored(events);
    }

    /// Publishes an event that is never stored.
    pub(crate) async fn mention(&self, event: Event) -> Result<(), Problem> {
        self.numbered(|sequence| sequence.publish_transient(event.clone())).await
    }

    /// Publishes the output of a running command.
    pub(crate) async fn prints(&self, call_id: CallId, text: &str) -> Result<(), Problem> {
        self.numbered(|sequence| sequence.publish_output(call_id, text)).await
    }

    /// Publishes a part of an answer.
    pub async fn delta(&self, by: Agent, message_id: MessageId, text: &str) -> Result<(), Problem> {
        self.numbered(|sequence| sequence.publish_delta(by, message_id, text)).await
    }

    /// Publishes past the owner, and waits for it where numbers are used up or an append takes long.
    async fn numbered(&self, publish: impl Fn(&super::sequence::Sequence) -> bool) -> Result<(), Problem> {
        while !publish(&self.sequence) {
            self.ask_owner(Request::Reserve).await?;
        }
        Ok(())
    }

    async fn commit(
        &self,
        change: Change,
        edit: impl FnOnce(&mut ChatRow) + Send + 'static,
    ) -> Result<(Arc<ChatRecord>, Arc<ChatRecord>), Problem> {
        self.ask_owner(|answer| Request::Commit(Box::new(change), Box::new(edit), answer)).await
    }

    pub(super) async fn ask_owner<T>(&self, request: impl FnOnce(oneshot::Sender<Result<T, Problem>>) -> Request) -> Result<T, Problem> {
        let (answer, answered) = oneshot::channel();
        self.owner.send(request(answer)).await.map_err(broken)?;
        answered.await.map_err(broken)?
    }
}
