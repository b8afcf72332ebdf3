//! Chats of all workspaces that need attention, and the changed files that users have viewed.

use crate::arg::args;
use crate::chats::{ChatRow, read_chat};
use crate::db::Row;
use crate::error::StoreError;
use crate::ownership::Scope;
use crate::store::{Store, micros, parse_enum};
use planwright_protocol::api::workspace::Right;
use planwright_protocol::{ChatId, Timestamp, UserId};
use sqlx::types::Uuid;

/// A chat with its workspace, as one user sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct InboxRow {
    pub chat: ChatRow,
    pub workspace_name: String,
    pub right: Right,
    /// The number of files that the chat changed, without plans. Counted for finished chats only.
    pub files: u64,
    /// The number of them that the user has viewed in their current content.
    pub viewed: u64,
}

/// Which chats to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InboxEntry {
    /// A question is pending, or a run is in progress.
    Active,
    /// The others, without archived and empty chats.
    Finished,
}

/// A changed file that a user has viewed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViewedFile {
    pub path: String,
    /// The hash of the viewed content; `None` if the file was deleted.
    pub after_sha256: Option<String>,
}

/// The chats that `$1` may see. The person who runs the server has no account and sees all chats.
macro_rules! chats_seen {
    ($which:literal) => {
        concat!(
            "select chats.*, workspaces.name as workspace_name, coalesce(rights.role, 'owner') as caller_right
                from chats join workspaces on workspaces.id = chats.workspace_id and workspaces.is_leaving = 0
                left join rights on rights.workspace_id = chats.workspace_id and rights.user_id = $1
                where ($1 is null or rights.role is not null) and ",
            $which,
            " order by chats.updated_at desc, chats.id desc limit 200"
        )
    };
}

/// Counts the files of a chat whose content after the last change differs from the content before the first.
macro_rules! changed_files {
    ($more:literal) => {
        concat!(
            "(select count(*) from (select path, min(id) as first, max(id) as last from file_changes
                    where file_changes.chat_id = seen.id and path not like '%.plan' group by path) as net
                join file_changes as was on was.id = net.first join file_changes as now on now.id = net.last ",
            $more,
            " where coalesce(was.before_sha256, '') <> coalesce(now.after_sha256, ''))"
        )
    };
}

const ACTIVE: &str = concat!(
    "select seen.*, cast(0 as bigint) as files, cast(0 as bigint) as viewed from (",
    chats_seen!("(chats.pending is not null or chats.run_id is not null)"),
    ") as seen order by updated_at desc, id desc"
);
const FINISHED: &str = concat!(
    "select seen.*, ",
    changed_files!(""),
    " as files, ",
    changed_files!(
        "join viewed_files on viewed_files.chat_id = seen.id and viewed_files.viewer = $2 and viewed_files.path = net.path
            and viewed_files.after_sha256 = coalesce(now.after_sha256, '')"
    ),
    " as viewed from (",
    chats_seen!(
        "chats.pending is null and chats.run_id is null and chats.archived = 0
            and exists (select 1 from messages where messages.chat_id = chats.id)"
    ),
    ") as seen order by updated_at desc, id desc"
);
const VIEWED: &str = "select path, after_sha256 from viewed_files where chat_id = $1 and viewer = $2 order by path";
/// Accepts only contents that the chat gave the file, so that clients can't fill the table.
const VIEW: &str = "insert into viewed_files (chat_id, viewer, path, after_sha256, viewed_at)
    select distinct chat_id, $2, path, $4, $5 from file_changes
        where chat_id = $1 and path = $3 and coalesce(after_sha256, '') = $4
    on conflict (chat_id, viewer, path) do update set after_sha256 = excluded.after_sha256, viewed_at = excluded.viewed_at
    returning path";
const UNVIEW: &str = "delete from viewed_files where chat_id = $1 and viewer = $2 and path = $3";

/// The viewer's id: an account, or nil for the person who runs the server.
fn viewer(user: Option<UserId>) -> Uuid {
    user.map_or(Uuid::nil(), |user| user.0)
}

impl Store {
    /// Chats of all workspaces that a user may see, most recently used first, at most 200.
    ///
    /// # Errors
    /// The database failed.
    pub async fn inbox(&self, user: Option<UserId>, which: InboxEntry) -> Result<Vec<InboxRow>, StoreError> {
        let rows = match which {
            InboxEntry::Active => self.db.rows(ACTIVE, args![user.map(|user| user.0)]).await?,
            InboxEntry::Finished => self.db.rows(FINISHED, args![user.map(|user| user.0), viewer(user)]).await?,
        };
        rows.iter().map(read_entry).collect()
    }

    /// The changed files of a chat that a user has viewed.
    ///
    /// # Errors
    /// The database failed.
    pub async fn viewed_files(&self, chat: ChatId, user: Option<UserId>) -> Result<Vec<ViewedFile>, StoreError> {
        let rows = self.db.rows(VIEWED, args![chat.0, viewer(user)]).await?;
        let file = |row: &Row| {
            let after_sha256 = Some(row.text("after_sha256")?).filter(|sha256| !sha256.is_empty());
            Ok(ViewedFile { path: row.text("path")?, after_sha256 })
        };
        rows.iter().map(file).collect()
    }

    /// Marks a file as viewed with this content. Returns `false` if the chat never gave the file this content.
    ///
    /// # Errors
    /// The database failed.
    pub async fn view_file(&self, chat: ChatId, user: Option<UserId>, file: &ViewedFile, at: Timestamp) -> Result<bool, StoreError> {
        let mut transaction = self.db.begin_in(Scope::Chat(chat)).await?;
        let sha256 = file.after_sha256.clone().unwrap_or_default();
        let rows = transaction.rows(VIEW, args![chat.0, viewer(user), file.path.as_str(), sha256, micros(at)]).await?;
        transaction.commit().await?;
        Ok(!rows.is_empty())
    }

    /// Removes the mark.
    ///
    /// # Errors
    /// The database failed.
    pub async fn unview_file(&self, chat: ChatId, user: Option<UserId>, path: &str) -> Result<(), StoreError> {
        let mut transaction = self.db.begin_in(Scope::Chat(chat)).await?;
        transaction.run(UNVIEW, args![chat.0, viewer(user), path]).await?;
        transaction.commit().await
    }
}

fn read_entry(row: &Row) -> Result<InboxRow, StoreError> {
    Ok(InboxRow {
        chat: read_chat(row)?,
        workspace_name: row.text("workspace_name")?,
        right: parse_enum(row.text("caller_right")?)?,
        files: row.number("files")?,
        viewed: row.number("viewed")?,
    })
}
