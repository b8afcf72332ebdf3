//! The fence that makes a role switch final.

use planwright_protocol::{ErrorCode, Problem};
use std::fmt::Debug;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

/// Counts the role switches of a chat. A permit of an earlier epoch is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Epoch(pub u64);

/// Locked shared while an effect commits, and exclusively while the role switches: once a switch has been answered, no effect
/// that was allowed before can land.
#[derive(Debug)]
pub struct Fence {
    epoch: RwLock<Epoch>,
    tenure: Option<Box<dyn TenureCheck>>,
}

/// The time during which this process may change a workspace, where several share a database.
pub trait TenureCheck: Debug + Send + Sync {
    fn is_over(&self) -> bool;
}

/// Held during the last, irreversible step of an effect.
#[derive(Debug)]
pub struct CommitGuard<'a>(#[expect(dead_code, reason = "held, not read")] RwLockReadGuard<'a, Epoch>);

impl Fence {
    #[must_use]
    pub fn new(epoch: Epoch) -> Arc<Self> {
        Arc::new(Self { epoch: RwLock::new(epoch), tenure: None })
    }

    /// A fence that also ends every permit with the tenure.
    #[must_use]
    pub fn within(epoch: Epoch, tenure: impl TenureCheck + 'static) -> Arc<Self> {
        Arc::new(Self { epoch: RwLock::new(epoch), tenure: Some(Box::new(tenure)) })
    }

    #[must_use]
    pub fn epoch(&self) -> Epoch {
        *self.epoch.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a new epoch, after every running commit has ended.
    pub fn advance(&self) -> Epoch {
        let mut epoch = self.epoch.write().unwrap_or_else(PoisonError::into_inner);
        epoch.0 += 1;
        *epoch
    }
}

/// One epoch of one fence.
#[derive(Clone, Debug)]
pub(super) struct Pass {
    epoch: Epoch,
    fence: Arc<Fence>,
}

impl Pass {
    pub(super) fn new(epoch: Epoch, fence: Arc<Fence>) -> Self {
        Self { epoch, fence }
    }

    /// Prevents role switches while the guard is held.
    ///
    /// # Errors
    /// `MODE_CHANGED` if the role was switched since the decision; `NODE_AWAY` if another node may have the workspace by now.
    pub(super) fn enter(&self) -> Result<CommitGuard<'_>, Problem> {
        let epoch = self.fence.epoch.read().unwrap_or_else(PoisonError::into_inner);
        if *epoch != self.epoch {
            return Err(Problem::new(
                ErrorCode::ModeChanged,
                "The user switched the role during this call; nothing was changed. Continue within the new role.",
            ));
        }
        if self.fence.tenure.as_ref().is_some_and(|tenure| tenure.is_over()) {
            let text = "Another node may have this workspace by now; nothing was changed. The run goes on there.";
            return Err(Problem::new(ErrorCode::NodeAway, text));
        }
        Ok(CommitGuard(epoch))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[derive(Debug)]
    struct Ending(Arc<AtomicBool>);

    impl TenureCheck for Ending {
        fn is_over(&self) -> bool {
            self.0.load(Ordering::SeqCst)
        }
    }

    #[test]
    fn no_change_begins_after_the_tenure() {
        let over = Arc::new(AtomicBool::new(false));
        let fence = Fence::within(Epoch(1), Ending(over.clone()));
        let pass = Pass::new(fence.epoch(), fence);
        assert!(pass.enter().is_ok());
        over.store(true, Ordering::SeqCst);
        assert_eq!(pass.enter().unwrap_err().code, ErrorCode::NodeAway);
    }

    #[test]
    fn a_pass_of_an_earlier_epoch_opens_nothing() {
        let fence = Fence::new(Epoch(1));
        let pass = Pass::new(fence.epoch(), fence.clone());
        assert!(pass.enter().is_ok());
        assert!(fence.advance() > Epoch(1), "a number that was used may not come back");
        assert_eq!(pass.enter().unwrap_err().code, ErrorCode::ModeChanged);
        assert!(Pass::new(fence.epoch(), fence.clone()).enter().is_ok());
    }
}
