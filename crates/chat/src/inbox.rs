//! What waits to be read by the run that is under way.

use planwright_protocol::{Message, MessageId};
use std::sync::{Arc, Mutex};

/// What the user wrote while the run was under way, for the next request to the model.
#[derive(Clone, Default)]
pub struct Inbox(Arc<Mutex<Vec<Message>>>);

impl Inbox {
    pub fn put(&self, message: Message) {
        self.lock().push(message);
    }

    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Those that nobody has read yet.
    pub fn ids(&self) -> Vec<MessageId> {
        self.lock().iter().map(|message| message.id).collect()
    }

    /// Takes one back; whether it was still there.
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
