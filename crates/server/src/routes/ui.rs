//! The web UI: the files of `web/dist`, embedded. A debug build reads them from disk on each request.

use super::not_found;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{Html, IntoResponse, Response};
use rust_embed::{Embed, EmbeddedFile};
use std::borrow::Cow;

#[derive(Embed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
struct Dist;

/// The page to send if the UI was not built.
const UNBUILT: &str = include_str!("../../assets/unbuilt.html");

/// The page of every view; its script chooses the view by the address.
pub async fn page(headers: HeaderMap) -> Response {
    match file("index.html", &headers) {
        Some(response) => response,
        None => Html(UNBUILT).into_response(),
    }
}

/// A file of the UI; if a browser requests an unknown page, the page that says so.
pub async fn other(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    if !matches!(method, Method::GET | Method::HEAD) {
        return not_found().await.into_response();
    }
    if let Some(response) = file(uri.path().trim_start_matches('/'), &headers) {
        return response;
    }
    if lists(&headers, header::ACCEPT, "text/html") {
        return page(headers).await;
    }
    not_found().await.into_response()
}

fn file(path: &str, headers: &HeaderMap) -> Option<Response> {
    let plain = Dist::get(path)?;
    let etag = format!("\"{}\"", hex(&plain.metadata.sha256_hash()[..16]));
    // Names below `assets/` contain a hash of their content.
    let cache = if path.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" };
    let mut response = if lists(headers, header::IF_NONE_MATCH, &etag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let (encoding, file) = encoded(path, headers).map_or((None, plain), |(name, file)| (Some(name), file));
        let mut response = Body::from(shared(file.data)).into_response();
        if let Some(encoding) = encoding {
            response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
        }
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type(path)));
        response
    };
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    response.headers_mut().insert(header::ETAG, HeaderValue::from_str(&etag).ok()?);
    Some(response)
}

/// Embedded files are sent as they are: a copy for each slow reader would add up.
fn shared(content: Cow<'static, [u8]>) -> Bytes {
    match content {
        Cow::Borrowed(bytes) => Bytes::from_static(bytes),
        Cow::Owned(bytes) => bytes.into(),
    }
}

/// The compressed version from the build, in the best encoding that the client accepts.
fn encoded(path: &str, headers: &HeaderMap) -> Option<(&'static str, EmbeddedFile)> {
    [("br", "br"), ("gzip", "gz")]
        .into_iter()
        .filter(|(encoding, _)| lists(headers, header::ACCEPT_ENCODING, encoding))
        .find_map(|(encoding, ending)| Some((encoding, Dist::get(&format!("{path}.{ending}"))?)))
}

/// Whether a header's comma-separated list contains a value without excluding it.
fn lists(headers: &HeaderMap, name: header::HeaderName, sought: &str) -> bool {
    let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    let mut values = values.map(|value| value.trim().split_once(';').unwrap_or((value.trim(), "")));
    values.any(|(value, weight)| value.trim().eq_ignore_ascii_case(sought) && !matches!(weight.trim(), "q=0" | "q=0.0"))
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "json" => "application/json",
        _ => "application/octet-stream",
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: header::HeaderName, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_static(value))])
    }

    #[test]
    fn an_encoding_is_taken_when_it_is_listed_and_not_ruled_out() {
        let takes = |value, encoding| lists(&headers(header::ACCEPT_ENCODING, value), header::ACCEPT_ENCODING, encoding);
        assert!(takes("gzip, deflate, br", "br") && takes("GZIP;q=0.5", "gzip"));
        assert!(!takes("gzip, br;q=0", "br") && !takes("brotli", "br") && !takes("", "br"));
        assert!(!lists(&HeaderMap::new(), header::ACCEPT_ENCODING, "br"));
    }

    #[test]
    fn readers_of_an_embedded_file_share_it() {
        static CONTENT: &[u8] = b"one file";
        let readers = [(); 3].map(|()| shared(Cow::Borrowed(CONTENT)));
        assert!(readers.iter().all(|bytes| std::ptr::eq(bytes.as_ref(), CONTENT)));
    }

    #[test]
    fn a_file_outside_of_the_embedded_folder_is_not_there() {
        for path in ["../Cargo.toml", "../../Cargo.toml", "/etc/passwd", "assets/../../package.json", ""] {
            assert!(file(path, &HeaderMap::new()).is_none(), "{path}");
        }
    }
}
