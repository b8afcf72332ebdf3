//! A connection to a NATS server, and the next one when it is lost.

use super::{Shared, subscribe_command};
use crate::bus::BusMessage;
use bytes::Bytes;
use serde_json::json;
use std::io::{Error, ErrorKind, Result};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;
use url::Url;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// How often the server is asked for a sign of life. Two that are missing end the connection.
const PING: Duration = Duration::from_secs(2);
const RETRY: Duration = Duration::from_millis(250);
const PORT: u16 = 4222;
/// Longer lines and messages come from no NATS server.
const LONGEST_LINE: u64 = 64 << 10;
const LARGEST_MESSAGE: usize = 64 << 20;

pub struct Address {
    host: String,
    port: u16,
    user: Option<(String, String)>,
    token: Option<String>,
}

impl Address {
    pub fn parse(text: &str) -> std::result::Result<Self, String> {
        let url = Url::parse(text).map_err(|error| format!("{error}; the form is nats://HOST:4222"))?;
        if url.scheme() != "nats" {
            return Err(format!("{}:// is not supported; the form is nats://HOST:4222", url.scheme()));
        }
        let decoded = |text: &str| percent_decoded(text).ok_or("the user or password is not UTF-8");
        let host = url.host_str().ok_or("it names no host")?.trim_matches(['[', ']']).to_owned();
        let (user, password) = (decoded(url.username())?, url.password().map(decoded).transpose()?);
        let (user, token) = match password {
            Some(password) => (Some((user, password)), None),
            None => (None, Some(user).filter(|token| !token.is_empty())),
        };
        Ok(Self { host, port: url.port().unwrap_or(PORT), user, token })
    }

    fn credentials(&self, name: &str) -> String {
        let mut options = json!({ "verbose": false, "pedantic": false, "tls_required": false, "name": name, "lang": "rust",
            "version": env!("CARGO_PKG_VERSION"), "protocol": 1, "headers": true, "no_responders": true, "echo": true });
        if let Some((user, password)) = &self.user {
            options["user"] = user.as_str().into();
            options["pass"] = password.as_str().into();
        }
        if let Some(token) = &self.token {
            options["auth_token"] = token.as_str().into();
        }
        options.to_string()
    }
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        let decoded = if byte == b'%' { u8::try_from(digit(rest.next())? * 16 + digit(rest.next())?).ok()? } else { byte };
        bytes.push(decoded);
    }
    String::from_utf8(bytes).ok()
}

/// Connects as long as somebody uses the bus.
pub async fn keep(addresses: Vec<Address>, name: String, shared: Weak<Shared>, mut waiting: mpsc::Receiver<Vec<u8>>) {
    let mut is_told = false;
    for address in addresses.iter().cycle() {
        let Some(shared) = shared.upgrade() else { return };
        match tokio::time::timeout(CONNECT_TIMEOUT, connect(address, &name)).await.unwrap_or_else(|_| Err(ErrorKind::TimedOut.into())) {
            Ok((reader, writer)) => {
                tracing::info!(host = address.host, "connected to NATS");
                let ended = converse(reader, writer, &shared, &mut waiting).await;
                shared.is_connected.store(false, Ordering::SeqCst);
                // Nobody waits any more for what was to be sent.
                while waiting.try_recv().is_ok() {}
                tracing::warn!(error = ?ended.err(), "lost the connection to NATS; this node goes on with its own workspaces");
                is_told = true;
            }
            Err(error) if !is_told => {
                tracing::warn!(%error, host = address.host, "can't reach NATS; this node goes on with its own workspaces");
                is_told = true;
            }
            Err(_) => {}
        }
        drop(shared);
        tokio::time::sleep(RETRY).await;
    }
}

async fn connect(address: &Address, name: &str) -> Result<(BufReader<OwnedReadHalf>, OwnedWriteHalf)> {
    let stream = TcpStream::connect((address.host.as_str(), address.port)).await?;
    stream.set_nodelay(true)?;
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::new(reader);
    if !line(&mut reader).await?.starts_with("INFO ") {
        return Err(Error::new(ErrorKind::InvalidData, "this is no NATS server"));
    }
    writer.write_all(format!("CONNECT {}\r\nPING\r\n", address.credentials(name)).as_bytes()).await?;
    loop {
        let answer = line(&mut reader).await?;
        if answer == "PONG" {
            return Ok((reader, writer));
        }
        if let Some(error) = answer.strip_prefix("-ERR") {
            return Err(Error::new(ErrorKind::PermissionDenied, error.trim().to_owned()));
        }
    }
}

/// Until the connection is lost.
async fn converse(
    reader: BufReader<OwnedReadHalf>,
    mut writer: OwnedWriteHalf,
    shared: &Arc<Shared>,
    waiting: &mut mpsc::Receiver<Vec<u8>>,
) -> Result<()> {
    let subscriptions: Vec<u8> = {
        let known = shared.subscriptions();
        // From here on listeners subscribe themselves; a subscription that is sent twice is one.
        shared.is_connected.store(true, Ordering::SeqCst);
        known.iter().flat_map(|(id, subscription)| subscribe_command(*id, &subscription.subject)).collect()
    };
    writer.write_all(&subscriptions).await?;
    let unanswered = AtomicU32::new(0);
    tokio::select! {
        ended = read(reader, shared, &unanswered) => ended,
        ended = write(writer, waiting, &unanswered) => ended,
    }
}

async fn write(mut writer: OwnedWriteHalf, waiting: &mut mpsc::Receiver<Vec<u8>>, unanswered: &AtomicU32) -> Result<()> {
    let mut ping = tokio::time::interval(PING);
    loop {
        tokio::select! {
            command = waiting.recv() => {
                let Some(mut commands) = command else { return Ok(()) };
                while commands.len() < 64 << 10 && let Ok(more) = waiting.try_recv() {
                    commands.extend(more);
                }
                writer.write_all(&commands).await?;
            }
            _ = ping.tick() => {
                if unanswered.fetch_add(1, Ordering::SeqCst) > 2 {
                    return Err(ErrorKind::TimedOut.into());
                }
                writer.write_all(b"PING\r\n").await?;
            }
        }
    }
}

async fn read(mut reader: BufReader<OwnedReadHalf>, shared: &Arc<Shared>, unanswered: &AtomicU32) -> Result<()> {
    loop {
        let text = line(&mut reader).await?;
        unanswered.store(0, Ordering::SeqCst);
        let mut words = text.split_ascii_whitespace();
        match words.next() {
            Some("MSG") => receive(&mut reader, words.collect(), false, shared).await?,
            Some("HMSG") => receive(&mut reader, words.collect(), true, shared).await?,
            Some("PING") => shared.send(b"PONG\r\n".to_vec()),
            Some("-ERR") => return Err(Error::other(text)),
            Some(_) | None => {}
        }
    }
}

/// A message: `subject id [reply] [length of headers] length`, then its bytes.
async fn receive(reader: &mut BufReader<OwnedReadHalf>, words: Vec<&str>, has_headers: bool, shared: &Arc<Shared>) -> Result<()> {
    let wrong = || Error::new(ErrorKind::InvalidData, "a message that is none");
    let lengths = if has_headers { 2 } else { 1 };
    let (head, tail) = words.split_at_checked(words.len().saturating_sub(lengths)).ok_or_else(wrong)?;
    let numbers = tail.iter().map(|word| word.parse::<usize>().map_err(|_| wrong())).collect::<Result<Vec<_>>>()?;
    let ([subject, id] | [subject, id, _]) = *head else { return Err(wrong()) };
    let (&length, header) = (numbers.last().ok_or_else(wrong)?, if has_headers { numbers[0] } else { 0 });
    if length > LARGEST_MESSAGE || header > length {
        return Err(wrong());
    }
    let mut bytes = vec![0; length + 2];
    reader.read_exact(&mut bytes).await?;
    bytes.truncate(length);
    let is_unheard = bytes[..header].starts_with(b"NATS/1.0 503");
    let message = BusMessage {
        subject: subject.to_owned(),
        reply: head.get(2).map(|reply| (*reply).to_owned()),
        payload: Bytes::from(bytes).slice(header..),
        is_unheard,
    };
    shared.deliver(id.parse().map_err(|_| wrong())?, message);
    Ok(())
}

/// A line without its end.
async fn line(reader: &mut BufReader<OwnedReadHalf>) -> Result<String> {
    let mut bytes = Vec::new();
    if reader.take(LONGEST_LINE).read_until(b'\n', &mut bytes).await? == 0 {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    let text = String::from_utf8(bytes).map_err(|_| Error::new(ErrorKind::InvalidData, "a line that is no text"))?;
    Ok(text.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_host_and_may_have_a_port_and_credentials() {
        let address = Address::parse("nats://ann:s%40crt@bus.example").unwrap();
        assert_eq!((address.host.as_str(), address.port), ("bus.example", 4222));
        assert_eq!(address.user, Some(("ann".to_owned(), "s@crt".to_owned())));
        let address = Address::parse("nats://t0ken@[::1]:4300").unwrap();
        assert_eq!((address.host.as_str(), address.port, address.token.as_deref()), ("::1", 4300, Some("t0ken")));
        assert!(Address::parse("bus.example:4222").is_err() && Address::parse("tls://bus.example").is_err());
    }
}
