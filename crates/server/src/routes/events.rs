use crate::App;
use crate::answer::{ApiError, EventStream};
use crate::guard::{Caller, VisibleWorkspaces};
use crate::request::{Ids, LastEventId, Params};
use crate::sse;
use axum::extract::State;
use planwright_feed::Cursor;
use planwright_protocol::{ChatId, ErrorCode, Problem, WorkspaceId};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// Maximum number of chats followed in one stream.
const MAX_FOLLOWED: usize = 32;

#[derive(Deserialize, JsonSchema)]
pub struct ChatQuery {
    /// The id of the last event that the client has, if it can't send `Last-Event-ID`.
    after: Option<u64>,
}

/// The events of one chat.
pub async fn of_chat(
    State(app): State<App>,
    caller: Caller,
    Ids((workspace, chat)): Ids<(WorkspaceId, ChatId)>,
    Params(query): Params<ChatQuery>,
    LastEventId(last): LastEventId,
) -> Result<EventStream, ApiError> {
    // No event has an id that is not a number: the client reloads the chat.
    let after = last.map(|id| id.parse().unwrap_or(u64::MAX)).or(query.after).unwrap_or_default();
    let follower = app.sessions.follow(workspace, chat, Some(after)).await?.counted(app.access.unsent.of(&caller));
    Ok(sse::of_chat(follower, app.closing.clone()))
}

#[derive(Deserialize, JsonSchema)]
pub struct AllQuery {
    /// Chats whose every event is wanted, separated by commas; `ID@7` starts after event 7.
    chats: Option<String>,
    /// The id of the last event that the client has, if it can't send `Last-Event-ID`.
    after: Option<String>,
}

/// The events of all chats: one stream for a whole browser.
pub async fn over_all(
    State(app): State<App>,
    caller: Caller,
    Params(query): Params<AllQuery>,
    LastEventId(last): LastEventId,
) -> Result<EventStream, ApiError> {
    let named = named(query.chats.as_deref().unwrap_or_default())?;
    let cursor = last.or(query.after).map(|id| id.parse().unwrap_or_else(|()| Cursor::unknown()));
    let visible = VisibleWorkspaces::of(&app, &caller).await?;
    let overview = app.sessions.overview(visible.visibility(), cursor.as_ref(), &named).await?;
    let EventStream(mut response) = sse::over_all(overview.counted(&app.access.unsent.of(&caller)), app.closing.clone());
    response.extensions_mut().insert(visible);
    Ok(EventStream(response))
}

fn named(chats: &str) -> Result<Vec<(ChatId, Option<u64>)>, Problem> {
    let wrong = |why: String| {
        Problem::new(ErrorCode::ValidationFailed, format!("`chats` {why}.")).with_details(json!({ "fields": { "chats": why } }))
    };
    let one = |part: &str| {
        let (id, seen) = part.split_once('@').map_or((part, None), |(id, seen)| (id, Some(seen)));
        Some((id.parse().ok()?, seen.map(str::parse).transpose().ok()?))
    };
    let mut named: Vec<(ChatId, Option<u64>)> = Vec::new();
    for part in chats.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let chat = one(part).ok_or_else(|| wrong(format!("must be chat ids separated by commas; {part:?} is not one")))?;
        if named.iter().all(|(id, _)| *id != chat.0) {
            named.push(chat);
        }
    }
    if named.len() > MAX_FOLLOWED {
        return Err(wrong(format!("can name {MAX_FOLLOWED} chats at most")));
    }
    Ok(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chats_are_named_once_each_and_may_say_where_to_begin() {
        let (a, b) = (ChatId::generate(), ChatId::generate());
        assert_eq!(named(&format!("{a}@7, {b},{a}")).unwrap(), [(a, Some(7)), (b, None)]);
        assert!(named("").unwrap().is_empty());
        for wrong in ["x", &format!("{a}@x"), &format!("{a};{b}")] {
            assert_eq!(named(wrong).unwrap_err().code, ErrorCode::ValidationFailed);
        }
        let many: Vec<String> = (0..=MAX_FOLLOWED).map(|_| ChatId::generate().to_string()).collect();
        assert!(named(&many.join(",")).is_err() && named(&many[1..].join(",")).is_ok());
    }
}
