//! Commits finished work to a separate branch, if the user's configuration says so.
//!
//! Failures are reported and never end a run, because the work itself is done.

use crate::changes::is_under_way;
use crate::chat::{Change, Chat, broken};
use planwright_protocol::message::CommitOutcome;
use planwright_protocol::{Image, Message, MessageId, Mode, Notice, Problem};
use planwright_tools::WorkspacePath;
use planwright_tools::workspace::Commit;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// Commits the chat's changes since the last commit. `step` describes a finished step; without it, the commit is the whole work.
/// Returns the message that reports it.
pub async fn commit_work(chat: &Arc<Chat>, step: Option<&str>) -> Option<Message> {
    if !chat.settings().git.commit_steps || chat.record().config.role.mode() == Mode::Plan {
        return None;
    }
    let note = match commit(chat, step).await {
        Ok(None) => return None,
        Ok(Some((branch, id, through))) => {
            let text = format!("Committed to the branch {branch} as {}.", id.get(..12).unwrap_or(&id));
            note(chat, text, CommitOutcome::Committed { branch, id, through })
        }
        Err(problem) => {
            let text = format!("Can't commit the changes: {}. The files themselves are complete.", problem.message);
            note(chat, text, CommitOutcome::Failed { error: problem.message })
        }
    };
    if let Err(problem) = chat.publish(Change::messages([note.clone()]), |_| {}).await {
        tracing::warn!(chat = %chat.id, %problem, "can't report a commit");
        return None;
    }
    Some(note)
}

fn note(chat: &Chat, text: String, outcome: CommitOutcome) -> Message {
    Message::notice(chat.id, Notice::Commit(outcome), text)
}

/// The last message whose changes were committed.
fn committed_through(message: &Message) -> Option<MessageId> {
    let Some(Notice::Commit(CommitOutcome::Committed { through, .. })) = message.body.notice() else { return None };
    Some(*through)
}

/// The branch, the commit, and the last message whose changes are in it; `None` if there is nothing new.
async fn commit(chat: &Arc<Chat>, step: Option<&str>) -> Result<Option<(String, String, MessageId)>, Problem> {
    let under_way: HashSet<MessageId> =
        chat.turn_messages().await?.messages.iter().filter(|message| is_under_way(message)).map(|message| message.id).collect();
    let rows = chat.store.file_changes(chat.id).await?;
    let earlier = chat.store.landmarks(chat.id).await?.iter().rev().find_map(committed_through);
    let begin = earlier.and_then(|last: MessageId| rows.iter().rposition(|row| row.change.message_id == last)).map_or(0, |last| last + 1);
    let new: Vec<_> = rows[begin..].iter().filter(|row| !under_way.contains(&row.change.message_id)).collect();
    let Some(through) = new.last().map(|row| row.change.message_id) else { return Ok(None) };
    let newest: BTreeMap<&str, &Image> = new.iter().map(|row| (row.change.path.as_str(), &row.change.after)).collect();
    let mut files = Vec::new();
    for (path, image) in newest {
        if let Ok(path) = WorkspacePath::parse(path) {
            files.push((path, chat.version(image).await?));
        }
    }
    let row = chat.record();
    let branch = branch_of(row.config.plan_file.as_deref(), chat);
    let title = step.map_or_else(|| row.title.clone(), str::to_owned);
    let mark = format!("Planwright-Change: {through}");
    let (workspace, secrets, named) = (chat.workspace.clone(), chat.settings().secrets.clone(), branch.clone());
    let done = move || {
        // Ignored files and secrets are not committed.
        files.retain(|(path, _)| !secrets.contains(path) && !path.is_protected() && !workspace.is_ignored(path));
        if files.is_empty() || !workspace.is_repository() {
            return Ok(None);
        }
        workspace.commit(&Commit { branch: named, message: title, mark, at: row.updated_at.as_second(), files }).map(Some)
    };
    let done = tokio::task::spawn_blocking(done).await.map_err(broken)?;
    let id = done.map_err(|why| Problem::new(planwright_protocol::ErrorCode::Conflict, why))?;
    Ok(id.map(|id| (branch, id, through)))
}

/// One branch for each plan.
fn branch_of(plan_file: Option<&str>, chat: &Chat) -> String {
    let name = plan_file.and_then(|path| path.rsplit('/').next()).map(|name| name.trim_end_matches(".plan").to_owned());
    format!("planwright/{}", name.unwrap_or_else(|| format!("chat-{}", chat.id)))
}
