//! Forgetting a workspace with all its chats: in small steps, so that nobody waits for it, and finished after a restart if the
//! process ended between two steps.

use crate::arg::args;
use crate::error::StoreError;
use crate::store::Store;
use planwright_protocol::{ChatId, WorkspaceId};

/// From here on the workspace is in no list. Its path is free at once, because somebody may add the folder again.
const LEAVE: &str = "update workspaces set is_leaving = 1, path = $2 where id = $1 and is_leaving = 0";
const LEAVING: &str = "select id from workspaces where is_leaving = 1";
const NEXT_CHATS: &str = "select id from chats where workspace_id = $1 limit 100";
/// The last of the next 2,000 events.
const STEP_OF_EVENTS: &str =
    "select max(seq) as last from (select seq from events where chat_id = $1 order by seq limit 2000) as step having count(*) = 2000";
const DELETE_EVENTS: &str = "delete from events where chat_id = $1 and seq <= $2";
const DELETE: &str = "delete from workspaces where id = $1 and is_leaving = 1";

impl Store {
    /// Takes a workspace out of sight. What is left of it goes by [`Self::delete_workspace`], or after the next start.
    ///
    /// # Errors
    /// The database failed.
    pub async fn hide_workspace(&self, id: WorkspaceId) -> Result<(), StoreError> {
        let mut transaction = self.db.begin().await?;
        transaction.run(LEAVE, args![id.0, format!("removed {id}")]).await?;
        transaction.commit().await
    }

    /// Forgets a workspace and its chats. What was logged there stays, but nobody with an account sees it any more.
    ///
    /// # Errors
    /// The database failed; the rest is forgotten after the next start.
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
        let mut transaction = self.db.begin().await?;
        transaction.run(DELETE, args![id.0]).await?;
        transaction.commit().await
    }

    /// Goes on with what the end of an earlier process cut off, in the background.
    pub(crate) fn finish_removals(&self) {
        let store = self.clone();
        tokio::spawn(async move {
            if let Err(error) = store.remove_leaving().await {
                tracing::debug!(%error, "what is left of deleted workspaces is removed after the next start");
            }
        });
    }

    async fn remove_leaving(&self) -> Result<(), StoreError> {
        for row in self.db.rows(LEAVING, args![]).await? {
            self.delete_workspace(WorkspaceId(row.get("id")?)).await?;
        }
        Ok(())
    }

    /// Leaves a chat few enough events that the rest goes in one step.
    async fn delete_most_events(&self, chat: ChatId) -> Result<(), StoreError> {
        while let Some(row) = self.db.row(STEP_OF_EVENTS, args![chat.0]).await? {
            let mut transaction = self.db.begin().await?;
            transaction.run(DELETE_EVENTS, args![chat.0, row.number("last")?]).await?;
            transaction.commit().await?;
            // Those who wait for the database come first.
            tokio::task::yield_now().await;
        }
        Ok(())
    }
}
