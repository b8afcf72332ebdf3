//! The changes of a chat: shown as diffs and reverted, whether a tool, a command or the user made them.

use crate::{home, plan, write};
use planwright_testkit::server::{ChatClient, Home, Server, last_id, of_type};
use reqwest::StatusCode;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

fn call(tool: &str, args: Value) -> Value {
    json!({ "tool": tool, "args": args })
}

fn run(command: &str) -> Value {
    call("run", json!({ "command": command }))
}

/// A home in which deletions need no word, and a model that makes one call for each message.
pub fn one_call_a_message(calls: &[Value]) -> Home {
    let turns: Vec<Value> = calls.iter().flat_map(|call| [json!({ "calls": [call] }), json!({ "text": "Done." })]).collect();
    let home = home(&json!({ "turns": turns }));
    home.put_config("[approvals]\ndelete = \"allow\"\n");
    home
}

/// A user who has something done, message by message.
pub struct Work<'s> {
    pub chat: ChatClient<'s>,
    last: u64,
}

impl<'s> Work<'s> {
    pub async fn begin(server: &'s Server) -> Self {
        Self { chat: server.chat(json!({ "agent_role": "actor" })).await, last: 0 }
    }

    /// The id of the message that had it done, and the result of the call.
    pub async fn next(&mut self) -> (String, Value) {
        let message = self.chat.say("Go on").await["id"].as_str().unwrap().to_owned();
        let events = self.chat.run_to_end(self.last).await;
        self.last = last_id(&events);
        (message, of_type(&events, "tool_result").last().map(|result| (*result).clone()).unwrap_or_default())
    }

    pub async fn all(&mut self, count: usize) -> Vec<String> {
        let mut messages = Vec::new();
        for _ in 0..count {
            let (message, result) = self.next().await;
            assert_eq!(result["success"], true, "{result}");
            messages.push(message);
        }
        messages
    }

    pub async fn changes(&self) -> Value {
        self.chat.server.get(&format!("{}/changes", self.chat.path)).await
    }

    pub async fn revert(&self, body: Value) -> (StatusCode, Value) {
        self.chat.server.post(&format!("{}/revert", self.chat.path), body).await
    }

    pub async fn back_to(&self, message: &str) -> Value {
        let (status, body) = self.revert(json!({ "message_id": message })).await;
        assert_eq!(status, StatusCode::OK, "{body:#}: {:#}", self.changes().await);
        assert!(body["message"].is_null() || body["message"]["metadata"]["revert"]["status"] == "done", "{body:#}");
        body
    }
}

fn pairs(files: &Value) -> Vec<(&str, &str)> {
    files.as_array().unwrap().iter().map(|file| (file["path"].as_str().unwrap(), file["status"].as_str().unwrap())).collect()
}

fn git(folder: &Path, args: &[&str], input: &str) -> String {
    use std::io::Write;
    use std::process::Stdio;
    let mut child = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@example.org"])
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "git {args:?}: {}\n{input}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap().success());
}

#[tokio::test]
async fn what_tools_and_commands_changed_is_shown_by_message_and_in_all() {
    let home = one_call_a_message(&[
        write("/new/dir/a.txt", "one\n"),
        run("echo two >> new/dir/a.txt; printf 'b' > b.bin; mv old.txt moved.txt; printf '\\0' > zero.bin; true"),
        call("rm", json!({ "path": "/gone", "recursive": true })),
    ]);
    home.put("old.txt", "old\n");
    home.put("gone/x.txt", "x\n");
    let server = home.serve().await;
    let mut work = Work::begin(&server).await;
    work.all(3).await;
    let changes = work.changes().await;
    let calls = changes["changes"].as_array().unwrap();
    let tools: Vec<&str> = calls.iter().map(|call| call["tool"].as_str().unwrap()).collect();
    assert_eq!(tools, ["write", "run", "rm"]);
    assert_eq!(calls[0]["agent_role"], "actor");
    assert_eq!(pairs(&calls[0]["files"]), [("/new", "created"), ("/new/dir", "created"), ("/new/dir/a.txt", "created")]);
    let run = &calls[1]["files"];
    assert_eq!(pairs(run), [("/b.bin", "created"), ("/moved.txt", "moved"), ("/new/dir/a.txt", "modified"), ("/zero.bin", "created")]);
    assert_eq!(run[1]["from"], "/old.txt");
    assert_eq!(
        run[2]["diff"],
        "diff --git a/new/dir/a.txt b/new/dir/a.txt\n--- a/new/dir/a.txt\n+++ b/new/dir/a.txt\n@@ -1 +1,2 @@\n one\n+two\n"
    );
    assert_eq!((&run[2]["added"], &run[2]["removed"], &run[3]["binary"]), (&json!(1), &json!(0), &json!(true)));
    assert_eq!(pairs(&calls[2]["files"]), [("/gone", "deleted"), ("/gone/x.txt", "deleted")]);
    let total = &changes["total"]["files"];
    let whole = total.as_array().unwrap().iter().find(|file| file["path"] == "/new/dir/a.txt").unwrap();
    assert_eq!((&whole["status"], &whole["added"]), (&json!("created"), &json!(2)), "{total:#}");
    let one = server.get(&format!("{}/changes?message={}", work.chat.path, calls[2]["message_id"].as_str().unwrap())).await;
    assert_eq!(one["changes"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn the_diffs_applied_by_git_to_the_tree_before_give_the_tree_after() {
    let home = one_call_a_message(&[
        write("/src/main.rs", "fn main() {\n    new();\n}"),
        run("chmod +x tool.sh; echo more >> 'with space.txt'; printf 'no newline' > 'ünï\"c.txt'; rm gone.txt; \
             ln -s src/main.rs link; mkdir -p deep/er; mv big.txt deep/er/big.txt; printf 'a\\rb\\nc\\r' > cr.txt; rm -f l2; ln -s b l2"),
        call("touch", json!({ "path": "/empty.txt" })),
        run("sed -i 's/line 50$/line fifty/' deep/er/big.txt"),
    ]);
    let lines = (0..100).map(|number| format!("line {number}")).collect::<Vec<_>>().join("\n");
    for (path, text) in [
        ("src/main.rs", "fn main() {}\n"),
        ("tool.sh", "#!/bin/sh\n"),
        ("with space.txt", "x"),
        ("gone.txt", "gone\n"),
        ("cr.txt", "a\rb\nd"),
    ] {
        home.put(path, text);
    }
    home.put("big.txt", &lines);
    std::os::unix::fs::symlink("a", home.workspace().join("l2")).unwrap();
    let before = home.workspace().with_file_name("before");
    copy(&home.workspace(), &before);
    let server = home.serve().await;
    let mut work = Work::begin(&server).await;
    work.all(4).await;
    let changes = work.changes().await;
    let all = |files: &Value| files.as_array().unwrap().iter().map(|file| file["diff"].as_str().unwrap().to_owned()).collect::<String>();
    let by_message: Vec<String> = changes["changes"].as_array().unwrap().iter().map(|call| all(&call["files"])).collect();
    for (name, diffs) in [("in-all", vec![all(&changes["total"]["files"])]), ("by-message", by_message)] {
        let tree = home.workspace().with_file_name(name);
        copy(&before, &tree);
        for diff in diffs {
            git(&tree, &["apply", "-"], &diff);
        }
        let compared =
            Command::new("diff").args(["-r", "--no-dereference", "-x", ".planwright"]).arg(&tree).arg(home.workspace()).output().unwrap();
        assert!(compared.status.success(), "{name}: {}", String::from_utf8_lossy(&compared.stdout));
        assert_eq!(std::fs::metadata(tree.join("tool.sh")).unwrap().permissions().mode() & 0o111, 0o111, "{name}");
    }
}

#[tokio::test]
async fn everything_from_a_message_on_is_taken_back_and_the_model_hears_of_it() {
    let home = one_call_a_message(&[
        write("/a.txt", "1\n"),
        run("echo 2 >> a.txt; mkdir d; echo x > d/x; rm -r keep"),
        write("/a.txt", "3\n"),
        call("read", json!({ "path": "/a.txt" })),
    ]);
    home.put("keep/k.txt", "kept\n");
    let server = home.serve().await;
    let mut work = Work::begin(&server).await;
    // The file changed under the model's feet, so its third call is refused; that is no change.
    let (_, second) = (work.next().await, work.next().await);
    let (third, _) = work.next().await;
    let (status, preview) = work.revert(json!({ "message_id": second.0, "preview": true })).await;
    assert_eq!((status, &preview["preview"]), (StatusCode::OK, &json!(true)));
    let paths: Vec<&str> = preview["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["/a.txt", "/d", "/d/x", "/keep", "/keep/k.txt"]);
    assert!(home.file("d/x").is_some(), "a preview changes nothing");
    let done = work.back_to(&second.0).await;
    assert_eq!(done["files"], preview["files"]);
    assert_eq!((home.file("a.txt").as_deref(), home.file("keep/k.txt").as_deref()), (Some("1\n"), Some("kept\n")));
    assert!(!home.workspace().join("d").exists());
    let changes = work.changes().await;
    let calls = changes["changes"].as_array().unwrap();
    assert_eq!(calls.last().unwrap()["tool"], "revert");
    assert!(calls[1]["files"].as_array().unwrap().iter().all(|file| file["reverted"] == true), "{changes:#}");
    assert_eq!(pairs(&changes["total"]["files"]), [("/a.txt", "created")]);
    let messages = work.chat.messages().await;
    let note = messages.iter().find(|message| message["metadata"]["revert"].is_object()).unwrap();
    assert_eq!((&note["author"], &note["metadata"]["revert"]["status"]), (&json!("system"), &json!("done")));
    assert!(note["content"].as_str().unwrap().contains("/a.txt"));
    let audit = server.get("/audit?kind=changes_taken_back").await;
    assert_eq!(audit.as_array().unwrap().len(), 1, "{audit}");
    // What took something back can be taken back, and the whole as well.
    work.back_to(note["id"].as_str().unwrap()).await;
    assert_eq!((home.file("d/x").as_deref(), home.file("keep/k.txt")), (Some("x\n"), None));
    let restored = work.changes().await;
    assert!(restored["changes"][1]["files"].as_array().unwrap().iter().all(|file| file["reverted"] == false), "{restored:#}");
    assert_eq!(work.back_to(&third).await["files"], json!([]), "that is how it was before the third message");
    work.back_to(&second.0).await;
    assert_eq!((home.file("d/x"), home.file("keep/k.txt").as_deref()), (None, Some("kept\n")));
    work.all(1).await;
}

#[tokio::test]
async fn what_the_user_changed_since_is_a_conflict_and_never_overwritten() {
    let home = one_call_a_message(&[run("echo agent > a.txt; echo agent > b.txt; mkdir made; echo m > made/m.txt; rm c.txt")]);
    home.put("a.txt", "first\n");
    home.put("c.txt", "c\n");
    let server = home.serve().await;
    let mut work = Work::begin(&server).await;
    let (message, _) = work.next().await;
    home.put("a.txt", "mine\n");
    home.put("made/mine.txt", "mine\n");
    home.put("c.txt", "another\n");
    let (status, body) = work.revert(json!({ "message_id": message })).await;
    assert_eq!((status, &body["error"]["code"]), (StatusCode::CONFLICT, &json!("CONFLICT")));
    let conflicts = body["error"]["details"]["conflicts"].as_array().unwrap();
    let paths: Vec<&str> = conflicts.iter().map(|conflict| conflict["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["/a.txt", "/c.txt", "/made"], "{body:#}");
    assert!(conflicts.iter().all(|conflict| !conflict["reason"].as_str().unwrap().is_empty()));
    assert_eq!(home.file("b.txt").as_deref(), Some("agent\n"), "nothing was taken back");
    let (status, body) = work.revert(json!({ "message_id": message, "skip_conflicts": true })).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    assert_eq!(body["conflicts"].as_array().unwrap().len(), 3);
    assert_eq!((home.file("b.txt"), home.file("made/m.txt")), (None, None));
    for (path, text) in [("a.txt", "mine\n"), ("made/mine.txt", "mine\n"), ("c.txt", "another\n")] {
        assert_eq!(home.file(path).as_deref(), Some(text), "{path}");
    }
    // A reverted change is settled, whatever the user does with the file afterwards.
    home.put("b.txt", "mine too\n");
    let (_, body) = work.revert(json!({ "message_id": message, "preview": true })).await;
    let paths: Vec<&str> = body["conflicts"].as_array().unwrap().iter().map(|conflict| conflict["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["/a.txt", "/c.txt", "/made"], "{body:#}");
}

#[tokio::test]
async fn a_plan_that_was_told_is_a_change_of_its_message() {
    let text = format!("```json\n{}\n```", plan("*.txt"));
    let home = home(&json!({ "turns": [{ "text": text }] }));
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let message = chat.say("Plan it").await;
    chat.run_to_end(0).await;
    let work = Work { chat, last: 0 };
    let changes = work.changes().await;
    assert_eq!(pairs(&changes["changes"][0]["files"]), [("/plans", "created"), ("/plans/say-goodbye.plan", "created")]);
    work.back_to(message["id"].as_str().unwrap()).await;
    assert!(!home.workspace().join("plans").exists());
}

#[tokio::test]
async fn nothing_is_taken_back_while_a_run_is_in_progress_or_for_a_message_that_is_not_there() {
    let home =
        home(&json!({ "turns": [{ "calls": [write("/a.txt", "a\n")] }, { "text": "one two three four five six", "delay_ms": 500 }] }));
    let server = home.serve().await;
    let mut work = Work::begin(&server).await;
    let message = work.chat.say("Go").await;
    work.chat.events(0, |event| event["type"] == "tool_result").await;
    let (status, body) = work.revert(json!({ "message_id": message["id"] })).await;
    assert_eq!((status, &body["error"]["code"]), (StatusCode::CONFLICT, &json!("CONFLICT")));
    assert!(body["error"]["message"].as_str().unwrap().contains("Stop it first"), "{body}");
    work.chat.post("stop").await;
    work.back_to(message["id"].as_str().unwrap()).await;
    assert_eq!(home.file("a.txt"), None);
    let (status, _) = work.revert(json!({ "message_id": "01890000-0000-7000-8000-000000000000" })).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let (status, body) = work.revert(json!({})).await;
    assert_eq!((status, &body["error"]["code"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!("VALIDATION_FAILED")));
    work.last = u64::MAX;
}

#[tokio::test]
async fn a_file_that_is_too_large_to_keep_is_shown_as_such_and_left_alone() {
    let home = one_call_a_message(&[run("rm huge.bin; truncate -s 20M made.bin")]);
    home.put("huge.bin", "");
    std::fs::OpenOptions::new().write(true).open(home.workspace().join("huge.bin")).unwrap().set_len(17 << 20).unwrap();
    let server = home.serve().await;
    let mut work = Work::begin(&server).await;
    let (message, _) = work.next().await;
    let changes = work.changes().await;
    let files = &changes["changes"][0]["files"];
    assert_eq!(pairs(files), [("/huge.bin", "deleted"), ("/made.bin", "created")]);
    assert_eq!((&files[0]["irreversible"], &files[1]["irreversible"]), (&json!("too large to take back"), &Value::Null));
    let (status, body) = work.revert(json!({ "message_id": message, "skip_conflicts": true })).await;
    assert_eq!((status, &body["conflicts"][0]["path"]), (StatusCode::OK, &json!("/huge.bin")));
    assert!(!home.workspace().join("made.bin").exists(), "what was made needs no copy to be removed");
}

#[tokio::test]
async fn a_revert_that_was_killed_is_made_good_at_the_next_start() {
    for point in ["revert_intended", "revert_done"] {
        let home = one_call_a_message(&[run("echo 2 > a.txt; mkdir d; echo x > d/x; rm gone.txt"), write("/b.txt", "b\n")]);
        home.put("a.txt", "1\n");
        home.put("gone.txt", "gone\n");
        let server = home.serve().await;
        let mut work = Work::begin(&server).await;
        let messages = work.all(1).await;
        let path = work.chat.path.clone();
        server.kill().await;
        let server = home.serve_with(&[("PLANWRIGHT_CRASH_POINT", point)]).await;
        server.post_unchecked(&format!("{path}/revert"), &json!({ "message_id": messages[0] })).await;
        assert!(!server.ended().await, "the process should have died at {point}");

        let server = home.serve().await;
        let chat = server.reopened(&path);
        chat.events(0, |event| event["type"] == "message_updated" && event["data"]["message"]["metadata"]["revert"]["status"] == "done")
            .await;
        assert_eq!((home.file("a.txt").as_deref(), home.file("gone.txt").as_deref()), (Some("1\n"), Some("gone\n")), "{point}");
        assert!(!home.workspace().join("d").exists());
        // And it is over: the chat goes on, and nothing is left to take back.
        let mut work = Work { chat, last: 0 };
        assert_eq!(work.back_to(&messages[0]).await["files"], json!([]));
        work.chat.say("Go on").await;
        let events = work.chat.events(0, |event| event["type"] == "tool_result" && home.file("b.txt").is_some()).await;
        work.last = last_id(&events);
    }
}

#[tokio::test]
async fn what_a_killed_call_changed_can_be_taken_back_and_what_it_did_not_is_not_shown() {
    for point in ["intent_stored", "effect_done", "command_landing", "command_landed"] {
        for environment in [&[][..], &[("PLANWRIGHT_NO_OVERLAY", "1")]] {
            let step = if point.starts_with("command") { run("echo 2 > a.txt; rm b.txt") } else { write("/a.txt", "2\n") };
            let home = one_call_a_message(&[step]);
            home.put("a.txt", "1\n");
            home.put("b.txt", "b\n");
            let server = home.serve_with(&[environment, &[("PLANWRIGHT_CRASH_POINT", point)]].concat()).await;
            let chat = server.chat(json!({ "agent_role": "actor" })).await;
            let path = chat.path.clone();
            server.post_unchecked(&format!("{path}/messages"), &json!({ "content": "Go" })).await;
            assert!(!server.ended().await);
            let server = home.serve_with(environment).await;
            let work = Work { chat: server.reopened(&path), last: 0 };
            work.chat.run_to_end(0).await;
            assert_eq!(home.file("a.txt").as_deref(), Some("2\n"), "{point}");
            let messages = work.chat.messages().await;
            work.back_to(messages[0]["id"].as_str().unwrap()).await;
            assert_eq!((home.file("a.txt").as_deref(), home.file("b.txt").as_deref()), (Some("1\n"), Some("b\n")), "{point}");
        }
    }
}

#[tokio::test]
async fn many_changed_files_are_listed_in_pages_and_no_answer_is_long() {
    let home = one_call_a_message(&[
        run("for i in $(seq 1001 2200); do echo $i > many/$i.txt; done"),
        run("echo more >> many/1001.txt; rm many/1002.txt"),
    ]);
    home.put("many/kept.txt", "kept\n");
    let server = home.serve().await;
    let mut work = Work::begin(&server).await;
    let messages = work.all(2).await;
    let first = work.changes().await;
    assert!(first.to_string().len() < 1 << 20, "{} bytes", first.to_string().len());
    assert_eq!((&first["truncated"], &first["total"]["count"]), (&json!(true), &json!(1199)), "{first:#}");
    let (calls, newest) = (&first["changes"], first["changes"].as_array().unwrap().last().unwrap());
    assert_eq!((pairs(&newest["files"]).len(), &newest["left_out"]), (2, &json!(0)), "the newest is whole");
    assert_eq!(pairs(&calls[0]["files"]).len() + usize::try_from(calls[0]["left_out"].as_u64().unwrap()).unwrap(), 1200);

    for summary in ["", "&summary=true"] {
        let (mut paths, mut cursor, mut pages) = (Vec::new(), String::new(), 0);
        loop {
            let page = server.get(&format!("{}/changes?{cursor}{summary}", work.chat.path)).await;
            pages += 1;
            let files = page["total"]["files"].as_array().unwrap();
            assert_eq!(page["total"]["count"], 1199);
            assert!(files.len() <= 500 && files.iter().all(|file| file["added"].as_u64() >= Some(1)), "{page:#}");
            assert!(files.iter().all(|file| file["diff"] == "" || summary.is_empty()), "a summary has no diffs");
            assert!(pages == 1 || page["changes"] == json!([]));
            if !summary.is_empty() && pages == 1 {
                assert_eq!(files[0]["messages"].as_array().unwrap().len(), 2, "{}", files[0]);
            }
            paths.extend(files.iter().map(|file| file["path"].as_str().unwrap().to_owned()));
            let Some(next) = page["next_cursor"].as_str() else { break };
            cursor = format!("cursor={}", next.replace('/', "%2F"));
        }
        assert_eq!((pages, paths.len()), (3, 1199));
        assert!(paths.is_sorted() && !paths.contains(&"/many/1002.txt".to_owned()));
    }
    let of_one = server.get(&format!("{}/changes?message={}", work.chat.path, newest["message_id"].as_str().unwrap())).await;
    assert_eq!((pairs(&of_one["total"]["files"]).len(), &of_one["truncated"], of_one.get("next_cursor")), (2, &json!(false), None));
    let done = work.back_to(&messages[0]).await;
    assert_eq!((done["files"].as_array().unwrap().len(), &done["file_count"], &done["truncated"]), (1000, &json!(1199), &json!(true)));
    assert_eq!(std::fs::read_dir(home.workspace().join("many")).unwrap().count(), 1);
}
