//! A real server with secrets around it, a workspace for every case, and a model that makes the case's call.

use super::follow;
use super::judge::{Demand, Seen};
use super::listener::Listener;
use super::measure::{Growth, Pings};
use super::place::{Place, other_uid};
use super::processes::{forget_peak, kilobytes, left};
use super::readings::replaced;
use super::who::Who;
use crate::BINARY;
use planwright_testkit::PATIENCE;
use planwright_testkit::guard::{Case, CaseDecision, CaseOutcome, Harness, Suite};
use planwright_testkit::server::{ChatClient, Home, Server};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

/// What no command may find out.
const SECRETS: &[(&str, &str)] = &[("SERVER_API_KEY", "sk-live-4711"), ("CLOUD_KEY_ID", "AKIAEXAMPLE"), ("TENANT2", "TENANT2-password")];

/// Tells its number, opens a secret as the descriptor 7, and becomes the server.
const START: &str = r#"echo $$ > "$0"; exec 7< "$1"; shift; exec "$@""#;

/// No case takes this long; one that does hangs.
const LONGEST: Duration = PATIENCE;

pub struct World {
    pub who: Who,
    pub listener: Listener,
    pub folder: PathBuf,
    places: BTreeMap<String, Place>,
    workspaces: BTreeMap<String, String>,
    pub pid: u32,
    server: Server,
    // Removes the folder, so it goes last.
    home: Home,
}

impl World {
    pub async fn start(suite: &Suite, who: Who) -> Self {
        let home = Home::new(BINARY, &json!({ "turns": [{ "text": "Noted." }] }));
        let folder = home.workspace().parent().unwrap().to_owned();
        let secret = SECRETS.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("\n");
        for path in ["secret", "config/planwright/notes"].map(|path| folder.join(path)) {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, &secret).unwrap();
        }
        fs::write(folder.join("hosts"), "1.1.1.1 evil\n").unwrap();
        let binary = own_copy(&folder);
        fs::create_dir(folder.join("cases")).unwrap();
        who.give(&folder);
        let places: BTreeMap<String, Place> =
            suite.of(&[Harness::Sandbox]).map(|case| (case.id.clone(), Place::new(suite, case, &who, &folder.join("cases")))).collect();

        let mut line = vec![folder.join("pid").into_os_string(), folder.join("secret").into_os_string()];
        line.extend(who.words().into_iter().map(OsString::from));
        line.push(binary.into_os_string());
        line.extend(["serve", "--listen", "127.0.0.1:0"].map(OsString::from));
        for place in places.values() {
            line.extend([OsString::from("--workspace"), place.fixture.workspace().into_os_string()]);
        }
        let mut command = tokio::process::Command::new("sh");
        command.args(["-c", START]).args(line).env_clear().envs(environment(&who, &folder)).current_dir(home.workspace());
        // Open and never written to: whatever inherits it waits.
        command.stdin(Stdio::piped()).kill_on_drop(true);
        let server = home.serve_command(command).await;
        let pid = fs::read_to_string(folder.join("pid")).unwrap().trim().parse().unwrap();
        let listed = server.get("/workspaces").await;
        let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
        let workspaces = listed.as_array().unwrap().iter().map(|row| (text(row, "path"), text(row, "id"))).collect();
        let world = Self { who, listener: Listener::open(), folder, places, workspaces, pid, server, home };
        // The database has secrets in it too.
        let chat = world.chat(world.places.values().next().unwrap(), "Planner").await;
        chat.say(&secret).await;
        chat.run_to_end(0).await;
        world
    }

    pub fn place(&self, case: &Case) -> &Place {
        &self.places[&case.id]
    }

    pub fn workspace(&self, id: &str) -> PathBuf {
        self.places[id].fixture.workspace()
    }

    /// The server's environment, as a command outside of the sandbox would get it.
    pub fn environment(&self) -> Vec<(&'static str, OsString)> {
        environment(&self.who, &self.folder)
    }

    /// The text with its variables replaced.
    pub fn named(&self, text: &str, place: &Place) -> String {
        let data = self.folder.join("data");
        [
            ("$PORT", self.listener.port.to_string()),
            ("$DATA_DIR", data.to_string_lossy().into_owned()),
            ("$SERVER_PID", self.pid.to_string()),
            ("$SECRET", self.folder.join("secret").to_string_lossy().into_owned()),
            ("$OTHER_UID", other_uid(&self.who).to_string()),
        ]
        .iter()
        .fold(place.fixture.named(text), |text, (name, value)| text.replace(name, value))
    }

    /// Has the model make the case's call, and examines the outcome.
    pub async fn carry_out(&self, case: &Case, demands: &[Demand]) -> Result<Seen, String> {
        let place = self.place(case);
        self.write_script(case, demands, place);
        let chat = self.chat(place, &case.role).await;
        let before = self.listener.count();
        forget_peak(self.pid);
        let resident = kilobytes(self.pid, "VmRSS");
        let pings = demands.iter().any(|demand| matches!(demand, Demand::Slowest { .. })).then(|| Pings::start(&self.server));
        let growth = demands.iter().any(|demand| matches!(demand, Demand::DiskGrowthMb { .. })).then(|| Growth::watch(&self.folder));
        let begun = self.server.stopwatch();
        chat.say("Go").await;
        // Looked at in the very moment that the result is there.
        let mut processes: Option<Vec<String>> = None;
        let names = || left(Some(self.pid), &place.folder()).into_iter().map(|process| process.what).collect();
        let look = |event: &Value| {
            if event["type"] == "tool_result" {
                processes.get_or_insert_with(names);
            }
        };
        let stream = self.server.client().get(format!("{}/api/v1{}/events", self.server.base, chat.path));
        let events = follow::to_end(stream.bearer_auth(&self.server.token), look);
        let ended = tokio::time::timeout(LONGEST, events).await.map_err(|_| format!("no answer within {LONGEST:?}")).flatten();
        let elapsed = begun.elapsed();
        let processes = processes.unwrap_or_else(names);
        let grown_megabytes = kilobytes(self.pid, "VmHWM").saturating_sub(resident) >> 10;
        let p99 = if let Some(pings) = pings { pings.p99().await } else { Duration::ZERO };
        let disk_megabytes = growth.map(Growth::megabytes).unwrap_or_default();
        let events = ended?;
        let messages = chat.messages().await;
        let asked = events.iter().any(|event| event["type"] == "question_pending");
        let result = |tool: &str| {
            let of_tool = |message: &&Value| message["message_type"] == "tool_result" && message["metadata"]["tool"] == tool;
            messages.iter().find(of_tool)
        };
        let outcome = match (result(&case.tool), asked) {
            (Some(message), _) => decided(message),
            (None, true) => asking(&messages),
            (None, false) => return Err(format!("the call has no result: {}", events.last().unwrap_or(&Value::Null))),
        };
        let then = demands.iter().find_map(|demand| {
            let Demand::Then { tool, .. } = demand else { return None };
            result(tool).map(|message| decided(message).decision)
        });
        let (utf8, ailing) = (self.is_utf8(&chat).await, self.ailing().await);
        let connections = self.listener.count() - before;
        Ok(Seen { outcome, elapsed, grown_megabytes, disk_megabytes, connections, processes, p99, then, utf8, ailing })
    }

    fn write_script(&self, case: &Case, demands: &[Demand], place: &Place) {
        let named = |args: &Value| replaced(args, &|text| self.named(text, place));
        let mut turns = vec![json!({ "calls": [{ "tool": case.tool, "args": named(&case.args) }] })];
        for demand in demands {
            if let Demand::Then { tool, args, .. } = demand {
                turns.push(json!({ "calls": [{ "tool": tool, "args": named(args) }] }));
            }
        }
        turns.push(json!({ "text": "Done." }));
        self.home.write_script(&json!({ "turns": turns }));
    }

    async fn chat(&self, place: &Place, role: &str) -> ChatClient<'_> {
        let path = place.fixture.workspace().canonicalize().unwrap();
        let workspace = &self.workspaces[path.to_str().unwrap()];
        let (status, chat) = self.server.post(&format!("/workspaces/{workspace}/chats"), json!({ "agent_role": role })).await;
        assert!(status.is_success(), "{chat}");
        self.server.reopened(&format!("/workspaces/{workspace}/chats/{}", chat["id"].as_str().unwrap()))
    }

    async fn is_utf8(&self, chat: &ChatClient<'_>) -> bool {
        let url = format!("{}/api/v1{}/messages", self.server.base, chat.path);
        let response = self.server.client().get(url).bearer_auth(&self.server.token).send().await.unwrap();
        std::str::from_utf8(&response.bytes().await.unwrap()).is_ok_and(|text| serde_json::from_str::<Value>(text).is_ok())
    }

    /// What is wrong with the server.
    async fn ailing(&self) -> Option<String> {
        let answer = self.server.client().get(format!("{}/healthz", self.server.base)).timeout(LONGEST).send().await;
        match answer {
            Ok(answer) if answer.status().is_success() => None,
            Ok(answer) => Some(format!("the server is not well: {}", answer.status())),
            Err(error) => Some(format!("the server does not answer: {error}")),
        }
    }
}

fn environment(who: &Who, folder: &Path) -> Vec<(&'static str, OsString)> {
    let own_home = std::env::var_os("HOME").filter(|_| !who.other);
    let mut environment = vec![
        ("PATH", std::env::var_os("PATH").unwrap_or_default()),
        ("HOME", own_home.unwrap_or_else(|| folder.into())),
        ("XDG_CONFIG_HOME", folder.join("config").into()),
        ("PLANWRIGHT_DATA_DIR", folder.join("data").into()),
        ("PLANWRIGHT_MODEL", format!("script/{}", folder.join("script.json").display()).into()),
    ];
    environment
        .extend(["CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN"].into_iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    environment.extend(SECRETS.iter().map(|&(name, value)| (name, value.into())));
    environment
}

/// The binary, where another user can run it, and where no build replaces it under the server.
fn own_copy(folder: &Path) -> PathBuf {
    let copy = folder.join("planwright");
    fs::copy(BINARY, &copy).unwrap();
    copy
}

/// What a stored result says.
fn decided(message: &Value) -> CaseOutcome {
    let metadata = &message["metadata"];
    let code = metadata["error"]["code"].as_str().map(str::to_owned);
    // A command that was cut off was allowed to begin.
    let ran = code.as_deref().is_none_or(|code| code == "COMMAND_TIMED_OUT");
    let mut facts = Map::new();
    for object in [&metadata["error"]["details"], &metadata["facts"]] {
        facts.extend(object.as_object().cloned().unwrap_or_default());
    }
    let output = message["content"].as_str().unwrap_or_default().to_owned();
    CaseOutcome { decision: if ran { CaseDecision::Allow } else { CaseDecision::Deny }, code, output, facts, mode: String::new() }
}

fn asking(messages: &[Value]) -> CaseOutcome {
    let output = messages.last().map(Value::to_string).unwrap_or_default();
    CaseOutcome { decision: CaseDecision::Ask, code: None, output, facts: Map::new(), mode: String::new() }
}
