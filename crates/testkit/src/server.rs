//! The real binary, started, driven over HTTP and killed.

use crate::PATIENCE;
use crate::stopwatch::Stopwatch;
use futures::StreamExt;
use reqwest::{Client, Method, StatusCode};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::Stdio;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::task::JoinHandle;

/// The largest page of messages that the server gives.
const PAGE: usize = 500;

/// A home of its own: workspace, data folder, scripts. Outlives the servers that run in it.
pub struct Home {
    folder: TempDir,
    binary: PathBuf,
}

impl Home {
    /// `binary` is `env!("CARGO_BIN_EXE_planwright")`; `script` is what the model will say.
    #[must_use]
    pub fn new(binary: &str, script: &Value) -> Self {
        let home = Self { folder: TempDir::new().unwrap(), binary: binary.into() };
        std::fs::create_dir(home.workspace()).unwrap();
        home.write_script(script);
        home
    }

    #[must_use]
    pub fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    /// Where servers keep their chats.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub fn write_script(&self, script: &Value) {
        std::fs::write(self.folder.path().join("script.json"), script.to_string()).unwrap();
    }

    /// A file of the workspace, put there by hand.
    pub fn put(&self, path: &str, content: &str) {
        let file = self.workspace().join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, content).unwrap();
    }

    /// The user's configuration, for servers started from now on.
    pub fn put_config(&self, text: &str) {
        let folder = self.folder.path().join(".config/planwright");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("config.toml"), text).unwrap();
    }

    /// The content of a file of the workspace, if it is there.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.workspace().join(path)).ok()
    }

    /// The command with this home's folders and scripted model, its environment free of the caller's.
    #[must_use]
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .args(args)
            .env_clear()
            .env("HOME", self.folder.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("PLANWRIGHT_DATA_DIR", self.data())
            .env("PLANWRIGHT_MODEL", format!("script/{}", self.folder.path().join("script.json").display()))
            .current_dir(self.workspace())
            .kill_on_drop(true);
        command
    }

    pub async fn serve(&self) -> Server {
        self.serve_with(&[]).await
    }

    /// A server with further environment variables.
    pub async fn serve_with(&self, environment: &[(&str, &str)]) -> Server {
        let mut command = self.command(&["serve", "--listen", "127.0.0.1:0"]);
        command.envs(environment.iter().copied());
        self.serve_command(command).await
    }

    /// A server by a command of the caller's making.
    pub async fn serve_command(&self, command: Command) -> Server {
        self.try_serve_command(command).await.expect("the server ended before it listened")
    }

    /// A server, and the lines of its log; `command` has stderr piped.
    pub async fn serve_logged(&self, command: Command) -> (Server, Lines<BufReader<ChildStderr>>) {
        let mut server = self.serve_command(command).await;
        let log = BufReader::new(server.child.stderr.take().unwrap()).lines();
        (server, log)
    }

    /// Like [`Self::serve_command`], for a server that may die before it listens.
    pub async fn try_serve_command(&self, command: Command) -> Option<Server> {
        let mut server = Self::listening(command).await?;
        said(&mut server.stdout, "sign in at ").await?.rsplit_once('=').unwrap().1.clone_into(&mut server.token);
        Some(server)
    }

    /// A server that prints no token of its own. Who asks is up to the caller, who sets [`Server::token`].
    pub async fn serve_without_token(&self, args: &[&str]) -> Server {
        let args = [&["serve", "--listen", "127.0.0.1:0"], args].concat();
        self.serve_command_without_token(self.command(&args)).await
    }

    /// The same, by a command of the caller's making.
    pub async fn serve_command_without_token(&self, command: Command) -> Server {
        Self::listening(command).await.expect("the server ended before it listened")
    }

    async fn listening(mut command: Command) -> Option<Server> {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap()).lines();
        let base = said(&mut stdout, "listening on ").await?;
        // The first call selects the cryptography.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Some(Server { child, base, token: String::new(), client: client(), stdout })
    }
}

/// A client that talks to this machine only, without the certificates that it would take long to read.
fn client() -> Client {
    Client::builder().tls_certs_only([]).build().unwrap()
}

/// The rest of the next line; `None` if there is none.
async fn said(lines: &mut Lines<BufReader<ChildStdout>>, prefix: &str) -> Option<String> {
    let line = tokio::time::timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap()?;
    Some(line.strip_prefix(prefix).unwrap_or_else(|| panic!("expected {prefix:?}, the server said {line:?}")).to_owned())
}

/// A running server.
pub struct Server {
    child: Child,
    pub base: String,
    pub token: String,
    client: Client,
    stdout: Lines<BufReader<ChildStdout>>,
}

impl Server {
    /// The process.
    #[must_use]
    pub fn process(&self) -> u32 {
        self.child.id().unwrap()
    }

    /// For what this server does for the test.
    #[must_use]
    pub fn stopwatch(&self) -> Stopwatch {
        Stopwatch::start(&[self.process()])
    }

    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Any request, with the token; gives the status and the body, null where it is not JSON.
    pub async fn request(&self, method: Method, path: &str, body: Option<Value>) -> (StatusCode, Value) {
        let mut request = self.client.request(method, format!("{}/api/v1{path}", self.base)).bearer_auth(&self.token);
        if let Some(body) = body {
            request = request.json(&body);
        }
        let response = tokio::time::timeout(PATIENCE, request.send()).await.unwrap().unwrap();
        (response.status(), response.json().await.unwrap_or_default())
    }

    pub async fn get(&self, path: &str) -> Value {
        let (status, body) = self.request(Method::GET, path, None).await;
        assert!(status.is_success(), "GET {path}: {status} {body}");
        body
    }

    pub async fn post(&self, path: &str, body: Value) -> (StatusCode, Value) {
        self.request(Method::POST, path, Some(body)).await
    }

    /// A request to a server that may die of it: `None` if the answer got lost.
    pub async fn attempt(&self, method: Method, path: &str, body: Option<Value>) -> Option<(StatusCode, Value)> {
        let mut request = self.client.request(method, format!("{}/api/v1{path}", self.base)).bearer_auth(&self.token);
        if let Some(body) = body {
            request = request.json(&body);
        }
        let response = tokio::time::timeout(PATIENCE, request.send()).await.unwrap().ok()?;
        Some((response.status(), response.json().await.ok()?))
    }

    /// The numbers of a chat's events after one of them, as they come until the server is gone.
    #[must_use]
    pub fn numbers(&self, path: &str, after: u64) -> JoinHandle<Vec<u64>> {
        let request = self.client.get(format!("{}/api/v1{path}/events", self.base)).bearer_auth(&self.token);
        let request = request.header("last-event-id", after.to_string());
        tokio::spawn(async move {
            let (mut text, mut numbers) = (String::new(), Vec::new());
            let Ok(response) = request.send().await else { return numbers };
            let mut stream = response.bytes_stream();
            while let Some(Ok(bytes)) = stream.next().await {
                text.push_str(&String::from_utf8_lossy(&bytes));
                while let Some((frame, rest)) = text.split_once("\n\n") {
                    let event = parse_frame(frame);
                    text = rest.to_owned();
                    numbers.extend(event.and_then(|event| event["seq"].as_u64()));
                }
            }
            numbers
        })
    }

    /// A request whose answer may get lost with the server.
    pub async fn post_unchecked(&self, path: &str, body: &Value) {
        let _ = self.client.post(format!("{}/api/v1{path}", self.base)).bearer_auth(&self.token).json(body).send().await;
    }

    /// A new chat in the one workspace.
    pub async fn chat(&self, body: Value) -> ChatClient<'_> {
        let workspaces = self.get("/workspaces").await;
        let workspace = workspaces[0]["id"].as_str().unwrap();
        let (status, chat) = self.post(&format!("/workspaces/{workspace}/chats"), body).await;
        assert_eq!(status, StatusCode::CREATED, "{chat}");
        ChatClient { server: self, path: format!("/workspaces/{workspace}/chats/{}", chat["id"].as_str().unwrap()) }
    }

    /// A chat of an earlier server of the same home.
    #[must_use]
    pub fn reopened(&self, path: &str) -> ChatClient<'_> {
        ChatClient { server: self, path: path.to_owned() }
    }

    /// The memory that it holds now, in bytes.
    #[must_use]
    pub fn resident(&self) -> u64 {
        self.memory("VmRSS:")
    }

    /// The most memory that it ever held, in bytes.
    #[must_use]
    pub fn peak(&self) -> u64 {
        self.memory("VmHWM:")
    }

    fn memory(&self, field: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id().unwrap())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
        line.split_whitespace().next().unwrap().parse::<u64>().unwrap() << 10
    }

    /// Ends it as a power cut would.
    pub async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    /// Waits for it to end by itself; whether it was well.
    pub async fn ended(mut self) -> bool {
        tokio::time::timeout(PATIENCE, self.child.wait()).await.unwrap().unwrap().success()
    }

    /// Asks it to end and waits.
    pub async fn terminate(self) -> bool {
        let pid = self.child.id().unwrap().to_string();
        assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        self.ended().await
    }
}

/// One chat of a server.
pub struct ChatClient<'s> {
    pub server: &'s Server,
    pub path: String,
}

impl ChatClient<'_> {
    pub async fn show(&self) -> Value {
        self.server.get(&self.path).await
    }

    /// The whole history, oldest first.
    pub async fn messages(&self) -> Vec<Value> {
        let mut messages: Vec<Value> = Vec::new();
        loop {
            let before = messages.last().map_or_else(String::new, |oldest| format!("&before={}", oldest["id"].as_str().unwrap()));
            let page = self.server.get(&format!("{}/messages?limit={PAGE}{before}", self.path)).await;
            let page = page.as_array().unwrap();
            messages.extend_from_slice(page);
            if page.len() < PAGE {
                messages.reverse();
                return messages;
            }
        }
    }

    pub async fn say(&self, content: &str) -> Value {
        let (status, body) = self.server.post(&format!("{}/messages", self.path), json!({ "content": content })).await;
        assert_eq!(status, StatusCode::ACCEPTED, "{body}");
        body["message"].clone()
    }

    pub async fn answer(&self, question_id: &Value, answers: Value) -> (StatusCode, Value) {
        let body = json!({ "metadata": { "question_answer": { "question_id": question_id, "answers": answers } } });
        self.server.post(&format!("{}/messages", self.path), body).await
    }

    pub async fn post(&self, what: &str) -> (StatusCode, Value) {
        self.server.post(&format!("{}/{what}", self.path), json!({})).await
    }

    pub async fn patch(&self, body: Value) -> (StatusCode, Value) {
        self.server.request(Method::PATCH, &self.path, Some(body)).await
    }

    /// The event stream after an id, up to and including the first event that `until` accepts.
    pub async fn events(&self, after: u64, until: impl Fn(&Value) -> bool) -> Vec<Value> {
        let url = format!("{}/api/v1{}/events", self.server.base, self.path);
        let request = self.server.client.get(url).bearer_auth(&self.server.token).header("last-event-id", after.to_string());
        let read = async {
            let response = request.send().await.unwrap();
            assert_eq!(response.headers()["content-type"], "text/event-stream");
            let mut stream = response.bytes_stream();
            let (mut received, mut events) = (Vec::new(), Vec::new());
            while let Some(Ok(bytes)) = stream.next().await {
                received.extend_from_slice(&bytes);
                // A piece may end in the middle of a character, a frame never does.
                while let Some(end) = received.windows(2).position(|pair| pair == b"\n\n") {
                    let frame: Vec<u8> = received.drain(..end + 2).collect();
                    let event = parse_frame(std::str::from_utf8(&frame).unwrap());
                    let Some(event) = event else { continue };
                    let last = until(&event);
                    events.push(event);
                    if last {
                        return events;
                    }
                }
            }
            panic!("the stream ended early, after {events:#?}")
        };
        tokio::time::timeout(PATIENCE, read).await.expect("the event did not come")
    }

    /// Everything up to the end of a run.
    pub async fn run_to_end(&self, after: u64) -> Vec<Value> {
        self.events(after, |event| event["type"] == "run_finished").await
    }
}

/// An event as a client reads it, with the checks every one of them must stand.
fn parse_frame(frame: &str) -> Option<Value> {
    let field = |name: &str| frame.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let data: Value = serde_json::from_str(field("data:")?).unwrap();
    assert_eq!(field("event:"), data["type"].as_str());
    assert_eq!(field("id:").and_then(|id| id.parse().ok()), data["seq"].as_u64());
    Some(data)
}

/// The events of one type.
#[must_use]
pub fn of_type<'e>(events: &'e [Value], name: &str) -> Vec<&'e Value> {
    events.iter().filter(|event| event["type"] == name).map(|event| &event["data"]).collect()
}

/// The number of the last event, to go on from.
#[must_use]
pub fn last_id(events: &[Value]) -> u64 {
    events.last().and_then(|event| event["seq"].as_u64()).unwrap_or_default()
}
