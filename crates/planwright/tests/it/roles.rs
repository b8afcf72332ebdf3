//! What each of the further roles may do, and what it may not, whatever its model tries.

use crate::progress::{approved, home_of, step, steps, turn};
use crate::{home, write};
use planwright_testkit::server::{Home, of_type};
use serde_json::{Value, json};

fn call(tool: &str, args: Value) -> Value {
    json!({ "tool": tool, "args": args })
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
async fn a_tester_runs_tests_and_can_change_no_source_by_any_tool_or_command() {
    let run = |command: &str| call("run", json!({ "command": command }));
    let mut calls = vec![
        call("read", json!({ "path": "/src/lib.rs" })),
        run("grep -q 'fn one' src/lib.rs && echo passed"),
        run("echo hacked > src/lib.rs"),
        run("rm -f src/lib.rs plans/mine.plan; touch new.rs; true"),
        run(
            "test -n \"$CARGO_TARGET_DIR\" && mkdir -p \"$CARGO_TARGET_DIR\" && echo built > \"$CARGO_TARGET_DIR/out\" && cat \"$CARGO_TARGET_DIR/out\"",
        ),
    ];
    let runs = calls.len();
    calls.extend(changes());
    calls.push(write("/new.rs", "x\n"));
    let home = project(&calls);
    let (codes, messages) = tried(&home, "tester").await;
    assert!(codes[..runs].iter().all(String::is_empty), "{codes:?}");
    assert!(codes.len() == calls.len() && codes[runs..].iter().all(|code| code == "TOOL_NOT_PERMITTED"), "{codes:?}");
    assert!(is_untouched(&home) && home.file("new.rs").is_none(), "the kernel holds its commands to reading");
    let results: Vec<&Value> = messages.iter().filter(|message| message["message_type"] == "tool_result").collect();
    let exit = |place: usize| results[place]["metadata"]["facts"]["exit_code"].clone();
    assert_eq!((exit(1), exit(4)), (json!(0), json!(0)), "tests run, and builds have a place of their own: {results:#?}");
    assert_ne!(exit(2), json!(0));
}

#[tokio::test]
async fn a_tester_reports_steps_that_it_checked_and_a_designer_none_that_need_a_command() {
    let plan = json!({ "goal": "Look", "steps": [
        { "step_number": 1, "action": "Read it", "files": ["src/lib.rs"] },
        { "step_number": 2, "action": "Test it", "files": ["src/lib.rs"], "verify": "grep -q one src/lib.rs" },
    ] });
    for (role, expected) in [("tester", vec![(1, "done"), (2, "done")]), ("designer", vec![(1, "done")])] {
        let home = home_of(&plan, &[turn(&[step(1, "done"), step(2, "done")])]);
        home.put("src/lib.rs", "fn one() {}\n");
        let server = home.serve().await;
        let chat = server.chat(json!({})).await;
        chat.say("Plan it").await;
        let planned = planwright_testkit::server::last_id(&chat.run_to_end(0).await);
        assert!(chat.patch(json!({ "agent_role": role })).await.0.is_success());
        assert!(chat.post("execute").await.0.is_success());
        let events = chat.run_to_end(planned).await;
        assert_eq!(steps(&events), expected, "{role}");
        assert_eq!(chat.show().await["config"]["agent_role"], role);
        let file = home.file("plans/look.plan").unwrap();
        assert!(file.contains("- [x] 1.") && file.contains("- [x] 2.") == (role == "tester"), "{file}");
        if role == "designer" {
            assert_eq!(of_type(&events, "tool_result")[1]["error"]["code"], "TOOL_NOT_PERMITTED");
        }
    }
}

#[tokio::test]
async fn small_variations_inside_the_plans_files_proceed_and_what_is_outside_asks() {
    let plan = json!({ "goal": "Tidy", "steps": [{ "step_number": 1, "action": "Rename it", "files": ["src/**"] }] });
    let acts = [
        turn(&[
            step(1, "in_progress"),
            call("edit", json!({ "path": "/src/lib.rs", "old_string": "one", "new_string": "two" })),
            call("edit", json!({ "path": "/src/lib.rs", "old_string": "(){}", "new_string": "() {}" })),
            write("/src/extra.rs", "\n"),
            step(1, "done"),
        ]),
        turn(&[write("/README.md", "x\n")]),
    ];
    let home = home_of(&plan, &acts);
    home.put("src/lib.rs", "fn one(){}\n");
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let planned = approved(&chat).await;
    let events = chat.events(planned, |event| event["data"]["state"] == "awaiting_answer").await;
    let results = of_type(&events, "tool_result");
    assert!(results.len() == 5 && results.iter().all(|result| result["success"] == true), "{results:#?}");
    assert_eq!(home.file("src/lib.rs").as_deref(), Some("fn two() {}\n"));
    let questions = of_type(&events, "question_pending");
    assert_eq!((questions.len(), &questions[0]["severity"]), (1, &json!("major")));
    assert!(questions[0]["call"]["reason"].as_str().unwrap().contains("/README.md"));
}
