use crate::App;
use crate::answer::ApiResult;
use crate::guard::Caller;
use axum::Json;
use axum::extract::State;
use planwright_protocol::api::chat::{Pending, ProgressView};
use planwright_protocol::api::inbox::{InboxChat, InboxProgress, InboxQuestion, InboxView};
use planwright_store::{InboxEntry, InboxRow, Right};

/// Maximum number of finished chats without anything to review.
const RECENT: usize = 20;
pub async fn show(State(app): State<App>, caller: Caller) -> ApiResult<InboxView> {
    let (store, user) = (app.sessions.store(), caller.user());
    let active = store.inbox(user, InboxEntry::Active).await?;
    let finished = store.inbox(user, InboxEntry::Finished).await?;
    let mut inbox = InboxView::default();
    for chat in active.into_iter().map(inbox_chat) {
        let is_yours = chat.question.is_some() && chat.right >= Right::Member;
        if is_yours { inbox.needs_you.push(chat) } else { inbox.running.push(chat) }
    }
    for chat in finished.into_iter().map(inbox_chat) {
        if chat.viewed < chat.files && chat.right >= Right::Member {
            inbox.to_review.push(chat);
        } else if chat.pinned || inbox.recent.len() < RECENT {
            inbox.recent.push(chat);
        }
    }
    inbox.needs_you.sort_by_key(InboxChat::priority);
    for group in [&mut inbox.running, &mut inbox.to_review, &mut inbox.recent] {
        group.sort_by_key(|chat| !chat.pinned);
    }
    Ok(Json(inbox))
}

fn inbox_chat(row: InboxRow) -> InboxChat {
    let InboxRow { chat, workspace_name, right, files, viewed } = row;
    let progress = chat.progress.filter(|progress| chat.config.plan_file.as_ref() == Some(&progress.plan_file));
    let question = chat.pending.and_then(|pending| serde_json::from_value::<Pending>(pending).ok());
    InboxChat {
        id: chat.id,
        workspace_id: chat.workspace_id,
        workspace_name,
        right,
        title: chat.title,
        config: chat.config,
        state: chat.state,
        pinned: chat.marks.pinned,
        person: chat.marks.person,
        question: question.map(InboxQuestion::from),
        progress: progress.map(|progress| InboxProgress::from(ProgressView::from(progress))),
        cost: chat.usage.cost,
        files,
        viewed,
        updated_at: chat.updated_at,
    }
}
