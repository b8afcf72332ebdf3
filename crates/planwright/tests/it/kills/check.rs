//! What must hold at the end of a life, wherever it was killed.

use super::life::{BEGIN, Life, MEANWHILE, MINDED, MORE, Seen};
use serde_json::{Value, json};

pub fn ended_well(life: &Life, seen: &Seen) {
    messages_are_there_once(life, seen);
    calls_were_made_once(life, seen);
    files_are_as_the_results_say(life, seen);
    steps_are_as_the_results_say(life, seen);
    the_chat_file_has_every_message_once(life, seen);
    assert_eq!((&seen.chat["state"], &seen.chat["pending_question"]), (&json!("idle"), &Value::Null), "{}", seen.describe());
}

fn messages_are_there_once(life: &Life, seen: &Seen) {
    let place = |text: &str| {
        let places: Vec<usize> =
            seen.messages.iter().enumerate().filter(|(_, message)| message["content"] == text).map(|(place, _)| place).collect();
        assert_eq!(places.len(), 1, "{text:?} stands at {places:?}: {}", seen.describe());
        places[0]
    };
    let places = [BEGIN, "Looking.", "Two files.", MEANWHILE, MORE].map(place);
    place(MINDED);
    assert!(places.is_sorted(), "{places:?}: {}", seen.describe());
    for id in &life.acknowledged {
        let count = seen.messages.iter().filter(|message| message["id"] == id.as_str()).count();
        assert_eq!(count, 1, "a message that was acknowledged stands {count} times: {}", seen.describe());
    }
    let approvals = seen.messages.iter().filter(|message| message["metadata"]["mode_change"]["by"] == "approval").count();
    assert_eq!(approvals, 1, "{}", seen.describe());
}

fn calls_were_made_once(life: &Life, seen: &Seen) {
    let of_type = |wanted: &str| seen.messages.iter().filter(|message| message["message_type"] == wanted).collect::<Vec<_>>();
    let (calls, results) = (of_type("tool_call"), of_type("tool_result"));
    let made: Vec<Value> = calls.iter().map(|call| json!({ "tool": call["metadata"]["tool"], "args": call["metadata"]["args"] })).collect();
    assert_eq!(made, life.calls(), "{}", seen.describe());
    for call in calls {
        let of_call = |result: &&&Value| result["metadata"]["call_id"] == call["metadata"]["call_id"];
        let results: Vec<_> = results.iter().filter(of_call).collect();
        assert_eq!(results.len(), 1, "{} has {} results: {}", call["content"], results.len(), seen.describe());
        let code = &results[0]["metadata"]["error"]["code"];
        // The outcome for files is always known; that of a command only if it ended.
        let runs = call["metadata"]["tool"] == "run" || call["metadata"]["args"] == json!({ "step_number": 2, "status": "done" });
        let may_fail = runs && (code == "OUTCOME_UNKNOWN" || code == "CANCELLED");
        assert!(results[0]["metadata"]["success"] == true || may_fail, "{}: {}", call["content"], results[0]);
    }
}

fn files_are_as_the_results_say(life: &Life, seen: &Seen) {
    let file = |name: &str| life.home.file(name);
    let log = file("log.txt").unwrap_or_default();
    let (one, two) = (kept(seen, "echo x"), kept(seen, "echo y"));
    let expected = [(one, "x\n"), (two, "y\n")].map(|(kept, line)| if kept { line } else { "" }).concat();
    assert_eq!(log, expected, "{}", seen.describe());
    assert_eq!(file("gone.txt").is_none(), two, "{}", seen.describe());
    assert!(!kept(seen, "sleep"), "{}", seen.describe());

    let mut names: Vec<String> = std::fs::read_dir(life.home.workspace())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !["log.txt", "gone.txt", "checks.txt"].contains(&name.as_str()))
        .collect();
    names.sort();
    assert_eq!(names, [".planwright", "kept.txt", "one.txt", "plans", "two.txt"], "{}", seen.describe());
    assert_eq!((file("one.txt").as_deref(), file("two.txt").as_deref()), (Some("1\n"), Some("2\n")));
    let plans = std::fs::read_dir(life.home.workspace().join("plans")).unwrap().count();
    assert_eq!(plans, 1, "the plan was written to two files: {}", seen.describe());
}

fn steps_are_as_the_results_say(life: &Life, seen: &Seen) {
    // As it stands in the call that reports it, and not in the plan.
    let report = r#""step_number":2,"status":"done""#;
    let result = seen.result(report).unwrap();
    let is_done = result["metadata"]["success"] == true;
    let (status, mark) = if is_done { ("done", "x") } else { ("in_progress", "~") };
    let steps = &seen.chat["progress"]["steps"];
    assert_eq!((&steps[0]["status"], &steps[1]["status"]), (&json!("done"), &json!(status)), "{}", seen.describe());
    let plan = life.home.file("plans/say-goodbye.plan").unwrap();
    assert!(plan.contains("- [x] 1. ") && plan.contains(&format!("- [{mark}] 2. ")), "{plan}\n{}", seen.describe());
    assert!(plan.contains(if is_done { "\nstatus: done\n" } else { "\nstatus: in_progress\n" }), "{plan}");
    let checks = life.home.file("checks.txt").unwrap_or_default();
    assert_eq!(checks, if kept(seen, report) { "checked\n" } else { "" }, "{}", seen.describe());
}

fn the_chat_file_has_every_message_once(life: &Life, seen: &Seen) {
    let file = life.home.file(&format!(".planwright/chats/{}.chat", seen.chat["id"].as_str().unwrap())).unwrap();
    for message in seen.messages.iter().filter(|message| message["content"] != "") {
        let count = file.matches(&format!("<!-- {} -->", message["id"].as_str().unwrap())).count();
        assert_eq!(count, 1, "{message} stands {count} times in the chat's file:\n{file}");
    }
}

/// Whether a command's result says that what it changed is in the workspace.
fn kept(seen: &Seen, word: &str) -> bool {
    let result = seen.result(word).unwrap();
    let said = result["content"].as_str().unwrap();
    let taken_back = said.contains("None of the command's changes was kept") || said.contains("None of this command's changes was kept");
    let lost = said.contains("none of its changes in the workspace was kept");
    let landed = result["metadata"]["success"] == true || said.contains("As the command left it");
    assert!(taken_back || lost || landed, "the result says nothing of what was kept: {result}");
    landed && !taken_back && !lost
}
