//! Requests to a server, with limits.

use crate::answer;
use crate::http::HttpClient;
use crate::process::Process;
use crate::redaction::Redaction;
use crate::tool_catalog::{Listed, Unreadable, ended};
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

/// Maximum number of tools and of pages: no model can choose from more.
const MAX_TOOLS: usize = 256;
const MOST_PAGES: usize = 32;
/// How long to wait for a program that broke off.
const EXIT_GRACE: Duration = Duration::from_millis(500);
/// Maximum bytes shown of its last output, and of a stray line on stdout.
const MAX_LAST_OUTPUT: usize = 400;
const STRAY: usize = 200;
/// Interval of checks for a stop.
const STOP_INTERVAL: Duration = Duration::from_millis(25);
const FLOOD: &str = "it sent more than the limit";

/// How to reach a server.
pub enum ServerTransport {
    Program(Arc<Post>),
    Address { url: String, caller: HttpClient },
}

/// Why a call gave no answer.
pub struct CallFault {
    pub problem: Problem,
    /// Whether the server may still be working on the call, or is unusable.
    pub is_unusable: bool,
}

/// A connected server. Dropping this ends it. All text from it is redacted.
pub struct Connection {
    name: String,
    service: RunningService<RoleClient, Listener>,
    process: Option<Process>,
    stale: Arc<AtomicBool>,
    redaction: Redaction,
}

/// Receives notifications of a server. It gets no answers to its own requests.
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

impl Connection {
    /// # Errors
    /// It can't be started, or does not answer in time.
    pub async fn open(name: &str, transport: &ServerTransport, redaction: Redaction, time: Duration) -> Result<Self, Problem> {
        let until = Instant::now() + time;
        match Self::attempt(name, transport, &redaction, ClientLifecycleMode::Initialize, until).await {
            // The newest protocol has no initialize request.
            Err((problem, true)) => {
                let newest = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::LATEST] };
                Self::attempt(name, transport, &redaction, newest, until).await.map_err(|_| problem)
            }
            other => other.map_err(|(problem, _)| problem),
        }
    }

    /// The error also says whether the server rejected the initialize request.
    async fn attempt(
        name: &str,
        transport: &ServerTransport,
        redaction: &Redaction,
        greeting: ClientLifecycleMode,
        until: Instant,
    ) -> Result<Self, (Problem, bool)> {
        let stale = Arc::new(AtomicBool::new(false));
        let listener = Listener(stale.clone());
        let (greeted, process) = match transport {
            ServerTransport::Program(post) => {
                let (process, streams) = Process::start(name, post.clone()).await.map_err(|problem| (problem, false))?;
                let greeting = serve_client_with_lifecycle(listener, (streams.output, streams.input), greeting);
                (timeout_at(until, greeting).await, Some(process))
            }
            ServerTransport::Address { url, caller } => {
                let config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
                let transport = StreamableHttpClientTransport::with_client(caller.clone(), config);
                (timeout_at(until, serve_client_with_lifecycle(listener, transport, greeting)).await, None)
            }
        };
        let (why, is_refusal) = match greeted {
            Ok(Ok(service)) => return Ok(Self { name: name.to_owned(), service, process, stale, redaction: redaction.clone() }),
            Ok(Err(error)) => (describe_init_error(&error, redaction), matches!(error, ClientInitializeError::JsonRpcError(_))),
            Err(_) => ("it did not answer in time".to_owned(), false),
        };
        let mut words = String::new();
        if let Some(process) = process {
            // All its output has been read by then.
            process.end().await;
            if process.listener.is_flooded() {
                words.push_str(" It sent more than the limit.");
            }
            if !is_refusal {
                words.push_str(&stray(&process, redaction));
            }
            words.push_str(&last_output(&process, redaction));
            words.push_str(hint(&process.last_output()));
        }
        Err((failed(name, &format!("{}{words}", ended(&why))), is_refusal))
    }

    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.service.is_closed() || self.service.peer().is_transport_closed()
    }

    /// Whether the server announced that its tools changed. Returns true once per announcement.
    pub fn take_tools_changed(&self) -> bool {
        self.stale.swap(false, Ordering::Relaxed)
    }

    /// Lists its tools.
    ///
    /// # Errors
    /// It does not answer, or lists too many.
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
                Err(_) => return Err(self.failed(&format!("it did not list its tools in time.{}", self.stray()))),
            };
            tools.extend(page);
            if tools.len() > MAX_TOOLS {
                return Err(self.failed(&format!("it has more than {MAX_TOOLS} tools.")));
            }
            match next {
                Some(next) => cursor = Some(next),
                None => return Ok(tools),
            }
        }
        Err(self.failed("its list of tools has too many pages."))
    }

    /// A page of its tools, and the cursor of the next one.
    async fn page(&self, cursor: Option<String>) -> Result<(Vec<Listed>, Option<String>), ServiceError> {
        let request = ListToolsRequest::with_param(PaginatedRequestParams::default().with_cursor(cursor));
        let answer = self.service.peer().send_request(ClientRequest::ListToolsRequest(request)).await?;
        if let ServerResult::ListToolsResult(page) = answer {
            let tools = page.tools.into_iter().enumerate().map(|(place, tool)| {
                let plain = serde_json::to_value(&tool).ok().filter(|_| !self.redaction.is_empty());
                plain.map_or_else(|| Ok(tool), |plain| Unreadable::parse_tool(place, &self.redaction.value(plain)))
            });
            return Ok((tools.collect(), page.next_cursor));
        }
        // One malformed tool would make the whole list unreadable, so they are parsed one by one.
        let ServerResult::CustomResult(CustomResult(page)) = answer else { return Err(ServiceError::UnexpectedResponse) };
        let next = page.get("nextCursor").and_then(Value::as_str).filter(|next| !next.is_empty()).map(str::to_owned);
        let tools = page.get("tools").and_then(Value::as_array).ok_or(ServiceError::UnexpectedResponse)?;
        let tools = tools.iter().enumerate().map(|(place, tool)| Unreadable::parse_tool(place, &self.redaction.value(tool.clone())));
        Ok((tools.collect(), next))
    }

    /// Calls a tool and returns the text of its answer.
    ///
    /// # Errors
    /// It failed, took too long, or was stopped.
    pub async fn call(&self, tool: &str, args: JsonObject, workspace: &Path, time: Duration, stop: &Stop) -> Result<String, CallFault> {
        let unusable_after = |problem| Err(CallFault { problem, is_unusable: true });
        let settled = |problem| Err(CallFault { problem, is_unusable: false });
        self.renew();
        let call = self.service.peer().call_tool_once(CallToolRequestParams::new(tool.to_owned()).with_arguments(args));
        let answered = tokio::select! {
            answered = timeout(time, call) => answered,
            () = self.flooded() => return unusable_after(self.failed(&ended(FLOOD))),
            () = stopped(stop) => {
                return unusable_after(Problem::new(ErrorCode::Cancelled, "The call was stopped. It is unknown what the server had done by then."));
            }
        };
        match answered {
            Err(_) => unusable_after(self.failed(&format!("it did not answer within {} seconds.{}", time.as_secs(), self.stray()))),
            Ok(Err(error @ ServiceError::McpError(_))) => settled(self.broken(&error).await),
            Ok(Err(error)) => unusable_after(self.broken(&error).await),
            Ok(Ok(CallToolResponse::Complete(result))) => {
                answer::answer_text(&self.name, result, workspace, &self.redaction).or_else(settled)
            }
            Ok(Ok(_)) => settled(self.failed("it wants to ask a question or to answer later, which is not supported.")),
        }
    }

    /// Ends it, and waits until no process of it is left.
    pub async fn end(self) {
        let Self { service, process, .. } = self;
        if let Some(process) = process {
            process.end().await;
        }
        // A server with an address gets a short time to end its session.
        let _ = timeout(Duration::from_secs(2), service.cancel()).await;
    }

    /// Ends a program at once, even if others use it.
    pub async fn abort(&self) {
        if let Some(process) = &self.process {
            process.end().await;
        }
    }

    fn renew(&self) {
        if let Some(process) = &self.process {
            process.listener.renew();
        }
    }

    /// Waits until the program exceeds its limit.
    async fn flooded(&self) {
        match &self.process {
            Some(process) => process.listener.flooded().await,
            None => std::future::pending().await,
        }
    }

    async fn broken(&self, error: &ServiceError) -> Problem {
        let process = self.process.as_ref().filter(|_| !matches!(error, ServiceError::McpError(_)));
        if process.is_some_and(|process| process.listener.is_flooded()) {
            return self.failed(&ended(FLOOD));
        }
        let words = match process {
            Some(process) => {
                // The remaining output of an ended program is read.
                let _ = timeout(EXIT_GRACE, process.over()).await;
                format!("{}{}", stray(process, &self.redaction), last_output(process, &self.redaction))
            }
            None => String::new(),
        };
        let why = if let ServiceError::McpError(error) = error {
            format!("it answers with an error: {}", self.redaction.shown(&error.message))
        } else if process.is_some() && matches!(error, ServiceError::TransportClosed) {
            "it has ended".to_owned()
        } else if matches!(error, ServiceError::UnexpectedResponse) {
            "its answer does not match the request".to_owned()
        } else if let ServiceError::TransportSend(error) = error {
            sent(&*error.error, &self.redaction)
        } else {
            self.redaction.shown(&error.to_string())
        };
        self.failed(&format!("{}{words}", ended(&why)))
    }

    fn stray(&self) -> String {
        self.process.as_ref().map(|process| stray(process, &self.redaction)).unwrap_or_default()
    }

    fn failed(&self, why: &str) -> Problem {
        failed(&self.name, why)
    }
}

fn last_output(process: &Process, redaction: &Redaction) -> String {
    let words = redaction.piece(&process.last_output());
    let end = words.char_indices().rev().nth(MAX_LAST_OUTPUT).map_or(0, |(place, _)| place);
    let lines: Vec<&str> = words[end..].lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if lines.is_empty() { String::new() } else { format!(" Its last output: {}", ended(&redaction.shown(&lines.join("; ")))) }
}

/// Lines on stdout that are not messages.
fn stray(process: &Process, redaction: &Redaction) -> String {
    let Some(line) = process.listener.stray() else { return String::new() };
    let line = redaction.shown(&redaction.piece(&line).chars().take(STRAY).collect::<String>());
    format!(" On stdout, where only MCP messages belong, it wrote: {line:?}.")
}

/// What to do about a program that misses a file when it starts.
fn hint(last_output: &str) -> &'static str {
    let missing = ["No such file", "not found", "Cannot find", "No module named"];
    if !missing.iter().any(|words| last_output.contains(words)) {
        return "";
    }
    " In the sandbox it sees the system, the workspace and what its command line names, and nothing else of your home. Name further files and \
     folders in `readable`; and in `command`, instead of a shim (of pyenv or nvm, say), the full path of the real program."
}

fn describe_init_error(error: &ClientInitializeError, redaction: &Redaction) -> String {
    if let ClientInitializeError::JsonRpcError(error) = error {
        format!("it answers with an error: {}", redaction.shown(&error.message))
    } else if let ClientInitializeError::TransportError { error, .. } = error {
        sent(&*error.error, redaction)
    } else if let ClientInitializeError::ConnectionClosed(_) = error {
        "it ended before the connection was established".to_owned()
    } else {
        redaction.shown(&redaction.text(&error.to_string()).chars().take(300).collect::<String>())
    }
}

/// A transport error, in our own words if it contains them.
fn sent(error: &(dyn std::error::Error + Send + Sync), redaction: &Redaction) -> String {
    let told = error.to_string();
    redaction.shown(told.strip_prefix("Client error: ").unwrap_or(&told))
}

async fn stopped(stop: &Stop) {
    while !stop.is_set() {
        tokio::time::sleep(STOP_INTERVAL).await;
    }
}

pub fn failed(name: &str, why: &str) -> Problem {
    Problem::new(ErrorCode::McpFailed, format!("The MCP server `{name}` failed: {why}"))
}
