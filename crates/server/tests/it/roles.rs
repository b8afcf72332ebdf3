//! What each of the further roles may do, and what it may not, whatever its model tries.

use crate::ground::Home;
use crate::{home, write};
use planwright_testkit::client::of_type;
use serde_json::{Value, json};

fn call(tool: &str, args: Value) -> Value {
    json!({ "tool": tool, "args": args })
}

fn step(number: u32, status: &str) -> Value {
    call("update_step", json!({ "step_number": number, "status": status }))
}

/// A project with a source file, and a model that makes these calls.
fn project(calls: &[Value]) -> Home {
    let home = home(&json!({ "turns": [{ "calls": calls }, { "text": "Done." }] }));
    home.put("src/lib.rs", "pub fn one() -> u32 {\n    1\n}\n");
    home.put("plans/mine.plan", "# Mine\n\n## Steps\n\n- [ ] 1. Rest\n");
    home
}

/// The error code of each call, if it has one; and the chat's messages.
async fn tried(home: &Home, role: &str) -> (Vec<String>, Vec<Value>) {
    let server = home.serve().await;
    let chat = server.chat(json!({ "agent_role": role })).await;
    chat.say("Go").await;
    let events = chat.run_to_end(0).await;
    let results = of_type(&events, "tool_result");
    let codes = results.iter().map(|result| result["error"]["code"].as_str().unwrap_or_default().to_owned()).collect();
    (codes, chat.messages().await)
}

/// Every way to change the source that is there.
fn changes() -> Vec<Value> {
    vec![
        write("/src/lib.rs", "gone\n"),
        call("edit", json!({ "path": "/src/lib.rs", "old_string": "one", "new_string": "two" })),
        call("rm", json!({ "path": "/src/lib.rs" })),
        call("mv", json!({ "from": "/src/lib.rs", "to": "/src/other.rs" })),
        write("/plans/mine.plan", "gone\n"),
    ]
}

fn is_untouched(home: &Home) -> bool {
    home.file("src/lib.rs").as_deref() == Some("pub fn one() -> u32 {\n    1\n}\n")
        && home.file("plans/mine.plan").as_deref() == Some("# Mine\n\n## Steps\n\n- [ ] 1. Rest\n")
}

#[tokio::test]
async fn a_reviewer_reads_and_hands_in_findings_by_file_and_line_and_changes_nothing() {
    let findings = json!([
        { "path": "src/lib.rs", "line": 2, "severity": "major", "comment": "Returns a constant." },
        { "path": "/src/lib.rs", "severity": "minor", "comment": "No tests." },
    ]);
    let review = call("submit_review", json!({ "summary": "Read everything. One bug.", "findings": findings }));
    let mut calls = vec![call("read", json!({ "path": "/src/lib.rs" })), review];
    calls.extend(changes());
    calls.extend([write("/new.rs", "x\n"), call("run", json!({ "command": "true" })), step(1, "done")]);
    calls.push(call("write_plan", json!({ "goal": "x", "steps": [{ "step_number": 1, "action": "x" }] })));
    let home = project(&calls);
    let (codes, messages) = tried(&home, "reviewer").await;
    assert_eq!(codes[..2], ["", ""]);
    assert!(codes.len() == calls.len() && codes[2..].iter().all(|code| code == "TOOL_BLOCKED_BY_MODE"), "{codes:?}");
    assert!(is_untouched(&home) && home.file("new.rs").is_none());

    let told = messages.iter().find(|message| message["metadata"]["review"].is_object()).unwrap();
    assert_eq!((&told["author"], &told["agent_role"], &told["message_type"]), (&json!("assistant"), &json!("reviewer"), &json!("text")));
    let review = &told["metadata"]["review"];
    assert_eq!(review["summary"], "Read everything. One bug.");
    let first = json!({ "path": "/src/lib.rs", "line": 2, "severity": "major", "comment": "Returns a constant." });
    assert_eq!(review["findings"][0], first);
    assert!(
        told["content"].as_str().unwrap().contains("### /src/lib.rs\n\n- **major**, line 2: Returns a constant.\n- **minor**: No tests.")
    );
    assert_eq!(messages.last().unwrap()["content"], "Done.", "the model goes on after it has handed in");
}

#[tokio::test]
async fn a_review_that_does_not_fit_is_refused_with_what_to_mend_and_is_for_reviewers_only() {
    let bad =
        call("submit_review", json!({ "summary": "x", "findings": [{ "path": "/etc/../../x", "severity": "major", "comment": "c" }] }));
    let unknown = call("submit_review", json!({ "summary": "x", "findings": [{ "path": "/a", "severity": "fatal", "comment": "c" }] }));
    let (codes, messages) = tried(&project(&[bad, unknown]), "reviewer").await;
    assert_eq!(codes, ["PATH_INVALID", "INVALID_ARGUMENTS"]);
    assert!(messages.iter().any(|message| message["content"].as_str().unwrap().contains("findings[0].path")));
    for role in ["planner", "actor", "commander", "designer", "tester"] {
        let good = call("submit_review", json!({ "summary": "x", "findings": [] }));
        let (codes, messages) = tried(&project(&[good]), role).await;
        assert_eq!(codes, ["TOOL_NOT_PERMITTED"], "{role}");
        assert!(messages.iter().all(|message| message["metadata"]["review"].is_null()));
    }
}

#[tokio::test]
async fn a_designer_creates_and_never_changes_or_deletes_what_exists() {
    let mut calls = vec![
        call("read", json!({ "path": "/src/lib.rs" })),
        write("/src/new.rs", "pub struct New;\n"),
        call("mkdir", json!({ "path": "/docs" })),
        call("touch", json!({ "path": "/docs/index.md" })),
        call(
            "write_plan",
            json!({ "goal": "Use it", "steps": [{ "step_number": 1, "action": "Register the module", "files": ["src/lib.rs"] }] }),
        ),
    ];
    let allowed = calls.len();
    calls.extend(changes());
    calls.extend([
        write("/src/new.rs", "changed\n"),
        call("run", json!({ "command": "true" })),
        call("write_plan", json!({ "goal": "Use it more", "steps": [{ "step_number": 1, "action": "x" }] })),
    ]);
    let home = project(&calls);
    let (codes, _) = tried(&home, "designer").await;
    assert!(codes[..allowed].iter().all(String::is_empty), "{codes:?}");
    assert!(codes.len() == calls.len() && codes[allowed..].iter().all(|code| code == "TOOL_NOT_PERMITTED"), "{codes:?}");
    assert!(is_untouched(&home));
    assert_eq!(home.file("src/new.rs").as_deref(), Some("pub struct New;\n"), "what it made itself exists from then on");
    assert!(home.file("plans/use-it.plan").unwrap().contains("revision: 1\n"));
}
