//! The client crate against a real server: connections that break in the middle of everything.

use crate::{home, write};
use futures::future::BoxFuture;
use planwright_client::{BoxedStream, ChatListFilter, Client, ClientError, Connect, ServerTarget, StreamItem};
use planwright_protocol::api::requests::NewChat;
use planwright_protocol::{ErrorCode, Event};
use planwright_testkit::server::Home;
use serde_json::json;
use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::UnixStream;

/// Connects to a host's socket. Each connection breaks after some bytes of answers: first soon, later never.
struct Cutting {
    socket: PathBuf,
    connections: AtomicUsize,
}

/// How many connections are cut.
const CUTS: usize = 40;

impl Connect for Cutting {
    fn connect(&self) -> BoxFuture<'_, io::Result<BoxedStream>> {
        Box::pin(async {
            let number = self.connections.fetch_add(1, Ordering::Relaxed);
            let left = if number < CUTS { 200 + 97 * number } else { usize::MAX };
            Ok(Box::new(Cut { stream: UnixStream::connect(&self.socket).await?, left }) as BoxedStream)
        })
    }
}

struct Cut {
    stream: UnixStream,
    /// The bytes until it breaks.
    left: usize,
}

impl AsyncRead for Cut {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.left == 0 {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        let mut piece = vec![0; self.left.min(buffer.remaining())];
        let mut part = ReadBuf::new(&mut piece);
        let read = Pin::new(&mut self.stream).poll_read(cx, &mut part);
        buffer.put_slice(part.filled());
        self.left -= part.filled().len();
        read
    }
}

impl AsyncWrite for Cut {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// For the client and for the test.
struct Shared(Arc<Cutting>);
impl Connect for Shared {
    fn connect(&self) -> BoxFuture<'_, io::Result<BoxedStream>> {
        self.0.connect()
    }
}

fn socket(home: &Home) -> PathBuf {
    home.data().join("planwright.sock")
}

#[tokio::test]
async fn connections_that_break_in_the_middle_lose_no_event_double_none_and_no_request_is_made_twice() {
    let words = "a word after another, so that there are many deltas of this answer to be cut off ".repeat(4);
    let home = home(&json!({ "plan": [
        { "text": words, "delay_ms": 3, "calls": [{ "tool": "ls", "args": {} }] },
        { "text": words, "delay_ms": 3, "calls": [{ "tool": "ls", "args": {} }] },
        { "text": "Done." },
    ] }));
    let server = home.serve().await;
    let cutting = Arc::new(Cutting { socket: socket(&home), connections: AtomicUsize::new(0) });
    let client = Client::connect(ServerTarget::Custom(Arc::new(Shared(cutting.clone())))).await.unwrap();
    let workspace = client.workspaces().await.unwrap().remove(0).row;
    let chat = client.create_chat(workspace.id, &NewChat::default()).await.unwrap();
    let chat = client.chat(workspace.id, chat.id);
    let mut events = chat.events(0);
    chat.say("Go").await.unwrap();
    let (mut numbers, mut created, mut lost) = (Vec::new(), Vec::new(), 0);
    loop {
        match events.next().await.unwrap() {
            StreamItem::Event(event) => {
                numbers.push(event.envelope.seq);
                if let Event::MessageCreated { message } = &event.envelope.event {
                    created.push(message.id);
                }
                if let Event::RunFinished { .. } = event.envelope.event {
                    break;
                }
            }
            StreamItem::Lost(_) => lost += 1,
            StreamItem::Resumed => {}
            StreamItem::Reset => panic!("nothing was too old"),
        }
    }
    assert!(lost > 5 && cutting.connections.load(Ordering::Relaxed) > 10, "{lost} streams were cut");
    assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
    let mut stored: Vec<_> = chat.messages(None, 100).await.unwrap().into_iter().map(|message| message.id).collect();
    stored.reverse();
    assert_eq!(created, stored, "each message once, in order");
    assert_eq!(client.chats(workspace.id, &ChatListFilter::default()).await.unwrap().0.len(), 1, "the chat was made once");
    assert!(server.terminate().await);
}

#[tokio::test]
async fn the_calls_of_front_ends_work_by_address_and_by_socket_and_errors_have_their_codes() {
    let home = home(&json!({ "act": [{ "calls": [write("/a.txt", "x\n")] }, { "text": "Done." }] }));
    home.put("inner/some file.txt", "content");
    let server = home.serve().await;
    let by_address = ServerTarget::Url { url: server.base.clone(), token: Some(server.token.clone()) };
    for target in [by_address, ServerTarget::Socket(socket(&home), None)] {
        let client = Client::connect(target).await.unwrap();
        let workspace = client.add_workspace(home.workspace().to_str().unwrap()).await.unwrap().row;
        let chat = client.create_chat(workspace.id, &NewChat { mode: Some("act".to_owned()), ..NewChat::default() }).await.unwrap();
        let chat = client.chat(workspace.id, chat.id);
        assert_eq!(chat.plan().await.unwrap_err().code(), Some(ErrorCode::NoPlan));
        let mut events = chat.events(0);
        chat.say("Go").await.unwrap();
        while !matches!(events.next().await.unwrap(), StreamItem::Event(event) if event.envelope.event.name() == "run_finished") {}
        assert!(chat.snapshot().await.unwrap().messages.len() >= 4);
        assert_eq!(client.file(workspace.id, "/inner/some file.txt").await.unwrap().content.as_deref(), Some("content"));
        assert_eq!(client.find_files(workspace.id, "some", 5).await.unwrap(), ["/inner/some file.txt"]);
        assert!(client.models(workspace.id).await.unwrap().plan.is_some() && !client.rules(workspace.id).await.unwrap().secrets.is_empty());
        assert_eq!(client.inbox().await.unwrap().needs_you.len(), 0);
        chat.delete().await.unwrap();
        let gone = events.next().await;
        assert!(gone.is_err() || matches!(gone, Ok(StreamItem::Lost(_) | StreamItem::Event(_))), "{gone:?}");
        assert_eq!(chat.show().await.unwrap_err().code(), Some(ErrorCode::NotFound));
    }
    let stranger = Client::connect(ServerTarget::Url { url: server.base.clone(), token: Some("wrong".to_owned()) }).await;
    assert_eq!(stranger.err().and_then(|error| error.code()), Some(ErrorCode::Unauthenticated));
    assert!(matches!(Client::new(ServerTarget::Url { url: "nowhere".to_owned(), token: None }), Err(ClientError::Foreign(_))));
    assert!(server.terminate().await);
}
