//! Build output is recognised by the state before the chat's first change, never by the chat's own files.

use crate::command_effects::{BOTH_WAYS, actor, project, run, to_question};
use crate::command_keep::repository;
use planwright_testkit::server::Home;
use serde_json::{Value, json};

/// A repository that keeps `dist`, with a folder of the user's own that git does not know.
fn with_folders(turns: &[Value]) -> Home {
    let home = project(turns);
    home.put("dist/kept.js", "kept\n");
    home.put("sub/out/kept.js", "kept\n");
    repository(&home);
    home.put("bin/tool", "mine\n");
    home.put("build/notes", "mine\n");
    home
}

/// The last of the turns asks, and nothing of it has landed.
async fn asks(turns: &[Value], file: &str, content: &str) {
    for environment in BOTH_WAYS {
        let home = with_folders(turns);
        let server = home.serve_with(environment).await;
        let chat = actor(&server).await;
        let (question, last) = to_question(&chat).await;
        assert!(question["call"]["reason"].as_str().unwrap().contains(file), "{turns:?}: {question}");
        chat.answer(&question["question_id"], json!({ "decision": "deny" })).await;
        chat.run_to_end(last).await;
        assert_eq!(home.file(file.trim_start_matches('/')).as_deref(), Some(content), "{turns:?}");
    }
}

fn write(path: &str, content: &str) -> Value {
    json!({ "calls": [{ "tool": "write", "args": { "path": path, "content": content } }] })
}

#[tokio::test]
async fn what_git_kept_before_the_chats_first_change_is_no_build_output_later_on() {
    asks(&[run("git rm -rq --cached dist; echo /dist >> .gitignore"), run("rm dist/kept.js")], "/dist/kept.js", "kept\n").await;
    asks(&[run("git rm -rq --cached sub; echo out > sub/.gitignore; rm sub/out/kept.js")], "/sub/out/kept.js", "kept\n").await;
}

#[tokio::test]
async fn a_line_that_the_chat_wrote_into_an_ignore_file_makes_no_build_output() {
    let edit = json!({ "calls": [
        { "tool": "read", "args": { "path": "/.gitignore" } },
        { "tool": "edit", "args": { "path": "/.gitignore", "old_string": "/target\n", "new_string": "/target\n/bin\n" } },
    ] });
    asks(&[edit, run("rm bin/tool")], "/bin/tool", "mine\n").await;
    asks(&[write("/bin/.gitignore", "*\n"), run("rm bin/tool")], "/bin/tool", "mine\n").await;
    asks(&[run("echo /bin >> .gitignore"), run("true"), run("rm -f bin/tool")], "/bin/tool", "mine\n").await;
    asks(&[run("echo /bin >> .gitignore; rm bin/tool")], "/bin/tool", "mine\n").await;
}

#[tokio::test]
async fn a_tag_that_the_chat_made_makes_no_build_output() {
    asks(&[write("/build/CACHEDIR.TAG", "Signature\n"), run("rm build/notes")], "/build/notes", "mine\n").await;
    asks(&[run("touch build/CACHEDIR.TAG"), run("rm build/notes")], "/build/notes", "mine\n").await;
}

#[tokio::test]
async fn what_an_earlier_run_of_the_chat_wrote_makes_no_build_output_in_a_later_one() {
    for first in ["echo /bin >> .gitignore", "touch bin/CACHEDIR.TAG", "git rm -rq --cached dist; echo /dist >> .gitignore"] {
        let file = if first.contains("dist") { "dist/kept.js" } else { "bin/tool" };
        for environment in BOTH_WAYS {
            let home = with_folders(&[run(first), json!({ "text": "More?" }), run(&format!("rm {file}")), json!({ "text": "Done." })]);
            let content = home.file(file);
            let server = home.serve_with(environment).await;
            let chat = actor(&server).await;
            let last = planwright_testkit::server::last_id(&chat.run_to_end(0).await);
            chat.say("Go on").await;
            chat.events(last, |event| event["data"]["state"] == "awaiting_answer").await;
            if environment.is_empty() {
                assert_eq!(home.file(file), content, "{first}");
            }
        }
    }
}

#[tokio::test]
async fn the_state_at_the_approval_holds_in_later_runs_and_over_a_restart() {
    let plan = crate::plan("**");
    let home = crate::home(&json!({
        "plan": [{ "calls": [{ "tool": "write_plan", "args": plan }] }, { "text": "Ready." }],
        "act": [run("echo /bin >> .gitignore"), { "text": "More?" }, run("rm bin/tool"), { "text": "Done." }],
    }));
    home.put(".git/HEAD", "ref: refs/heads/main\n");
    home.put(".gitignore", "/target\n");
    home.put("bin/tool", "mine\n");
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Plan it").await;
    let planned = planwright_testkit::server::last_id(&chat.run_to_end(0).await);
    chat.post("execute").await;
    let acted = planwright_testkit::server::last_id(&chat.run_to_end(planned).await);
    let path = chat.path.clone();
    server.kill().await;
    let server = home.serve().await;
    let chat = server.reopened(&path);
    chat.say("Go on").await;
    chat.events(acted, |event| event["data"]["state"] == "awaiting_answer").await;
    assert_eq!(home.file("bin/tool").as_deref(), Some("mine\n"));
}
