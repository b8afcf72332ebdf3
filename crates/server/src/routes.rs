//! The table of routes. The server serves these rows, and `/openapi.json` and `/docs` describe them.
//!
//! To add a route:
//! 1. Write the handler in `routes/THING.rs`: at most 25 lines, no policy. Its types are its description: path ids are
//!    `Ids<(WorkspaceId, ChatId)>`, the query is `Params<Q>`, a body is `Body<B>` (`OptionalBody<B>` if it is optional).
//! 2. It returns `ApiResult<T>` (200), or `Result<_, ApiError>` of `Created<T>`, `Accepted<T>`, `NoContent`, `EventStream`.
//!    No `json!`: `T` is a struct that derives `Serialize, JsonSchema`; bodies derive `Deserialize, JsonSchema` and
//!    have `#[serde(deny_unknown_fields)]`. Readers of the description see the doc comments and `#[schemars(example = …)]`.
//! 3. Add its row below, with a summary, and in `.fails([…])` the codes that its types don't imply. They imply 401, 403, 500,
//!    404 for `Ids`, 422 for `Params`, 400, 413, 415, 422 for bodies, and 507 for every change.
//! 4. If it changes something, `.by(…)` says who may, and what an `Idempotency-Key` does. A test fails on a row without it.
//! 5. Page limits go through `page_size`. A new extractor or response implements `DescribeInput` or `DescribeOutput`.

mod accounts;
mod admin;
mod audit;
mod auth;
mod changes;
mod chats;
mod cluster;
mod docs;
mod events;
mod files;
mod grants;
mod images;
mod inbox;
mod members;
mod messages;
mod meta;
mod models;
mod operation;
mod page;
mod plan;
mod plans;
mod servers;
mod tokens;
mod tools;
mod trust;
mod ui;
mod viewed;
mod workspaces;

pub use models::{ModelDirectory, ModelSources, ProviderView};

use crate::App;
use crate::answer::ApiError;
use crate::change_rule::ChangeRule;
use crate::change_rule::ChangedBy::{AdminMembers, Admins, Everyone, Members, Owners, SignedIn};
use crate::change_rule::KeyUse::{Ignored, WithOp, WithRequest};
use crate::guard;
use crate::headers;
use crate::idempotency;
use crate::leash::{self, Leashes};
use crate::nodes;
use crate::observe;
use crate::readiness::ReadinessChecks;
use crate::request::LARGEST_BODY;
use crate::table::{Route, SignInRule, Table};
use axum::extract::{DefaultBodyLimit, MatchedPath, Request};
use axum::http::Method;
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::Response;
use axum::routing::get;
use axum::{Extension, Router};
use planwright_protocol::ErrorCode::{
    ConfirmationRequired, Conflict, NoPlan, NodeAway, NotFound, NotReady, QuestionNotPending, RateLimited, TooLarge, UnsupportedMediaType,
};
use planwright_protocol::{ErrorCode, Problem};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
use tower_http::catch_panic::CatchPanicLayer;

/// The API: every row needs sign-in.
#[rustfmt::skip]
fn api() -> Table {
    let table = Table::new("/api/v1", SignInRule::Needed)
        .about("Server")
        .get("/me", meta::me, "The signed-in user, and this server")
        .get("/roles", meta::roles, "The roles and their permissions")
        .get("/tools", meta::tools, "The tools: all of them, or those of a role")
        .get("/models", models::list, "The providers of models, and what each still needs")
        .post("/models/test", models::test, "Check whether a model is usable, by a request that costs nothing").by(SignedIn, Ignored)
        .get("/openapi.json", docs::document, "This description")
        .about("Sign-in")
        .post("/auth/logout", auth::logout, "End the session").by(SignedIn, Ignored)
        .post("/auth/password", auth::password, "Change your own password; ends your other sessions").by(SignedIn, Ignored).fails([Conflict, RateLimited])
        .get("/tokens", tokens::list, "Your tokens, without their secrets")
        .post("/tokens", tokens::create, "Create a token for a script; its secret is shown once").by(SignedIn, Ignored).fails([Conflict])
        .delete("/tokens", tokens::delete_named, "Revoke a token, named in the query").by(SignedIn, Ignored).fails([NotFound])
        .delete("/tokens/{tid}", tokens::delete, "Revoke a token").by(SignedIn, Ignored)
        .about("Audit")
        .get("/audit", audit::list, "The audit log, newest first")
        .get("/audit/counts", audit::counts, "The audit log, counted by day")
        .get("/audit/adherence", audit::adherence, "How well models kept to their roles")
        .get("/workspaces/{wid}/audit", audit::list_of, "The audit log of a workspace, newest first")
        .get("/workspaces/{wid}/audit/counts", audit::counts_of, "The audit log of a workspace, counted by day")
        .get("/workspaces/{wid}/audit/adherence", audit::adherence_of, "How well models kept to their roles in a workspace")
        .about("Workspaces")
        .get("/workspaces", workspaces::list, "The workspaces")
        .post("/workspaces", workspaces::create, "Add a folder as a workspace").by(SignedIn, WithRequest)
        .post("/sample", workspaces::sample, "Create a sample workspace for trying the demo model").by(SignedIn, WithRequest)
        .get("/workspaces/{wid}", workspaces::show, "A workspace")
        .patch("/workspaces/{wid}", workspaces::update, "Change the name or the settings of a workspace").by(Owners, WithRequest)
        .delete("/workspaces/{wid}", workspaces::delete, "Delete a workspace and its chats; the folder's files stay").by(Owners, WithRequest)
        .get("/workspaces/{wid}/rules", workspaces::rules, "The settings in force: modes, approvals, sandbox, limits, models")
        .get("/workspaces/{wid}/models", models::options, "The configured models, and those that a chat can choose")
        .get("/workspaces/{wid}/trust", trust::show, "The parts of the folder's configuration that need trust")
        .post("/workspaces/{wid}/plans/lint", plans::lint, "Check the text of a plan").by(Members, Ignored)
        .post("/workspaces/{wid}/trust", trust::accept, "Trust them, by their hash").by(AdminMembers, WithRequest).fails([Conflict])
        .get("/workspaces/{wid}/mcp", servers::list, "The MCP servers in their last known state; starts none")
        .post("/workspaces/{wid}/mcp", servers::check, "Start the accepted MCP servers and list their tools").by(Members, WithRequest)
        .get("/workspaces/{wid}/files", files::tree, "List a folder").fails([NotFound])
        .get("/workspaces/{wid}/files/content", files::content, "A file").fails([NotFound, TooLarge])
        .get("/workspaces/{wid}/files/image", images::of_workspace, "An image file of the workspace").fails([NotFound, TooLarge, UnsupportedMediaType])
        .get("/workspaces/{wid}/files/find", files::find, "Find files by letters of their paths")
        .get("/workspaces/{wid}/plans", files::plans, "The plans, with their progress")
        .post("/workspaces/{wid}/tools", tools::call, "Run one tool, through the same gate and log as a model's calls").by(Members, WithRequest)
        .get("/workspaces/{wid}/members", members::list, "The members of a workspace, and their rights")
        .post("/workspaces/{wid}/members", members::put, "Add a member, or change a member's right").by(Owners, WithRequest).fails([Conflict])
        .delete("/workspaces/{wid}/members/{member}", members::delete, "Remove a member, by name or id").by(Owners, WithRequest).fails([Conflict]);
    with_chats(table)
}

#[rustfmt::skip]
fn with_chats(table: Table) -> Table {
    table
        .about("Chats")
        .get("/inbox", inbox::show, "Chats of all workspaces that need you, run, wait for a review or are done")
        .get("/workspaces/{wid}/chats", chats::list, "The chats of a workspace")
        .post("/workspaces/{wid}/chats", chats::create, "Create a chat").by(Members, WithRequest)
        .get("/workspaces/{wid}/chats/{cid}", chats::show, "A chat")
        .patch("/workspaces/{wid}/chats/{cid}", chats::update, "Change title, role, plan, model or effort of a chat; pin or archive it").by(Members, WithOp).fails([ConfirmationRequired, Conflict])
        .delete("/workspaces/{wid}/chats/{cid}", chats::delete, "Stop and delete a chat").by(Members, WithRequest).fails([Conflict])
        .get("/workspaces/{wid}/chats/{cid}/frontmatter", chats::frontmatter, "The frontmatter of the chat's file")
        .get("/workspaces/{wid}/chats/{cid}/snapshot", chats::snapshot, "Everything a client needs to draw the chat")
        .get("/workspaces/{wid}/chats/{cid}/context", chats::context, "The contents of the model's context, and how full it is")
        .get("/workspaces/{wid}/chats/{cid}/drift", chats::drift, "Files of the plan that changed since planning")
        .get("/workspaces/{wid}/chats/{cid}/events", events::of_chat, "The events of the chat, as a stream")
        .post("/workspaces/{wid}/chats/{cid}/execute", plan::execute, "Approve the newest plan or some of its steps, switch to the Actor and start").by(Members, WithOp).fails([NoPlan, Conflict])
        .get("/workspaces/{wid}/chats/{cid}/plan", plan::show, "The chat's plan as its file is now, with its hash and findings").fails([NoPlan])
        .put("/workspaces/{wid}/chats/{cid}/plan", plan::edit, "Write the next version of the chat's plan").by(Members, WithOp).fails([NoPlan, Conflict])
        .get("/workspaces/{wid}/chats/{cid}/grants", grants::list, "What the user always allowed in this chat")
        .delete("/workspaces/{wid}/chats/{cid}/grants/{gid}", grants::revoke, "Revoke what was always allowed").by(Members, WithOp)
        .post("/workspaces/{wid}/chats/{cid}/retry", chats::retry, "Continue after a failed run").by(Members, WithOp).fails([Conflict])
        .post("/workspaces/{wid}/chats/{cid}/compact", chats::compact, "Replace the conversation by a summary").by(Members, WithOp).fails([Conflict])
        .post("/workspaces/{wid}/chats/{cid}/fork", chats::fork, "Create a chat with the messages before a message").by(Members, WithRequest).fails([NotFound])
        .post("/workspaces/{wid}/chats/{cid}/stop", chats::stop, "Stop the run; answers when nothing of it can take effect any more").by(Members, WithOp).fails([Conflict])
        .get("/events", events::over_all, "The events of all chats, in one stream for a whole browser")
        .about("Messages")
        .get("/workspaces/{wid}/chats/{cid}/messages", messages::list, "The messages, newest first")
        .post("/workspaces/{wid}/chats/{cid}/messages", messages::create, "Send a message, or answer a question").by(Members, WithOp).fails([QuestionNotPending, NoPlan, Conflict])
        .get("/workspaces/{wid}/chats/{cid}/messages/{mid}/body", messages::body, "A message with its full content")
        .get("/workspaces/{wid}/chats/{cid}/messages/{mid}/images", messages::images, "The images attached to a message")
        .post("/workspaces/{wid}/chats/{cid}/images", images::create, "Upload an image, to attach to a message").by(Members, WithRequest)
        .get("/workspaces/{wid}/chats/{cid}/images/{iid}", images::show, "An image of the chat").fails([UnsupportedMediaType])
        .delete("/workspaces/{wid}/chats/{cid}/queue/{mid}", messages::withdraw, "Withdraw a queued message").by(Members, WithOp).fails([Conflict])
        .get("/workspaces/{wid}/chats/{cid}/search", messages::search, "Search the messages of a chat, newest first")
        .get("/search", messages::search_all, "Search the messages of all chats, newest first")
        .about("Changes")
        .get("/workspaces/{wid}/chats/{cid}/changes", changes::list, "The files that the chat changed, as diffs")
        .get("/workspaces/{wid}/chats/{cid}/changes/file", changes::file, "The diff of one changed file, with numbered hunks").fails([NotFound])
        .get("/workspaces/{wid}/chats/{cid}/viewed", viewed::list, "The changed files that you have viewed, by content")
        .put("/workspaces/{wid}/chats/{cid}/viewed", viewed::put, "Mark a changed file as viewed, or as not viewed").by(Members, WithRequest).fails([NotFound])
        .post("/workspaces/{wid}/chats/{cid}/revert", changes::revert, "Revert all changes from a message on, some files, or some changes of a file").by(Members, WithOp).fails([NotFound, Conflict])
}

/// Routes for signing in, which need no sign-in themselves.
#[rustfmt::skip]
fn sign_in_routes() -> Table {
    Table::new("/api/v1", SignInRule::NotNeeded)
        .about("Sign-in")
        .post("/auth/login", auth::login, "Sign in: by the server's token, or by name and password").by(Everyone, Ignored)
            .fails([ErrorCode::Unauthenticated, RateLimited])
}

/// Public routes, open to everyone with the right `Host`.
#[rustfmt::skip]
fn public_routes() -> Table {
    Table::new("", SignInRule::NotNeeded)
        .about("Server")
        .get("/healthz", meta::healthz, "Whether the process answers")
        .get("/readyz", operation::readyz, "Whether the server can work: the database answers and the data folder is writable").fails([NotReady])
        .get("/openapi.json", docs::open_document, "This description")
}

/// For the people who run the server; with accounts, for the admins. The numbers reveal what users do.
fn operations() -> Table {
    Table::new("", SignInRule::Needed).about("Server").get("/metrics", operation::metrics, "Metrics, for Prometheus")
}

/// For admins: who has which account and folder, and how to free one.
#[rustfmt::skip]
fn administration() -> Table {
    Table::new("/api/v1", SignInRule::Needed)
        .about("Admin")
        .get("/admin/accounts", accounts::list, "All accounts")
        .post("/admin/accounts", accounts::create, "Create an account").by(Admins, Ignored).fails([Conflict, RateLimited])
        .patch("/admin/accounts/{uid}", accounts::update, "Set a user's password; ends their sessions").by(Admins, Ignored).fails([Conflict, RateLimited])
        .delete("/admin/accounts/{uid}", accounts::delete, "Remove an account, with its sessions, tokens and memberships").by(Admins, Ignored).fails([Conflict])
        .get("/admin/workspaces", admin::workspaces, "All workspaces, with path and members, without their contents")
        .get("/cluster", cluster::show, "The nodes that share the database, and where each workspace is")
        .post("/cluster/workspaces/{wid}/move", cluster::relocate, "Give a workspace to another node; its runs go on there").by(Admins, WithRequest).fails([NodeAway])
        .delete("/admin/workspaces/{wid}", admin::forget, "Delete any user's workspace and its chats; the folder's files stay").by(Admins, WithRequest)
}

/// All rows.
pub fn all() -> impl Iterator<Item = Route> {
    [public_routes(), operations(), sign_in_routes(), administration(), api()].into_iter().flat_map(|table| table.routes)
}

/// The rules of a row that changes something, by its method and its whole path.
fn change_rule(method: &Method, path: &str) -> Option<ChangeRule> {
    static RULES: LazyLock<HashMap<(Method, String), ChangeRule>> =
        LazyLock::new(|| all().filter_map(|route| Some(((route.method, route.path), route.change?))).collect());
    RULES.get(&(method.clone(), path.to_owned())).copied()
}

/// Puts the rules of its route into a request, for the guard and for `idempotency`.
async fn note_change_rule(route: MatchedPath, mut request: Request, next: Next) -> Response {
    if let Some(rule) = change_rule(request.method(), route.as_str()) {
        request.extensions_mut().insert(rule);
    }
    next.run(request).await
}

pub fn router(app: App) -> Router {
    let check_caller = || from_fn_with_state(app.clone(), guard::check_caller);
    let answer_once = || from_fn_with_state(app.clone(), idempotency::answer_once);
    let note_rule = || from_fn(note_change_rule);
    let to_owner = || from_fn_with_state(app.clone(), nodes::to_owner);
    let for_admins = |table: Table| {
        let router = table.router.route_layer(answer_once()).route_layer(to_owner());
        router.route_layer(from_fn(guard::check_admin)).route_layer(check_caller()).route_layer(note_rule())
    };
    let keep_leashes = from_fn_with_state((app.clone(), Leashes::default()), leash::observe);
    let api = api().router.fallback(not_found).route_layer(answer_once()).route_layer(to_owner()).route_layer(keep_leashes);
    let check_rights = from_fn_with_state(app.clone(), guard::check_rights);
    let api = api.route_layer(check_rights).route_layer(check_caller()).route_layer(note_rule());
    let api = api.merge(sign_in_routes().router).merge(for_admins(administration()));
    public_routes()
        .router
        .layer(Extension(Arc::<ReadinessChecks>::default()))
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

/// The same API for requests that another node admitted, with their caller.
pub fn router_for_nodes(app: App) -> Router {
    let answer_once = || from_fn_with_state(app.clone(), idempotency::answer_once);
    let check_rights = from_fn_with_state(app.clone(), guard::check_rights);
    let admin = administration().router.route_layer(answer_once()).route_layer(from_fn(guard::check_admin));
    let api = api().router.fallback(not_found).route_layer(answer_once()).route_layer(check_rights).merge(admin);
    let api = api.route_layer(from_fn(note_change_rule));
    Router::new().nest("/api/v1", api).layer(DefaultBodyLimit::max(LARGEST_BODY)).layer(CatchPanicLayer::custom(broken)).with_state(app)
}

async fn not_found() -> ApiError {
    Problem::new(ErrorCode::NotFound, "There is nothing at this address.").into()
}

async fn wrong_method() -> ApiError {
    Problem::new(ErrorCode::MethodNotAllowed, "This address does not accept that method.").into()
}

fn broken(_: Box<dyn std::any::Any + Send>) -> Response {
    use axum::response::IntoResponse;
    ApiError::from(Problem::new(ErrorCode::Internal, "The server has an internal error. Please report it. Stored data is safe."))
        .into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::to_bytes;
    use axum::http::{Request, StatusCode};
    use tower::ServiceExt;

    #[test]
    fn every_route_that_changes_something_says_who_may_and_what_its_key_does() {
        for route in all() {
            let name = format!("{} {}", route.method, route.path);
            assert_eq!(route.change.is_some(), !route.method.is_safe(), "{name}: add `.by(…)` to a row that changes something");
            let Some(ChangeRule { by, .. }) = route.change else { continue };
            let expected: &[_] = match (
                route.sign_in,
                route.path.contains("{wid}"),
                ["/admin/", "/cluster/"].iter().any(|part| route.path.contains(part)),
            ) {
                (SignInRule::NotNeeded, _, _) => &[Everyone],
                (SignInRule::Needed, _, true) => &[Admins],
                (SignInRule::Needed, true, false) => &[Members, Owners, AdminMembers],
                (SignInRule::Needed, false, false) => &[SignedIn],
            };
            assert!(expected.contains(&by), "{name} is for {by:?}");
        }
    }

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
