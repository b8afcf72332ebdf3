//! The agent's own cost of a tool turn: from the end of a reply that asks for a file to the next request, everything
//! stored durably in between. Measured against durable commits of the same run. Exits with 1 when a bar is missed.
#![expect(clippy::unwrap_used, clippy::print_stdout, clippy::disallowed_methods, reason = "a benchmark prints, and fails by panicking")]

use async_trait::async_trait;
use futures::stream::BoxStream;
use futures::{StreamExt, stream};
use planwright_agent::{Delta, ModelCall, ModelRequest, Provider};
use planwright_chat::{Models, Sessions};
use planwright_protocol::event::ChatState;
use planwright_protocol::message::{AssistantText, CallStatus, ReplyPart, ToolCall, ToolOutcome, ToolResult, UserText};
use planwright_protocol::settings::{ModelSettings, RunLimits};
use planwright_protocol::{CallId, ChatId, Envelope, Event, Message, MessageId, Mode, Op, Problem, Role, Timestamp};
use planwright_store::{Append, ChatRow, Store};
use planwright_testkit::bench::{median_ms, report};
use planwright_workspaces::Settings;
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const TURNS: usize = 300;
/// How often the start of a run is measured.
const STARTS: usize = 25;
/// The first turns find nothing in any cache.
const WARM_UP: usize = 20;

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let folder = tempfile::Builder::new().prefix("bench-").tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let commit = runtime.block_on(commits(folder.path()));
    let short = runtime.block_on(turns(folder.path(), 10));
    let long = runtime.block_on(turns(folder.path(), 10_000));
    let bar = 3.0 * commit + 1.0;
    println!("a durable commit of SQLite                                 {commit:>8.2}ms");
    let results = [
        report("a tool turn with 10 messages, against 3 commits and 1 ms", short, "ms", bar),
        report("the same with 10,000 messages, against that with 10", long / short, "", 1.5),
    ];
    let summed_up = runtime.block_on(starts(folder.path(), History::SummedUp));
    let whole = runtime.block_on(starts(folder.path(), History::Whole));
    println!("start of a run in a chat with 100 messages, summed up      {:>8.2}ms", summed_up.short);
    println!("the same, never summed up                                  {:>8.2}ms", whole.short);
    println!("the first with 20,000 messages, never summed up            {:>8.2}ms", whole.first_of_long);
    let results = results.into_iter().chain([
        report("with 20,000 messages, summed up, against that with 100", summed_up.long / summed_up.short, "", 1.3),
        report("with 20,000 messages, never summed up, against 100", whole.long / whole.short, "", 1.3),
    ]);
    if results.into_iter().all(|within| within) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// One small event a commit, as the store writes it.
async fn commits(folder: &Path) -> f64 {
    let store = Store::open(&folder.join("commits.db")).await.unwrap();
    let mut chat = chat(&store, folder, 0).await;
    let mut times = Vec::new();
    for seq in 0..TURNS as u64 {
        let event = Envelope { event: Event::StateChanged { state: ChatState::Idle }, seq: seq + 1, at: Timestamp::now() };
        let start = Instant::now();
        chat.version = store.append(&chat, Append { events: &[event], ..Append::default() }).await.unwrap();
        times.push(start.elapsed());
    }
    median_ms(times)
}

async fn turns(folder: &Path, messages: usize) -> f64 {
    let store = Store::open(&folder.join(format!("{messages}.db"))).await.unwrap();
    let row = chat(&store, folder, messages).await;
    let gaps = Arc::new(Gaps::default());
    let limits = RunLimits { turns: u32::MAX, cost: f64::INFINITY };
    let sessions = Sessions::with_settings(store, Settings { limits, ..Settings::default() }, Arc::new(OneModel(gaps.clone())));
    let handle = sessions.chat(row.id).await.unwrap();
    // Writes the chat's file, which other chats have from their beginning.
    handle.chat().frontmatter().await.unwrap();
    handle
        .submit(Op::UserMessage {
            content: "Look at the file.".to_owned(),
            metadata: serde_json::Map::default(),
            images: Vec::new(),
            comments: Vec::new(),
        })
        .await
        .unwrap();
    while handle.chat().record().run.is_some() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let times = gaps.0.lock().unwrap().times[WARM_UP..].to_vec();
    median_ms(times)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum History {
    SummedUp,
    /// The first run of a long one sums it up, because it does not fit into the model's context.
    Whole,
}

/// The medians of a short and a long chat, and the first start of the long one.
struct Starts {
    short: f64,
    long: f64,
    first_of_long: f64,
}

/// From a message to the first request to the model, in chats that are not in memory. Short and long take turns, so that other
/// work on the machine slows both.
async fn starts(folder: &Path, history: History) -> Starts {
    let (short, long) = (prepared(folder, 100, history).await, prepared(folder, 20_000, history).await);
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..STARTS {
        for (chat, times) in [&short, &long].into_iter().zip(&mut times) {
            let said = Op::UserMessage {
                content: "Go on.".to_owned(),
                metadata: serde_json::Map::default(),
                images: Vec::new(),
                comments: Vec::new(),
            };
            times.push(start(chat, said).await);
        }
    }
    let first_of_long = times[1][0].as_secs_f64() * 1e3;
    let [short, long] = times.map(median_ms);
    Starts { short, long, first_of_long }
}

async fn prepared(folder: &Path, messages: usize, history: History) -> (Store, ChatId) {
    let store = Store::open(&folder.join(format!("starts-{messages}-{history:?}.db"))).await.unwrap();
    let id = chat(&store, folder, messages).await.id;
    // As above.
    let sessions = Sessions::with_settings(store.clone(), Settings::default(), Arc::new(OneModel(Arc::default())));
    sessions.chat(id).await.unwrap().chat().frontmatter().await.unwrap();
    sessions.park_all().await;
    let chat = (store, id);
    if history == History::SummedUp {
        start(&chat, Op::Compact).await;
    }
    chat
}

async fn start((store, id): &(Store, ChatId), op: Op) -> Duration {
    let gaps = Arc::new(Gaps::default());
    gaps.0.lock().unwrap().times = vec![Duration::ZERO; TURNS];
    let sessions = Sessions::with_settings(store.clone(), Settings::default(), Arc::new(OneModel(gaps.clone())));
    let begin = Instant::now();
    let handle = sessions.chat(*id).await.unwrap();
    gaps.0.lock().unwrap().ended = Some(begin);
    handle.submit(op).await.unwrap();
    while handle.chat().record().run.is_some() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    drop(handle);
    sessions.park_all().await;
    gaps.0.lock().unwrap().times[TURNS]
}

/// A chat with so many messages: requests, calls and their results, as they are in a long chat.
async fn chat(store: &Store, folder: &Path, messages: usize) -> ChatRow {
    std::fs::write(folder.join("file.txt"), "a line of text\n".repeat(20)).unwrap();
    let workspace = store.ensure_workspace("bench", folder.to_str().unwrap()).await.unwrap();
    let now = Timestamp::now();
    let mut row = ChatRow {
        id: ChatId::generate(),
        version: 0,
        workspace_id: workspace.id,
        title: "Bench".to_owned(),
        config: planwright_protocol::ChatConfig { role: Role::Planner, plan_file: None },
        state: ChatState::Idle,
        pending: None,
        grants: Vec::new(),
        progress: None,
        epoch: 0,
        seq_ceiling: messages as u64 + 1,
        usage: planwright_protocol::event::Usage::default(),
        run: None,
        turn_start: None,
        marks: planwright_store::Marks::default(),
        created_at: now,
        updated_at: now,
    };
    store.create_chat(&row).await.unwrap();
    let (mut reply, mut call_id) = (ReplyPart::default(), CallId::generate());
    let history = (0..messages).map(|number| match number % 4 {
        0 => Message::new(row.id, UserText::default(), "And what does the next file say?"),
        1 => {
            (reply, call_id) = (ReplyPart::accompanying(Some(MessageId::generate())), CallId::generate());
            let call = ToolCall::new(call_id, "read", json!({"path": "/file.txt"}));
            Message::new(row.id, ToolCall { status: CallStatus::Done, reply: reply.clone(), ..call }, "read").with_role(Role::Planner)
        }
        2 => {
            let (tool, outcome) = ("read".to_owned(), ToolOutcome::Succeeded(None));
            let result = ToolResult { call_id, tool, outcome, question_id: None, body_size: None };
            Message::new(row.id, result, "1\ta line of a source file as they are\n".repeat(60))
        }
        _ => {
            let text = AssistantText { reply: reply.clone(), ..AssistantText::default() };
            Message::new(row.id, text, "It has sixty lines that all say the same. ".repeat(6)).with_role(Role::Planner)
        }
    });
    let events: Vec<Envelope> =
        history.zip(1..).map(|(message, seq)| Envelope { event: Event::MessageCreated { message }, seq, at: now }).collect();
    row.version = store.append(&row, Append { events: &events, ..Append::default() }).await.unwrap();
    row
}

/// When the last reply ended, and how long after it each request came.
#[derive(Default)]
struct Gaps(Mutex<Measured>);

#[derive(Default)]
struct Measured {
    ended: Option<Instant>,
    times: Vec<Duration>,
}

struct OneModel(Arc<Gaps>);

#[async_trait]
impl Models for OneModel {
    async fn model(&self, _: &ModelSettings, _: Mode) -> Result<Arc<dyn Provider>, Problem> {
        Ok(Arc::new(InstantModel(self.0.clone())))
    }
}

/// Answers at once: a call each time, and at the end a word.
struct InstantModel(Arc<Gaps>);

#[async_trait]
impl Provider for InstantModel {
    fn name(&self) -> &'static str {
        "bench/instant"
    }

    async fn stream(&self, _request: ModelRequest) -> Result<BoxStream<'static, Result<Delta, Problem>>, Problem> {
        let mut measured = self.0.0.lock().unwrap();
        if let Some(ended) = measured.ended.take() {
            measured.times.push(ended.elapsed());
        }
        let number = measured.times.len();
        let delta = if number < TURNS {
            // Another line each time, so that nobody takes it for a loop.
            let args = json!({"path": "/file.txt", "offset": number % 20 + 1, "limit": 2}).to_string();
            Delta::Call(ModelCall { id: number.to_string(), tool: "read".to_owned(), args })
        } else {
            Delta::Text("Done.".to_owned())
        };
        let gaps = self.0.clone();
        let end = stream::once(async move {
            gaps.0.lock().unwrap().ended = Some(Instant::now());
            Ok(Delta::Usage(planwright_protocol::event::Usage::default()))
        });
        Ok(stream::iter([Ok(delta)]).chain(end).boxed())
    }
}
