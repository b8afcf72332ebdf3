//! The API's description as a page for people: embedded files of our own.

use crate::answer::ApiError;
use axum::extract::Path;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use planwright_protocol::{ErrorCode, Problem};

/// Name, type, content.
const ASSETS: &[(&str, &str, &str)] = &[
    ("icon.svg", "image/svg+xml", include_str!("../../assets/icon.svg")),
    ("docs.css", "text/css; charset=utf-8", include_str!("../../assets/docs.css")),
    ("docs.js", "text/javascript; charset=utf-8", include_str!("../../assets/docs.js")),
];

pub async fn docs() -> Response {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], include_str!("../../assets/docs.html")).into_response()
}

pub async fn asset(Path(name): Path<String>) -> Result<Response, ApiError> {
    let found = ASSETS.iter().find(|(known, _, _)| *known == name);
    let (_, kind, content) = found.ok_or_else(|| Problem::new(ErrorCode::NotFound, "There is nothing at this address."))?;
    Ok(([(header::CONTENT_TYPE, *kind), (header::CACHE_CONTROL, "no-cache")], *content).into_response())
}
