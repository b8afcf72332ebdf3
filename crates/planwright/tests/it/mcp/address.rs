//! Servers that have an address. A small one of our own notes what it is sent.

use super::site::{call, checked, code, configured, counterpart, output, servers};
use planwright_testkit::server::{Home, of_type};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Command;

const KEY: &str = "key-4711-of-this-test";

/// How the server answers a call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Plain,
    Redirect,
    Html,
    Endless,
    Refusal,
    /// Says what it is to say.
    Echo,
}

/// A server by hand; all that it was sent.
pub struct Spoken {
    pub url: String,
    pub heard: Arc<Mutex<String>>,
}

/// `elsewhere` is where one that sends us on sends us, or what one says that is to say something.
pub async fn speak(way: Way, elsewhere: &str) -> Spoken {
    let elsewhere = elsewhere.to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let heard = Arc::new(Mutex::new(String::new()));
    let ears = heard.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(attend(stream, way, elsewhere.clone(), ears.clone()));
        }
    });
    Spoken { url, heard }
}

async fn attend(stream: TcpStream, way: Way, elsewhere: String, ears: Arc<Mutex<String>>) -> Option<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let (mut head, mut length) = (String::new(), 0);
        while !head.ends_with("\r\n\r\n") {
            let start = head.len();
            if stream.read_line(&mut head).await.ok()? == 0 {
                return None;
            }
            let line = head[start..].to_lowercase();
            length = line.strip_prefix("content-length:").map_or(length, |value| value.trim().parse().unwrap());
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await.ok()?;
        ears.lock().unwrap().push_str(&head);
        let request: Value = serde_json::from_slice(&body).unwrap_or_default();
        if head.starts_with("DELETE") || request["method"] == "tools/list" && way == Way::Endless {
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n").await.ok()?;
            let piece = "x".repeat(1 << 20);
            loop {
                stream.write_all(format!("{:x}\r\n{piece}\r\n", piece.len()).as_bytes()).await.ok()?;
            }
        }
        stream.write_all(answer(&request, way, &elsewhere).as_bytes()).await.ok()?;
    }
}

fn answer(request: &Value, way: Way, elsewhere: &str) -> String {
    let whole = |status: &str, kind: &str, more: &str, body: &str| {
        format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\n{more}content-length: {}\r\n\r\n{body}", body.len())
    };
    match way {
        Way::Redirect => return whole("307 Temporary Redirect", "text/plain", &format!("location: {elsewhere}\r\n"), ""),
        Way::Html => return whole("200 OK", "text/html", "", "<html>Welcome!</html>"),
        Way::Refusal => return whole("401 Unauthorized", "text/plain", "", "no"),
        Way::Plain | Way::Endless | Way::Echo => {}
    }
    let result = match request["method"].as_str() {
        Some("initialize") => json!({
            "protocolVersion": "2025-06-18", "capabilities": { "tools": {} }, "serverInfo": { "name": "spoken", "version": "1" },
        }),
        Some("tools/list") => json!({ "tools": [
            { "name": "say", "description": "Says.", "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": true } },
        ] }),
        Some("tools/call") if way == Way::Echo => json!({ "content": [{ "type": "text", "text": format!("you sent {elsewhere}") }] }),
        Some("tools/call") => json!({ "content": [{ "type": "text", "text": "said" }] }),
        _ => return whole("202 Accepted", "text/plain", "", ""),
    };
    whole("200 OK", "application/json", "", &json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }).to_string())
}

pub fn far(url: &str, more: &str) -> Home {
    configured(&format!("[mcp.servers.far]\nurl = \"{url}\"\nstart_timeout_s = 10\n{more}\n"))
}

/// Everything that is kept, and in the log.
pub fn kept(home: &Home) -> String {
    let mut text = String::new();
    let mut folders = vec![home.data(), home.workspace()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            match entry.file_type().unwrap() {
                kind if kind.is_dir() => folders.push(entry.path()),
                kind if kind.is_file() => text.push_str(&String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap_or_default())),
                _ => {}
            }
        }
    }
    text
}

#[tokio::test]
async fn the_key_of_an_address_goes_there_alone_and_our_own_token_nowhere() {
    let spoken = speak(Way::Plain, "").await;
    let home = far(&spoken.url, "api_key_env = \"FAR_KEY\"\ntrust_read_only = true");
    home.write_script(&json!({ "turns": [{ "calls": [{ "tool": "far__say", "args": {} }] }, { "text": "Done." }] }));
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("FAR_KEY", KEY).env("PLANWRIGHT_LOG", "trace").stderr(std::process::Stdio::piped());
    let (server, mut log) = home.serve_logged(command).await;
    let logged = tokio::spawn(async move {
        let mut text = String::new();
        while let Ok(Some(line)) = log.next_line().await {
            text.push_str(&line);
        }
        text
    });
    let chat = server.chat(json!({ "mode": "plan" })).await;
    chat.say("Say").await;
    let events = chat.run_to_end(0).await;
    assert_eq!(of_type(&events, "tool_result")[0]["result"]["output"], "said", "{events:#?}");
    let (heard, token) = (spoken.heard.lock().unwrap().clone(), server.token.clone());
    assert!(heard.to_lowercase().contains(&format!("authorization: bearer {KEY}")), "{heard}");
    assert!(!heard.contains(&token) && !heard.to_lowercase().contains("cookie"), "{heard}");
    let told = format!("{events:?} {} {}", checked(&server).await, server.get("/audit").await);
    assert!(server.terminate().await);
    for (place, text) in [("the API", told), ("the log", logged.await.unwrap()), ("what is kept", kept(&home))] {
        assert!(!text.contains(KEY), "the key is in {place}");
    }
}

#[tokio::test]
async fn an_address_that_sends_us_on_floods_or_is_none_is_reported() {
    for (way, part) in [
        (Way::Redirect, "not followed"),
        (Way::Html, "neither with JSON nor with events"),
        (Way::Endless, "more than the limit"),
        (Way::Refusal, "401"),
    ] {
        let spoken = speak(way, "http://127.0.0.1:9/api").await;
        let home = far(&spoken.url, "");
        let server = home.serve().await;
        let answer = call(&server, "act", "far__say", json!({})).await;
        assert_eq!(code(&answer), "MCP_FAILED");
        assert!(answer["error"]["message"].as_str().unwrap().contains(part), "{answer}");
    }
    let home = far("http://127.0.0.1:9/mcp", "");
    let server = home.serve().await;
    let answer = call(&server, "act", "far__say", json!({})).await;
    let plain = "The MCP server `far` failed: its address can't be reached: Connection refused.";
    assert_eq!(answer["error"]["message"], plain, "{answer}");
    let home = far("http://127.0.0.1:9/mcp", "api_key_env = \"NOT_SET\"");
    let server = home.serve().await;
    let answer = call(&server, "act", "far__say", json!({})).await;
    assert!(code(&answer) == "MCP_FAILED" && answer.to_string().contains("NOT_SET"), "{answer}");
}

#[tokio::test]
async fn the_everything_server_is_reached_by_its_address_too() {
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let mut everything = Command::new("node");
    everything.args([&counterpart("everything"), "streamableHttp"]).env("PORT", port.to_string()).current_dir(servers());
    let _running = everything.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).kill_on_drop(true).spawn().unwrap();
    while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let home = far(&format!("http://127.0.0.1:{port}/mcp"), "");
    let server = home.serve().await;
    assert_eq!(output(&server, "act", "far__echo", json!({ "message": "over HTTP" })).await, "Echo: over HTTP");
}
