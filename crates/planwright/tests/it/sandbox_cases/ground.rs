//! A server in a layout of the test's own. Commands are calls of the user's, with the rights of a role.

use super::who::Who;
use crate::BINARY;
use planwright_testkit::server::{Home, Server};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// What no command may print.
pub const SECRET: &str = "sk-never-seen-inside";
/// The roles whose commands see the workspace in different ways.
pub const ROLES: [&str; 3] = ["actor", "tester", "planner"];
/// Staged by an overlay, and in place as on a kernel that allows none.
pub const BOTH_WAYS: [&[(&str, &str)]; 2] = [&[], &[("PLANWRIGHT_NO_OVERLAY", "1")]];

pub struct Ground {
    pub who: Who,
    pub folder: PathBuf,
    // Removes the folder, so it goes last.
    home: Home,
}

impl Ground {
    /// With a workspace called `workspace`, and commands in plan mode.
    pub fn new(who: Who) -> Self {
        let home = Home::new(BINARY, &json!({ "turns": [{ "text": "Noted." }] }));
        let folder = home.workspace().parent().unwrap().canonicalize().unwrap();
        fs::copy(BINARY, folder.join("planwright")).unwrap();
        let ground = Self { who, folder, home };
        ground.configure("");
        ground
    }

    /// More of the user's configuration.
    pub fn configure(&self, text: &str) {
        self.put(".config/planwright/config.toml", &format!("[sandbox]\ninspect = true\n{text}"));
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.join(path)
    }

    pub fn put(&self, path: &str, text: &str) -> PathBuf {
        let file = self.path(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        file
    }

    pub fn link(&self, path: &str, target: impl AsRef<Path>) {
        let link = self.path(path);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(target, link).unwrap();
    }

    pub async fn serve(&self, environment: &[(&str, &str)]) -> Served<'_> {
        self.serve_with(&["workspace"], "data", environment).await
    }

    /// By a line of a shell that has the server's command line as its arguments.
    pub async fn serve_by(&self, line: &str) -> Served<'_> {
        let words = ["sh", "-c", line, "sh"];
        self.start(&words, &["workspace"], "data", &[]).await
    }

    /// With these workspaces and this data folder; paths are below the folder unless they are whole.
    pub async fn serve_with(&self, workspaces: &[&str], data: &str, environment: &[(&str, &str)]) -> Served<'_> {
        self.start(&[], workspaces, data, environment).await
    }

    async fn start(&self, before: &[&str], workspaces: &[&str], data: &str, environment: &[(&str, &str)]) -> Served<'_> {
        self.who.give(&self.folder);
        let binary = self.path("planwright");
        let words: Vec<&str> = before.iter().copied().chain([binary.to_str().unwrap()]).collect();
        let mut command = tokio::process::Command::from(self.who.command(words[0]));
        command.args(&words[1..]);
        command.args(["serve", "--listen", "127.0.0.1:0"]).env_clear().env("HOME", &self.folder).kill_on_drop(true);
        for workspace in workspaces {
            command.arg("--workspace").arg(self.path(workspace));
        }
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("PLANWRIGHT_DATA_DIR", self.path(data));
        command.env("PLANWRIGHT_MODEL", format!("script/{}", self.path("script.json").display())).envs(environment.iter().copied());
        command.current_dir(&self.folder);
        Served { ground: self, server: self.home.serve_command(command).await }
    }
}

pub struct Served<'g> {
    ground: &'g Ground,
    pub server: Server,
}

impl Served<'_> {
    /// What becomes of a command in the first workspace.
    pub async fn run(&self, role: &str, command: &str) -> Value {
        self.run_in("workspace", role, command).await
    }

    pub async fn run_in(&self, workspace: &str, role: &str, command: &str) -> Value {
        let listed = self.server.get("/workspaces").await;
        let path = self.ground.path(workspace).canonicalize().unwrap();
        let row = listed.as_array().unwrap().iter().find(|row| row["path"] == path.to_str().unwrap());
        let workspace = format!("/workspaces/{}", row.unwrap()["id"].as_str().unwrap());
        let (status, chat) = self.server.post(&format!("{workspace}/chats"), json!({ "agent_role": role })).await;
        assert!(status.is_success(), "{chat}");
        let body = json!({ "tool": "run", "args": { "command": command }, "chat_id": chat["id"] });
        let (status, answer) = self.server.post(&format!("{workspace}/tools"), body).await;
        assert!(status.is_success(), "{answer}");
        answer
    }
}
