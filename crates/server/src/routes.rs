//! The table of routes.

mod audit;
mod auth;
mod changes;
mod chats;
mod members;
mod messages;
mod meta;
mod page;
mod tokens;
mod trust;
mod workspaces;

use crate::App;
use crate::answer::ApiError;
use crate::guard;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use axum::routing::{delete, get, post};
use planwright_protocol::{ErrorCode, Problem};
use tower_http::catch_panic::CatchPanicLayer;

const LARGEST_BODY: usize = 4 << 20;

pub fn router(app: App) -> Router {
    let api = Router::new()
        .route("/me", get(meta::me))
        .route("/roles", get(meta::roles))
        .route("/tools", get(meta::tools))
        .route("/auth/logout", post(auth::logout))
        .route("/tokens", get(tokens::list).post(tokens::create).delete(tokens::delete_named))
        .route("/tokens/{tid}", delete(tokens::delete))
        .route("/audit", get(audit::list))
        .route("/audit/adherence", get(audit::adherence))
        .route("/workspaces", get(workspaces::list))
        .route("/workspaces/{wid}", get(workspaces::show))
        .route("/workspaces/{wid}/trust", get(trust::show).post(trust::accept))
        .route("/workspaces/{wid}/members", get(members::list).post(members::put))
        .route("/workspaces/{wid}/members/{member}", delete(members::delete))
        .route("/workspaces/{wid}/audit", get(audit::list_of))
        .route("/workspaces/{wid}/audit/adherence", get(audit::adherence_of))
        .route("/workspaces/{wid}/chats", get(chats::list).post(chats::create))
        .route("/workspaces/{wid}/chats/{cid}", get(chats::show).patch(chats::update).delete(chats::delete))
        .route("/workspaces/{wid}/chats/{cid}/frontmatter", get(chats::frontmatter))
        .route("/workspaces/{wid}/chats/{cid}/snapshot", get(chats::snapshot))
        .route("/workspaces/{wid}/chats/{cid}/events", get(chats::events))
        .route("/workspaces/{wid}/chats/{cid}/messages", get(messages::list).post(messages::create))
        .route("/workspaces/{wid}/chats/{cid}/changes", get(changes::list))
        .route("/workspaces/{wid}/chats/{cid}/revert", post(changes::revert))
        .route("/workspaces/{wid}/chats/{cid}/execute", post(chats::execute))
        .route("/workspaces/{wid}/chats/{cid}/compact", post(chats::compact))
        .route("/workspaces/{wid}/chats/{cid}/stop", post(chats::stop))
        .fallback(not_found)
        .route_layer(from_fn_with_state(app.clone(), guard::check_rights))
        .route_layer(from_fn_with_state(app.clone(), guard::check_caller))
        .route("/auth/login", post(auth::login));
    Router::new()
        .nest("/api/v1", api)
        .route("/", get(page::show))
        .route("/healthz", get(meta::healthz))
        .fallback(not_found)
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .layer(from_fn_with_state(app.clone(), guard::check_address))
        .layer(CatchPanicLayer::custom(broken))
        .with_state(app)
}

async fn not_found() -> ApiError {
    Problem::new(ErrorCode::NotFound, "There is nothing at this address.").into()
}

async fn wrong_method() -> ApiError {
    Problem::new(ErrorCode::MethodNotAllowed, "This address does not take that method.").into()
}

fn broken(_: Box<dyn std::any::Any + Send>) -> axum::response::Response {
    use axum::response::IntoResponse;
    ApiError::from(Problem::new(ErrorCode::Internal, "Something broke inside Planwright. Please report it; nothing stored is lost."))
        .into_response()
}
