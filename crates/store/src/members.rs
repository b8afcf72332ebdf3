//! The members of workspaces and their rights.

use crate::arg::args;
use crate::db::{Row, Transaction};
use crate::error::StoreError;
use crate::store::{Store, enum_name, micros, parse_enum, timestamp};
use crate::workspaces;
use planwright_protocol::api::workspace::{Right, WorkspaceRow};
use planwright_protocol::{ChatId, Timestamp, UserId, WorkspaceId};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::HashMap;

/// A user with a right in a workspace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MemberRow {
    pub user_id: UserId,
    #[schemars(example = &"ann")]
    pub name: String,
    pub role: Right,
    pub created_at: Timestamp,
}

/// The result of a change to the members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberChange {
    Done,
    NotAMember,
    /// Refused: the workspace would have members but no owner.
    NoOwnerLeft,
}

const RIGHT: &str = "select role from rights where user_id = $1 and workspace_id = $2
    and ($3 is null or exists (select 1 from chats where chats.id = $3 and chats.workspace_id = rights.workspace_id))";
const WORKSPACES_OF: &str = "select workspaces.*, rights.role from workspaces join rights on rights.workspace_id = workspaces.id
    where rights.user_id = $1 and workspaces.is_leaving = 0 order by workspaces.name, workspaces.id";
const MEMBERS: &str = "select members.*, users.name from members join users on users.id = members.user_id
    where members.workspace_id = $1 order by lower(users.name)";
const ALL_MEMBERS: &str = "select members.*, users.name from members join users on users.id = members.user_id order by lower(users.name)";
/// An admin who shares a workspace without members stays its owner.
const KEEP_OWNER: &str = "insert into members (workspace_id, user_id, role, created_at)
    select workspace_id, user_id, role, $3 from rights where workspace_id = $1 and user_id = $2 on conflict do nothing";
const PUT: &str = "insert into members (workspace_id, user_id, role, created_at) values ($1, $2, $3, $4)
    on conflict (workspace_id, user_id) do update set role = excluded.role";
const REMOVE: &str = "delete from members where workspace_id = $1 and user_id = $2 returning user_id";
const OWNERLESS: &str = "select workspace_id from members where workspace_id = $1
    group by workspace_id having sum(case when role = 'owner' then 1 else 0 end) = 0";

/// Workspaces with members but no owner get the longest-serving admin as owner.
const HAND_OVER: &str = "insert into members (workspace_id, user_id, role, created_at)
    select distinct workspace_id, (select id from users where is_admin = 1 order by created_at, id limit 1), 'owner', $1 from members
    where workspace_id not in (select workspace_id from members where role = 'owner')
    on conflict (workspace_id, user_id) do update set role = excluded.role";

impl Store {
    /// The right of a user in a workspace, or in one of its chats. `None`: the workspace must stay hidden from them.
    ///
    /// # Errors
    /// The database failed.
    pub async fn right(&self, user: UserId, workspace: WorkspaceId, chat: Option<ChatId>) -> Result<Option<Right>, StoreError> {
        let row = self.db.row(RIGHT, args![user.0, workspace.0, chat.map(|chat| chat.0)]).await?;
        row.map(|row| parse_enum(row.text("role")?)).transpose()
    }

    /// The workspaces that a user may see, with the user's rights.
    ///
    /// # Errors
    /// The database failed.
    pub async fn workspaces_of(&self, user: UserId) -> Result<Vec<(WorkspaceRow, Right)>, StoreError> {
        let rows = self.db.rows(WORKSPACES_OF, args![user.0]).await?;
        rows.iter().map(|row| Ok((workspaces::read(row)?, parse_enum(row.text("role")?)?))).collect()
    }

    /// # Errors
    /// The database failed.
    pub async fn members(&self, workspace: WorkspaceId) -> Result<Vec<MemberRow>, StoreError> {
        self.db.rows(MEMBERS, args![workspace.0]).await?.iter().map(read).collect()
    }

    /// Adds a member, or changes a member's right. `by` is the acting user, if they have an account.
    ///
    /// # Errors
    /// The database failed.
    pub async fn put_member(
        &self,
        workspace: WorkspaceId,
        user: UserId,
        right: Right,
        by: Option<UserId>,
    ) -> Result<MemberChange, StoreError> {
        let now = micros(Timestamp::now());
        let mut transaction = self.db.begin().await?;
        if let Some(by) = by {
            transaction.run(KEEP_OWNER, args![workspace.0, by.0, now]).await?;
        }
        transaction.run(PUT, args![workspace.0, user.0, enum_name(right)?, now]).await?;
        commit_if_owned(transaction, workspace).await
    }

    /// The members of all workspaces, by workspace.
    ///
    /// # Errors
    /// The database failed.
    pub async fn all_members(&self) -> Result<HashMap<WorkspaceId, Vec<MemberRow>>, StoreError> {
        let mut found: HashMap<WorkspaceId, Vec<MemberRow>> = HashMap::new();
        for row in self.db.rows(ALL_MEMBERS, args![]).await? {
            found.entry(WorkspaceId(row.get("workspace_id")?)).or_default().push(read(&row)?);
        }
        Ok(found)
    }

    /// # Errors
    /// The database failed.
    pub async fn remove_member(&self, workspace: WorkspaceId, user: UserId) -> Result<MemberChange, StoreError> {
        let mut transaction = self.db.begin().await?;
        if transaction.rows(REMOVE, args![workspace.0, user.0]).await?.is_empty() {
            return Ok(MemberChange::NotAMember);
        }
        commit_if_owned(transaction, workspace).await
    }
}

/// Makes a user the owner of a new workspace.
pub(crate) async fn make_owner(transaction: &mut Transaction, workspace: WorkspaceId, user: UserId) -> Result<(), StoreError> {
    transaction.run(PUT, args![workspace.0, user.0, enum_name(Right::Owner)?, micros(Timestamp::now())]).await
}

/// Call after removing a user who may have been the only owner.
pub(crate) async fn hand_over(transaction: &mut Transaction) -> Result<(), StoreError> {
    transaction.run(HAND_OVER, args![micros(Timestamp::now())]).await
}

/// Commits the change, unless members would be left without an owner.
async fn commit_if_owned(mut transaction: Transaction, workspace: WorkspaceId) -> Result<MemberChange, StoreError> {
    if !transaction.rows(OWNERLESS, args![workspace.0]).await?.is_empty() {
        return Ok(MemberChange::NoOwnerLeft);
    }
    transaction.commit().await?;
    Ok(MemberChange::Done)
}

fn read(row: &Row) -> Result<MemberRow, StoreError> {
    Ok(MemberRow {
        user_id: UserId(row.get("user_id")?),
        name: row.text("name")?,
        role: parse_enum(row.text("role")?)?,
        created_at: timestamp(row.get("created_at")?)?,
    })
}
