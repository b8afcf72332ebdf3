//! The server is killed, or what it stands on gives way.

use super::readings;
use super::scenarios;
use super::seen::Seen;
use super::stage::{Stage, newest, pending, say, settle};
use crate::kills;
use planwright_testkit::guard::CaseDecision;
use planwright_testkit::server::{ChatClient, of_type};
use reqwest::StatusCode;
use serde_json::{Value, json};
use sqlx::Connection;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::process::Command;

scenarios! {
    "CR-002" => killed_at_random,
    "CR-003" => killed_while_the_model_speaks,
    "CR-005" => killed_before_the_result_is_stored,
    "CR-006" => killed_before_the_rename,
    "CR-007" => killed_while_a_question_waits,
    "CR-008" => killed_during_a_migration,
    "CR-013" => two_servers,
    "CR-014" => the_clock_jumps,
    "CR-015" => the_database_is_busy,
}

fn allowed() -> Seen {
    Seen::new(CaseDecision::Allow, None, &Value::Null)
}

/// How many of these words of the user are not in the history.
async fn lost(chat: &ChatClient<'_>, said: &[&str]) -> usize {
    let messages = chat.messages().await;
    said.iter().filter(|words| messages.iter().filter(|message| message["content"] == **words).count() != 1).count()
}

async fn killed_at_random(stage: Arc<Stage>) -> Seen {
    stage.begin();
    let home = kills::survives_random_kills(2).await;
    let database = home.workspace().with_file_name("data").join("planwright.db");
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(database);
    let mut connection = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
    let intact: String = sqlx::query_scalar("pragma integrity_check").fetch_one(&mut connection).await.unwrap();
    // A life that lost something, or did it twice, has panicked.
    allowed().fact("messages_lost", 0).fact("tool_executions_per_call", 1).fact("integrity_check", intact)
}

async fn killed_while_the_model_speaks(stage: Arc<Stage>) -> Seen {
    let words = "one two three four five six";
    stage.home.write_script(&json!({ "turns": [{ "text": words, "delay_ms": 150 }] }));
    let server = stage.serve().await;
    let chat = stage.chat(&server).await;
    stage.begin();
    let after = newest(&chat).await;
    chat.say("Count").await;
    chat.events(after, |event| event["type"] == "text_delta" && event["data"]["text"] == "three ").await;
    let path = chat.path.clone();
    server.kill().await;

    let server = stage.serve().await;
    let chat = server.reopened(&path);
    let events = chat.run_to_end(after).await;
    let messages = chat.messages().await;
    let said: Vec<&Value> = messages.iter().filter(|message| message["author"] == "assistant").map(|message| &message["content"]).collect();
    let run = if of_type(&events, "run_finished")[0]["outcome"] == "done" { "resumable" } else { "lost" };
    let message = if said == [words] { "interrupted" } else { "kept in pieces" };
    allowed().in_chat(&chat).await.fact("run_state", run).fact("message_state", message)
}

/// Dies at a crash point of a run, comes back, and goes on to the end.
async fn killed_at(stage: &Stage, point: &str, call: Value) -> Vec<Value> {
    stage.home.write_script(&json!({ "turns": [{ "calls": [call] }, { "text": "Done." }] }));
    let server = stage.serve_with("PLANWRIGHT_CRASH_POINT", point).await;
    let path = server.chat(json!({ "mode": "build" })).await.path.clone();
    server.post_unchecked(&format!("{path}/messages"), &json!({ "content": "Go" })).await;
    assert!(!server.ended().await, "the server should have died at {point}");
    let server = stage.serve().await;
    let chat = server.reopened(&path);
    settle(&chat).await;
    stage.events(&chat).await
}

async fn killed_before_the_result_is_stored(stage: Arc<Stage>) -> Seen {
    stage.begin();
    let write = json!({ "tool": "write", "args": { "path": "/src/new.rs", "content": "new\n" } });
    let events = killed_at(&stage, "effect_done", write).await;
    let results = of_type(&events, "tool_result");
    assert_eq!((results.len(), &results[0]["success"]), (1, &json!(true)), "a file tells by its content that it was written");

    let run = |command: &str| json!({ "tool": "run", "args": { "command": command } });
    let log = || std::fs::read_to_string(stage.fixture.path("log.txt")).unwrap_or_default().lines().count();
    let events = killed_at(&stage, "effect_done", run("echo ran >> log.txt")).await;
    let results = of_type(&events, "tool_result");
    assert_eq!(
        (results.len(), &results[0]["success"], log()),
        (1, &json!(true), 1),
        "a command whose end was noted is settled: {results:?}"
    );
    std::fs::remove_file(stage.fixture.path("log.txt")).unwrap();

    let events = killed_at(&stage, "command_speaks", run("echo ran >> log.txt; echo said; sleep 60")).await;
    let results = of_type(&events, "tool_result");
    let told = if results.len() == 1 && results[0]["error"]["code"] == "OUTCOME_UNKNOWN" { "outcome_unknown" } else { "told otherwise" };
    allowed().with_events(events).fact("tool_state", told).fact("tool_executions_per_call", log())
}

/// The server under `strace`, which kills it at a system call; why not, where that is impossible.
fn traced(stage: &Stage, options: &[&str]) -> Result<Command, String> {
    let able = std::process::Command::new("strace").args(["-o", "/dev/null", "true"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !able.is_ok_and(|status| status.success()) {
        return Err("strace can't trace here".to_owned());
    }
    let server = stage.command();
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-o", "/dev/null"]).args(options);
    // Ends with `strace`, however that ends.
    command.args(["setpriv", "--pdeathsig", "KILL"]).arg(server.as_std().get_program()).args(server.as_std().get_args());
    command.env_clear().kill_on_drop(true).current_dir(stage.fixture.workspace());
    command.envs(server.as_std().get_envs().filter_map(|(name, value)| Some((name, value?))));
    Ok(command)
}

async fn killed_before_the_rename(stage: Arc<Stage>) -> Seen {
    let new = readings::NEW_CONTENT;
    let folder = stage.fixture.path("src").canonicalize().unwrap();
    let watched = ["-P", folder.to_str().unwrap(), "-e", "inject=rename,renameat,renameat2:signal=KILL"];
    let command = match traced(&stage, &watched) {
        Ok(command) => command,
        Err(why) => return Seen::unavailable(why),
    };
    let write = json!({ "tool": "write", "args": { "path": "/src/main.rs", "content": new } });
    stage.home.write_script(&json!({ "turns": [{ "calls": [{ "tool": "read", "args": { "path": "/src/main.rs" } }] }, { "calls": [write] }, { "text": "Done." }] }));
    let server = stage.home.serve_command(command).await;
    let path = server.chat(json!({ "mode": "build" })).await.path.clone();
    stage.begin();
    server.post_unchecked(&format!("{path}/messages"), &json!({ "content": "Go" })).await;
    assert!(!server.ended().await, "the server should have died");
    let old = std::fs::read_to_string(folder.join("main.rs")).unwrap();
    assert_eq!((old.as_str(), temporary(&folder)), ("fn main(){}\n", 1), "it died after the temporary file and before the rename");

    let server = stage.serve().await;
    let chat = server.reopened(&path);
    settle(&chat).await;
    let content = std::fs::read_to_string(folder.join("main.rs")).unwrap();
    assert_eq!(content, new, "the run went on");
    allowed().in_chat(&chat).await.fact("no_temp_files_after_recovery", temporary(&folder) == 0)
}

fn temporary(folder: &Path) -> usize {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_str().unwrap().starts_with(".planwright-")).count()
}

async fn killed_while_a_question_waits(stage: Arc<Stage>) -> Seen {
    let ask =
        json!({ "tool": "ask_user", "args": { "questions": [{ "name": "sure", "question": "Sure?", "schema": { "type": "boolean" } }] } });
    stage.home.write_script(&json!({ "turns": [{ "calls": [ask] }, { "text": "Thank you." }] }));
    let server = stage.serve().await;
    let chat = stage.chat(&server).await;
    stage.begin();
    say(&chat, "Ask").await;
    let (path, question) = (chat.path.clone(), pending(&chat).await);
    server.kill().await;
    let server = stage.serve().await;
    let chat = server.reopened(&path);
    let seen = allowed().in_chat(&chat).await;
    assert_eq!(chat.answer(&question, json!({ "sure": true })).await.0, StatusCode::ACCEPTED);
    settle(&chat).await;
    assert_eq!(chat.messages().await.last().unwrap()["content"], "Thank you.");
    seen
}

/// A chat with one message, as the first version of the database has it.
fn first_version(workspace: &str) -> String {
    let start = include_str!("../../../../store/migrations/sqlite/0001_start.sql");
    let usage = r#"{"input_tokens": 0, "output_tokens": 0, "cached_tokens": 0, "cost": 0.0}"#;
    format!(
        "{start}; pragma user_version = 1;
        insert into workspaces values (x'{FIRST_WORKSPACE}', 'workspace', '{workspace}', 1);
        insert into chats values (x'{FIRST_CHAT}', x'{FIRST_WORKSPACE}', 'Old', 'planner', 'plan', null, 'idle', null, '[]', 0, 9, '{usage}', null, 1, 2);
        insert into messages values (x'01890000000070008000000000000003', x'{FIRST_CHAT}', 1, 'user', null, 'text', '{OLD_WORDS}', '{{}}', 3)"
    )
}

const FIRST_WORKSPACE: &str = "01890000000070008000000000000001";
const FIRST_CHAT: &str = "01890000000070008000000000000002";
const OLD_WORDS: &str = "From long ago";

async fn killed_during_a_migration(stage: Arc<Stage>) -> Seen {
    let workspace = stage.fixture.workspace().canonicalize().unwrap();
    let data = stage.database().parent().unwrap().to_owned();
    stage.begin();
    let (mut killed_old, mut killed_new, mut lost) = (0, 0, 0);
    for time in 1.. {
        let _ = std::fs::remove_dir_all(&data);
        std::fs::create_dir(&data).unwrap();
        stage.tamper(first_version(workspace.to_str().unwrap())).await;
        let injection = format!("inject=pwrite64:signal=KILL:when={time}");
        let command = match traced(&stage, &["-P", stage.database().to_str().unwrap(), "-P", wal(&stage).as_str(), "-e", &injection]) {
            Ok(command) => command,
            Err(why) => return Seen::unavailable(why),
        };
        let Some(server) = stage.home.try_serve_command(command).await else {
            let version = stage.look("select cast(user_version as text) from pragma_user_version").await;
            // Each migration is applied as a whole or not at all, so the database may have any version up to the newest.
            match version.parse::<u32>() {
                Ok(1) => killed_old += 1,
                Ok(2..) => killed_new += 1,
                Ok(0) | Err(_) => panic!("killed at write {time} the database has the version {version}"),
            }
            lost += usize::from(stage.look("select content from messages").await != OLD_WORDS);
            continue;
        };
        // The writes of the start are over.
        server.kill().await;
        break;
    }
    assert!(killed_old > 0 && killed_new > 0, "killed {killed_old} times before the migration was done and {killed_new} times after");
    let server = stage.serve().await;
    let id = |hex: &str| uuid::Uuid::parse_str(hex).unwrap().to_string();
    let chat = server.reopened(&format!("/workspaces/{}/chats/{}", id(FIRST_WORKSPACE), id(FIRST_CHAT)));
    lost += usize::from(chat.messages().await[0]["content"] != OLD_WORDS);
    let version = stage.look("select cast(user_version as text) from pragma_user_version").await;
    allowed()
        .fact("messages_lost", lost)
        .fact("schema_version_in", if version.parse::<u32>().is_ok_and(|version| version > 1) { "<new>" } else { "<old>" })
}

fn wal(stage: &Stage) -> String {
    format!("{}-wal", stage.database().to_str().unwrap())
}

async fn two_servers(stage: Arc<Stage>) -> Seen {
    let server = stage.serve().await;
    let chat = stage.chat(&server).await;
    say(&chat, "First").await;
    stage.begin();
    let second = stage.command().stdout(Stdio::null()).output().await.unwrap();
    let told = String::from_utf8_lossy(&second.stderr).into_owned();
    say(&chat, "Second").await;
    let code = if told.contains("DATA_DIR_LOCKED") { "DATA_DIR_LOCKED" } else { "another" };
    let lost = lost(&chat, &["First", "Second"]).await;
    Seen::new(CaseDecision::Error, Some(code), &told.into())
        .fact("second_exits", second.status.code() == Some(1))
        .fact("messages_lost", lost)
}

/// A clock that is wrong by as many seconds as a file says, for a process that loads it first.
const CLOCK: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, now);
    const char *name = getenv("CLOCK_WRONG_BY");
    FILE *file = name && clock == CLOCK_REALTIME ? fopen(name, "r") : NULL;
    long seconds = 0;
    if (file) {
        if (fscanf(file, "%ld", &seconds) == 1) now->tv_sec += seconds;
        fclose(file);
    }
    return result;
}
"#;

async fn the_clock_jumps(stage: Arc<Stage>) -> Seen {
    let folder = stage.fixture.workspace().parent().unwrap().to_owned();
    let (source, library, wrong_by) = (folder.join("clock.c"), folder.join("clock.so"), folder.join("wrong-by"));
    std::fs::write(&source, CLOCK).unwrap();
    let built = std::process::Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).arg("-ldl").status();
    if !built.is_ok_and(|status| status.success()) {
        return Seen::unavailable("there is no C compiler to build the clock with");
    }
    let jump = |seconds: i64| std::fs::write(&wrong_by, seconds.to_string()).unwrap();
    let serve = async || {
        let mut command = stage.command();
        command.env("LD_PRELOAD", &library).env("CLOCK_WRONG_BY", &wrong_by);
        stage.home.serve_command(command).await
    };
    jump(0);
    let server = serve().await;
    let chat = stage.chat(&server).await;
    stage.begin();
    let path = chat.path.clone();
    say(&chat, "now").await;
    jump(-3600);
    say(&chat, "an hour ago").await;
    jump(86_400);
    say(&chat, "tomorrow").await;
    server.kill().await;
    jump(-3600);
    let server = serve().await;
    let chat = server.reopened(&path);
    say(&chat, "an hour ago, again").await;

    let messages = chat.messages().await;
    let users: Vec<&Value> = messages.iter().filter(|message| message["author"] == "user").collect();
    let times: Vec<&str> = users.iter().map(|message| message["created_at"].as_str().unwrap()).collect();
    assert!(times[1] < times[0] && times[2] > times[0] && times[3] < times[0], "the clock did not jump: {times:?}");
    let said: Vec<&Value> = users.iter().map(|message| &message["content"]).collect();
    let in_order = said == ["now", "an hour ago", "tomorrow", "an hour ago, again"];
    let numbers: Vec<u64> = stage.events(&chat).await.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    let last = users[3]["id"].as_str().unwrap();
    let page = server.get(&format!("{path}/messages?before={last}&limit=1")).await;
    let before = messages[messages.iter().position(|message| message["id"] == last).unwrap() - 1]["id"].clone();
    let contiguous = in_order && numbers.is_sorted_by(|a, b| a < b) && page[0]["id"] == before;
    allowed().fact("sequence_contiguous", contiguous)
}

async fn the_database_is_busy(stage: Arc<Stage>) -> Seen {
    let server = stage.serve().await;
    let chat = stage.chat(&server).await;
    stage.begin();
    say(&chat, "First").await;
    let mut other = stage.connection().await;
    sqlx::raw_sql("begin immediate").execute(&mut other).await.unwrap();
    let begun = Instant::now();
    let release = async {
        tokio::time::sleep(Duration::from_secs(10)).await;
        sqlx::raw_sql("rollback").execute(&mut other).await.unwrap();
    };
    let messages = format!("{}/messages", chat.path);
    let (answer, ()) = tokio::join!(server.post(&messages, json!({ "content": "Second" })), release);
    assert_eq!(answer.0, StatusCode::ACCEPTED, "{}", answer.1);
    assert!(begun.elapsed() >= Duration::from_secs(10), "it was stored while the database was busy");
    settle(&chat).await;
    let lost = lost(&chat, &["First", "Second"]).await;
    Seen::answer(&answer).fact("messages_lost", lost)
}
