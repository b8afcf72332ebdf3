//! Routes for the people who run the server.

use crate::App;
use crate::answer::{ApiResult, PlainText};
use crate::observe;
use axum::Json;
use axum::extract::State;
use planwright_protocol::{ErrorCode, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use std::io::ErrorKind;
use std::time::Duration;

/// Timeout of a check.
const CHECK_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(JsonSchema, Serialize)]
pub struct Readiness {
    #[schemars(example = &"ready")]
    status: &'static str,
}

/// Recovery resumes interrupted runs before the server listens, so it needs no state of its own here.
pub async fn readyz(State(app): State<App>) -> ApiResult<Readiness> {
    let not_ready = |why: &str| Problem::new(ErrorCode::NotReady, format!("{why} See the server's log."));
    if app.closing.is_cancelled() {
        return Err(not_ready("The server is shutting down.").into());
    }
    let database = tokio::time::timeout(CHECK_TIMEOUT, app.sessions.store().workspaces()).await;
    if !matches!(database, Ok(Ok(_))) {
        let error = database.ok().and_then(Result::err).map(|error| error.to_string());
        tracing::error!(error, "not ready: the database does not answer");
        return Err(not_ready("The database does not answer.").into());
    }
    let storage = app.storage.clone();
    let written = tokio::time::timeout(CHECK_TIMEOUT, tokio::task::spawn_blocking(move || storage.try_to_write())).await;
    if matches!(&written, Ok(Ok(Err(error))) if error.kind() == ErrorKind::StorageFull) {
        tracing::error!("not ready: the disk of the data folder is full");
        return Err(not_ready("The disk of the data folder is full. Free some space there.").into());
    }
    if !matches!(written, Ok(Ok(Ok(())))) {
        tracing::error!(?written, "not ready: the data folder is not writable");
        return Err(not_ready("The data folder is not writable.").into());
    }
    Ok(Json(Readiness { status: "ready" }))
}

pub async fn metrics() -> PlainText {
    PlainText("text/plain; version=0.0.4; charset=utf-8", observe::metrics())
}
