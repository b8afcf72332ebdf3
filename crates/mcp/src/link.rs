//! Talking to a server, within limits.

use crate::answer;
use crate::http::Caller;
use crate::mask::Mask;
use crate::offer::{Listed, Unreadable, ended};
use crate::process::Process;
use planwright_protocol::{ErrorCode, Problem};
use planwright_sandbox::Stop;
use planwright_tools::command::Post;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, ClientConfig, ClientRequest, CustomResult, Implementation, JsonObject,
    ListToolsRequest, PaginatedRequestParams, ProtocolVersion, ServerResult,
};
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, NotificationContext, RunningService, serve_client_with_lifecycle};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, RoleClient, ServiceError};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::{Instant, timeout, timeout_at};

/// No server has more tools than a model can choose from, nor more pages of them.
const MOST_TOOLS: usize = 256;
const MOST_PAGES: usize = 32;
/// How long a program that broke off is waited for.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// So much of them is told, and of a line on stdout that is no message.
const LAST: usize = 400;
const STRAY: usize = 200;
/// How soon a stop is noticed.
const WATCH: Duration = Duration::from_millis(25);
const FLOOD: &str = "it said more than is listened to";

/// How a server is reached.
pub enum Way {
    Program(Arc<Post>),
    Address { url: String, caller: Caller },
}

/// Why a call gave no answer.
pub struct Fault {
    pub problem: Problem,
    /// Whether the server may still be at it, or is no use any more.
    pub is_astray: bool,
}

/// A server that answers. It ends when this is dropped. Nothing leaves this that has a value in it which the server was given.
pub struct Link {
    name: String,
    service: RunningService<RoleClient, Listener>,
    process: Option<Process>,
    stale: Arc<AtomicBool>,
    mask: Mask,
}

/// Hears what a server says by itself. It is told nothing, and asks in vain.
struct Listener(Arc<AtomicBool>);

impl ClientHandler for Listener {
    fn get_info(&self) -> ClientConfig {
        let info = Implementation::new("planwright", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), info).with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Link {
    /// # Errors
    /// It can't be started, or does not answer in time.
    pub async fn open(name: &str, way: &Way, mask: Mask, time: Duration) -> Result<Self, Problem> {
        let until = Instant::now() + time;
        match Self::attempt(name, way, &mask, ClientLifecycleMode::Initialize, until).await {
            // The newest protocol has no such greeting.
            Err((problem, true)) => {
                let newest = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::LATEST] };
                Self::attempt(name, way, &mask, newest, until).await.map_err(|_| problem)
            }
            other => other.map_err(|(problem, _)| problem),
        }
    }

    /// Whether it answered that it does not know the greeting is told with the problem.
    async fn attempt(name: &str, way: &Way, mask: &Mask, greeting: ClientLifecycleMode, until: Instant) -> Result<Self, (Problem, bool)> {
        let stale = Arc::new(AtomicBool::new(false));
        let listener = Listener(stale.clone());
        let (greeted, process) = match way {
            Way::Program(post) => {
                let (process, streams) = Process::start(name, post.clone()).await.map_err(|problem| (problem, false))?;
                let greeting = serve_client_with_lifecycle(listener, (streams.output, streams.input), greeting);
                (timeout_at(until, greeting).await, Some(process))
            }
            Way::Address { url, caller } => {
                let config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
                let transport = StreamableHttpClientTransport::with_client(caller.clone(), config);
                (timeout_at(until, serve_client_with_lifecycle(listener, transport, greeting)).await, None)
            }
        };
        let (why, is_refusal) = match greeted {
            Ok(Ok(service)) => return Ok(Self { name: name.to_owned(), service, process, stale, mask: mask.clone() }),
            Ok(Err(error)) => (told(&error, mask), matches!(error, ClientInitializeError::JsonRpcError(_))),
            Err(_) => ("it did not answer in time".to_owned(), false),
        };
        let mut words = String::new();
        if let Some(process) = process {
            // All that it said is heard by then.
            process.end().await;
            if process.ear.is_flooded() {
                words.push_str(" It said more than is listened to.");
            }
            if !is_refusal {
                words.push_str(&stray(&process, mask));
            }
            words.push_str(&last_words(&process, mask));
            words.push_str(hint(&process.last_words()));
        }
        Err((failed(name, &format!("{}{words}", ended(&why))), is_refusal))
    }

    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.service.is_closed() || self.service.peer().is_transport_closed()
    }

    /// Whether it said that it offers something else by now. Says so once.
    pub fn takes_back_its_offer(&self) -> bool {
        self.stale.swap(false, Ordering::Relaxed)
    }

    /// What it offers.
    ///
    /// # Errors
    /// It does not say, or says too much.
    pub async fn tools(&self, time: Duration) -> Result<Vec<Listed>, Problem> {
        let until = Instant::now() + time;
        let (mut tools, mut cursor) = (Vec::new(), None);
        for _ in 0..MOST_PAGES {
            self.renew();
            let page = tokio::select! {
                page = timeout_at(until, self.page(cursor)) => page,
                () = self.flooded() => return Err(self.failed(&ended(FLOOD))),
            };
            let (page, next) = match page {
                Ok(Ok(page)) => page,
                Ok(Err(error)) => return Err(self.broken(&error).await),
                Err(_) => return Err(self.failed(&format!("it did not say in time what it offers.{}", self.stray()))),
            };
            tools.extend(page);
            if tools.len() > MOST_TOOLS {
                return Err(self.failed(&format!("it offers more than {MOST_TOOLS} tools.")));
            }
            match next {
                Some(next) => cursor = Some(next),
                None => return Ok(tools),
            }
        }
        Err(self.failed("it does not come to an end of what it offers."))
    }

    /// A page of what it offers, and where the next one begins.
    async fn page(&self, cursor: Option<String>) -> Result<(Vec<Listed>, Option<String>), ServiceError> {
        let request = ListToolsRequest::with_param(PaginatedRequestParams::default().with_cursor(cursor));
        let answer = self.service.peer().send_request(ClientRequest::ListToolsRequest(request)).await?;
        if let ServerResult::ListToolsResult(page) = answer {
            let tools = page.tools.into_iter().enumerate().map(|(place, tool)| {
                let plain = serde_json::to_value(&tool).ok().filter(|_| !self.mask.is_empty());
                plain.map_or_else(|| Ok(tool), |plain| Unreadable::or_tool(place, &self.mask.value(plain)))
            });
            return Ok((tools.collect(), page.next_cursor));
        }
        // One tool that can't be read makes the whole list unreadable, so they are read one by one.
        let ServerResult::CustomResult(CustomResult(page)) = answer else { return Err(ServiceError::UnexpectedResponse) };
        let next = page.get("nextCursor").and_then(Value::as_str).filter(|next| !next.is_empty()).map(str::to_owned);
        let tools = page.get("tools").and_then(Value::as_array).ok_or(ServiceError::UnexpectedResponse)?;
        let tools = tools.iter().enumerate().map(|(place, tool)| Unreadable::or_tool(place, &self.mask.value(tool.clone())));
        Ok((tools.collect(), next))
    }

    /// Calls a tool; the text of its answer.
    ///
    /// # Errors
    /// It failed, took too long, or was stopped.
    pub async fn call(&self, tool: &str, args: JsonObject, workspace: &Path, time: Duration, stop: &Stop) -> Result<String, Fault> {
        let astray = |problem| Err(Fault { problem, is_astray: true });
        let settled = |problem| Err(Fault { problem, is_astray: false });
        self.renew();
        let call = self.service.peer().call_tool_once(CallToolRequestParams::new(tool.to_owned()).with_arguments(args));
        let answered = tokio::select! {
            answered = timeout(time, call) => answered,
            () = self.flooded() => return astray(self.failed(&ended(FLOOD))),
            () = stopped(stop) => {
                return astray(Problem::new(ErrorCode::Cancelled, "The call was stopped. What the server had done until then is not known."));
            }
        };
        match answered {
            Err(_) => astray(self.failed(&format!("it did not answer within {} seconds.{}", time.as_secs(), self.stray()))),
            Ok(Err(error @ ServiceError::McpError(_))) => settled(self.broken(&error).await),
            Ok(Err(error)) => astray(self.broken(&error).await),
            Ok(Ok(CallToolResponse::Complete(result))) => answer::told(&self.name, result, workspace, &self.mask).or_else(settled),
            Ok(Ok(_)) => settled(self.failed("it wants to ask something back, or to answer later, which is not supported.")),
        }
    }

    /// Ends it, and waits until nothing of it is left.
    pub async fn end(self) {
        let Self { service, process, .. } = self;
        if let Some(process) = process {
            process.end().await;
        }
        // A server with an address is told, but not waited for long.
        let _ = timeout(Duration::from_secs(2), service.cancel()).await;
    }

    /// Ends a program at once, whoever else is talking to it.
    pub async fn abort(&self) {
        if let Some(process) = &self.process {
            process.end().await;
        }
    }

    fn renew(&self) {
        if let Some(process) = &self.process {
            process.ear.renew();
        }
    }

    /// Waits until it has said more than is listened to.
    async fn flooded(&self) {
        match &self.process {
            Some(process) => process.ear.flooded().await,
            None => std::future::pending().await,
        }
    }

    async fn broken(&self, error: &ServiceError) -> Problem {
        let process = self.process.as_ref().filter(|_| !matches!(error, ServiceError::McpError(_)));
        if process.is_some_and(|process| process.ear.is_flooded()) {
            return self.failed(&ended(FLOOD));
        }
        let words = match process {
            Some(process) => {
                // One that has ended is heard to its end.
                let _ = timeout(LAST_WORDS, process.over()).await;
                format!("{}{}", stray(process, &self.mask), last_words(process, &self.mask))
            }
            None => String::new(),
        };
        let why = if let ServiceError::McpError(error) = error {
            format!("it answers with an error: {}", self.mask.shown(&error.message))
        } else if process.is_some() && matches!(error, ServiceError::TransportClosed) {
            "it has ended".to_owned()
        } else if matches!(error, ServiceError::UnexpectedResponse) {
            "it answers with something else than what it was asked for".to_owned()
        } else if let ServiceError::TransportSend(error) = error {
            sent(&*error.error, &self.mask)
        } else {
            self.mask.shown(&error.to_string())
        };
        self.failed(&format!("{}{words}", ended(&why)))
    }

    fn stray(&self) -> String {
        self.process.as_ref().map(|process| stray(process, &self.mask)).unwrap_or_default()
    }

    fn failed(&self, why: &str) -> Problem {
        failed(&self.name, why)
    }
}

fn last_words(process: &Process, mask: &Mask) -> String {
    let words = mask.piece(&process.last_words());
    let end = words.char_indices().rev().nth(LAST).map_or(0, |(place, _)| place);
    let lines: Vec<&str> = words[end..].lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if lines.is_empty() { String::new() } else { format!(" Its last words: {}", ended(&mask.shown(&lines.join("; ")))) }
}

/// What it wrote to stdout besides messages.
fn stray(process: &Process, mask: &Mask) -> String {
    let Some(line) = process.ear.stray() else { return String::new() };
    let line = mask.shown(&mask.piece(&line).chars().take(STRAY).collect::<String>());
    format!(" On stdout, where only MCP messages belong, it wrote: {line:?}.")
}

/// What to do about a program that misses something when it starts.
fn hint(last_words: &str) -> &'static str {
    let missing = ["No such file", "not found", "Cannot find", "No module named"];
    if !missing.iter().any(|words| last_words.contains(words)) {
        return "";
    }
    " In the sandbox it sees the system, the workspace and what its command line names, and nothing else of your home. Name further files and \
     folders in `readable`; and in `command`, instead of a shim (of pyenv or nvm, say), the full path of the real program."
}

fn told(error: &ClientInitializeError, mask: &Mask) -> String {
    if let ClientInitializeError::JsonRpcError(error) = error {
        format!("it answers with an error: {}", mask.shown(&error.message))
    } else if let ClientInitializeError::TransportError { error, .. } = error {
        sent(&*error.error, mask)
    } else if let ClientInitializeError::ConnectionClosed(_) = error {
        "it ended before it had greeted".to_owned()
    } else {
        mask.shown(&mask.text(&error.to_string()).chars().take(300).collect::<String>())
    }
}

/// What went wrong on the way, in our own words where these are in it.
fn sent(error: &(dyn std::error::Error + Send + Sync), mask: &Mask) -> String {
    let told = error.to_string();
    mask.shown(told.strip_prefix("Client error: ").unwrap_or(&told))
}

async fn stopped(stop: &Stop) {
    while !stop.is_set() {
        tokio::time::sleep(WATCH).await;
    }
}

pub fn failed(name: &str, why: &str) -> Problem {
    Problem::new(ErrorCode::McpFailed, format!("The MCP server `{name}` failed: {why}"))
}
