//! Sends a request to the node that has its workspace.

use super::wire::{ForwardedRequest, ForwardedResponse, RequestHead};
use crate::App;
use crate::answer::ApiError;
use crate::change_rule::ChangeRule;
use crate::guard::Caller;
use crate::request::any_body;
use axum::body::{Body, Bytes};
use axum::extract::{FromRequestParts, MatchedPath, RawPathParams, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use planwright_chat::node_away;
use planwright_feed::{Peers, Unanswered};
use planwright_protocol::{CallId, ErrorCode, Problem, WorkspaceId};
use planwright_store::NodePlace;
use serde_json::json;
use std::time::{Duration, Instant};

/// How the routes end that read only the database, and so answer alike on every node. Streams follow the bus.
const STORED: &[&str] = &[
    "/workspaces/{wid}",
    "/audit",
    "/audit/counts",
    "/audit/adherence",
    "/members",
    "/messages",
    "/body",
    "/chats/{cid}/search",
    "/viewed",
    "/events",
];
/// How long a change waits for a node that takes the workspace over; a bit longer than a lease.
const PATIENCE: Duration = Duration::from_secs(7);
/// The same for reading, which can be answered from the database instead.
const PATIENCE_OF_READERS: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(100);
const KEY: &str = "idempotency-key";

/// Sends a request for a workspace of another node there, and answers as that node does.
pub async fn to_owner(State(app): State<App>, caller: Caller, route: MatchedPath, request: Request, next: Next) -> Response {
    let Some(peers) = app.sessions.peers() else { return next.run(request).await };
    let (mut parts, body) = request.into_parts();
    let is_stored = parts.method.is_safe() && STORED.iter().any(|ending| route.as_str().ends_with(ending));
    let workspace = workspace_of(&mut parts).await.filter(|workspace| !is_stored && !app.sessions.store().leases().holds(*workspace));
    let Some(workspace) = workspace else { return next.run(Request::from_parts(parts, body)).await };
    let body = match any_body(&parts.headers, body).await {
        Ok(body) => Bytes::from(body),
        Err(refused) => return refused.into_response(),
    };
    if ChangeRule::of(&parts.extensions).is_some_and(ChangeRule::takes_key) && !parts.headers.contains_key(KEY) {
        // Without a key the outcome of a lost request could not be looked up.
        if let Ok(key) = HeaderValue::from_str(&CallId::generate().to_string()) {
            parts.headers.insert(KEY, key);
        }
    }
    match forwarded(&app, peers, workspace, &parts, &body, &caller).await {
        Ok(Some(response)) => response,
        Ok(None) => next.run(Request::from_parts(parts, Body::from(body))).await,
        // The database tells what it knows; what needs the node itself says that it is away.
        Err(_) if parts.method.is_safe() => next.run(Request::from_parts(parts, Body::from(body))).await,
        Err(away) => away.into_response(),
    }
}

/// The owner's response; `None` if this node is the owner by now, or nobody can be.
async fn forwarded(
    app: &App,
    peers: &Peers,
    workspace: WorkspaceId,
    parts: &Parts,
    body: &Bytes,
    caller: &Caller,
) -> Result<Option<Response>, ApiError> {
    let head = RequestHead::new(workspace, parts, caller.account.as_ref());
    let Some(message) = ForwardedRequest::to_bytes(&head, body) else { return Ok(None) };
    let (began, patience) = (Instant::now(), if parts.method.is_safe() { PATIENCE_OF_READERS } else { PATIENCE });
    let mut away = node_away(None);
    loop {
        match app.sessions.store().place_of(workspace).await? {
            NodePlace::Here if app.sessions.store().leases().holds(workspace) => return Ok(None),
            NodePlace::Unknown => return Ok(None),
            NodePlace::Here | NodePlace::Nowhere { home: None } => {}
            NodePlace::Nowhere { home: Some(node) } => away = node_away(Some(&node)),
            NodePlace::Node(node) => match peers.ask(&node, message.clone()).await {
                Ok(answer) => match ForwardedResponse::parse(&answer) {
                    Some(response) if response.is_elsewhere() || response.is_away() => {}
                    Some(response) => return Ok(response.into_http()),
                    None => tracing::warn!(node, "a response of another node can't be read"),
                },
                Err(Unanswered::Cut) => return Err(unreachable(&node, parts).into()),
                // Sent again under the same key, it is answered without being made twice.
                Err(Unanswered::Unheard | Unanswered::Lost) => away = unreachable(&node, parts),
            },
        }
        if began.elapsed() >= patience {
            return Err(away.into());
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn workspace_of(parts: &mut Parts) -> Option<WorkspaceId> {
    let params = RawPathParams::from_request_parts(parts, &()).await.ok()?;
    params.iter().find(|(key, _)| *key == "wid").and_then(|(_, value)| value.parse().ok())
}

fn unreachable(node: &str, parts: &Parts) -> Problem {
    let text = format!("Node {node} has this workspace and can't be reached from this one. Try again in a few seconds.");
    let problem = Problem::new(ErrorCode::NodeAway, text);
    match parts.headers.get(KEY).and_then(|key| key.to_str().ok()) {
        Some(key) if parts.method != Method::GET => problem.with_details(json!({ "idempotency_key": key, "node": node })),
        Some(_) | None => problem,
    }
}
