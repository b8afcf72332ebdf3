//! Drives the real binary like an editor: the Agent Client Protocol, line by line.

use crate::PATIENCE;
use crate::server::Home;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::Path;
use std::process::Stdio;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};

pub struct Editor {
    child: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    sent: u64,
    responses: HashMap<u64, Value>,
    /// The agent's capabilities.
    pub agent: Value,
    pub session: String,
    /// Every `session/update`.
    pub updates: Vec<Value>,
    /// Every request of the agent, with its method.
    pub asked: Vec<Value>,
    /// The kind of the option that the user chooses, such as `allow_once`; a request without it is cancelled.
    pub choice: &'static str,
}

impl Home {
    /// A connected editor without any capability.
    pub async fn editor(&self, choice: &'static str) -> Editor {
        let mut child = self.command(&["acp"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let lines = BufReader::new(stdout).lines();
        let (responses, updates, asked) = (HashMap::new(), Vec::new(), Vec::new());
        let mut editor =
            Editor { child, stdin, lines, sent: 0, responses, agent: Value::Null, session: String::new(), updates, asked, choice };
        editor.agent = editor.request("initialize", json!({ "protocolVersion": 1, "clientCapabilities": {} })).await.unwrap();
        editor
    }
}

impl Editor {
    /// Starts a session in a folder.
    pub async fn begin(&mut self, folder: &Path) -> Value {
        let begun = self.request("session/new", json!({ "cwd": folder, "mcpServers": [] })).await.unwrap();
        begun["sessionId"].as_str().unwrap().clone_into(&mut self.session);
        begun
    }

    /// Opens an existing chat.
    pub async fn load(&mut self, id: &str, folder: &Path) -> Result<Value, Value> {
        id.clone_into(&mut self.session);
        self.request("session/load", json!({ "sessionId": id, "cwd": folder, "mcpServers": [] })).await
    }

    /// Sends a prompt and waits for the end of its turn; returns the stop reason.
    pub async fn say(&mut self, text: &str) -> Value {
        let turn = self.prompt(text).await;
        self.response(turn).await.unwrap()["stopReason"].clone()
    }

    /// Sends a prompt without waiting; returns the number of the request.
    pub async fn prompt(&mut self, text: &str) -> u64 {
        self.send("session/prompt", json!({ "sessionId": self.session, "prompt": [{ "type": "text", "text": text }] })).await
    }

    pub async fn request(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.send(method, params).await;
        self.response(id).await
    }

    pub async fn send(&mut self, method: &str, params: Value) -> u64 {
        self.sent += 1;
        self.write(&json!({ "jsonrpc": "2.0", "id": self.sent, "method": method, "params": params })).await;
        self.sent
    }

    /// The response to a request: its result, or its error.
    pub async fn response(&mut self, id: u64) -> Result<Value, Value> {
        while !self.responses.contains_key(&id) {
            self.hear().await;
        }
        let response = self.responses.remove(&id).unwrap();
        if response["error"].is_null() { Ok(response["result"].clone()) } else { Err(response["error"].clone()) }
    }

    /// Reads until an update matches.
    pub async fn until(&mut self, wanted: impl Fn(&Value) -> bool) {
        while !self.updates.iter().any(&wanted) {
            self.hear().await;
        }
    }

    /// All text of the agent.
    #[must_use]
    pub fn words(&self) -> String {
        let chunks = self.updates.iter().filter(|update| update["sessionUpdate"] == "agent_message_chunk");
        chunks.filter_map(|chunk| chunk["content"]["text"].as_str()).collect()
    }

    /// Closes the agent's stdin and waits for its end; returns whether it succeeded.
    pub async fn close(mut self) -> bool {
        drop(self.stdin);
        while let Ok(Some(_)) = self.lines.next_line().await {}
        tokio::time::timeout(PATIENCE, self.child.wait()).await.unwrap().unwrap().success()
    }

    /// Reads the next line.
    async fn hear(&mut self) {
        let line = tokio::time::timeout(PATIENCE, self.lines.next_line()).await;
        let line = line.unwrap_or_else(|_| panic!("nothing came after {:#?}", self.updates)).unwrap();
        let message: Value = serde_json::from_str(&line.expect("the agent has ended")).unwrap();
        match (message["method"].as_str(), message["id"].as_u64()) {
            (Some("session/update"), _) => self.updates.push(message["params"]["update"].clone()),
            (Some(_), _) if !message["id"].is_null() => self.answer(message).await,
            (None, Some(id)) => drop(self.responses.insert(id, message)),
            (_, _) => {}
        }
    }

    async fn answer(&mut self, message: Value) {
        let options = message["params"]["options"].as_array();
        let chosen = options.and_then(|options| options.iter().find(|option| option["kind"] == self.choice));
        let outcome = match chosen {
            Some(option) => json!({ "outcome": "selected", "optionId": option["optionId"] }),
            None => json!({ "outcome": "cancelled" }),
        };
        let mut answer = match message["method"].as_str() {
            Some("session/request_permission") => json!({ "result": { "outcome": outcome } }),
            Some(_) | None => json!({ "error": { "code": -32601, "message": "not found" } }),
        };
        answer["jsonrpc"] = "2.0".into();
        answer["id"] = message["id"].clone();
        self.asked.push(message);
        self.write(&answer).await;
    }

    async fn write(&mut self, message: &Value) {
        self.write_line(message.to_string().as_bytes()).await;
    }

    /// Writes a line of any bytes.
    pub async fn write_line(&mut self, line: &[u8]) {
        self.stdin.write_all(&[line, b"\n"].concat()).await.unwrap();
        self.stdin.flush().await.unwrap();
    }
}
