//! The state of the workspace that decides what is build output: as it was at the approval of the plan, or before the chat's
//! first change.
//!
//! The server notes it right before the first call that may change something and keeps it in the data folder, so that it
//! holds over a restart. Only an approval renews it: a later run must not be judged by what the chat wrote in an earlier one.

use super::{Chat, broken};
use planwright_protocol::{ErrorCode, Problem};
use planwright_tools::workspace::Baseline;
use std::path::PathBuf;
use std::sync::{Arc, MutexGuard, PoisonError};

impl Chat {
    /// The state that was noted, if there is one.
    pub fn baseline(&self) -> Option<Arc<Baseline>> {
        let mut held = self.held_baseline();
        if held.is_none() {
            *held = self.baseline_file().and_then(|file| Baseline::load(&file)).map(Arc::new);
        }
        held.clone()
    }

    /// Notes the present state, unless it was noted for this approval or, without one, for this chat.
    ///
    /// # Errors
    /// It can't be read or kept.
    pub async fn note_baseline(&self) -> Result<(), Problem> {
        let Some(file) = self.baseline_file() else { return Ok(()) };
        let anchor = if self.is_bound() { self.approval() } else { None };
        let anchor = anchor.map(|approval| format!("{} {}", approval.sha256, approval.at.as_second()));
        if self.baseline().is_some_and(|baseline| anchor.is_none() || baseline.anchor == anchor) {
            return Ok(());
        }
        let workspace = self.workspace.clone();
        let note = move || -> Result<Baseline, Problem> {
            let mut baseline = workspace.baseline()?;
            baseline.anchor = anchor;
            let failed = |error| format!("{} can't be written: {error}. Make room on the disk, then try again.", file.display());
            baseline.save(&file).map_err(|error| Problem::new(ErrorCode::StorageFull, failed(error)))?;
            Ok(baseline)
        };
        let noted = tokio::task::spawn_blocking(note).await.map_err(broken)??;
        *self.held_baseline() = Some(Arc::new(noted));
        Ok(())
    }

    fn baseline_file(&self) -> Option<PathBuf> {
        self.settings().commands.as_ref().map(|commands| commands.baseline_file(self.id))
    }

    fn held_baseline(&self) -> MutexGuard<'_, Option<Arc<Baseline>>> {
        self.baseline.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
