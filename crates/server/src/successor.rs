//! Asking the host of a data folder to hand it over. Only reachable on the socket, and no part of the API.

use crate::answer::{ApiError, NoContent};
use axum::Router;
use axum::routing::post;
use planwright_protocol::{ErrorCode, Problem};
use tokio_util::sync::CancellationToken;

/// The address of the request.
pub const PATH: &str = "/local/yield";

pub fn router(successor: Option<CancellationToken>) -> Router {
    let hand_over = move || async move {
        let Some(asked) = successor else {
            let text = "This server keeps the data folder until it is stopped.";
            return Err(ApiError::from(Problem::new(ErrorCode::Conflict, text)));
        };
        asked.cancel();
        Ok(NoContent)
    };
    Router::new().route(PATH, post(hand_over))
}
