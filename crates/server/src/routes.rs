//! The table of routes: what is served, and what `/openapi.json` and `/docs` tell, are these rows.
//!
//! To add a route:
//! 1. Write the handler in `routes/THING.rs`: at most 25 lines, no policy. Its types are its description: ids of the path by
//!    `Ids<(WorkspaceId, ChatId)>`, the query by `Params<Q>`, a body by `Body<B>` (`OptionalBody<B>` if it may be left out).
//! 2. It answers `ApiResult<T>` (200), or `Result<_, ApiError>` of `Created<T>`, `Accepted<T>`, `NoContent`, `EventStream`.
//!    No `json!`: `T` is a struct that derives `Serialize, JsonSchema`; bodies derive `Deserialize, JsonSchema` and
//!    have `#[serde(deny_unknown_fields)]`. Doc comments of fields, and `#[schemars(example = …)]`, are what readers see.
//! 3. Add its row below, with a summary, and in `.fails([…])` the codes that its parts don't imply. Implied are 401, 403, 500,
//!    404 of `Ids`, 422 of `Params`, 400, 413, 415, 422 of bodies, and 507 of what changes something.
//! 4. Limits of pages go through `page_size`. An extractor or answer of your own implements `Input` or `Output` of `describe`.

mod accounts;
mod admin;
mod audit;
mod auth;
mod changes;
mod chats;
mod docs;
mod events;
mod files;
mod images;
mod inbox;
mod members;
mod messages;
mod meta;
mod models;
mod operation;
mod page;
mod plans;
mod servers;
mod tokens;
mod tools;
mod trust;
mod ui;
mod viewed;
mod workspaces;

pub use models::{ModelNames, ModelSources, ProviderView, Shelf};

use crate::App;
use crate::answer::ApiError;
use crate::guard;
use crate::headers;
use crate::idempotency;
use crate::observe;
use crate::request::LARGEST_BODY;
use crate::table::{Route, SignIn, Table};
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::get;
use planwright_protocol::ErrorCode::{
    ConfirmationRequired, Conflict, NoPlan, NotFound, NotReady, QuestionNotPending, RateLimited, TooLarge, UnsupportedMediaType,
};
use planwright_protocol::{ErrorCode, Problem};
use tower_http::catch_panic::CatchPanicLayer;

/// The API: every row needs sign-in.
#[rustfmt::skip]
fn api() -> Table {
    Table::new("/api/v1", SignIn::Needed)
        .about("Server")
        .get("/me", meta::me, "Who is asking, and what this server is")
        .get("/roles", meta::roles, "The roles and their rights")
        .get("/tools", meta::tools, "The tools, all or those of a role")
        .get("/models", models::list, "Where models can be had from, and what is needed for it")
        .post("/models/test", models::test, "Whether a model answers, found out by a request that costs nothing")
        .get("/openapi.json", docs::document, "This description")
        .about("Sign-in")
        .post("/auth/logout", auth::logout, "End the session")
        .post("/auth/password", auth::password, "Change one's own password; signs out everywhere else").fails([Conflict, RateLimited])
        .get("/tokens", tokens::list, "The caller's tokens, without the tokens themselves")
        .post("/tokens", tokens::create, "Make a token for a script; it is shown once").fails([Conflict])
        .delete("/tokens", tokens::delete_named, "Take a token back, named in the query").fails([NotFound])
        .delete("/tokens/{tid}", tokens::delete, "Take a token back")
        .about("Audit")
        .get("/audit", audit::list, "What was logged, newest first")
        .get("/audit/counts", audit::counts, "What was logged, counted by day")
        .get("/audit/adherence", audit::adherence, "How well models kept to their roles")
        .get("/workspaces/{wid}/audit", audit::list_of, "What was logged in a workspace, newest first")
        .get("/workspaces/{wid}/audit/counts", audit::counts_of, "What was logged in a workspace, counted by day")
        .get("/workspaces/{wid}/audit/adherence", audit::adherence_of, "How well models kept to their roles in a workspace")
        .about("Workspaces")
        .get("/workspaces", workspaces::list, "The workspaces")
        .post("/workspaces", workspaces::create, "Make a folder known as a workspace")
        .post("/sample", workspaces::sample, "Make a sample workspace, on which the demo model can be tried")
        .get("/workspaces/{wid}", workspaces::show, "A workspace")
        .patch("/workspaces/{wid}", workspaces::update, "Change the name or the settings of a workspace")
        .delete("/workspaces/{wid}", workspaces::delete, "End the chats of a workspace and forget it; no file is touched")
        .get("/workspaces/{wid}/rules", workspaces::rules, "What holds in a workspace: modes, approvals, sandbox, limits, models")
        .get("/workspaces/{wid}/models", models::options, "The models that are configured, and those that can be chosen for a chat")
        .get("/workspaces/{wid}/trust", trust::show, "What in the folder would run or widen something")
        .post("/workspaces/{wid}/plans/lint", plans::lint, "What should be mended in a plan's text")
        .post("/workspaces/{wid}/trust", trust::accept, "Accept that, by its hash").fails([Conflict])
        .get("/workspaces/{wid}/mcp", servers::list, "The MCP servers, as far as they are known; starts none")
        .post("/workspaces/{wid}/mcp", servers::check, "Start the MCP servers that may be, and ask what they offer")
        .get("/workspaces/{wid}/files", files::tree, "What is in a folder").fails([NotFound])
        .get("/workspaces/{wid}/files/content", files::content, "A file").fails([NotFound, TooLarge])
        .get("/workspaces/{wid}/files/image", images::of_workspace, "An image of the workspace").fails([NotFound, TooLarge, UnsupportedMediaType])
        .get("/workspaces/{wid}/files/find", files::find, "Files by what is typed of their names")
        .get("/workspaces/{wid}/plans", files::plans, "The plans, and how far they have come")
        .post("/workspaces/{wid}/tools", tools::call, "Run one tool, by the same gate and log as the model's calls")
        .get("/workspaces/{wid}/members", members::list, "Who may do what in a workspace")
        .post("/workspaces/{wid}/members", members::put, "Make somebody a member, or give a member another right").fails([Conflict])
        .delete("/workspaces/{wid}/members/{member}", members::delete, "Take somebody out of a workspace, by name or id").fails([Conflict])
        .about("Chats")
        .get("/inbox", inbox::show, "What needs you, what runs, what is to be reviewed and what was done, in all workspaces")
        .get("/workspaces/{wid}/chats", chats::list, "The chats of a workspace")
        .post("/workspaces/{wid}/chats", chats::create, "Begin a chat")
        .get("/workspaces/{wid}/chats/{cid}", chats::show, "A chat")
        .patch("/workspaces/{wid}/chats/{cid}", chats::update, "Change title, role, plan, model or effort of a chat; pin or archive it").fails([ConfirmationRequired, Conflict])
        .delete("/workspaces/{wid}/chats/{cid}", chats::delete, "End a chat and forget it").fails([Conflict])
        .get("/workspaces/{wid}/chats/{cid}/frontmatter", chats::frontmatter, "The frontmatter of the chat's file")
        .get("/workspaces/{wid}/chats/{cid}/snapshot", chats::snapshot, "All that is needed to draw the chat")
        .get("/workspaces/{wid}/chats/{cid}/context", chats::context, "What is in the model's context, and how full it is")
        .get("/workspaces/{wid}/chats/{cid}/drift", chats::drift, "Files of the plan that changed since it was written")
        .get("/workspaces/{wid}/chats/{cid}/events", events::of_chat, "What happens in the chat, as it happens")
        .post("/workspaces/{wid}/chats/{cid}/execute", chats::execute, "Approve the newest plan, switch to the Actor and start").fails([NoPlan, Conflict])
        .post("/workspaces/{wid}/chats/{cid}/retry", chats::retry, "Go on where the last run failed").fails([Conflict])
        .post("/workspaces/{wid}/chats/{cid}/compact", chats::compact, "Sum the conversation up").fails([Conflict])
        .post("/workspaces/{wid}/chats/{cid}/fork", chats::fork, "Begin another chat with what was said before a message").fails([NotFound])
        .post("/workspaces/{wid}/chats/{cid}/stop", chats::stop, "Stop the run; answers when nothing of it can happen any more").fails([Conflict])
        .get("/events", events::over_all, "What happens in all chats, in one stream for a whole browser")
        .about("Messages")
        .get("/workspaces/{wid}/chats/{cid}/messages", messages::list, "The messages, newest first")
        .post("/workspaces/{wid}/chats/{cid}/messages", messages::create, "Say something, or answer a question").fails([QuestionNotPending, NoPlan, Conflict])
        .get("/workspaces/{wid}/chats/{cid}/messages/{mid}/body", messages::body, "A message with the whole of its content")
        .get("/workspaces/{wid}/chats/{cid}/messages/{mid}/images", messages::images, "The images that came with a message")
        .post("/workspaces/{wid}/chats/{cid}/images", images::create, "Store an image, to be named in a message")
        .get("/workspaces/{wid}/chats/{cid}/images/{iid}", images::show, "An image of the chat").fails([UnsupportedMediaType])
        .delete("/workspaces/{wid}/chats/{cid}/queue/{mid}", messages::withdraw, "Take back a message that waits to be read").fails([Conflict])
        .get("/workspaces/{wid}/chats/{cid}/search", messages::search, "Messages that have a text in them, newest first")
        .get("/search", messages::search_all, "What was said in any chat that has a text in it, newest first")
        .about("Changes")
        .get("/workspaces/{wid}/chats/{cid}/changes", changes::list, "What the chat changed in files, as diffs")
        .get("/workspaces/{wid}/chats/{cid}/viewed", viewed::list, "The changed files that you have looked at, by content")
        .put("/workspaces/{wid}/chats/{cid}/viewed", viewed::put, "Mark a changed file as viewed, or as not viewed").fails([NotFound])
        .post("/workspaces/{wid}/chats/{cid}/revert", changes::revert, "Take back everything from a message on").fails([NotFound, Conflict])
}

/// The way in, which needs no sign-in.
#[rustfmt::skip]
fn door() -> Table {
    Table::new("/api/v1", SignIn::NotNeeded)
        .about("Sign-in")
        .post("/auth/login", auth::login, "Sign in: by the server's token, or by name and password")
            .fails([ErrorCode::Unauthenticated, RateLimited])
}

/// What stands beside it, open to everyone who comes by the right Host.
#[rustfmt::skip]
fn beside() -> Table {
    Table::new("", SignIn::NotNeeded)
        .about("Server")
        .get("/healthz", meta::healthz, "Whether the process answers")
        .get("/readyz", operation::readyz, "Whether work can be done: the database answers, and what is to be kept can be written").fails([NotReady])
        .get("/openapi.json", docs::open_document, "This description")
}

/// For those who run the server; in a team, for the admins. Numbers tell what people do.
fn operations() -> Table {
    Table::new("", SignIn::Needed).about("Server").get("/metrics", operation::metrics, "What was counted, for Prometheus")
}

/// For the admins of a team: who has an account and which folder, and a way to free one.
#[rustfmt::skip]
fn administration() -> Table {
    Table::new("/api/v1", SignIn::Needed)
        .about("Admin")
        .get("/admin/accounts", accounts::list, "Everybody with an account")
        .post("/admin/accounts", accounts::create, "Make an account").fails([Conflict, RateLimited])
        .patch("/admin/accounts/{uid}", accounts::update, "Give somebody another password; signs them out everywhere").fails([Conflict, RateLimited])
        .delete("/admin/accounts/{uid}", accounts::delete, "Remove an account, with its sessions, tokens and memberships").fails([Conflict])
        .get("/admin/workspaces", admin::workspaces, "Every workspace, with its path and members, and nothing of what is in it")
        .delete("/admin/workspaces/{wid}", admin::forget, "End the chats of a workspace and forget it, whosever it is; no file is touched")
}

/// Every row there is.
pub fn all() -> impl Iterator<Item = Route> {
    [beside(), operations(), door(), administration(), api()].into_iter().flat_map(|table| table.routes)
}

pub fn router(app: App) -> Router {
    let check_caller = || from_fn_with_state(app.clone(), guard::check_caller);
    let check_rights = from_fn_with_state(app.clone(), guard::check_rights);
    let for_admins = |table: Table| table.router.route_layer(from_fn(guard::check_admin)).route_layer(check_caller());
    let answer_once = from_fn_with_state(app.clone(), idempotency::answer_once);
    let api = api().router.fallback(not_found).route_layer(answer_once).route_layer(check_rights).route_layer(check_caller());
    let api = api.merge(door().router).merge(for_admins(administration()));
    beside()
        .router
        .merge(for_admins(operations()))
        .nest("/api/v1", api)
        .route("/docs", get(page::docs))
        .route("/docs/{name}", get(page::asset))
        .route("/", get(ui::page))
        .route("/w/{*view}", get(ui::page))
        .fallback(ui::other)
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .layer(from_fn_with_state(app.clone(), guard::check_address))
        .layer(CatchPanicLayer::custom(broken))
        .layer(from_fn(headers::put))
        .layer(from_fn(observe::observe))
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

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::to_bytes;
    use axum::http::{Request, StatusCode};
    use tower::ServiceExt;

    #[tokio::test]
    async fn a_panic_is_an_error_like_any_other() {
        let breaking = Router::<()>::new().route("/", get(async || -> &'static str { panic!("with a secret in it") }));
        let router = breaking.layer(CatchPanicLayer::custom(broken)).layer(from_fn(headers::put)).layer(from_fn(observe::observe));
        let response = router.oneshot(Request::new(axum::body::Body::empty())).await.unwrap();
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert!(response.headers().contains_key("x-request-id") && response.headers().contains_key("content-security-policy"));
        let body = String::from_utf8(to_bytes(response.into_body(), 10_000).await.unwrap().to_vec()).unwrap();
        assert!(body.contains("\"INTERNAL\"") && !body.contains("secret"), "{body}");
    }
}
