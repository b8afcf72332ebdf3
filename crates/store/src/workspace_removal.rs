//! Deletes a workspace with all its chats in small steps, so that no other write waits for long. A restart continues an
//! interrupted deletion.

use crate::arg::args;
use crate::error::StoreError;
use crate::ownership::Scope;
use crate::store::Store;
use planwright_protocol::{ChatId, WorkspaceId};

/// Removes the workspace from all lists. Frees its path immediately, because a user may add the folder again.
const LEAVE: &str = "update workspaces set is_leaving = 1, path = $2 where id = $1 and is_leaving = 0";
const LEAVING: &str = "select id from workspaces where is_leaving = 1";
const NEXT_CHATS: &str = "select id from chats where workspace_id = $1 limit 100";
/// The last of the next 2,000 events.
const STEP_OF_EVENTS: &str =
    "select max(seq) as last from (select seq from events where chat_id = $1 order by seq limit 2000) as step having count(*) = 2000";
const DELETE_EVENTS: &str = "delete from events where chat_id = $1 and seq <= $2";
const DELETE: &str = "delete from workspaces where id = $1 and is_leaving = 1";

impl Store {
    /// Hides a workspace. [`Self::delete_workspace`] or the next start deletes it.
    ///
    /// # Errors
    /// The database failed.
    pub async fn hide_workspace(&self, id: WorkspaceId) -> Result<(), StoreError> {
        let mut transaction = self.db.begin_in(self.scope_of(id)?).await?;
        transaction.run(LEAVE, args![id.0, format!("removed {id}")]).await?;
        transaction.commit().await
    }

    /// Deletes a workspace and its chats. Keeps its audit rows, which no user with an account can see any more.
    ///
    /// # Errors
    /// The database failed; the next start continues the deletion.
    pub async fn delete_workspace(&self, id: WorkspaceId) -> Result<(), StoreError> {
        self.hide_workspace(id).await?;
        loop {
            let rows = self.db.rows(NEXT_CHATS, args![id.0]).await?;
            let chats = rows.iter().map(|row| Ok(ChatId(row.get("id")?))).collect::<Result<Vec<_>, StoreError>>()?;
            if chats.is_empty() {
                break;
            }
            for chat in chats {
                self.delete_most_events(chat).await?;
                self.delete_chat(chat).await?;
            }
        }
        let mut transaction = self.db.begin_in(self.scope_of(id)?).await?;
        transaction.run(DELETE, args![id.0]).await?;
        transaction.commit().await
    }

    /// Continues interrupted deletions, in the background.
    pub fn finish_removals(&self) {
        let store = self.clone();
        tokio::spawn(async move {
            if let Err(error) = store.remove_leaving().await {
                tracing::debug!(%error, "can't delete all removed workspaces now; the next start continues");
            }
        });
    }

    async fn remove_leaving(&self) -> Result<(), StoreError> {
        for row in self.db.rows(LEAVING, args![]).await? {
            let id = WorkspaceId(row.get("id")?);
            // Another node's are its own to delete.
            if self.leases.holds(id) {
                self.delete_workspace(id).await?;
            }
        }
        Ok(())
    }

    /// Deletes all but a few events of a chat, so that the rest is one step.
    async fn delete_most_events(&self, chat: ChatId) -> Result<(), StoreError> {
        while let Some(row) = self.db.row(STEP_OF_EVENTS, args![chat.0]).await? {
            let mut transaction = self.db.begin_in(Scope::Chat(chat)).await?;
            transaction.run(DELETE_EVENTS, args![chat.0, row.number("last")?]).await?;
            transaction.commit().await?;
            // Lets waiting writers go first.
            tokio::task::yield_now().await;
        }
        Ok(())
    }
}
