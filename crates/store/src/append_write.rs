//! The rows of an append, for both databases.

use crate::arg::Arg;
use crate::leases::Tenure;
use crate::rows::RowWrite;
use sqlx::types::Uuid;

/// The rows of an append.
#[derive(Debug)]
pub(crate) struct AppendWrite {
    pub tenure: Tenure,
    pub chat: Uuid,
    /// The version that this append follows.
    pub version: u64,
    /// The columns of the chat's row: the arguments of [`UPDATE_CHAT`] from `$3` on.
    pub columns: Vec<Arg>,
    pub writes: Vec<RowWrite>,
}

/// Updates the chat's row, if the append follows the newest one.
pub(crate) const UPDATE_CHAT: &str = "update chats set version = $2 + 1, title = $3, agent_role = $4, agent_mode = $5, plan_file = $6,
        state = $7, pending = $8, grants = $9, epoch = $10, seq_ceiling = $11, usage = $12, run_id = $13, updated_at = $14,
        progress = $15, turn_start = $16, pinned = $17, archived = $18, model_choice = $19, effort_choice = $20
    where id = $1 and version = $2";
/// The number of arguments of [`UPDATE_CHAT`].
pub(crate) const CHAT_ARGUMENTS: usize = 20;

/// Creates a chat; repeating it has no effect. Arguments from `$5` on are in the order of [`UPDATE_CHAT`].
pub(crate) const CREATE_CHAT: &str =
    "insert into chats (id, workspace_id, created_at, person, title, agent_role, agent_mode, plan_file, state, pending, grants, epoch,
        seq_ceiling, usage, run_id, updated_at, progress, turn_start, pinned, archived, model_choice, effort_choice, version)
    select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, 0";

impl AppendWrite {
    /// The arguments of [`UPDATE_CHAT`] before the columns.
    pub fn place(&self, version: u64) -> [Arg; 2] {
        [Arg::from(self.chat), Arg::from(version)]
    }
}
