//! Deletes old chats and audit entries. Without `[retention]` nothing is deleted.

use crate::output;
use planwright_chat::Sessions;
use planwright_protocol::settings::Retention;
use planwright_protocol::time::now;
use planwright_protocol::{ChatId, Problem, Timestamp};
use std::num::NonZeroU32;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const DAY: Duration = Duration::from_hours(24);

/// Deletes expired data now, and then once a day.
pub async fn observe(sessions: Sessions, retention: Retention, closing: CancellationToken) {
    if retention == Retention::default() {
        return;
    }
    loop {
        if let Err(problem) = sweep(&sessions, retention).await {
            output::note(&format!("can't delete data older than [retention] allows: {problem}"));
        }
        tokio::select! {
            () = closing.cancelled() => return,
            () = tokio::time::sleep(DAY) => {}
        }
    }
}

async fn sweep(sessions: &Sessions, retention: Retention) -> Result<(), Problem> {
    let store = sessions.store();
    if let Some((days, moment)) = before(retention.chats_days) {
        let unused = store.unused_since(moment).await?;
        let mut forgotten = 0;
        for chat in unused {
            forgotten += u32::from(forget(sessions, chat, moment).await?);
        }
        if forgotten > 0 {
            output::note(&format!("deleted chats unused for {days} days: {forgotten}"));
        }
    }
    if let Some((days, moment)) = before(retention.audit_days) {
        let forgotten = store.forget_audit(moment).await?;
        if forgotten > 0 {
            output::note(&format!("deleted entries of the audit log older than {days} days: {forgotten}"));
        }
    }
    Ok(())
}

/// Deletes a chat, unless it was used meanwhile.
async fn forget(sessions: &Sessions, chat: ChatId, moment: Timestamp) -> Result<bool, Problem> {
    let store = sessions.store();
    // The node that has the workspace does the same.
    if store.chat(chat).await?.is_none_or(|row| row.updated_at >= moment || !store.leases().holds(row.workspace_id)) {
        return Ok(false);
    }
    sessions.delete(chat).await?;
    Ok(true)
}

/// The time this many days ago, if it can be represented.
fn before(days: Option<NonZeroU32>) -> Option<(NonZeroU32, Timestamp)> {
    let days = days?;
    Some((days, now().checked_sub(DAY.checked_mul(days.get())?).ok()?))
}
