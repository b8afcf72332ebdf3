//! Which workspaces this process may change, as far as it knows.
//!
//! A process that shares its database with other nodes changes a workspace only while it holds its lease. The database has the last
//! word: each write checks the lease's term. What no database can check, such as changes of files, ends at a deadline of our own,
//! which is earlier than the database's.

use crate::error::StoreError;
use planwright_protocol::WorkspaceId;
use rustix::time::{ClockId, clock_gettime};
use sqlx::types::Uuid;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;
use tokio::sync::mpsc;

/// How long a lease lasts after the database renewed it.
pub(crate) const LEASE: Duration = Duration::from_secs(4);
/// How long we rely on it, from before the renewal was sent.
const OWN_LEASE: Duration = Duration::from_secs(3);

/// The workspaces of this process. A process that has the database for itself owns all of them.
#[derive(Clone, Debug, Default)]
pub struct Leases {
    held: Option<Arc<Held>>,
}

/// What happened to the leases of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeaseChange {
    Taken(Vec<WorkspaceId>),
    /// Their runs must end now; nothing can be stored any more.
    Lost(Vec<WorkspaceId>),
}

/// The lease of one workspace, from when it was taken until it is lost. Clones are cheap.
#[derive(Clone, Debug)]
pub struct Tenure {
    workspace: WorkspaceId,
    term: Option<(u64, Arc<Held>)>,
}

/// What a write names to prove that its process owns the workspace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Proof {
    pub workspace: Uuid,
    /// `None` if the process owns everything.
    pub term: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct Held {
    node: String,
    state: RwLock<State>,
    changes: mpsc::UnboundedSender<LeaseChange>,
}

#[derive(Debug)]
struct State {
    incarnation: Uuid,
    /// By the clock since boot, which also counts while the machine sleeps.
    deadline: Duration,
    terms: HashMap<WorkspaceId, u64>,
    /// What the node says about itself.
    details: String,
}

impl Leases {
    /// Of a node that shares the database. Holds nothing yet.
    pub(crate) fn of_node(node: String, incarnation: Uuid) -> (Self, Arc<Held>, mpsc::UnboundedReceiver<LeaseChange>) {
        let (changes, receiver) = mpsc::unbounded_channel();
        let state = State { incarnation, deadline: Duration::ZERO, terms: HashMap::new(), details: "{}".to_owned() };
        let held = Arc::new(Held { node, state: RwLock::new(state), changes });
        (Self { held: Some(held.clone()) }, held, receiver)
    }

    /// The name of this node; `None` if the process has the database for itself.
    #[must_use]
    pub fn node(&self) -> Option<&str> {
        self.held.as_ref().map(|held| held.node.as_str())
    }

    /// Whether this process may change the workspace now.
    #[must_use]
    pub fn holds(&self, workspace: WorkspaceId) -> bool {
        self.held.as_ref().is_none_or(|held| held.term(workspace).is_some())
    }

    /// The tenure of a workspace.
    ///
    /// # Errors
    /// The workspace is at another node, or at none.
    pub fn tenure(&self, workspace: WorkspaceId) -> Result<Tenure, StoreError> {
        let Some(held) = &self.held else { return Ok(Tenure { workspace, term: None }) };
        let term = held.term(workspace).ok_or(StoreError::NotHere)?;
        Ok(Tenure { workspace, term: Some((term, held.clone())) })
    }

    /// Sets what the node says about itself to people, as JSON.
    pub fn describe(&self, details: String) {
        if let Some(held) = &self.held {
            held.write().details = details;
        }
    }
}

impl Tenure {
    /// Whether the lease was lost, or can't be relied on any more.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.term.as_ref().is_some_and(|(term, held)| held.term(self.workspace) != Some(*term))
    }

    /// The number of this tenure among those of the workspace.
    #[must_use]
    pub fn term(&self) -> u64 {
        self.term.as_ref().map_or(0, |(term, _)| *term)
    }

    pub(crate) fn proof(&self) -> Proof {
        Proof { workspace: self.workspace.0, term: self.term.as_ref().map(|(term, _)| *term) }
    }

    /// Notes that the database knows of another owner.
    pub(crate) fn disprove(&self) {
        if let Some((term, held)) = &self.term {
            held.lose(self.workspace, *term);
        }
    }
}

impl Held {
    pub fn incarnation(&self) -> Uuid {
        self.read().incarnation
    }

    pub fn details(&self) -> String {
        self.read().details.clone()
    }

    /// Whether the own deadline is in the past.
    pub fn is_late(&self) -> bool {
        since_boot() >= self.read().deadline
    }

    /// The time until the own deadline.
    pub fn time_left(&self) -> Duration {
        self.read().deadline.saturating_sub(since_boot())
    }

    /// Begins a new incarnation, which holds nothing.
    pub fn begin(&self, incarnation: Uuid, sent: Duration) {
        self.lose_all();
        let mut state = self.write();
        (state.incarnation, state.deadline) = (incarnation, sent + OWN_LEASE);
    }

    /// Notes a renewal that was sent at this time. One that is answered after the deadline comes too late.
    pub fn renew(&self, sent: Duration, taken: Vec<(WorkspaceId, u64)>) {
        let workspaces: Vec<WorkspaceId> = taken.iter().map(|(workspace, _)| *workspace).collect();
        {
            let mut state = self.write();
            if since_boot() >= state.deadline {
                return;
            }
            state.deadline = sent + OWN_LEASE;
            state.terms.extend(taken);
        }
        if !workspaces.is_empty() {
            let _ = self.changes.send(LeaseChange::Taken(workspaces));
        }
    }

    /// Gives up one workspace. Returns its term.
    pub fn give_up(&self, workspace: WorkspaceId) -> Option<u64> {
        let term = self.write().terms.remove(&workspace);
        if term.is_some() {
            let _ = self.changes.send(LeaseChange::Lost(vec![workspace]));
        }
        term
    }

    pub fn lose_all(&self) {
        let lost: Vec<WorkspaceId> = self.write().terms.drain().map(|(workspace, _)| workspace).collect();
        if !lost.is_empty() {
            let _ = self.changes.send(LeaseChange::Lost(lost));
        }
    }

    fn lose(&self, workspace: WorkspaceId, term: u64) {
        let mut state = self.write();
        if state.terms.get(&workspace) == Some(&term) {
            state.terms.remove(&workspace);
            let _ = self.changes.send(LeaseChange::Lost(vec![workspace]));
        }
    }

    fn term(&self, workspace: WorkspaceId) -> Option<u64> {
        let state = self.read();
        state.terms.get(&workspace).copied().filter(|_| since_boot() < state.deadline)
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The time since the machine started, with the time that it slept.
pub(crate) fn since_boot() -> Duration {
    let now = clock_gettime(ClockId::Boottime);
    Duration::new(u64::try_from(now.tv_sec).unwrap_or_default(), u32::try_from(now.tv_nsec).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node() -> (Leases, Arc<Held>, mpsc::UnboundedReceiver<LeaseChange>) {
        let (leases, held, changes) = Leases::of_node("a".into(), Uuid::nil());
        held.begin(Uuid::max(), since_boot());
        (leases, held, changes)
    }

    #[test]
    fn a_tenure_ends_with_its_deadline_its_workspace_or_its_incarnation() {
        let (leases, held, mut changes) = node();
        let (one, two) = (WorkspaceId::generate(), WorkspaceId::generate());
        assert!(matches!(leases.tenure(one), Err(StoreError::NotHere)));
        held.renew(since_boot(), vec![(one, 7), (two, 1)]);
        assert_eq!(changes.try_recv(), Ok(LeaseChange::Taken(vec![one, two])));
        let tenures = [one, two].map(|workspace| leases.tenure(workspace).unwrap());
        assert_eq!(tenures[0].term(), 7);
        assert!(!tenures.iter().any(Tenure::is_over));
        assert_eq!(held.give_up(one), Some(7));
        assert!(tenures[0].is_over() && !tenures[1].is_over());
        // The same workspace under a later term is another tenure.
        held.renew(since_boot(), vec![(one, 9)]);
        assert!(tenures[0].is_over() && !leases.tenure(one).unwrap().is_over());
        held.begin(Uuid::nil(), since_boot());
        assert!(tenures[1].is_over() && !leases.holds(one));
    }

    #[test]
    fn nobody_relies_on_a_lease_after_the_own_deadline_and_a_late_answer_revives_nothing() {
        let (leases, held, _changes) = node();
        let workspace = WorkspaceId::generate();
        held.renew(since_boot().checked_sub(Duration::from_millis(2990)).unwrap(), vec![(workspace, 1)]);
        let tenure = leases.tenure(workspace).unwrap();
        while !tenure.is_over() {
            std::thread::yield_now();
        }
        assert!(held.is_late() && !leases.holds(workspace));
        held.renew(since_boot(), Vec::new());
        assert!(tenure.is_over(), "the renewal was answered too late");
    }

    #[test]
    fn a_process_that_has_the_database_for_itself_owns_every_workspace_for_good() {
        let leases = Leases::default();
        let workspace = WorkspaceId::generate();
        assert!(leases.holds(workspace) && !leases.tenure(workspace).unwrap().is_over() && leases.node().is_none());
    }
}
