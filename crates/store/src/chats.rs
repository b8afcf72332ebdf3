use crate::records::{ApprovalRow, AuditRow, insert_approval, insert_audit};
use crate::store::{Store, StoreError, from_word, micros, timestamp, word};
use planwright_protocol::config::stored_role;
use planwright_protocol::event::{ChatState, Usage};
use planwright_protocol::{ChatConfig, ChatId, Envelope, Event, Message, MessageId, Mode, Role, RunId, Timestamp, WorkspaceId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, Sqlite, Transaction};

/// A chat without its history.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatRow {
    pub id: ChatId,
    pub workspace_id: WorkspaceId,
    pub title: String,
    pub config: ChatConfig,
    pub state: ChatState,
    /// The question that waits for an answer.
    pub pending: Option<Value>,
    /// What the user allowed for good in this chat.
    pub grants: Vec<GrantRow>,
    pub epoch: u64,
    pub seq_ceiling: u64,
    pub usage: Usage,
    /// The run that is not finished yet.
    pub run: Option<RunId>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// A standing yes: this tool, in this folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GrantRow {
    pub tool: String,
    pub folder: String,
}

/// What a session writes in one transaction: events, and all that they tell of.
#[derive(Debug, Default)]
pub struct Append<'a> {
    pub events: &'a [Envelope],
    pub approval: Option<&'a ApprovalRow>,
    pub audit: &'a [AuditRow],
}

#[derive(Clone, Debug, Default)]
pub struct ChatFilter {
    pub mode: Option<Mode>,
    pub role: Option<Role>,
    pub plan_file: Option<String>,
}

impl Store {
    /// # Errors
    /// The database failed.
    pub async fn create_chat(&self, chat: &ChatRow) -> Result<(), StoreError> {
        let mut transaction = self.writer.begin().await?;
        put_chat(&mut transaction, chat).await?;
        transaction.commit().await?;
        Ok(())
    }

    /// Stores events and the messages in them, with the chat as it is after them. On disk when it returns.
    ///
    /// # Errors
    /// The database failed; then nothing was stored.
    pub async fn append(&self, chat: &ChatRow, append: Append<'_>) -> Result<(), StoreError> {
        let mut transaction = self.writer.begin().await?;
        put_chat(&mut transaction, chat).await?;
        for envelope in append.events {
            if let Event::MessageCreated { message } | Event::MessageUpdated { message } = &envelope.event {
                put_message(&mut transaction, message, envelope.seq).await?;
            }
            sqlx::query("insert into events (chat_id, seq, name, envelope) values ($1, $2, $3, $4)")
                .bind(chat.id.0)
                .bind(integer(envelope.seq))
                .bind(envelope.event.name())
                .bind(serde_json::to_string(envelope)?)
                .execute(&mut *transaction)
                .await?;
        }
        if let Some(approval) = append.approval {
            insert_approval(&mut transaction, chat.id, approval).await?;
        }
        for row in append.audit {
            insert_audit(&mut transaction, chat.id, row).await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    /// # Errors
    /// The database failed.
    pub async fn chat(&self, id: ChatId) -> Result<Option<ChatRow>, StoreError> {
        sqlx::query("select * from chats where id = $1").bind(id.0).fetch_optional(&self.reader).await?.as_ref().map(read_chat).transpose()
    }

    /// The chats of a workspace, the most recently used first.
    ///
    /// # Errors
    /// The database failed.
    pub async fn chats(&self, workspace: WorkspaceId, filter: ChatFilter) -> Result<Vec<ChatRow>, StoreError> {
        // A chat from before roles is an Actor's, in act mode.
        const SQL: &str = "select * from chats where workspace_id = $1 and ($2 is null or coalesce(agent_mode, 'act') = $2)
            and ($3 is null or coalesce(agent_role, 'actor') = $3) and ($4 is null or plan_file = $4) order by updated_at desc, id desc limit 500";
        sqlx::query(SQL)
            .bind(workspace.0)
            .bind(filter.mode.map(word).transpose()?)
            .bind(filter.role.map(word).transpose()?)
            .bind(filter.plan_file)
            .fetch_all(&self.reader)
            .await?
            .iter()
            .map(read_chat)
            .collect()
    }

    /// The chats whose run was not finished when the process ended.
    ///
    /// # Errors
    /// The database failed.
    pub async fn unfinished(&self) -> Result<Vec<ChatId>, StoreError> {
        let rows = sqlx::query("select id from chats where run_id is not null").fetch_all(&self.reader).await?;
        rows.iter().map(|row| Ok(ChatId(row.try_get("id")?))).collect()
    }

    /// The plans of a workspace that belong to other chats than this one.
    ///
    /// # Errors
    /// The database failed.
    pub async fn foreign_plans(&self, workspace: WorkspaceId, chat: ChatId) -> Result<Vec<String>, StoreError> {
        let rows = sqlx::query("select plan_file from chats where workspace_id = $1 and id <> $2 and plan_file is not null")
            .bind(workspace.0)
            .bind(chat.0)
            .fetch_all(&self.reader)
            .await?;
        rows.iter().map(|row| Ok(row.try_get("plan_file")?)).collect()
    }

    /// A chat's whole history, oldest first.
    ///
    /// # Errors
    /// The database failed.
    pub async fn messages(&self, chat: ChatId) -> Result<Vec<Message>, StoreError> {
        sqlx::query("select * from messages where chat_id = $1 order by seq")
            .bind(chat.0)
            .fetch_all(&self.reader)
            .await?
            .iter()
            .map(read_message)
            .collect()
    }

    /// A page of a chat's history, newest first: the messages older than the one named, or the newest.
    ///
    /// # Errors
    /// The database failed.
    pub async fn messages_before(&self, chat: ChatId, before: Option<MessageId>, limit: u32) -> Result<Vec<Message>, StoreError> {
        const SQL: &str = "select * from messages where chat_id = $1
            and ($2 is null or seq < (select seq from messages where id = $2 and chat_id = $1)) order by seq desc limit $3";
        sqlx::query(SQL)
            .bind(chat.0)
            .bind(before.map(|id| id.0))
            .bind(limit)
            .fetch_all(&self.reader)
            .await?
            .iter()
            .map(read_message)
            .collect()
    }

    /// The events after `seq`, in order, at most `limit`.
    ///
    /// # Errors
    /// The database failed.
    pub async fn events_after(&self, chat: ChatId, seq: u64, limit: u32) -> Result<Vec<Envelope>, StoreError> {
        let rows = sqlx::query("select envelope from events where chat_id = $1 and seq > $2 order by seq limit $3")
            .bind(chat.0)
            .bind(integer(seq))
            .bind(limit)
            .fetch_all(&self.reader)
            .await?;
        rows.iter().map(|row| Ok(serde_json::from_str(row.try_get("envelope")?)?)).collect()
    }
}

async fn put_chat(transaction: &mut Transaction<'_, Sqlite>, chat: &ChatRow) -> Result<(), StoreError> {
    sqlx::query(
        "insert into chats (id, workspace_id, title, agent_role, agent_mode, plan_file, state, pending, grants, epoch, seq_ceiling, usage, run_id, created_at, updated_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
         on conflict (id) do update set title = excluded.title, agent_role = excluded.agent_role, agent_mode = excluded.agent_mode, plan_file = excluded.plan_file,
             state = excluded.state, pending = excluded.pending, grants = excluded.grants, epoch = excluded.epoch, seq_ceiling = excluded.seq_ceiling, usage = excluded.usage,
             run_id = excluded.run_id, updated_at = excluded.updated_at",
    )
    .bind(chat.id.0)
    .bind(chat.workspace_id.0)
    .bind(&chat.title)
    .bind(word(chat.config.role)?)
    .bind(word(chat.config.role.mode())?)
    .bind(&chat.config.plan_file)
    .bind(word(chat.state)?)
    .bind(chat.pending.as_ref().map(Value::to_string))
    .bind(serde_json::to_string(&chat.grants)?)
    .bind(integer(chat.epoch))
    .bind(integer(chat.seq_ceiling))
    .bind(serde_json::to_string(&chat.usage)?)
    .bind(chat.run.map(|run| run.0))
    .bind(micros(chat.created_at))
    .bind(micros(chat.updated_at))
    .execute(&mut **transaction)
    .await?;
    Ok(())
}

/// A message keeps the place in the history that it was first given.
async fn put_message(transaction: &mut Transaction<'_, Sqlite>, message: &Message, seq: u64) -> Result<(), StoreError> {
    sqlx::query(
        "insert into messages (id, chat_id, seq, author, agent_role, message_type, content, metadata, created_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
         on conflict (id) do update set message_type = excluded.message_type, content = excluded.content, metadata = excluded.metadata",
    )
    .bind(message.id.0)
    .bind(message.chat_id.0)
    .bind(integer(seq))
    .bind(word(message.author)?)
    .bind(message.agent_role.map(word).transpose()?)
    .bind(word(message.message_type)?)
    .bind(&message.content)
    .bind(serde_json::to_string(&message.metadata)?)
    .bind(micros(message.created_at))
    .execute(&mut **transaction)
    .await?;
    Ok(())
}

fn read_chat(row: &SqliteRow) -> Result<ChatRow, StoreError> {
    let role: Option<&str> = row.try_get("agent_role")?;
    let pending: Option<&str> = row.try_get("pending")?;
    Ok(ChatRow {
        id: ChatId(row.try_get("id")?),
        workspace_id: WorkspaceId(row.try_get("workspace_id")?),
        title: row.try_get("title")?,
        config: ChatConfig { role: stored_role(role), plan_file: row.try_get("plan_file")? },
        state: from_word(row.try_get("state")?)?,
        pending: pending.map(serde_json::from_str).transpose()?,
        grants: serde_json::from_str(row.try_get("grants")?)?,
        epoch: natural(row.try_get("epoch")?),
        seq_ceiling: natural(row.try_get("seq_ceiling")?),
        usage: serde_json::from_str(row.try_get("usage")?)?,
        run: row.try_get::<Option<_>, _>("run_id")?.map(RunId),
        created_at: timestamp(row.try_get("created_at")?)?,
        updated_at: timestamp(row.try_get("updated_at")?)?,
    })
}

fn read_message(row: &SqliteRow) -> Result<Message, StoreError> {
    let role: Option<&str> = row.try_get("agent_role")?;
    let message_type: Option<&str> = row.try_get("message_type")?;
    Ok(Message {
        id: MessageId(row.try_get("id")?),
        chat_id: ChatId(row.try_get("chat_id")?),
        author: from_word(row.try_get("author")?)?,
        agent_role: role.map(|role| stored_role(Some(role))),
        message_type: message_type.map(from_word).transpose()?.unwrap_or_default(),
        content: row.try_get("content")?,
        metadata: serde_json::from_str(row.try_get("metadata")?)?,
        created_at: timestamp(row.try_get("created_at")?)?,
    })
}

fn integer(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn natural(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}
