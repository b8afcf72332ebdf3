//! Workspaces that come to this process and leave it, where nodes share a database.

use crate::handle::Handle;
use crate::sessions::Sessions;
use planwright_protocol::{ErrorCode, Problem, WorkspaceId};
use planwright_store::LeaseChange;
use planwright_tools::command::Stop;
use std::collections::HashSet;
use std::sync::PoisonError;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;

/// How long the chats of a workspace may take to end before another node gets it.
const HAND_OVER: Duration = Duration::from_secs(10);

impl Sessions {
    /// Resumes the runs of workspaces that come, and ends those of workspaces that go. Ends with the process's leases.
    pub async fn follow_leases(&self, mut changes: UnboundedReceiver<LeaseChange>) {
        while let Some(change) = changes.recv().await {
            match change {
                LeaseChange::Taken(workspaces) => {
                    let sessions = self.clone();
                    tokio::spawn(async move { sessions.arrive(&workspaces).await });
                }
                LeaseChange::Lost(workspaces) => self.leave(workspaces),
            }
        }
    }

    async fn arrive(&self, workspaces: &[WorkspaceId]) {
        // Deletions of whole workspaces that their owner did not complete.
        self.store().finish_removals();
        for &workspace in workspaces {
            let chats = match self.store().unfinished_in(workspace).await {
                Ok(chats) => chats,
                Err(error) => {
                    tracing::warn!(%workspace, %error, "can't resume the runs of a workspace; they go on when somebody opens their chats");
                    continue;
                }
            };
            for chat in chats {
                let resumed = match self.chat(chat).await {
                    Ok(handle) => handle.resume().await.map(|_| ()),
                    Err(problem) => Err(problem),
                };
                if let Err(problem) = resumed {
                    tracing::warn!(%chat, %problem, "can't resume a run");
                }
            }
        }
    }

    /// Nothing of these workspaces may go on here: their permits have ended with the lease.
    fn leave(&self, workspaces: Vec<WorkspaceId>) {
        let gone = workspaces.iter().copied().collect();
        let handles = self.inner.open.take_in(&gone);
        for handle in &handles {
            handle.chat().stop_commands();
            handle.chat().feed.leave();
        }
        // Commands without a chat are short, and their callers can repeat them.
        self.stop_lone_commands();
        for workspace in workspaces {
            self.workspaces().leave(workspace);
        }
        // A chat that waits for the database ends when that answers, or not at all: it can't store anything any more.
        tokio::spawn(async move { futures::future::join_all(handles.iter().map(Handle::park)).await });
    }

    /// Ends the work in a workspace, and gives it to another node, or to any. Its runs go on there.
    ///
    /// # Errors
    /// The workspace is not here.
    pub async fn give_workspace(&self, workspace: WorkspaceId, to: Option<String>) -> Result<(), Problem> {
        if self.store().leases().node().is_none() || !self.store().leases().holds(workspace) {
            return Err(Problem::new(ErrorCode::NodeAway, "This workspace is not at this node. Try again in a few seconds."));
        }
        let handles = self.inner.open.take_in(&HashSet::from([workspace]));
        let parked = futures::future::join_all(handles.iter().map(Handle::park));
        let _ = tokio::time::timeout(HAND_OVER, parked).await;
        self.store().release(workspace, to).await;
        Ok(())
    }

    /// Stops the commands without a chat that start with it.
    pub(crate) fn lone_stop(&self) -> Stop {
        self.inner.stop.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn stop_lone_commands(&self) {
        std::mem::take(&mut *self.inner.stop.lock().unwrap_or_else(PoisonError::into_inner)).now();
    }
}
