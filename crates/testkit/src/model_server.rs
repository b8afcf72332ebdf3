//! A scripted model over HTTP, in the wire formats of the vendors, with every fault that networks and vendors have.
//!
//! Replies are sent in chunks of a few bytes, so that characters and escapes are split wherever possible.

mod anthropic;
mod chat;
mod connection;
mod gemini;
mod ollama;
mod responses;
mod tls;

pub use chat::COST;

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The model that every server here knows.
pub const MODEL: &str = "test-model";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    Chat,
    Responses,
    Anthropic,
    Gemini,
    Ollama,
    Openrouter,
}

impl Wire {
    pub const ALL: [Wire; 6] = [Wire::Chat, Wire::Responses, Wire::Anthropic, Wire::Gemini, Wire::Ollama, Wire::Openrouter];

    /// As the configuration calls it.
    #[must_use]
    pub fn kind(self) -> &'static str {
        match self {
            Wire::Chat => "openai",
            Wire::Responses => "openai-responses",
            Wire::Anthropic => "anthropic",
            Wire::Gemini => "gemini",
            Wire::Ollama => "ollama",
            Wire::Openrouter => "openrouter",
        }
    }

    fn frames(self, reply: &ScriptedReply) -> Vec<Frame> {
        if let Some(Fault::Events(events)) = &reply.fault {
            let frame = |event: &Value| if self == Wire::Ollama { Frame::line(event.clone()) } else { Frame::data(event.clone()) };
            return events.iter().map(frame).collect();
        }
        match self {
            Wire::Chat => chat::frames(reply, chat::Dialect::Openai),
            Wire::Responses => responses::frames(reply),
            Wire::Anthropic => anthropic::frames(reply),
            Wire::Gemini => gemini::frames(reply),
            Wire::Ollama => ollama::frames(reply),
            Wire::Openrouter => chat::frames(reply, chat::Dialect::Openrouter),
        }
    }

    fn error(self) -> Frame {
        match self {
            Wire::Chat | Wire::Openrouter => {
                Frame::data(json!({"error": {"message": "The server is overloaded", "type": "server_error", "code": "server_error"}}))
            }
            Wire::Responses => Frame::event(
                json!({"type": "error", "code": "server_error", "message": "The server is overloaded", "param": null, "sequence_number": 9}),
            ),
            Wire::Anthropic => Frame::event(json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})),
            Wire::Gemini => Frame::data(json!({"error": {"code": 503, "message": "The model is overloaded", "status": "UNAVAILABLE"}})),
            Wire::Ollama => Frame::line(json!({"error": "the model is overloaded"})),
        }
    }

    fn models(self) -> Value {
        match self {
            Wire::Chat | Wire::Responses | Wire::Openrouter => {
                json!({"object": "list", "data": [{"id": MODEL, "object": "model", "created": 1, "owned_by": "test"}]})
            }
            Wire::Anthropic => {
                json!({"data": [{"id": MODEL, "type": "model", "display_name": "Test", "created_at": "2026-01-01T00:00:00Z"}], "has_more": false, "first_id": MODEL, "last_id": MODEL})
            }
            Wire::Gemini => {
                json!({"models": [{"name": format!("models/{MODEL}"), "displayName": "Test", "supportedGenerationMethods": ["generateContent"]}]})
            }
            Wire::Ollama => {
                json!({"models": [{"name": MODEL, "model": MODEL, "modified_at": "2026-01-01T00:00:00Z", "size": 1, "digest": "x", "details": {}}]})
            }
        }
    }
}

/// One reply of the model.
#[derive(Clone, Debug, Default)]
pub struct ScriptedReply {
    pub reasoning: String,
    /// What the vendor wants back with the reasoning.
    pub signature: String,
    pub text: String,
    /// Tool and arguments, as written.
    pub calls: Vec<(String, String)>,
    /// Input, output, and what of the input was cached.
    pub usage: (u64, u64, u64),
    pub fault: Option<Fault>,
}

impl ScriptedReply {
    #[must_use]
    pub fn text(text: &str) -> Self {
        Self { text: text.to_owned(), usage: (100, 10, 0), ..Self::default() }
    }

    #[must_use]
    pub fn thinking(mut self, reasoning: &str, signature: &str) -> Self {
        (self.reasoning, self.signature) = (reasoning.to_owned(), signature.to_owned());
        self
    }

    #[must_use]
    pub fn call(mut self, tool: &str, args: impl ToString) -> Self {
        self.calls.push((tool.to_owned(), args.to_string()));
        self
    }

    #[must_use]
    pub fn using(mut self, input: u64, output: u64, cached: u64) -> Self {
        self.usage = (input, output, cached);
        self
    }

    #[must_use]
    pub fn but(mut self, fault: Fault) -> Self {
        self.fault = Some(fault);
        self
    }

    /// A status, with a body and at most one header, in place of a reply.
    #[must_use]
    pub fn status(status: u16, header: Option<(&str, &str)>, body: &str) -> Self {
        let header = header.map(|(name, value)| format!("{name}: {value}\r\n")).unwrap_or_default();
        Self::default().but(Fault::Status { status, header, body: body.to_owned() })
    }

    /// Arguments that are no JSON are sent as a text, which some servers do with all of them.
    fn args_value(args: &str) -> Value {
        serde_json::from_str(args).unwrap_or_else(|_| args.into())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    Status {
        status: u16,
        header: String,
        body: String,
    },
    /// The connection ends after the text, without a word.
    CutAfterText,
    /// The connection ends in the middle of a call's arguments.
    CutInArguments,
    /// The stream ends as it should, but the model was stopped in the middle of the arguments.
    LengthInArguments,
    /// Bytes that belong to no wire.
    Garbage,
    /// A byte within the text that belongs to no character.
    BadCharacter,
    /// Line ends, comments and lines as the standard also allows them.
    Variants,
    /// The vendor says in the middle that it failed.
    ErrorEvent,
    /// Nothing comes at all.
    Silence,
    /// Nothing comes after the text.
    SilenceAfterText,
    /// The text over and over, without an end of the line.
    OneLine,
    /// The text over and over, with this much time between.
    Drip(Duration),
    /// These events in place of the reply's own.
    Events(Vec<Value>),
}

/// The certificate that a client must trust to reach a server behind TLS.
#[must_use]
pub fn authority() -> &'static str {
    concat!(env!("CARGO_MANIFEST_DIR"), "/data/tls/ca.pem")
}

/// One event of a stream, and what of the reply is in it.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    shape: Shape,
    value: Value,
    pub(crate) holds: Holds,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// `data:` alone.
    Data,
    /// `event:` with the value's type, and `data:`.
    Event,
    /// A line of JSON.
    Line,
    /// The end of chat completions.
    Done,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    Nothing,
    Text,
    Arguments,
    End,
}

impl Frame {
    fn new(shape: Shape, value: Value) -> Self {
        Self { shape, value, holds: Holds::Nothing }
    }

    pub(crate) fn data(value: Value) -> Self {
        Self::new(Shape::Data, value)
    }

    pub(crate) fn event(value: Value) -> Self {
        Self::new(Shape::Event, value)
    }

    pub(crate) fn line(value: Value) -> Self {
        Self::new(Shape::Line, value)
    }

    pub(crate) fn done() -> Self {
        Self::new(Shape::Done, Value::Null).holding(Holds::End)
    }

    pub(crate) fn holding(mut self, holds: Holds) -> Self {
        self.holds = holds;
        self
    }

    fn render(&self, variants: bool) -> String {
        let end = if variants { "\r\n" } else { "\n" };
        let comment = if variants { ": keep-alive\r\n\r\n:\r\n" } else { "" };
        let lines = if variants { serde_json::to_string_pretty(&self.value).unwrap() } else { self.value.to_string() };
        let data = lines.lines().flat_map(|line| ["data: ", line, end]).collect::<String>();
        match self.shape {
            Shape::Data => format!("{comment}{data}{end}"),
            Shape::Event => format!("{comment}event: {}{end}{data}{end}", self.value["type"].as_str().unwrap()),
            Shape::Line => format!("{}{end}", self.value),
            Shape::Done => format!("data: [DONE]{end}{end}"),
        }
    }
}

/// How many pieces a long text comes in. Each costs an event on its whole way through the server.
const MOST_FRAGMENTS: usize = 5000;
/// With this variable set, however long a text is, no piece has more than three characters.
const SMALL_FRAGMENTS: &str = "PLANWRIGHT_SMALL_FRAGMENTS";

/// A text in pieces that heed nothing but characters.
pub(crate) fn fragments(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let is_small = std::env::var_os(SMALL_FRAGMENTS).is_some();
    let size = if is_small { 3 } else { characters.len().div_ceil(MOST_FRAGMENTS).max(3) };
    characters.chunks(size).map(|piece| piece.iter().collect()).collect()
}

/// What was asked for.
#[derive(Clone, Debug)]
pub struct ReceivedRequest {
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Value,
    pub at: Instant,
}

impl ReceivedRequest {
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

#[derive(Default)]
struct Shared {
    replies: VecDeque<ScriptedReply>,
    asked: Vec<ReceivedRequest>,
    hung_up: usize,
    /// Whether a request that finds no reply waits for one.
    is_patient: bool,
}

/// A server that plays its replies in turn. It ends when it is dropped.
pub struct ModelServer {
    pub wire: Wire,
    /// Without a path.
    pub address: String,
    shared: Arc<Mutex<Shared>>,
    task: JoinHandle<()>,
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl ModelServer {
    pub async fn start(wire: Wire, replies: impl IntoIterator<Item = ScriptedReply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::new(Mutex::new(Shared { replies: replies.into_iter().collect(), ..Shared::default() }));
        let for_task = shared.clone();
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(connection::serve(wire, stream, for_task.clone()));
            }
        });
        Self { wire, address, shared, task }
    }

    /// A server whose requests wait until the test gives their replies by [`Self::then`].
    pub async fn patient(wire: Wire) -> Self {
        let server = Self::start(wire, []).await;
        server.shared.lock().unwrap().is_patient = true;
        server
    }

    /// The request of this number, counted from 1, once it has come.
    pub async fn request(&self, number: usize) -> ReceivedRequest {
        let came = async {
            loop {
                if let Some(asked) = self.asked().into_iter().nth(number - 1) {
                    return asked;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(crate::PATIENCE, came).await.expect("the request did not come")
    }

    /// The same server behind TLS, with a certificate of the authority in [`authority`]; gives its address.
    pub async fn behind_tls(&self) -> String {
        tls::in_front_of(self.address.trim_start_matches("http://")).await
    }

    /// As it is configured.
    #[must_use]
    pub fn base_url(&self) -> String {
        match self.wire {
            Wire::Chat | Wire::Responses | Wire::Openrouter => format!("{}/v1", self.address),
            Wire::Anthropic | Wire::Gemini | Wire::Ollama => self.address.clone(),
        }
    }

    pub fn then(&self, reply: ScriptedReply) {
        self.shared.lock().unwrap().replies.push_back(reply);
    }

    /// Says this before all else.
    pub fn first(&self, reply: ScriptedReply) {
        self.shared.lock().unwrap().replies.push_front(reply);
    }

    /// Forgets what it had left to say, and says this.
    pub fn only(&self, reply: ScriptedReply) {
        self.shared.lock().unwrap().replies = VecDeque::from([reply]);
    }

    /// What was asked of the model so far, in order; lists of models don't count.
    #[must_use]
    pub fn asked(&self) -> Vec<ReceivedRequest> {
        self.shared.lock().unwrap().asked.iter().filter(|asked| !asked.body.is_null()).cloned().collect()
    }

    /// All that came, whole, for a test to search.
    #[must_use]
    pub fn heard(&self) -> Vec<ReceivedRequest> {
        self.shared.lock().unwrap().asked.clone()
    }

    /// How many clients went away in the middle of a reply.
    #[must_use]
    pub fn hung_up(&self) -> usize {
        self.shared.lock().unwrap().hung_up
    }
}
