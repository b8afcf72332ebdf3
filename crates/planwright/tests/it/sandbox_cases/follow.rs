//! A chat's events, read as bytes: what a command prints may come in any pieces.

use reqwest::RequestBuilder;
use serde_json::Value;

/// The events up to the end of the run, or to a question, each shown to `seen` as it comes.
/// Fails if one of them is not UTF-8 or not JSON.
pub async fn to_end(stream: RequestBuilder, mut seen: impl FnMut(&Value)) -> Result<Vec<Value>, String> {
    let mut response = stream.header("last-event-id", "0").send().await.map_err(|error| error.to_string())?;
    let (mut bytes, mut events) = (Vec::new(), Vec::new());
    while let Some(chunk) = response.chunk().await.map_err(|error| error.to_string())? {
        bytes.extend_from_slice(&chunk);
        while let Some(end) = bytes.windows(2).position(|pair| pair == b"\n\n") {
            let frame: Vec<u8> = bytes.drain(..end + 2).collect();
            let frame = std::str::from_utf8(&frame).map_err(|error| format!("an event is not UTF-8: {error}"))?;
            let Some(data) = frame.lines().find_map(|line| line.strip_prefix("data:")) else { continue };
            let event: Value = serde_json::from_str(data).map_err(|error| format!("an event is not JSON: {error}"))?;
            seen(&event);
            let over = event["type"] == "run_finished" || event["data"]["state"] == "awaiting_answer";
            events.push(event);
            if over {
                return Ok(events);
            }
        }
    }
    Err("the events ended early".to_owned())
}
