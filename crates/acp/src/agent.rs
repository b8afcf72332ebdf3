//! The connection: dispatches each method.

use crate::editor_sessions::EditorSessions;
use crate::methods;
use crate::problem::to_client;
use agent_client_protocol::v1::schema::{
    CancelNotification, CloseSessionRequest, InitializeRequest, ListSessionsRequest, LoadSessionRequest, NewSessionRequest, PromptRequest,
    ResumeSessionRequest, SetSessionModeRequest,
};
use agent_client_protocol::{Agent, Error, Lines, on_receive_notification, on_receive_request};
use blocking::Unblock;
use futures::io::BufReader;
use futures::{AsyncBufRead, AsyncBufReadExt, AsyncWriteExt, Sink, Stream, sink, stream};
use planwright_client::Client as ChatServer;
use planwright_protocol::Problem;
use planwright_protocol::api::workspace::Trust;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// How long to wait for a client that has to be refused.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(3);

/// The dependencies of the front end.
pub struct Front {
    /// The server that has the chats.
    pub server: ChatServer,
    /// Remarks for the user about a workspace's own configuration.
    pub remarks: fn(&Trust) -> Vec<String>,
}

/// Serves the client on stdin and stdout until it disconnects, or until `closing`. Then its runs stop.
///
/// # Errors
/// The connection failed.
pub async fn serve(front: Front, closing: impl Future<Output = ()> + Send) -> Result<(), Error> {
    let editor = Arc::new(EditorSessions::new(front.server, front.remarks));
    let (meet, begin, load, resume) = (editor.clone(), editor.clone(), editor.clone(), editor.clone());
    let (list, close, mode, prompt, cancel) = (editor.clone(), editor.clone(), editor.clone(), editor.clone(), editor.clone());
    Agent
        .v1()
        .name("planwright")
        .on_receive_request(
            async move |request: InitializeRequest, responder, _| methods::initialize(&meet, request, responder).await,
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: NewSessionRequest, responder, connection| methods::begin(&begin, request, responder, &connection).await,
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: LoadSessionRequest, responder, connection| methods::load(&load, request, responder, &connection).await,
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ResumeSessionRequest, responder, connection| {
                methods::resume(&resume, request, responder, &connection).await
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: ListSessionsRequest, responder, _| methods::list(&list, request, responder).await,
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: CloseSessionRequest, responder, _| methods::close(&close, request, responder).await,
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: SetSessionModeRequest, responder, _| methods::set_mode(&mode, request, responder),
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: PromptRequest, responder, _| methods::prompt(&prompt, request, responder),
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |request: CancelNotification, _| {
                methods::cancel(&cancel, &request);
                Ok(())
            },
            on_receive_notification!(),
        )
        .connect_with(wire(), async move |connection| {
            tokio::select! {
                () = connection.incoming_closed() => {}
                () = closing => {}
            }
            editor.close_all().await;
            Ok(())
        })
        .await
}

/// Longer lines are ignored: images of a prompt have at most 5 MiB each.
const LONGEST_LINE: usize = 64 << 20;

/// stdin and stdout, line by line. A line that is not UTF-8, or too long, is ignored, without affecting the others.
fn wire() -> Lines<impl Sink<String, Error = io::Error>, impl Stream<Item = io::Result<String>>> {
    let incoming = stream::unfold(BufReader::new(Unblock::new(io::stdin())), async |mut stdin| {
        next_line(&mut stdin, LONGEST_LINE).await.transpose().map(|line| (line, stdin))
    });
    let outgoing = sink::unfold(Unblock::new(io::stdout()), async |mut stdout, line: String| {
        stdout.write_all(format!("{}\n", line.trim_end()).as_bytes()).await?;
        stdout.flush().await?;
        Ok(stdout)
    });
    Lines::new(Box::pin(outgoing), Box::pin(incoming))
}

/// The next line; `None` at the end. Holds at most `longest` bytes of a line.
async fn next_line(reader: &mut (impl AsyncBufRead + Unpin), longest: usize) -> io::Result<Option<String>> {
    let (mut line, mut length) = (Vec::new(), 0_usize);
    loop {
        let piece = reader.fill_buf().await?;
        if piece.is_empty() && length == 0 {
            return Ok(None);
        }
        let end = piece.iter().position(|&byte| byte == b'\n');
        let used = end.map_or(piece.len(), |end| end + 1);
        length = length.saturating_add(used);
        if length <= longest {
            line.extend_from_slice(&piece[..used]);
        }
        let is_over = end.is_some() || piece.is_empty();
        reader.consume_unpin(used);
        if is_over {
            let line = String::from_utf8(line).ok().filter(|_| length <= longest);
            return Ok(Some(line.unwrap_or_else(|| char::REPLACEMENT_CHARACTER.to_string())));
        }
    }
}

/// Reports to a client why nothing can start. Waits a short time for the client to disconnect.
pub async fn refuse(problem: Problem) {
    let refused = Agent
        .v1()
        .on_receive_request(
            async move |_: InitializeRequest, responder, _| responder.respond_with_error(to_client(&problem)),
            on_receive_request!(),
        )
        .connect_with(wire(), async move |connection| {
            let _ = tokio::time::timeout(REFUSAL_TIMEOUT, connection.incoming_closed()).await;
            Ok(())
        })
        .await;
    if let Err(error) = refused {
        tracing::debug!(code = ?error.code, "the client disconnected");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_line_without_end_is_no_message_is_not_held_and_spoils_no_other() {
        let sent = [b"one\n".as_slice(), &vec![b'x'; 200_000], b"\ntwo\n\xff\nlast"].concat();
        let mut reader = BufReader::with_capacity(1000, sent.as_slice());
        let mut lines = Vec::new();
        while let Some(line) = next_line(&mut reader, 5000).await.unwrap() {
            lines.push(line);
        }
        assert_eq!(lines, ["one\n", "\u{fffd}", "two\n", "\u{fffd}", "last"]);
    }
}
