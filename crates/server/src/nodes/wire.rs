//! Requests and responses as messages between nodes: a line of JSON, then the body.

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use bytes::Bytes;
use planwright_protocol::{UserId, WorkspaceId};
use planwright_store::{Account, Rank};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The headers of a request that mean something to a handler.
const REQUEST_HEADERS: [&str; 5] = ["content-type", "accept", "if-none-match", "range", "idempotency-key"];
/// Not what the connection of the receiving node decides itself.
const OWN_HEADERS: [&str; 4] = ["content-length", "transfer-encoding", "connection", "date"];

#[derive(Deserialize, Serialize)]
pub struct RequestHead {
    pub workspace: WorkspaceId,
    method: String,
    /// Path and query.
    uri: String,
    headers: Vec<(String, String)>,
    /// Id, name, and whether an admin; `None` for the person who runs the server.
    account: Option<(UserId, String, bool)>,
}

pub struct ForwardedRequest {
    pub head: RequestHead,
    body: Bytes,
}

#[derive(Deserialize, Serialize)]
struct ResponseHead {
    status: u16,
    headers: Vec<(String, String)>,
}

pub struct ForwardedResponse {
    head: ResponseHead,
    body: Bytes,
}

impl RequestHead {
    pub fn new(workspace: WorkspaceId, parts: &axum::http::request::Parts, account: Option<&Account>) -> Self {
        let headers = texts(&parts.headers, |name| REQUEST_HEADERS.contains(&name));
        Self {
            workspace,
            method: parts.method.to_string(),
            uri: parts.uri.path_and_query().map(ToString::to_string).unwrap_or_default(),
            headers,
            account: account.map(|account| (account.id, account.name.clone(), account.rank == Rank::Admin)),
        }
    }

    /// `None` for an account that can't be one.
    #[expect(clippy::option_option, reason = "the person who runs the server has no account")]
    pub fn account(&self) -> Option<Option<Account>> {
        let Some((id, name, is_admin)) = &self.account else { return Some(None) };
        let rank = if *is_admin { Rank::Admin } else { Rank::Ordinary };
        Account::is_name(name).then(|| Some(Account { id: *id, name: name.clone(), rank }))
    }
}

impl ForwardedRequest {
    pub fn to_bytes(head: &RequestHead, body: &[u8]) -> Option<Bytes> {
        let mut bytes = b"http ".to_vec();
        serde_json::to_writer(&mut bytes, head).ok()?;
        bytes.push(b'\n');
        bytes.extend_from_slice(body);
        Some(bytes.into())
    }

    pub fn parse(bytes: Bytes) -> Option<Self> {
        let (head, body) = split(&bytes)?;
        Some(Self { head, body })
    }

    pub fn into_http(self) -> Option<Request> {
        let uri = format!("/api/v1{}", self.head.uri);
        let mut request = Request::builder().method(self.head.method.as_str()).uri(uri);
        for (name, value) in self.head.headers {
            request = request.header(name, value);
        }
        request.body(Body::from(self.body)).ok()
    }
}

impl ForwardedResponse {
    /// The workspace is not at this node any more.
    pub fn not_here() -> Self {
        Self { head: ResponseHead { status: StatusCode::MISDIRECTED_REQUEST.as_u16(), headers: Vec::new() }, body: Bytes::new() }
    }

    pub fn is_elsewhere(&self) -> bool {
        self.head.status == StatusCode::MISDIRECTED_REQUEST.as_u16()
    }

    /// The node lost the workspace before it could do anything.
    pub fn is_away(&self) -> bool {
        self.head.status == StatusCode::SERVICE_UNAVAILABLE.as_u16() && find(&self.body, b"\"NODE_AWAY\"")
    }

    pub async fn of(response: Response) -> Option<Self> {
        let (parts, body) = response.into_parts();
        let head = ResponseHead { status: parts.status.as_u16(), headers: texts(&parts.headers, |name| !OWN_HEADERS.contains(&name)) };
        Some(Self { head, body: to_bytes(body, usize::MAX).await.ok()? })
    }

    pub fn to_bytes(&self) -> Option<Bytes> {
        let mut bytes = serde_json::to_vec(&self.head).ok()?;
        bytes.push(b'\n');
        bytes.extend_from_slice(&self.body);
        Some(bytes.into())
    }

    pub fn parse(bytes: &Bytes) -> Option<Self> {
        let (head, body) = split(bytes)?;
        Some(Self { head, body })
    }

    pub fn into_http(self) -> Option<Response> {
        let mut response = Response::new(Body::from(self.body));
        *response.status_mut() = StatusCode::from_u16(self.head.status).ok()?;
        for (name, value) in self.head.headers {
            response.headers_mut().append(name.parse::<HeaderName>().ok()?, value.parse::<HeaderValue>().ok()?);
        }
        Some(response)
    }
}

fn split<T: DeserializeOwned>(bytes: &Bytes) -> Option<(T, Bytes)> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    Some((serde_json::from_slice(&bytes[..end]).ok()?, bytes.slice(end + 1..)))
}

fn texts(headers: &HeaderMap, is_wanted: impl Fn(&str) -> bool) -> Vec<(String, String)> {
    let wanted = headers.iter().filter(|(name, _)| is_wanted(name.as_str()));
    wanted.filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned()))).collect()
}

fn find(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_request_and_its_response_arrive_at_the_other_node_as_they_were() {
        let request =
            Request::builder().method("POST").uri("/workspaces/x/chats?a=b").header("Idempotency-Key", "k").header("Cookie", "secret");
        let (parts, ()) = request.header("Content-Type", "application/json").body(()).unwrap().into_parts();
        let account = Account { id: UserId::generate(), name: "ann".into(), rank: Rank::Admin };
        let head = RequestHead::new(WorkspaceId::generate(), &parts, Some(&account));
        let bytes = ForwardedRequest::to_bytes(&head, b"{\"a\":\n1}").unwrap();
        assert!(!find(&bytes, b"secret"), "no credential leaves the node");
        let read = ForwardedRequest::parse(bytes.slice(5..)).unwrap();
        assert_eq!(read.head.account(), Some(Some(account)));
        let http = read.into_http().unwrap();
        assert_eq!((http.uri().to_string().as_str(), http.method().as_str()), ("/api/v1/workspaces/x/chats?a=b", "POST"));
        assert_eq!(
            (&http.headers()["idempotency-key"], &http.headers()["content-type"]),
            (&"k".parse().unwrap(), &"application/json".parse().unwrap())
        );
        assert_eq!(to_bytes(http.into_body(), 100).await.unwrap(), "{\"a\":\n1}");

        let response = Response::builder().status(202).header("content-type", "image/png").body(Body::from(vec![0, 10, 255])).unwrap();
        let bytes = ForwardedResponse::of(response).await.unwrap().to_bytes().unwrap();
        let response = ForwardedResponse::parse(&bytes).unwrap().into_http().unwrap();
        assert_eq!((response.status(), &response.headers()["content-type"]), (StatusCode::ACCEPTED, &"image/png".parse().unwrap()));
        assert_eq!(to_bytes(response.into_body(), 100).await.unwrap(), [0, 10, 255][..]);
        assert!(ForwardedResponse::parse(&ForwardedResponse::not_here().to_bytes().unwrap()).unwrap().is_elsewhere());
    }
}
