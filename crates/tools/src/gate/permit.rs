//! Proof that the gate allowed something, and the fence that makes a switch of role final.

use crate::effect::Effect;
use planwright_protocol::{ErrorCode, Problem};
use std::sync::{Arc, RwLock, RwLockReadGuard};

/// Counts the switches of a chat's role. A permit of an earlier epoch opens nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Epoch(pub u64);

/// Held shared while an effect commits, and exclusively while the role switches: once a switch
/// has been answered, nothing that was allowed before it can still land.
#[derive(Debug)]
pub struct Fence {
    epoch: RwLock<Epoch>,
}

impl Fence {
    #[must_use]
    pub fn new(epoch: Epoch) -> Arc<Self> {
        Arc::new(Self { epoch: RwLock::new(epoch) })
    }

    #[must_use]
    pub fn epoch(&self) -> Epoch {
        *self.epoch.read().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Begins a new epoch, when every commit under way has ended.
    pub fn advance(&self) -> Epoch {
        let mut epoch = self.epoch.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        epoch.0 += 1;
        *epoch
    }
}

/// The gate's leave to do exactly these effects, in this epoch.
#[derive(Debug)]
pub struct Permit {
    effects: Vec<Effect>,
    epoch: Epoch,
    fence: Arc<Fence>,
}

/// Held over the last, irreversible step of an effect.
#[derive(Debug)]
pub struct CommitGuard<'a>(#[expect(dead_code, reason = "held, not read")] RwLockReadGuard<'a, Epoch>);

impl Permit {
    /// Private to the gate: no tool can make its own leave.
    pub(super) fn new(effects: Vec<Effect>, epoch: Epoch, fence: Arc<Fence>) -> Self {
        Self { effects, epoch, fence }
    }

    /// Leave to put files back as they were before a command. Whatever the role, that needs nobody's word: the change had none.
    pub(crate) fn to_take_back() -> Self {
        Self::to_take_back_for_user(&Fence::new(Epoch(0)))
    }

    /// Leave to put files back as they were, for the user who asks for it. What the agent's role may do has no say in that; the
    /// chat's fence has.
    #[must_use]
    pub fn to_take_back_for_user(fence: &Arc<Fence>) -> Self {
        Self { effects: vec![Effect::Keep], epoch: fence.epoch(), fence: fence.clone() }
    }

    /// What the gate allowed, in the order in which it was asked.
    pub(crate) fn effects(&self) -> &[Effect] {
        &self.effects
    }

    /// Whether the gate allowed this effect.
    #[must_use]
    pub fn covers(&self, effect: &Effect) -> bool {
        self.effects.contains(effect)
    }

    /// Opens the way to commit `effect`, for as long as the guard is held.
    ///
    /// # Errors
    /// `TOOL_NOT_PERMITTED` if the gate did not allow this effect, `MODE_CHANGED` if the role was switched since.
    pub fn commit(&self, effect: &Effect) -> Result<CommitGuard<'_>, Problem> {
        if !self.covers(effect) {
            return Err(Problem::new(ErrorCode::ToolNotPermitted, "The tool tried something it had not announced; nothing was changed."));
        }
        let epoch = self.fence.epoch.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        if *epoch != self.epoch {
            return Err(Problem::new(
                ErrorCode::ModeChanged,
                "The user switched the role while this call was under way; nothing was changed. Go on within the new role.",
            ));
        }
        Ok(CommitGuard(epoch))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permit_of_an_earlier_epoch_opens_nothing() {
        let fence = Fence::new(Epoch(1));
        let permit = Permit::new(vec![Effect::Progress], fence.epoch(), fence.clone());
        assert!(permit.commit(&Effect::Progress).is_ok());
        assert_eq!(permit.commit(&Effect::Review).unwrap_err().code, ErrorCode::ToolNotPermitted);
        assert!(fence.advance() > Epoch(1), "a number that was used may not come back");
        assert_eq!(permit.commit(&Effect::Progress).unwrap_err().code, ErrorCode::ModeChanged);
    }
}
