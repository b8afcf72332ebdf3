//! Keeping: backups taken while a server works, and their way back; databases of other versions.

use crate::{home, write};
use planwright_testkit::postgres::Database;
use planwright_testkit::server::{Home, Server};
use serde_json::{Value, json};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// One answer to everything that is said.
fn talking() -> Home {
    home(&json!({ "turns": [{ "text": "Very well." }], "repeat": true }))
}

/// What the command said, on stdout and stderr, and its exit code.
async fn planwright(home: &Home, args: &[&str]) -> (Option<i32>, String) {
    let output = home.command(args).output().await.unwrap();
    (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

async fn succeeds(home: &Home, args: &[&str]) -> String {
    let (code, said) = planwright(home, args).await;
    assert_eq!(code, Some(0), "{args:?}: {said}");
    said
}

fn beside(home: &Home, name: &str) -> PathBuf {
    home.workspace().with_file_name(name)
}

/// A server on another data folder of the same home.
async fn serve_from(home: &Home, data: &Path) -> Server {
    home.serve_command(home.command(&["serve", "--listen", "127.0.0.1:0", "--data-dir", data.to_str().unwrap()])).await
}

/// A home with one chat that is over; gives its path and its history.
async fn with_a_chat(home: &Home) -> (String, Vec<Value>) {
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Remember me").await;
    chat.run_to_end(0).await;
    let kept = (chat.path.clone(), chat.messages().await);
    assert!(server.terminate().await);
    kept
}

async fn sql(file: &Path, sql: &str) {
    let mut connection = SqliteConnectOptions::new().filename(file).create_if_missing(true).connect().await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

#[tokio::test]
async fn a_backup_taken_while_a_run_writes_holds_one_moment_and_the_restored_run_does_not_go_on() {
    let home = home(&json!({ "turns": [{ "calls": [write("/a.txt", "x")] }], "repeat": true }));
    home.put_config("[limits]\nturns = 1000000\ncost = inf\n");
    let server = home.serve().await;
    let chat = server.chat(json!({ "agent_role": "actor" })).await;
    chat.say("Write for ever").await;
    chat.events(0, |event| event["type"] == "tool_result").await;
    let (backup, data) = (beside(&home, "chats.backup"), beside(&home, "restored"));
    let (backup, data_dir) = (backup.to_str().unwrap(), data.to_str().unwrap());
    let said = succeeds(&home, &["backup", backup]).await;
    assert!(said.contains("chats.backup: 1 chat, "), "{said}");
    assert_ne!(chat.show().await["state"], "idle", "the run went on while it was saved, and after");
    chat.post("stop").await;
    let path = chat.path.clone();
    let all = succeeds(&home, &["export", path.rsplit('/').next().unwrap(), "--format", "json"]).await;
    let all = serde_json::from_str::<Value>(&all).unwrap()["messages"].as_array().unwrap().clone();
    server.kill().await;

    let said = succeeds(&home, &["restore", backup, "--data-dir", data_dir]).await;
    assert!(said.contains("1 chat, ") && said.contains("in progress: 1;"), "{said}");
    std::fs::remove_file(home.workspace().join("a.txt")).unwrap();
    let server = serve_from(&home, &data).await;
    let chat = server.reopened(&path);
    assert_eq!(chat.show().await["state"], "idle");
    let restored = succeeds(&home, &["export", path.rsplit('/').next().unwrap(), "--format", "json", "--data-dir", data_dir]).await;
    let mut restored = serde_json::from_str::<Value>(&restored).unwrap()["messages"].as_array().unwrap().clone();
    let told = restored.pop().unwrap();
    assert!(told["author"] == "system" && told["content"].as_str().unwrap().contains("comes from a backup of 20"), "{told}");
    assert!(restored.len() >= 2, "the message and the first call at least: {restored:?}");
    let ids = |messages: &[Value]| messages.iter().map(|message| message["id"].clone()).collect::<Vec<_>>();
    assert_eq!(ids(&restored), ids(&all[..restored.len()]), "no message is missing in between");
    assert_eq!(home.file("a.txt"), None, "the server did not go on with the run by itself");

    // It is a chat like any other: what is said next begins a run.
    let before = chat.events(0, |event| event["type"] == "run_finished").await;
    chat.say("Go on").await;
    chat.events(planwright_testkit::server::last_id(&before), |event| event["type"] == "tool_result").await;
    chat.post("stop").await;
}

#[tokio::test]
async fn a_restored_data_folder_serves_the_same_chats_accounts_and_questions() {
    let home = home(&json!({ "act": [{ "calls": [{ "tool": "read", "args": { "path": "/.env" } }] }, { "text": "Done." }] }));
    home.put(".env", "KEY=1\n");
    let server = home.serve().await;
    let chat = server.chat(json!({ "agent_role": "actor" })).await;
    chat.say("Read it").await;
    chat.events(0, |event| event["data"]["state"] == "awaiting_answer").await;
    let (path, shown, said) = (chat.path.clone(), chat.show().await, chat.messages().await);
    let mut add = home.command(&["user", "add", "ann", "--password-stdin"]);
    std::fs::write(beside(&home, "password"), "a long enough password").unwrap();
    add.stdin(std::fs::File::open(beside(&home, "password")).unwrap());
    assert!(add.output().await.unwrap().status.success());
    let (backup, data) = (beside(&home, "a.backup"), beside(&home, "restored"));
    succeeds(&home, &["backup", backup.to_str().unwrap()]).await;
    assert!(server.terminate().await);

    succeeds(&home, &["restore", backup.to_str().unwrap(), "--data-dir", data.to_str().unwrap()]).await;
    assert_eq!(data.join("planwright.db").metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let listed = succeeds(&home, &["user", "--data-dir", data.to_str().unwrap(), "list"]).await;
    assert!(listed.starts_with("ann "), "{listed}");
    let server = serve_from(&home, &data).await;
    let chat = server.reopened(&path);
    assert_eq!((chat.show().await, chat.messages().await), (shown.clone(), said));
    let (status, answer) = chat.answer(&shown["pending_question"]["question_id"], json!({ "decision": "approve" })).await;
    assert!(status.is_success(), "{answer}");
    let finished = chat.events(0, |event| event["data"]["outcome"] == "done").await;
    assert!(!finished.is_empty());
}

#[tokio::test]
async fn a_backup_that_is_cut_off_damaged_or_foreign_is_refused_and_changes_nothing() {
    let home = talking();
    let (path, messages) = with_a_chat(&home).await;
    let good = beside(&home, "good.backup");
    succeeds(&home, &["backup", good.to_str().unwrap()]).await;
    let bytes = std::fs::read(&good).unwrap();
    let (bad, whole) = (beside(&home, "bad.backup"), bytes.len());
    let mut flipped = bytes.clone();
    flipped[whole / 2] ^= 1;
    let foreign = beside(&home, "foreign.db");
    sql(&foreign, "create table places (url text)").await;
    let mut newer = bytes.clone();
    let seal = newer.windows(20).rposition(|end| end == b"\nplanwright backup 1").unwrap();
    newer[seal + 19] = b'2';
    let mut cases: Vec<(Vec<u8>, &str)> = [20, 4096, whole / 2, whole - 4096, whole - 100, whole - 1]
        .map(|length| (bytes[..length].to_vec(), "it is incomplete: its end is missing"))
        .into();
    cases.push((flipped, "it is damaged"));
    cases.push((std::fs::read(&foreign).unwrap(), "it is incomplete"));
    cases.push((Vec::new(), "it is not a backup"));
    cases.push((b"Dear diary,\n".repeat(1000), "it is not a backup"));
    cases.push((newer, "it was made by a newer version"));
    let data = home.data();
    let before = std::fs::read(data.join("planwright.db")).unwrap();
    for (content, reason) in cases {
        std::fs::write(&bad, &content).unwrap();
        for args in [&["--replace"][..], &["--data-dir", beside(&home, "fresh").to_str().unwrap()]] {
            let (code, said) = planwright(&home, &[&["restore", bad.to_str().unwrap()], args].concat()).await;
            let about = content.len();
            assert!(code == Some(1) && said.contains(reason) && said.contains("nothing was changed"), "{about} bytes: {said}");
            assert!(said.contains("bad.backup"), "{said}");
        }
    }
    for (args, reason) in [(["restore", "nowhere.backup"], "there is no file nowhere.backup"), (["restore", "."], "not a backup")] {
        let (code, said) = planwright(&home, &[&args[..], &["--replace"]].concat()).await;
        assert!(code == Some(1) && said.contains(reason), "{said}");
    }
    assert_eq!(std::fs::read(data.join("planwright.db")).unwrap(), before);
    let mut left: Vec<_> = std::fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    left.retain(|name| !["commands", "lock", "planwright.db", "reserve", "token"].contains(&name.as_str()));
    assert!(left.is_empty(), "{left:?}");
    assert!(!beside(&home, "fresh").join("planwright.db").exists());
    let server = home.serve().await;
    assert_eq!(server.reopened(&path).messages().await, messages);
}

#[tokio::test]
async fn restore_takes_the_place_of_chats_only_when_told_and_keeps_them() {
    let home = talking();
    let (path, messages) = with_a_chat(&home).await;
    let backup = beside(&home, "first.backup");
    let backup = backup.to_str().unwrap();
    succeeds(&home, &["backup", backup]).await;
    let (later, later_messages) = with_a_chat(&home).await;
    let (code, said) = planwright(&home, &["restore", backup]).await;
    assert!(code == Some(1) && said.contains("already has chats") && said.contains("--replace"), "{said}");
    let server = home.serve().await;
    let (code, said) = planwright(&home, &["restore", backup, "--replace"]).await;
    assert!(code == Some(1) && said.contains("DATA_DIR_LOCKED"), "{said}");
    assert_eq!(server.reopened(&later).messages().await, later_messages);
    server.kill().await;

    let said = succeeds(&home, &["restore", backup, "--replace"]).await;
    let kept = said.lines().find_map(|line| line.strip_prefix("the previous chats are in ")).unwrap();
    let server = home.serve().await;
    assert_eq!(server.reopened(&path).messages().await, messages);
    let (status, _) = server.request(reqwest::Method::GET, &later, None).await;
    assert_eq!(status, reqwest::StatusCode::NOT_FOUND);
    assert!(server.terminate().await);
    // The backup is a complete database.
    let other = beside(&home, "other");
    std::fs::create_dir(&other).unwrap();
    std::fs::copy(kept, other.join("planwright.db")).unwrap();
    let server = serve_from(&home, &other).await;
    assert_eq!(server.reopened(&later).messages().await, later_messages);
}

#[tokio::test]
async fn a_broken_database_can_be_replaced_by_a_backup_and_is_kept() {
    let home = talking();
    let (path, messages) = with_a_chat(&home).await;
    let backup = beside(&home, "a.backup");
    succeeds(&home, &["backup", backup.to_str().unwrap()]).await;
    let database = home.data().join("planwright.db");
    std::fs::write(&database, "no database any more").unwrap();
    std::fs::write(home.data().join("planwright.db-wal"), "nor a log").unwrap();
    let said = succeeds(&home, &["restore", backup.to_str().unwrap(), "--replace"]).await;
    let kept = said.lines().find_map(|line| line.strip_prefix("the previous chats are in ")).unwrap();
    assert_eq!(std::fs::read_to_string(kept).unwrap(), "no database any more");
    assert_eq!(std::fs::read_to_string(format!("{kept}-wal")).unwrap(), "nor a log");
    let server = home.serve().await;
    assert_eq!(server.reopened(&path).messages().await, messages);
}

#[tokio::test]
async fn a_backup_overwrites_nothing_unless_told_and_is_closed_to_others() {
    let home = talking();
    let (code, said) = planwright(&home, &["backup", "a.backup"]).await;
    assert!(code == Some(1) && said.contains("there are no chats in "), "{said}");
    assert!(!home.data().exists(), "looking makes nothing");
    with_a_chat(&home).await;
    home.put("a.backup", "mine");
    let (code, said) = planwright(&home, &["backup", "a.backup"]).await;
    assert!(code == Some(1) && said.contains("a.backup already exists") && said.contains("--force"), "{said}");
    assert_eq!(home.file("a.backup").as_deref(), Some("mine"));
    succeeds(&home, &["backup", "--force", "a.backup"]).await;
    let file = home.workspace().join("a.backup");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert!(std::fs::read(&file).unwrap().starts_with(b"SQLite format 3\0"));
    std::os::unix::fs::symlink("a.backup", home.workspace().join("link.backup")).unwrap();
    let database = home.data().join("planwright.db");
    for place in ["link.backup", "/dev/null", database.to_str().unwrap()] {
        let before = std::fs::symlink_metadata(home.workspace().join(place)).unwrap();
        let (code, said) = planwright(&home, &["backup", "--force", place]).await;
        assert!(code == Some(1) && (said.contains("was not touched") || said.contains("inside the data folder")), "{said}");
        let after = std::fs::symlink_metadata(home.workspace().join(place)).unwrap();
        assert_eq!((before.ino(), before.file_type()), (after.ino(), after.file_type()), "{place}");
    }
    let (code, said) = planwright(&home, &["backup", "nowhere/a.backup"]).await;
    assert!(code == Some(1) && said.contains("can't write nowhere/a.backup"), "{said}");
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_told_of_by_every_command_and_left_as_it_is() {
    let home = talking();
    let (path, _) = with_a_chat(&home).await;
    let backup = beside(&home, "a.backup");
    let database = home.data().join("planwright.db");
    sql(&database, "pragma user_version = 999").await;
    let before = std::fs::read(&database).unwrap();
    let chat = path.rsplit('/').next().unwrap();
    for args in
        [&["serve", "--listen", "127.0.0.1:0"][..], &["run", "Hi"], &["backup", backup.to_str().unwrap()], &["export", chat], &["doctor"]]
    {
        let (code, said) = planwright(&home, args).await;
        let told = said.contains("newer version of Planwright (schema 999, this one supports ") && said.contains("use that version");
        assert!(code == Some(1) && told, "{args:?}: {said}");
    }
    let (_, said) = planwright(&home, &["run", "Hi", "--json"]).await;
    assert!(said.contains("\"retryable\":false"), "trying again does not help: {said}");
    assert_eq!(std::fs::read(&database).unwrap(), before);
    assert!(!backup.exists());
}

/// The names and contents of all files in a folder.
fn contents(folder: &std::path::Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().map(Result::unwrap) {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type().unwrap().is_dir() {
            found.extend(contents(&entry.path()).into_iter().map(|(inside, bytes)| (format!("{name}/{inside}"), bytes)));
        } else {
            found.push((name, std::fs::read(entry.path()).unwrap()));
        }
    }
    found.sort();
    found
}

#[tokio::test]
async fn doctor_looks_at_the_data_folder_and_at_an_older_database_and_changes_neither() {
    let home = talking();
    home.put_config("[mcp.servers.x]\ncommand = \"true\"\n");
    let (_, said) = planwright(&home, &["doctor"]).await;
    assert!(said.contains("which the first start makes") && !home.data().exists(), "{said}");
    std::fs::create_dir(home.data()).unwrap();
    std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/samples/databases/0.1.0.db"), home.data().join("planwright.db")).unwrap();
    let before = contents(&home.data());
    let (_, said) = planwright(&home, &["doctor"]).await;
    assert!(said.contains("the next start brings its tables up to date"), "{said}");
    let names = |files: &[(String, Vec<u8>)]| files.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    let after = contents(&home.data());
    assert_eq!((names(&after), after == before), (names(&before), true), "{said}");
}

#[tokio::test]
async fn a_database_of_the_first_version_is_saved_then_brought_up_to_date_and_served() {
    const START: &str = include_str!("../../../store/migrations/sqlite/0001_start.sql");
    let home = talking();
    std::fs::create_dir(home.data()).unwrap();
    let (workspace, chat) = ("01a1e121e56c750e9c54a1ee26594fe7", "01a1e121e56c750e9c54a1ee26594fe8");
    let folder = home.workspace().canonicalize().unwrap();
    let usage = r#"{"input_tokens": 1, "output_tokens": 2, "cached_tokens": 0, "cost": 0.0}"#;
    let old = format!(
        "{START}; pragma user_version = 1; insert into workspaces values (x'{workspace}', 'w', '{}', 1);
        insert into chats values (x'{chat}', x'{workspace}', 'Old', null, null, null, 'idle', null, '[]', 0, 9, '{usage}', null, 1, 2)",
        folder.display()
    );
    sql(&home.data().join("planwright.db"), &old).await;
    let server = home.serve().await;
    let workspace = server.get("/workspaces").await[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(server.get(&format!("/workspaces/{workspace}/chats")).await[0]["title"], "Old");
    assert!(server.terminate().await);
    // The copy is a backup like any other, of the version before.
    let (saved, data) = (home.data().join("planwright.db.schema-1.backup"), beside(&home, "restored"));
    let said = succeeds(&home, &["restore", saved.to_str().unwrap(), "--data-dir", data.to_str().unwrap()]).await;
    assert!(said.contains("1 chat"), "{said}");
    let exported = succeeds(&home, &["export", "01a1e121-e56c-750e-9c54-a1ee26594fe8", "--data-dir", data.to_str().unwrap()]).await;
    assert!(exported.contains("# Old"), "{exported}");
}

#[tokio::test]
async fn chats_in_postgres_are_left_to_its_own_tools_which_bring_them_back() {
    let (home, first, second) = (talking(), Database::fresh(), Database::fresh());
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("PLANWRIGHT_DATABASE_URL", &first.url);
    let server = home.serve_command(command).await;
    let chat = server.chat(json!({})).await;
    chat.say("Remember me").await;
    chat.run_to_end(0).await;
    let (path, messages) = (chat.path.clone(), chat.messages().await);
    for args in [["backup", "a.backup"], ["restore", "a.backup"]] {
        let output = home.command(&args).env("PLANWRIGHT_DATABASE_URL", &first.url).output().await.unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(1) && said.contains("pg_dump --format=custom") && said.contains("pg_restore"), "{said}");
    }
    let dump = beside(&home, "dump");
    let program = |name: &str, args: &[&str]| {
        let output = std::process::Command::new(name).args(args).output().unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    };
    program("pg_dump", &["--format=custom", "--file", dump.to_str().unwrap(), &first.url]);
    assert!(server.terminate().await);
    program("pg_restore", &["--clean", "--if-exists", "--dbname", &second.url, dump.to_str().unwrap()]);
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.env("PLANWRIGHT_DATABASE_URL", &second.url);
    let server = home.serve_command(command).await;
    assert_eq!(server.reopened(&path).messages().await, messages);
}
