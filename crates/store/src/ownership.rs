//! What a write to PostgreSQL proves before it changes anything.

use crate::arg::Arg;
use crate::error::StoreError;
use crate::leases::Proof;
use crate::node::{Node, PROOF_OF_CHAT, PROOF_OF_NODE, proof_text};
use crate::owner::{CHECK_OWNER, SoleOwner};
use planwright_protocol::{ChatId, WorkspaceId};
use sqlx::postgres::{PgConnection, PgRow};
use sqlx::{AssertSqlSafe, Row as _};

/// How this process owns what it writes.
#[derive(Debug)]
pub(crate) enum Ownership {
    /// It has the database for itself.
    Sole(SoleOwner),
    /// It shares the database, and owns the workspaces that it has leases of.
    Node(Node),
}

/// What a transaction changes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scope {
    /// What belongs to no workspace.
    Server,
    Workspace(Proof),
    /// The workspace of this chat.
    Chat(ChatId),
}

impl Ownership {
    /// A query with one row if this process owns the workspace, and its arguments, numbered from `first`. It locks the row: nobody
    /// else becomes the owner until the statement or transaction has ended.
    pub fn proof(&self, proof: Proof, first: usize) -> (String, Vec<Arg>) {
        match self {
            Ownership::Sole(owner) => (CHECK_OWNER.replace("$1", &format!("${first}")), vec![Arg::from(owner.number)]),
            Ownership::Node(node) => node.proof(proof, first),
        }
    }

    /// The same as a step of a transaction.
    pub async fn check(&self, connection: &mut PgConnection, scope: Scope) -> Result<(), StoreError> {
        let row = match (self, scope) {
            (Ownership::Sole(owner), _) => sqlx::query(CHECK_OWNER).bind(owner.number).fetch_optional(connection).await?,
            (Ownership::Node(node), Scope::Server) => {
                sqlx::query(PROOF_OF_NODE).bind(node.incarnation()).fetch_optional(connection).await?
            }
            (Ownership::Node(node), Scope::Chat(chat)) => {
                sqlx::query(PROOF_OF_CHAT).bind(chat.0).bind(node.incarnation()).fetch_optional(connection).await?
            }
            (Ownership::Node(node), Scope::Workspace(proof)) => {
                let (workspace, term) = (proof.workspace, proof.term.unwrap_or_default().cast_signed());
                let query = sqlx::query(AssertSqlSafe(proof_text(1))).bind(workspace).bind(term).bind(node.incarnation());
                query.fetch_optional(connection).await?
            }
        };
        row.map(|_| ()).ok_or_else(|| self.refusal())
    }

    /// Reads the column `owned` of a statement that counted the rows of [`Self::proof`].
    pub fn owned(&self, row: &PgRow) -> Result<(), StoreError> {
        if row.try_get::<i64, _>("owned")? == 1 { Ok(()) } else { Err(self.refusal()) }
    }

    fn refusal(&self) -> StoreError {
        match self {
            Ownership::Sole(_) => StoreError::TakenOver,
            Ownership::Node(_) => StoreError::NotHere,
        }
    }

    /// Gives a workspace up, for this node or any.
    pub async fn release(&self, workspace: WorkspaceId, to: Option<String>) {
        if let Ownership::Node(node) = self {
            node.release(workspace, to).await;
        }
    }

    /// Looks for free workspaces now.
    pub fn look(&self) {
        if let Ownership::Node(node) = self {
            node.look();
        }
    }

    pub async fn close(&self) {
        match self {
            Ownership::Sole(owner) => owner.close().await,
            Ownership::Node(node) => node.close().await,
        }
    }
}
