//! Routes for the people who run the server.

use crate::App;
use crate::answer::{ApiResult, PlainText};
use crate::observe;
use crate::readiness::ReadinessChecks;
use axum::extract::State;
use axum::{Extension, Json};
use planwright_protocol::{ErrorCode, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::Arc;

#[derive(JsonSchema, Serialize)]
pub struct Readiness {
    #[schemars(example = &"ready")]
    status: &'static str,
}

/// Recovery resumes interrupted runs before the server listens, so it needs no state of its own here.
pub async fn readyz(State(app): State<App>, Extension(checks): Extension<Arc<ReadinessChecks>>) -> ApiResult<Readiness> {
    let not_ready = |why: &str| Problem::new(ErrorCode::NotReady, format!("{why} See the server's log."));
    if app.closing.is_cancelled() {
        return Err(not_ready("The server is shutting down.").into());
    }
    match checks.of(&app).await {
        Ok(()) => Ok(Json(Readiness { status: "ready" })),
        Err(why) => Err(not_ready(why).into()),
    }
}

pub async fn metrics() -> PlainText {
    PlainText("text/plain; version=0.0.4; charset=utf-8", observe::metrics())
}
