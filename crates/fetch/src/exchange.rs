//! One HTTP request and its reply, within limits.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{CONTENT_ENCODING, HeaderName};
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use planwright_protocol::{ErrorCode, Problem};
use std::io::Read;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;

/// Bytes of a body on the wire.
const MOST_SENT: usize = 2 << 20;
/// Bytes of a body after it was unpacked.
const MOST_UNPACKED: usize = 4 << 20;
const MOST_HEADERS: usize = 100;
const LONGEST_HEAD: usize = 64 << 10;

pub(crate) const USER_AGENT: &str = concat!("planwright/", env!("CARGO_PKG_VERSION"));

/// A connection, encrypted or not.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// A reply whose body has not been read.
pub(crate) struct Reply {
    response: Response<Incoming>,
    /// Drives the connection; aborted with the reply.
    _driver: JoinSet<Result<(), hyper::Error>>,
}

/// The body of a reply, or its beginning.
pub(crate) struct Body {
    pub(crate) bytes: Vec<u8>,
    /// Whether a limit cut it.
    pub(crate) is_cut: bool,
}

/// Sends a request and reads the head of the reply.
pub(crate) async fn exchange(stream: Box<dyn Stream>, request: Request<Full<Bytes>>) -> Result<Reply, Problem> {
    let mut builder = hyper::client::conn::http1::Builder::new();
    builder.max_headers(MOST_HEADERS).max_buf_size(LONGEST_HEAD);
    let (mut sender, connection) = builder.handshake(TokioIo::new(stream)).await.map_err(garbled)?;
    let mut driver = JoinSet::new();
    driver.spawn(connection);
    let response = sender.send_request(request).await.map_err(garbled)?;
    Ok(Reply { response, _driver: driver })
}

impl Reply {
    pub(crate) fn status(&self) -> StatusCode {
        self.response.status()
    }

    pub(crate) fn header(&self, name: &HeaderName) -> Option<&str> {
        self.response.headers().get(name)?.to_str().ok()
    }

    /// Reads the body up to the limits.
    pub(crate) async fn body(mut self) -> Result<Body, Problem> {
        let encoding = self.header(&CONTENT_ENCODING).unwrap_or_default().trim().to_ascii_lowercase();
        let mut sent = Body { bytes: Vec::new(), is_cut: false };
        while let Some(frame) = self.response.body_mut().frame().await {
            let frame = frame.map_err(garbled)?;
            let data = frame.data_ref().map(|data| &data[..]).unwrap_or_default();
            let room = MOST_SENT - sent.bytes.len();
            sent.bytes.extend_from_slice(&data[..data.len().min(room)]);
            if data.len() > room {
                sent.is_cut = true;
                break;
            }
        }
        match encoding.as_str() {
            "" | "identity" => Ok(sent),
            "gzip" | "x-gzip" => unpack(&sent),
            _ => Err(failed("the server packed the page in a way that was not asked for")),
        }
    }
}

fn unpack(sent: &Body) -> Result<Body, Problem> {
    let mut bytes = Vec::new();
    let limit = MOST_UNPACKED as u64 + 1;
    let read = flate2::read::MultiGzDecoder::new(&sent.bytes[..]).take(limit).read_to_end(&mut bytes);
    let is_too_long = bytes.len() > MOST_UNPACKED;
    bytes.truncate(MOST_UNPACKED);
    match read {
        Ok(_) => Ok(Body { bytes, is_cut: is_too_long || sent.is_cut }),
        // A cut body lacks its end, so unpacking it fails there.
        Err(_) if sent.is_cut && !bytes.is_empty() => Ok(Body { bytes, is_cut: true }),
        Err(_) => Err(failed("the packed page is damaged")),
    }
}

/// What hyper says is about the wire and never about the content.
#[expect(clippy::needless_pass_by_value, reason = "it is used as a function of the error")]
fn garbled(error: hyper::Error) -> Problem {
    let why = if error.is_incomplete_message() || error.is_body_write_aborted() {
        "the server closed the connection before the reply was complete"
    } else if error.is_parse() {
        "the server's reply is not valid HTTP"
    } else if error.is_canceled() || error.is_closed() {
        "the server closed the connection"
    } else {
        "the connection broke, or the body has not the length that the server announced"
    };
    failed(why)
}

pub(crate) fn failed(why: &str) -> Problem {
    Problem::new(ErrorCode::FetchFailed, format!("The page could not be fetched: {why}."))
}
