//! The chats in memory. Each is opened and closed independently: no lock is held while the store is read.

use crate::handle::Handle;
use planwright_protocol::{ChatId, ErrorCode, Problem, WorkspaceId};
use planwright_tools::tool::Seen;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::OnceCell;

/// How long an active chat stays in memory.
const LINGER: Duration = Duration::from_mins(2);
/// How many chats may leave their model's read files behind.
const MAX_SEEN: usize = 4096;

#[derive(Default)]
pub struct OpenChats {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    slots: HashMap<ChatId, Slot>,
    /// Chats that are being deleted and must not be opened.
    closing: HashSet<ChatId>,
    /// The file contents that the models of closed chats have read.
    seen: HashMap<ChatId, (Instant, Arc<Seen>)>,
    is_swept: bool,
}

struct Slot {
    cell: Arc<OnceCell<Handle>>,
    /// When the chat was last requested, or last active.
    used: Instant,
    /// The newest event number at the last sweep.
    last: u64,
    /// Whether anything happened since it was opened.
    is_changed: bool,
}

/// A chat that can't be opened while this exists.
pub struct Closed<'a> {
    chats: &'a OpenChats,
    id: ChatId,
    cell: Option<Arc<OnceCell<Handle>>>,
}

impl Closed<'_> {
    /// The chat, if it was open; waits for a task that is just opening it.
    pub async fn handle(&self) -> Option<Handle> {
        let gone = || Problem::new(ErrorCode::NotFound, "The chat is being deleted.");
        self.cell.as_ref()?.get_or_try_init(async || Err(gone())).await.ok().cloned()
    }
}

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        self.chats.lock().closing.remove(&self.id);
    }
}

impl OpenChats {
    /// The chat, if it is in memory.
    pub fn get(&self, id: ChatId) -> Option<Handle> {
        let mut inner = self.lock();
        let slot = inner.slots.get_mut(&id)?;
        slot.used = Instant::now();
        slot.cell.get().cloned()
    }

    /// The chat, loaded once however many callers request it.
    ///
    /// # Errors
    /// It can't be loaded, or is being deleted.
    pub async fn get_or_load<L>(&self, id: ChatId, load: L) -> Result<Handle, Problem>
    where
        L: AsyncFnOnce() -> Result<Handle, Problem>,
    {
        let cell = {
            let mut inner = self.lock();
            if inner.closing.contains(&id) {
                return Err(crate::chat::no_chat(id));
            }
            let slot =
                inner.slots.entry(id).or_insert_with(|| Slot { cell: Arc::default(), used: Instant::now(), last: 0, is_changed: false });
            slot.used = Instant::now();
            slot.cell.clone()
        };
        let loaded = cell.get_or_try_init(|| load()).await.cloned();
        if loaded.is_err() {
            let mut inner = self.lock();
            if inner.slots.get(&id).is_some_and(|slot| slot.cell.get().is_none()) {
                inner.slots.remove(&id);
            }
        }
        loaded
    }

    /// The file contents that the chat's model had read when it left memory.
    pub fn seen_of(&self, id: ChatId) -> Arc<Seen> {
        self.lock().seen.remove(&id).map(|(_, seen)| seen).unwrap_or_default()
    }

    /// Removes a chat from memory and prevents opening it; `None` if it is already closed.
    pub fn close(&self, id: ChatId) -> Option<Closed<'_>> {
        let mut inner = self.lock();
        if !inner.closing.insert(id) {
            return None;
        }
        inner.seen.remove(&id);
        let cell = inner.slots.remove(&id).map(|slot| slot.cell);
        Some(Closed { chats: self, id, cell })
    }

    pub fn take_all(&self) -> Vec<Handle> {
        self.lock().slots.drain().filter_map(|(_, slot)| slot.cell.get().cloned()).collect()
    }

    /// The chats in memory.
    pub fn all(&self) -> Vec<Handle> {
        self.lock().slots.values().filter_map(|slot| slot.cell.get().cloned()).collect()
    }

    /// Removes the chats of these workspaces from memory. Whoever is just opening one finds out that it is not here.
    pub fn take_in(&self, workspaces: &HashSet<WorkspaceId>) -> Vec<Handle> {
        let mut inner = self.lock();
        let is_in = |slot: &Slot| slot.cell.get().is_none_or(|handle| workspaces.contains(&handle.chat.feed.source.workspace));
        let taken: Vec<ChatId> = inner.slots.iter().filter(|(_, slot)| is_in(slot)).map(|(id, _)| *id).collect();
        taken.iter().filter_map(|id| inner.slots.remove(id)?.cell.get().cloned()).collect()
    }

    pub fn count(&self) -> usize {
        self.lock().slots.len()
    }

    /// Whether the caller is the first and must start the sweep.
    pub fn begin_sweeping(&self) -> bool {
        !std::mem::replace(&mut self.lock().is_swept, true)
    }

    /// Removes chats that nobody runs, follows or holds: immediately if nothing happened since they were opened, otherwise after
    /// some minutes.
    pub fn sweep(&self) {
        let mut inner = self.lock();
        let now = Instant::now();
        let mut left = Vec::new();
        inner.slots.retain(|&id, slot| {
            let Some(handle) = slot.cell.get() else { return true };
            let last = handle.newest();
            if last != slot.last {
                slot.is_changed |= slot.last != 0;
                (slot.last, slot.used) = (last, now);
                return true;
            }
            // One reference is the actor's; nobody else can get the cell while this lock is held.
            let is_idle = handle.is_idle() && Arc::strong_count(&slot.cell) == 1;
            let is_stale = !slot.is_changed || now.duration_since(slot.used) > LINGER;
            if is_idle && is_stale && !handle.seen().is_empty() {
                left.push((id, handle.seen()));
            }
            !(is_idle && is_stale)
        });
        for (id, seen) in left {
            inner.keep_seen(id, seen);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Keeps the files that a model has read, and drops those of the chat that left memory first.
    fn keep_seen(&mut self, id: ChatId, seen: Arc<Seen>) {
        self.seen.insert(id, (Instant::now(), seen));
        if self.seen.len() > MAX_SEEN
            && let Some(oldest) = self.seen.iter().min_by_key(|(_, (left, _))| *left).map(|(id, _)| *id)
        {
            self.seen.remove(&oldest);
        }
    }
}
