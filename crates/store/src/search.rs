//! Searches all chats. Reads messages in small steps, newest first, so that other queries run in between, and an early match is
//! cheap however much is stored.

use crate::arg::args;
use crate::chats::read_message;
use crate::error::StoreError;
use crate::messages::pattern;
use crate::store::Store;
use planwright_protocol::{Message, UserId, WorkspaceId};
use schemars::JsonSchema;
use serde::Serialize;
use sqlx::types::Uuid;

/// A match of a search in all chats.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SearchMatch {
    pub workspace_id: WorkspaceId,
    /// The title of its chat.
    pub title: String,
    pub message: Message,
}

/// Searches only messages of users and models. Tool results would match once for each time a file was read. The condition is the
/// same as in the index `messages_said`.
macro_rules! said_where {
    ($select:literal, $rest:literal) => {
        concat!(
            $select,
            " where messages.author in ('user', 'assistant')
                and (messages.message_type is null or messages.message_type in ('text', 'plan', 'question'))
                and (messages.created_at, messages.id) < ($1, $2)",
            $rest
        )
    };
}
/// Where the next step ends; no row if it is the last step.
const STEP_END: &str = said_where!(
    "select messages.created_at, messages.id from messages",
    " order by messages.created_at desc, messages.id desc limit 1 offset 2000"
);
const SEARCH_STEP: &str = said_where!(
    "select messages.*, chats.workspace_id, chats.title from messages join chats on chats.id = messages.chat_id",
    " and (messages.created_at, messages.id) >= ($3, $4) and lower(messages.content) like lower($5) escape '\\'
    and ($6 is null or exists (select 1 from rights where rights.user_id = $6 and rights.workspace_id = chats.workspace_id))
    order by messages.created_at desc, messages.id desc limit $7"
);

/// A position in the order of all messages: time and id.
type Place = (i64, Uuid);
const NEWEST: Place = (i64::MAX, Uuid::max());
const OLDEST: Place = (i64::MIN, Uuid::nil());

impl Store {
    /// The messages that contain a text, ignoring case, newest first, in all chats that a user may see. Without a user, in all
    /// chats.
    ///
    /// # Errors
    /// The database failed.
    pub async fn search_all(&self, user: Option<UserId>, text: &str, limit: u32) -> Result<Vec<SearchMatch>, StoreError> {
        let (mut found, mut begin) = (Vec::new(), NEWEST);
        loop {
            let end = self.db.row(STEP_END, args![begin.0, begin.1]).await?;
            let end = end.map(|row| Ok::<Place, StoreError>((row.get("created_at")?, row.get("id")?))).transpose()?;
            let (until, left) = (end.unwrap_or(OLDEST), limit.saturating_sub(u32::try_from(found.len()).unwrap_or(limit)));
            let args = args![begin.0, begin.1, until.0, until.1, pattern(text), user.map(|user| user.0), left];
            for row in &self.db.rows(SEARCH_STEP, args).await? {
                let workspace_id = WorkspaceId(row.get("workspace_id")?);
                found.push(SearchMatch { workspace_id, title: row.text("title")?, message: read_message(row)? });
            }
            match end {
                Some(end) if found.len() < limit as usize => begin = end,
                Some(_) | None => return Ok(found),
            }
            tokio::task::yield_now().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::Db;
    use sqlx::{AssertSqlSafe, Row as _};

    #[tokio::test]
    async fn each_step_reads_what_was_said_in_its_order() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("a.db")).await.unwrap();
        let Db::Sqlite { reader, .. } = &store.db else { panic!("a file is SQLite's") };
        for sql in [STEP_END, SEARCH_STEP] {
            let rows = sqlx::query(AssertSqlSafe(format!("explain query plan {sql}"))).fetch_all(reader).await.unwrap();
            let plan: Vec<String> = rows.iter().map(|row| row.get("detail")).collect();
            let plan = plan.join("; ");
            assert!(plan.contains("INDEX messages_said") && !plan.contains("TEMP B-TREE"), "{plan}");
        }
    }
}
