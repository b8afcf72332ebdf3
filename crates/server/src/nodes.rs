//! Requests for workspaces of other nodes.
//!
//! | module | contents |
//! | --- | --- |
//! | [`forward`] | sends a request to the node that has its workspace |
//! | [`wire`] | requests and responses as messages between nodes |
//!
//! Invariants: a request that changes something is made at the node that has the workspace, under a key. A node checks the rights of
//! a forwarded request like those of its own.

mod forward;
mod wire;

pub use forward::to_owner;

use crate::App;
use crate::guard::Caller;
use axum::Router;
use bytes::Bytes;
use planwright_feed::{ChatQuestion, Peers};
use planwright_protocol::WorkspaceId;
use tower::ServiceExt;
use wire::{ForwardedRequest, ForwardedResponse};

/// Answers other nodes until the server ends.
pub async fn serve(peers: Peers, app: App, router: Router) {
    let closing = app.closing.clone();
    let answer = move |request: Bytes| {
        let (app, router) = (app.clone(), router.clone());
        async move { answer(&app, router, &request).await.unwrap_or_default() }
    };
    closing.run_until_cancelled(peers.serve(answer)).await;
}

/// `None` for a request that can't be read.
async fn answer(app: &App, router: Router, request: &Bytes) -> Option<Bytes> {
    if let Some(question) = request.strip_prefix(b"chat ") {
        let question: ChatQuestion = serde_json::from_slice(question).ok()?;
        return app.sessions.answer(&question).await;
    }
    let request = ForwardedRequest::parse(request.slice_ref(request.strip_prefix(b"http ")?))?;
    let workspace: WorkspaceId = request.head.workspace;
    if !app.sessions.store().leases().holds(workspace) {
        return ForwardedResponse::not_here().to_bytes();
    }
    let caller = Caller::of_node(request.head.account()?);
    let mut request = request.into_http()?;
    request.extensions_mut().insert(caller);
    let response = router.oneshot(request).await.ok()?;
    ForwardedResponse::of(response).await?.to_bytes()
}
