//! Which chats are in memory, and what it costs to begin where a long history was summed up.

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::BoxStream;
use planwright_agent::{Delta, ModelMessage, ModelRequest, Provider, Purpose};
use planwright_chat::{Handle, Models, Sessions};
use planwright_feed::Follower;
use planwright_protocol::message::{AssistantText, ReplyPart, UserText};
use planwright_protocol::settings::ModelSettings;
use planwright_protocol::{Envelope, ErrorCode, Event, Message, MessageId, Mode, Op, Problem, Role, Timestamp, WorkspaceId};
use planwright_store::{Append, Store, TurnWindow};
use planwright_workspaces::Settings;
use std::sync::{Arc, Mutex};

const EVERYTHING: TurnWindow = TurnWindow { bytes: u64::MAX, bytes_of_one: u64::MAX };

/// Answers with the number of the request, and keeps the requests.
#[derive(Default)]
struct Counting(Mutex<Vec<ModelRequest>>);

#[async_trait]
impl Provider for Counting {
    fn name(&self) -> &'static str {
        "test/counting"
    }

    async fn stream(&self, request: ModelRequest) -> Result<BoxStream<'static, Result<Delta, Problem>>, Problem> {
        let mut requests = self.0.lock().unwrap();
        let text = match request.purpose {
            Purpose::Reply | Purpose::Intent => format!("Reply {}", requests.len()),
            Purpose::Summary => "All was said.".to_owned(),
        };
        requests.push(request);
        Ok(futures::stream::iter([Ok(Delta::Text(text))]).boxed())
    }
}

struct One(Arc<Counting>);

#[async_trait]
impl Models for One {
    async fn model(&self, _: &ModelSettings, _: Mode) -> Result<Arc<dyn Provider>, Problem> {
        Ok(self.0.clone())
    }
}

struct Ground {
    _folder: tempfile::TempDir,
    store: Store,
    workspace: WorkspaceId,
    model: Arc<Counting>,
    sessions: Sessions,
}

impl Ground {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path().join("workspace");
        std::fs::create_dir_all(&workspace).unwrap();
        let store = Store::open(&folder.path().join("planwright.db")).await.unwrap();
        let workspace = store.ensure_workspace("workspace", workspace.to_str().unwrap()).await.unwrap().id;
        let model = Arc::new(Counting::default());
        let sessions = Sessions::with_settings(store.clone(), Settings::default(), Arc::new(One(model.clone())));
        Self { _folder: folder, store, workspace, model, sessions }
    }

    async fn chat(&self) -> Handle {
        self.sessions.create(self.workspace, None, None).await.unwrap()
    }
}

/// Does an op and waits for the end of the run that it starts.
async fn run(handle: &Handle, op: Op) {
    let mut follower = Follower::from_now(handle.chat().clone()).await.unwrap();
    handle.submit(op).await.unwrap();
    while !follower.next().await.unwrap().unwrap().json().contains(r#""type":"run_finished""#) {}
    // The end is published with the state that says so.
    assert!(handle.chat().record().run.is_none());
}

fn say(content: &str) -> Op {
    Op::UserMessage { content: content.to_owned(), metadata: serde_json::Map::default(), images: Vec::new(), comments: Vec::new() }
}

/// Looks twice: a chat may have changed since the first look. Tasks that just ended may still hold it.
async fn release_all(sessions: &Sessions) {
    while sessions.in_memory() > 0 {
        sessions.release_idle();
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_chat_that_nobody_uses_leaves_memory_and_reading_it_wakes_nothing() {
    let ground = Ground::new().await;
    let (sessions, id) = (&ground.sessions, ground.chat().await.chat().id);
    assert_eq!(sessions.in_memory(), 1);
    release_all(sessions).await;

    let view = sessions.look_at(ground.workspace, id).await.unwrap();
    let snapshot = sessions.snapshot(ground.workspace, id).await.unwrap();
    assert_eq!((view.id, snapshot.chat.id, sessions.in_memory()), (id, id, 0));
    let other = sessions.look_at(WorkspaceId::generate(), id).await.map(|_| ()).unwrap_err();
    assert_eq!(other.code, ErrorCode::NotFound, "a chat of another workspace is not found");

    let handle = sessions.chat(id).await.unwrap();
    let mut follower = Follower::after(handle.chat().clone(), snapshot.last_event_id).await.unwrap();
    run(&handle, say("Hello")).await;
    let first = follower.next().await.unwrap().unwrap();
    assert!(first.json().contains("Hello") && first.seq > snapshot.last_event_id, "{}", first.json());
}

#[tokio::test]
async fn a_chat_with_a_follower_or_a_handle_stays_in_memory() {
    let ground = Ground::new().await;
    let handle = ground.chat().await;
    let look = || {
        ground.sessions.release_idle();
        ground.sessions.release_idle();
        ground.sessions.in_memory()
    };
    assert_eq!(look(), 1, "a handle");
    let follower = Follower::from_now(handle.chat().clone()).await.unwrap();
    drop(handle);
    assert_eq!(look(), 1, "a follower");
    drop(follower);
    release_all(&ground.sessions).await;
}

#[tokio::test]
async fn a_deleted_chat_is_gone_whether_it_was_in_memory_or_not() {
    let ground = Ground::new().await;
    for sleeps in [false, true] {
        let id = ground.chat().await.chat().id;
        if sleeps {
            release_all(&ground.sessions).await;
        }
        ground.sessions.delete(id).await.unwrap();
        assert_eq!(ground.sessions.chat(id).await.map(|_| ()).unwrap_err().code, ErrorCode::NotFound);
        assert_eq!(ground.sessions.delete(id).await.unwrap_err().code, ErrorCode::NotFound);
        assert_eq!(ground.sessions.in_memory(), 0);
    }
}

#[tokio::test]
async fn a_run_after_a_summary_reads_the_history_from_there_on_also_after_waking() {
    let ground = Ground::new().await;
    let id = {
        let handle = ground.chat().await;
        for text in ["One", "Two", "Three"] {
            run(&handle, say(text)).await;
        }
        run(&handle, Op::Compact).await;
        handle.chat().id
    };
    let row = ground.store.chat(id).await.unwrap().unwrap();
    let read = ground.store.turn_messages(id, row.turn_start, EVERYTHING).await.unwrap().messages;
    let whole = ground.store.messages(id).await.unwrap();
    assert!(row.turn_start.is_some() && read.len() < whole.len(), "{} of {}", read.len(), whole.len());

    ground.sessions.park_all().await;
    let handle = ground.sessions.chat(id).await.unwrap();
    run(&handle, say("Four")).await;
    let requests = ground.model.0.lock().unwrap();
    let last = requests.last().unwrap();
    let [ModelMessage::User(summary), ModelMessage::User(newest)] = last.messages.as_slice() else { panic!("{:?}", last.messages) };
    assert!(["One", "Two", "Three", "All was said."].iter().all(|part| summary.contains(part)), "{summary}");
    assert_eq!((newest.as_str(), last.replies.plan), ("Four", 3), "replies before the summary still count");
}

#[tokio::test]
async fn a_long_chat_that_was_never_summed_up_is_read_from_its_end_and_summed_up_first() {
    let ground = Ground::new().await;
    let id = ground.chat().await.chat().id;
    release_all(&ground.sessions).await;
    let mut row = ground.store.chat(id).await.unwrap().unwrap();
    let said = |number: u64| {
        let text = format!("number {number} {}", "x".repeat(10_000));
        let reply = ReplyPart::accompanying(Some(MessageId::generate()));
        match number % 2 {
            0 => Message::new(id, UserText::default(), text),
            _ => Message::new(id, AssistantText { reply, ..AssistantText::default() }, text).with_role(Role::Planner),
        }
    };
    let first = row.seq_ceiling + 1;
    let event =
        |number: u64| Envelope { event: Event::MessageCreated { message: said(number) }, seq: first + number, at: Timestamp::now() };
    let events: Vec<Envelope> = (0..400).map(event).collect();
    row.seq_ceiling += 400;
    ground.store.append(&row, Append { events: &events, ..Append::default() }).await.unwrap();

    let handle = ground.sessions.chat(id).await.unwrap();
    run(&handle, say("And now?")).await;
    let requests = std::mem::take(&mut *ground.model.0.lock().unwrap());
    let [summary, reply] = requests.as_slice() else { panic!("{} requests", requests.len()) };
    assert!(summary.purpose == Purpose::Summary && summary.messages.len() < 100, "{} messages", summary.messages.len());
    let [ModelMessage::User(earlier), .., ModelMessage::User(_)] = summary.messages.as_slice() else { panic!("{:?}", summary.messages) };
    assert!(earlier.contains("earlier messages are left out"), "{earlier}");
    let [ModelMessage::User(kept), ModelMessage::User(newest)] = reply.messages.as_slice() else { panic!("{:?}", reply.messages) };
    assert!(["number 0 ", "number 398 ", "All was said."].iter().all(|part| kept.contains(part)), "{kept}");
    assert_eq!(newest, "And now?");
    let row = ground.store.chat(id).await.unwrap().unwrap();
    assert!(ground.store.turn_messages(id, row.turn_start, EVERYTHING).await.unwrap().messages.len() < 5);
}

#[tokio::test]
async fn the_overview_opens_no_chat_of_a_workspace_that_its_reader_may_not_see() {
    let ground = Ground::new().await;
    let chat = ground.chat().await.chat().id;
    release_all(&ground.sessions).await;
    for (is_visible, opened) in [(false, 0), (true, 1)] {
        let overview = ground.sessions.overview(Arc::new(move |_| is_visible), None, &[(chat, Some(0))]).await.unwrap();
        assert_eq!(ground.sessions.in_memory(), opened);
        drop(overview);
    }
}
