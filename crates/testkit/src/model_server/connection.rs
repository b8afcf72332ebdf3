//! One request and what is sent for it, byte by byte.

use super::{Fault, Frame, Holds, ReceivedRequest, ScriptedReply, Shared, Wire};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub(super) async fn serve(wire: Wire, mut stream: TcpStream, shared: Arc<Mutex<Shared>>) {
    let Some(asked) = read(&mut stream).await else { return };
    let listing = asked.body.is_null();
    shared.lock().unwrap().asked.push(asked);
    let reply = if listing {
        let front = shared.lock().unwrap().replies.front().cloned();
        front.filter(|reply| matches!(reply.fault, Some(Fault::Status { .. } | Fault::Silence)))
    } else {
        Some(next_reply(&shared).await)
    };
    let sent = match reply {
        Some(reply) => send(wire, &mut stream, &reply).await,
        None => answer(&mut stream, 200, "", &wire.models().to_string()).await,
    };
    if sent.is_err() {
        shared.lock().unwrap().hung_up += 1;
    }
}

async fn next_reply(shared: &Mutex<Shared>) -> ScriptedReply {
    loop {
        {
            let mut shared = shared.lock().unwrap();
            match shared.replies.pop_front() {
                Some(reply) => return reply,
                None if shared.is_patient => {}
                None => return ScriptedReply::status(400, None, "the test has no more replies"),
            }
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn read(stream: &mut TcpStream) -> Option<ReceivedRequest> {
    let mut received = Vec::new();
    let end = loop {
        if let Some(end) = received.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
        let mut piece = [0; 4096];
        let count = stream.read(&mut piece).await.ok().filter(|count| *count > 0)?;
        received.extend_from_slice(&piece[..count]);
    };
    let head = String::from_utf8_lossy(&received[..end]).into_owned();
    let mut lines = head.lines();
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    let headers: Vec<(String, String)> =
        lines.filter_map(|line| line.split_once(": ")).map(|(name, value)| (name.to_lowercase(), value.to_owned())).collect();
    let length = headers.iter().find(|(name, _)| name == "content-length").map_or(0, |(_, value)| value.parse().unwrap());
    let mut body = received.split_off(end);
    while body.len() < length {
        let mut piece = [0; 4096];
        let count = stream.read(&mut piece).await.ok().filter(|count| *count > 0)?;
        body.extend_from_slice(&piece[..count]);
    }
    Some(ReceivedRequest { path, headers, body: serde_json::from_slice(&body).unwrap_or_default(), at: Instant::now() })
}

async fn answer(stream: &mut TcpStream, status: u16, header: &str, body: &str) -> std::io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n{header}connection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).await
}

async fn send(wire: Wire, stream: &mut TcpStream, reply: &ScriptedReply) -> std::io::Result<()> {
    if let Some(Fault::Status { status, header, body }) = &reply.fault {
        return answer(stream, *status, header, body).await;
    }
    if reply.fault == Some(Fault::Silence) {
        return until_hung_up(stream).await;
    }
    let kind = if wire == Wire::Ollama { "application/x-ndjson" } else { "text/event-stream" };
    stream
        .write_all(format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n").as_bytes())
        .await?;
    if reply.fault == Some(Fault::OneLine) {
        chunk(stream, b"data: ").await?;
        loop {
            chunk(stream, reply.text.as_bytes()).await?;
        }
    }
    let frames = wire.frames(reply);
    let after_text = frames.iter().rposition(|frame| frame.holds == Holds::Text).map_or(0, |last| last + 1);
    let in_arguments = frames.iter().position(|frame| frame.holds == Holds::Arguments).unwrap_or(frames.len());
    let variants = reply.fault == Some(Fault::Variants);
    let all = |frames: &[Frame]| frames.iter().map(|frame| frame.render(variants)).collect::<String>().into_bytes();
    match &reply.fault {
        Some(Fault::CutAfterText) => return chunks(stream, &all(&frames[..after_text])).await,
        Some(Fault::CutInArguments) => {
            let mut bytes = all(&frames[..in_arguments]);
            let next = all(&frames[in_arguments..=in_arguments]);
            // A wire that has its calls whole is cut within one.
            let whole = matches!(wire, Wire::Gemini | Wire::Ollama);
            bytes.extend_from_slice(if whole { &next[..next.len() / 2] } else { &next });
            return chunks(stream, &bytes).await;
        }
        Some(Fault::Garbage) => {
            chunks(stream, &all(&frames[..after_text])).await?;
            chunks(stream, b"data: {\"choi\x00\x01<html>502 Bad Gateway</html>\n\n{]\n\n").await?;
        }
        Some(Fault::ErrorEvent) => {
            chunks(stream, &all(&frames[..after_text])).await?;
            chunks(stream, wire.error().render(false).as_bytes()).await?;
        }
        Some(Fault::SilenceAfterText) => {
            chunks(stream, &all(&frames[..after_text])).await?;
            return until_hung_up(stream).await;
        }
        Some(Fault::Drip(pause)) => {
            let text = all(&frames[after_text - 1..after_text]);
            chunks(stream, &all(&frames[..after_text])).await?;
            loop {
                tokio::time::sleep(*pause).await;
                chunk(stream, &text).await?;
            }
        }
        Some(Fault::BadCharacter) => {
            let mut bytes = all(&frames);
            let place = bytes.windows(3).position(|three| three == b"BAD").unwrap();
            bytes[place..place + 3].copy_from_slice(b"\xff\xfe\xc3");
            chunks(stream, &bytes).await?;
        }
        Some(Fault::LengthInArguments | Fault::Variants | Fault::Events(_)) | None => chunks(stream, &all(&frames)).await?,
        Some(Fault::Status { .. } | Fault::Silence | Fault::OneLine) => {}
    }
    stream.write_all(b"0\r\n\r\n").await
}

/// In pieces of seven bytes, each sent for itself, until a long text would take too long.
async fn chunks(stream: &mut TcpStream, bytes: &[u8]) -> std::io::Result<()> {
    let size = 7.max(bytes.len() / 2000);
    for piece in bytes.chunks(size) {
        chunk(stream, piece).await?;
    }
    Ok(())
}

async fn chunk(stream: &mut TcpStream, piece: &[u8]) -> std::io::Result<()> {
    stream.write_all(format!("{:x}\r\n", piece.len()).as_bytes()).await?;
    stream.write_all(piece).await?;
    stream.write_all(b"\r\n").await?;
    stream.flush().await
}

/// A client that hangs up is an error here, as it is for a write.
async fn until_hung_up(stream: &mut TcpStream) -> std::io::Result<()> {
    let mut byte = [0];
    let _ = stream.read(&mut byte).await;
    Err(std::io::ErrorKind::ConnectionAborted.into())
}
