//! Pages and what they are made of: files of our own, built in.

use crate::answer::ApiError;
use axum::extract::Path;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use planwright_protocol::{ErrorCode, Problem};

/// Name, type, content.
const ASSETS: &[(&str, &str, &str)] = &[
    ("page.css", "text/css; charset=utf-8", include_str!("../../assets/page.css")),
    ("page.js", "text/javascript; charset=utf-8", include_str!("../../assets/page.js")),
    ("docs.css", "text/css; charset=utf-8", include_str!("../../assets/docs.css")),
    ("docs.js", "text/javascript; charset=utf-8", include_str!("../../assets/docs.js")),
];

/// A plain page, until the web UI takes its place.
pub async fn show() -> Response {
    html(include_str!("../../assets/page.html"))
}

/// The API's description, for people to read.
pub async fn docs() -> Response {
    html(include_str!("../../assets/docs.html"))
}

pub async fn asset(Path(name): Path<String>) -> Result<Response, ApiError> {
    let found = ASSETS.iter().find(|(known, _, _)| *known == name);
    let (_, kind, content) = found.ok_or_else(|| Problem::new(ErrorCode::NotFound, "There is nothing at this address."))?;
    Ok(([(header::CONTENT_TYPE, *kind), (header::CACHE_CONTROL, "no-cache")], *content).into_response())
}

fn html(content: &'static str) -> Response {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], content).into_response()
}
