//! The real binary, started, driven over HTTP and killed.

pub use crate::client::{ApiClient, ChatClient, last_id, of_type};

use crate::PATIENCE;
use crate::home::HomeFolder;
use crate::stopwatch::Stopwatch;
use serde_json::Value;
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::process::Stdio;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};

/// A home for servers that are processes of their own.
pub struct Home {
    folder: HomeFolder,
    binary: PathBuf,
}

impl Deref for Home {
    type Target = HomeFolder;

    fn deref(&self) -> &HomeFolder {
        &self.folder
    }
}

impl Home {
    /// `binary` is `env!("CARGO_BIN_EXE_planwright")`; `script` is what the model will say.
    #[must_use]
    pub fn new(binary: &str, script: &Value) -> Self {
        Self { folder: HomeFolder::new(TempDir::new().unwrap(), script), binary: binary.into() }
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
            .env("PLANWRIGHT_MODEL", format!("script/{}", self.script().display()))
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
        Some(Server { child, api: ApiClient::over_http(base), stdout })
    }
}

/// The rest of the next line; `None` if there is none.
async fn said(lines: &mut Lines<BufReader<ChildStdout>>, prefix: &str) -> Option<String> {
    let line = tokio::time::timeout(PATIENCE, lines.next_line()).await.unwrap().unwrap()?;
    Some(line.strip_prefix(prefix).unwrap_or_else(|| panic!("expected {prefix:?}, the server said {line:?}")).to_owned())
}

/// A running server.
pub struct Server {
    child: Child,
    api: ApiClient,
    stdout: Lines<BufReader<ChildStdout>>,
}

impl Deref for Server {
    type Target = ApiClient;

    fn deref(&self) -> &ApiClient {
        &self.api
    }
}

impl DerefMut for Server {
    fn deref_mut(&mut self) -> &mut ApiClient {
        &mut self.api
    }
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
