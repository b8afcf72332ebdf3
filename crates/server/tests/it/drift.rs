//! What an approval rests on: a commit, and files as they were when the plan was written.

use crate::{home, write};
use planwright_testkit::client::last_id;
use serde_json::{Value, json};

fn script(files: &Value) -> Value {
    let plan = json!({ "goal": "Tidy up", "steps": [{ "step_number": 1, "action": "Tidy", "files": files }] });
    json!({
        "plan": [{ "calls": [{ "tool": "write_plan", "args": plan }] }, { "text": "Ready." }],
        "act": [{ "calls": [write("/a.txt", "tidy\n")] }, { "text": "Done." }],
        "repeat": true,
    })
}

fn noted<'m>(messages: &'m [Value], key: &str) -> Vec<&'m Value> {
    messages.iter().filter_map(|message| message["metadata"].get(key)).collect()
}

#[tokio::test]
async fn files_that_changed_since_the_plan_was_written_are_reported_as_drift() {
    let home = home(&script(&json!(["a.txt", "gone.txt", "new.txt", "same.txt", "src/*.rs", "docs"])));
    for (name, text) in [("a.txt", "1"), ("gone.txt", "1"), ("same.txt", "1"), ("src/one.rs", "1"), ("docs/x.md", "1"), ("other.txt", "1")]
    {
        home.put(name, text);
    }
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Plan it").await;
    let planning = chat.run_to_end(0).await;
    let messages = chat.messages().await;
    let plan = messages.iter().find(|message| message["message_type"] == "plan").unwrap();
    assert_eq!(plan["metadata"]["files"]["/new.txt"], Value::Null);
    assert_eq!(plan["metadata"]["files"].as_object().unwrap().len(), 6, "{plan:#}");

    for (name, text) in [("a.txt", "2"), ("new.txt", "2"), ("src/two.rs", "2"), ("docs/x.md", "2"), ("other.txt", "2")] {
        home.put(name, text);
    }
    std::fs::remove_file(home.workspace().join("gone.txt")).unwrap();
    let before = server.get(&format!("{}/drift", chat.path)).await;
    chat.post("execute").await;
    chat.run_to_end(last_id(&planning)).await;
    let messages = chat.messages().await;
    let expected = json!([
        { "path": "/a.txt", "change": "changed" }, { "path": "/docs/x.md", "change": "changed" }, { "path": "/gone.txt", "change": "deleted" },
        { "path": "/new.txt", "change": "new" }, { "path": "/src/two.rs", "change": "new" },
    ]);
    assert_eq!(before["files"], expected, "told before the approval to whoever asks");
    assert_eq!(noted(&messages, "drift"), [&expected], "{messages:#?}");
    let at = |wanted: &dyn Fn(&Value) -> bool| messages.iter().position(wanted).unwrap();
    let drift = at(&|message| message["metadata"].get("drift").is_some());
    assert_eq!(messages[drift]["author"], "system");
    assert!(messages[drift]["content"].as_str().unwrap().contains("/gone.txt (deleted)"));
    assert!(drift < at(&|message| message["agent_role"] == "actor"), "told before the model acts");
}

#[tokio::test]
async fn without_drift_nothing_is_said_and_the_approval_names_commit_and_files() {
    let home = home(&script(&json!(["a.txt"])));
    let commit = "0123456789abcdef0123456789abcdef01234567";
    home.put("a.txt", "1");
    home.put(".git/HEAD", "ref: refs/heads/main\n");
    home.put(".git/packed-refs", &format!("# pack-refs with: peeled fully-peeled sorted\n{commit} refs/heads/main\n"));
    // Were git asked, this would run.
    home.put(".git/config", "[core]\n\tfsmonitor = \"touch ../ran\"\n");
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Plan it").await;
    let planning = chat.run_to_end(0).await;
    chat.post("execute").await;
    chat.run_to_end(last_id(&planning)).await;
    let messages = chat.messages().await;
    assert!(noted(&messages, "drift").is_empty(), "{messages:#?}");
    let approval = noted(&messages, "approval")[0];
    assert_eq!((&approval["base_commit"], &approval["revision"]), (&json!(commit), &json!(1)));
    let plan = messages.iter().find(|message| message["message_type"] == "plan").unwrap();
    let note = messages.iter().find(|message| message["metadata"].get("approval").is_some()).unwrap();
    assert_eq!((&note["metadata"]["files"], &approval["sha256"]), (&plan["metadata"]["files"], &plan["metadata"]["sha256"]));
}
