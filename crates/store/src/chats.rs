use crate::append::chat_columns;
use crate::append_write::CREATE_CHAT;
use crate::arg::{Arg, args};
use crate::contents::LOOSEN_CHAT;
use crate::db::{Db, Row};
use crate::error::StoreError;
use crate::marks::Marks;
use crate::messages::pattern;
use crate::ownership::Scope;
use crate::store::{Store, enum_name, micros, parse_enum, timestamp};
use planwright_protocol::api::chat::{ChatView, ProgressView};
use planwright_protocol::config::stored_role;
use planwright_protocol::event::{ChatState, Usage};
use planwright_protocol::{
    ChatConfig, ChatId, Message, MessageBody, MessageId, MessageType, Mode, Progress, Role, RunId, Timestamp, WireMessage, WorkspaceId,
    sha256_hex,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;

/// A chat without its history.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatRow {
    pub id: ChatId,
    /// The number of appends so far. An append is stored only if its row has the stored version.
    pub version: u64,
    pub workspace_id: WorkspaceId,
    pub title: String,
    pub config: ChatConfig,
    pub state: ChatState,
    /// The question that waits for an answer.
    pub pending: Option<Value>,
    /// Permissions that the user granted for the whole chat.
    pub grants: Vec<GrantRow>,
    /// Progress of the plan that is being executed.
    pub progress: Option<Progress>,
    pub epoch: u64,
    pub seq_ceiling: u64,
    pub usage: Usage,
    /// The unfinished run.
    pub run: Option<RunId>,
    /// Where the model's conversation begins in the history; `None` for the beginning of the history.
    pub turn_start: Option<TurnStart>,
    pub marks: Marks,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl From<&ChatRow> for ChatView {
    fn from(row: &ChatRow) -> Self {
        let progress = row.progress.clone().filter(|progress| row.config.plan_file.as_ref() == Some(&progress.plan_file));
        Self {
            id: row.id,
            workspace_id: row.workspace_id,
            title: row.title.clone(),
            app_data: row.config.clone(),
            config: row.config.clone(),
            state: row.state,
            pending_question: row.pending.clone(),
            usage: row.usage,
            progress: progress.map(ProgressView::from),
            pinned: row.marks.pinned,
            archived: row.marks.archived,
            person: row.marks.person.clone(),
            model: row.marks.model.clone(),
            effort: row.marks.effort,
            created_at: row.created_at,
            updated_at: row.updated_at,
        }
    }
}

/// An "always allow" for one tool in one folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantRow {
    pub tool: String,
    pub folder: String,
    /// `None` for grants of early versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The name in the record of the approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

impl GrantRow {
    /// The id in addresses. Grants with the same tool and folder are the same grant.
    #[must_use]
    pub fn id(&self) -> String {
        let mut id = sha256_hex(format!("{}\0{}", self.tool, self.folder).as_bytes());
        id.truncate(16);
        id
    }
}

/// Where the model's conversation begins: the history before it was summarised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnStart {
    /// The sequence number of its first message.
    pub seq: u64,
    /// Replies before it since the user's last message.
    pub replies: u32,
    /// All replies before it, by mode.
    pub plan_replies: usize,
    pub act_replies: usize,
}

#[derive(Clone, Debug, Default)]
pub struct ChatFilter {
    pub mode: Option<Mode>,
    pub role: Option<Role>,
    pub plan_file: Option<String>,
    pub state: Option<ChatState>,
    pub archived: Option<bool>,
    /// Only chats whose title contains this text.
    pub title: Option<String>,
    /// Only chats after this cursor.
    pub after: Option<ChatCursor>,
    /// Maximum number of chats (default 500).
    pub limit: Option<u32>,
}

/// A position in the list of chats. It does not move when the chat at this position moves up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChatCursor {
    pub updated_at: Timestamp,
    pub id: ChatId,
}

/// A list of chats. Chats from before roles existed count as act mode. `$key` is the condition that an index serves; the others
/// filter the rows it finds.
macro_rules! chats_where {
    ($key:literal) => {
        concat!(
            "select * from chats where workspace_id = $1 and ",
            $key,
            " and ($2 is null or coalesce(agent_mode, 'act') = $2) and ($3 is null or coalesce(agent_role, 'actor') = $3)
                and ($4 is null or plan_file = $4) and ($8 is null or state = $8) and ($9 is null or archived = $9)
                and ($10 is null or lower(title) like lower($10) escape '\\') and ($5 is null or updated_at < $5 or updated_at = $5 and id < $6)
                order by updated_at desc, id desc limit $7"
        )
    };
}

const CHATS: &str = chats_where!("true");
const CHATS_AFTER: &str = chats_where!("(updated_at, id) < ($5, $6)");
const CHATS_OF_MODE: &str = chats_where!("coalesce(agent_mode, 'act') = $2");
const CHATS_OF_PLAN: &str = chats_where!("plan_file = $4");
const CHAT: &str = "select * from chats where id = $1";
/// The calls of a deleted chat that [`Store::adherence`] still counts.
const KEEP_CALLS: &str = "insert into past_calls (workspace_id, chat_id, model, agent_role, created_at)
    select chats.workspace_id, chats.id, model, coalesce(messages.agent_role, 'actor'), messages.created_at
    from messages join chats on chats.id = messages.chat_id
    where model is not null and message_type = 'tool_call' and chats.id = $1";
const DELETE_CHAT: &str = "delete from chats where id = $1";
const UNFINISHED: &str = "select id from chats where run_id is not null
    and not exists (select 1 from workspaces where workspaces.id = chats.workspace_id and is_leaving = 1)";
const UNFINISHED_IN: &str = "select id from chats where run_id is not null and workspace_id = $1
    and not exists (select 1 from workspaces where workspaces.id = chats.workspace_id and is_leaving = 1)";
const FOREIGN_PLANS: &str = "select plan_file from chats where workspace_id = $1 and id <> $2 and plan_file is not null
    and plan_file is distinct from (select plan_file from chats where id = $2)";
const PLAN_OWNERS: &str =
    "select id, plan_file from chats where workspace_id = $1 and plan_file is not null order by created_at desc, id desc";
const MESSAGES: &str = "select * from messages where chat_id = $1 order by seq";
const NEWEST_USER_MESSAGE: &str = "select * from messages where chat_id = $1 and author = 'user' order by seq desc limit 1";

impl Store {
    /// Stores a new chat, with version 0.
    ///
    /// # Errors
    /// The database failed.
    pub async fn create_chat(&self, chat: &ChatRow) -> Result<(), StoreError> {
        let args = created_row(chat)?;
        if let Db::Postgres { appends: Some(appends), .. } = &self.db {
            return appends.create_chat(&args, &self.tenure_of(chat.workspace_id)?).await;
        }
        let mut transaction = self.db.begin().await?;
        transaction.run(CREATE_CHAT, args).await?;
        transaction.commit().await
    }

    /// # Errors
    /// The database failed.
    pub async fn chat(&self, id: ChatId) -> Result<Option<ChatRow>, StoreError> {
        self.db.row(CHAT, args![id.0]).await?.as_ref().map(read_chat).transpose()
    }

    /// Deletes a chat with its history. Keeps its audit rows and the number of its calls. File contents that only this chat
    /// referred to are collected later, in the background.
    ///
    /// # Errors
    /// The database failed.
    pub async fn delete_chat(&self, id: ChatId) -> Result<(), StoreError> {
        let mut transaction = self.db.begin_in(Scope::Chat(id)).await?;
        transaction.run(KEEP_CALLS, args![id.0]).await?;
        transaction.run(LOOSEN_CHAT, args![id.0]).await?;
        transaction.run(DELETE_CHAT, args![id.0]).await?;
        transaction.commit().await?;
        self.collect_contents();
        Ok(())
    }

    /// The chats of a workspace, most recently used first, from the filter's cursor on.
    ///
    /// # Errors
    /// The database failed.
    pub async fn chats(&self, workspace: WorkspaceId, filter: ChatFilter) -> Result<Vec<ChatRow>, StoreError> {
        let sql = match filter {
            ChatFilter { plan_file: Some(_), .. } => CHATS_OF_PLAN,
            ChatFilter { mode: Some(_), .. } => CHATS_OF_MODE,
            ChatFilter { after: Some(_), .. } => CHATS_AFTER,
            ChatFilter { .. } => CHATS,
        };
        let (mode, role) = (filter.mode.map(enum_name).transpose()?, filter.role.map(enum_name).transpose()?);
        let (time, id) = (filter.after.map(|after| micros(after.updated_at)), filter.after.map(|after| after.id.0));
        let limit = filter.limit.unwrap_or(500);
        let (state, archived) = (filter.state.map(enum_name).transpose()?, filter.archived.map(i64::from));
        let title = filter.title.as_deref().map(pattern);
        let args = args![workspace.0, mode, role, filter.plan_file, time, id, limit, state, archived, title];
        self.db.rows(sql, args).await?.iter().map(read_chat).collect()
    }

    /// The chats whose run was unfinished when the process ended.
    ///
    /// # Errors
    /// The database failed.
    pub async fn unfinished(&self) -> Result<Vec<ChatId>, StoreError> {
        self.db.rows(UNFINISHED, args![]).await?.iter().map(|row| Ok(ChatId(row.get("id")?))).collect()
    }

    /// The same in one workspace.
    ///
    /// # Errors
    /// The database failed.
    pub async fn unfinished_in(&self, workspace: WorkspaceId) -> Result<Vec<ChatId>, StoreError> {
        self.db.rows(UNFINISHED_IN, args![workspace.0]).await?.iter().map(|row| Ok(ChatId(row.get("id")?))).collect()
    }

    /// The plans of a workspace that belong to other chats.
    ///
    /// # Errors
    /// The database failed.
    pub async fn foreign_plans(&self, workspace: WorkspaceId, chat: ChatId) -> Result<Vec<String>, StoreError> {
        self.db.rows(FOREIGN_PLANS, args![workspace.0, chat.0]).await?.iter().map(|row| row.text("plan_file")).collect()
    }

    /// The plans of a workspace, each with the chat that had it first.
    ///
    /// # Errors
    /// The database failed.
    pub async fn plan_owners(&self, workspace: WorkspaceId) -> Result<HashMap<String, ChatId>, StoreError> {
        let rows = self.db.rows(PLAN_OWNERS, args![workspace.0]).await?;
        rows.iter().map(|row| Ok((row.text("plan_file")?, ChatId(row.get("id")?)))).collect()
    }

    /// The complete history of a chat, oldest first.
    ///
    /// # Errors
    /// The database failed.
    pub async fn messages(&self, chat: ChatId) -> Result<Vec<Message>, StoreError> {
        self.db.rows(MESSAGES, args![chat.0]).await?.iter().map(read_message).collect()
    }

    /// # Errors
    /// The database failed.
    pub async fn newest_user_message(&self, chat: ChatId) -> Result<Option<Message>, StoreError> {
        self.db.row(NEWEST_USER_MESSAGE, args![chat.0]).await?.as_ref().map(read_message).transpose()
    }
}

fn created_row(chat: &ChatRow) -> Result<Vec<Arg>, StoreError> {
    let mut row = args![chat.id.0, chat.workspace_id.0, micros(chat.created_at), chat.marks.person.clone()];
    row.extend(chat_columns(chat)?);
    Ok(row)
}

pub(crate) fn read_chat(row: &Row) -> Result<ChatRow, StoreError> {
    Ok(ChatRow {
        id: ChatId(row.get("id")?),
        version: row.number("version")?,
        workspace_id: WorkspaceId(row.get("workspace_id")?),
        title: row.text("title")?,
        config: ChatConfig { role: stored_role(row.optional_text("agent_role")?.as_deref()), plan_file: row.optional_text("plan_file")? },
        state: parse_enum(row.text("state")?)?,
        pending: row.optional_text("pending")?.map(|pending| serde_json::from_str(&pending)).transpose()?,
        grants: serde_json::from_str(&row.text("grants")?)?,
        progress: row.optional_text("progress")?.map(|progress| serde_json::from_str(&progress)).transpose()?,
        epoch: row.number("epoch")?,
        seq_ceiling: row.number("seq_ceiling")?,
        usage: serde_json::from_str(&row.text("usage")?)?,
        run: row.get::<Option<_>>("run_id")?.map(RunId),
        turn_start: row.optional_text("turn_start")?.map(|start| serde_json::from_str(&start)).transpose()?,
        marks: Marks::read(row)?,
        created_at: timestamp(row.get("created_at")?)?,
        updated_at: timestamp(row.get("updated_at")?)?,
    })
}

/// A row that can't be parsed as a message is shown unchanged and never acted on.
pub(crate) fn read_message(row: &Row) -> Result<Message, StoreError> {
    let (kind, metadata) = (row.optional_text("message_type")?, row.text("metadata")?);
    let message_type = kind.map(parse_enum::<MessageType>).transpose().map(Option::unwrap_or_default);
    let metadata = serde_json::from_str(&metadata);
    let reason = message_type.as_ref().err().map(ToString::to_string).or(metadata.as_ref().err().map(ToString::to_string));
    let wire = WireMessage {
        id: MessageId(row.get("id")?),
        chat_id: ChatId(row.get("chat_id")?),
        author: parse_enum(row.text("author")?)?,
        agent_role: row.optional_text("agent_role")?.map(|role| stored_role(Some(&role))),
        message_type: message_type.unwrap_or_default(),
        content: row.text("content")?,
        metadata: metadata.unwrap_or_default(),
        created_at: timestamp(row.get("created_at")?)?,
    };
    let message = match reason {
        Some(reason) => wire.into_unknown(reason),
        None => Message::from(wire),
    };
    if let MessageBody::Unknown(unknown) = &message.body {
        tracing::warn!(chat = %message.chat_id, message = %message.id, reason = unknown.reason, "can't parse a stored message; showing it unchanged");
    }
    Ok(message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::Db;
    use sqlx::{AssertSqlSafe, Row as _};

    #[tokio::test]
    async fn chats_are_found_and_listed_through_an_index() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("a.db")).await.unwrap();
        let Db::Sqlite { reader, .. } = &store.db else { panic!("a file is SQLite's") };
        for (sql, index) in [
            (CHATS, "chats_by_use"),
            (CHATS_AFTER, "chats_by_use"),
            (CHATS_OF_MODE, "chats_by_mode"),
            (CHATS_OF_PLAN, "chats_by_plan"),
            (UNFINISHED, "chats_running"),
        ] {
            let rows = sqlx::query(AssertSqlSafe(format!("explain query plan {sql}"))).fetch_all(reader).await.unwrap();
            let plan: Vec<String> = rows.iter().map(|row| row.get("detail")).collect();
            let plan = plan.join("; ");
            assert!(plan.contains(&format!("INDEX {index}")), "{plan}");
            assert!(!plan.contains("TEMP B-TREE"), "sorted by the index: {plan}");
        }
    }
}
