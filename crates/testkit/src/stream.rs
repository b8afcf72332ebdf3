//! Event streams from a client's side: block by block, dropped and resumed.

use crate::PATIENCE;
use crate::client::ApiClient;
use futures::StreamExt;
use futures::stream::BoxStream;
use serde_json::Value;

/// An open connection to a stream of events.
pub struct EventReader {
    pieces: BoxStream<'static, Option<Vec<u8>>>,
    received: Vec<u8>,
    /// The id of the last block that had one, as a browser keeps it.
    pub last_id: Option<String>,
    /// How long to wait before coming back, in milliseconds, as the server wants it.
    pub retry: Option<u64>,
}

impl ApiClient {
    /// Opens a stream; `path` is that of the API, and `last_id` what a browser would send when it comes back.
    pub async fn stream(&self, path: &str, last_id: Option<&str>) -> EventReader {
        let mut request = self.client().get(format!("{}/api/v1{path}", self.base)).bearer_auth(&self.token);
        if let Some(id) = last_id {
            request = request.header("last-event-id", id);
        }
        let response = self.send(request).await;
        assert_eq!(response.headers()["content-type"], "text/event-stream", "{path}");
        let pieces = response.bytes_stream().map(|piece| Some(piece.ok()?.to_vec())).boxed();
        EventReader { pieces, received: Vec::new(), last_id: last_id.map(str::to_owned), retry: None }
    }
}

impl EventReader {
    /// The next event; `None` when the server ended the stream.
    pub async fn next(&mut self) -> Option<Value> {
        tokio::time::timeout(PATIENCE, self.read()).await.expect("no event came")
    }

    /// Everything up to and including the first event that `until` accepts.
    pub async fn until(&mut self, until: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            let is_last = until(&event);
            events.push(event);
            if is_last {
                return events;
            }
        }
        panic!("the stream ended early, after {events:#?}")
    }

    async fn read(&mut self) -> Option<Value> {
        loop {
            // A piece may end in the middle of a character, a block never does.
            while let Some(end) = self.received.windows(2).position(|pair| pair == b"\n\n") {
                let block: Vec<u8> = self.received.drain(..end + 2).collect();
                if let Some(event) = self.take(std::str::from_utf8(&block).unwrap()) {
                    return Some(event);
                }
            }
            self.received.extend_from_slice(&self.pieces.next().await??);
        }
    }

    fn take(&mut self, block: &str) -> Option<Value> {
        let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        if let Some(id) = field("id:") {
            self.last_id = Some(id.to_owned());
        }
        self.retry = field("retry:").and_then(|retry| retry.parse().ok()).or(self.retry);
        let data: Value = serde_json::from_str(field("data:")?).unwrap();
        assert_eq!(field("event:"), data["type"].as_str());
        Some(data)
    }
}
