//! Messages that wait for the current run to read them.

use planwright_protocol::{Message, MessageId};
use std::sync::{Arc, Mutex};

/// The user's messages during a run, for the next model request.
#[derive(Clone, Default)]
pub struct Inbox(Arc<Mutex<Vec<Message>>>);

impl Inbox {
    pub fn put(&self, message: Message) {
        self.lock().push(message);
    }

    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// The unread messages.
    pub fn ids(&self) -> Vec<MessageId> {
        self.lock().iter().map(|message| message.id).collect()
    }

    /// Removes one. Returns whether it was still there.
    pub fn remove(&self, id: MessageId) -> bool {
        let mut waiting = self.lock();
        let before = waiting.len();
        waiting.retain(|message| message.id != id);
        waiting.len() < before
    }

    pub fn clear(&self) {
        self.lock().clear();
    }

    pub fn take(&self) -> Vec<Message> {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Message>> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
