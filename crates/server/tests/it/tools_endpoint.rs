//! `POST /workspaces/:id/tools`: calls of the user, by the same gate and log as the model's.

use crate::ground::{Home, Server};
use crate::{home, plan};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

const REFUSAL: &str = "System is in Plan Mode. You can only modify the plan. Switch to Build Mode to apply changes.";

fn quiet() -> Home {
    home(&json!({ "turns": [{ "text": "Very well." }], "repeat": true }))
}

async fn workspace(server: &Server) -> String {
    server.get("/workspaces").await[0]["id"].as_str().unwrap().to_owned()
}

/// The endpoint's answer; errors of tools are answers too.
async fn call(server: &Server, body: Value) -> Value {
    let path = format!("/workspaces/{}/tools", workspace(server).await);
    let (status, answer) = server.post(&path, body.clone()).await;
    assert_eq!(status, StatusCode::OK, "{body}: {answer}");
    answer
}

fn code(answer: &Value) -> &str {
    assert_eq!(answer["success"], false, "{answer}");
    answer["error"]["code"].as_str().unwrap()
}

#[tokio::test]
async fn without_a_chat_plan_mode_holds_unless_said_and_only_plans_can_change() {
    let home = quiet();
    home.put("a.txt", "one");
    let server = home.serve().await;
    let write = |path: &str| json!({ "tool": "write", "args": { "path": path, "content": "# A plan\n" } });
    for refused in [
        write("/a.txt"),
        write("/b.plan"),
        json!({ "tool": "edit", "args": { "path": "/a.txt", "old_string": "one", "new_string": "two" } }),
        json!({ "tool": "mv", "args": { "from": "/a.txt", "to": "/b.txt" } }),
        json!({ "tool": "touch", "args": { "path": "/c.txt" } }),
        json!({ "tool": "mkdir", "args": { "path": "/d" } }),
        json!({ "tool": "rm", "args": { "path": "/a.txt" } }),
    ] {
        let answer = call(&server, refused).await;
        assert_eq!(code(&answer), "TOOL_BLOCKED_BY_MODE");
        assert_eq!(answer["error"]["message"], REFUSAL, "advice for models is not for the user");
    }
    assert_eq!(home.file("a.txt").as_deref(), Some("one"));
    for allowed in [
        json!({ "tool": "read", "args": { "path": "/a.txt" } }),
        json!({ "tool": "mkdir", "args": { "path": "/plans/old", "parents": true } }),
        write("/plans/x.plan"),
        json!({ "tool": "mv", "args": { "from": "/plans/x.plan", "to": "/plans/y.plan" } }),
        json!({ "tool": "rm", "args": { "path": "/plans/old", "recursive": true } }),
    ] {
        assert_eq!(call(&server, allowed.clone()).await["success"], true, "{allowed}");
    }
    let mut acting = write("/a.txt");
    acting["config"] = json!({ "plan_mode": false });
    assert_eq!(call(&server, acting).await["success"], true);
    assert_eq!(home.file("a.txt").as_deref(), Some("# A plan\n"));
    let deleting = json!({ "tool": "rm", "args": { "path": "/a.txt" }, "config": { "plan_mode": false } });
    assert_eq!(call(&server, deleting).await["success"], true, "the caller is the user, so nothing asks");
    assert_eq!(home.file("a.txt"), None);
}

#[tokio::test]
async fn pictures_and_archives_are_no_text_to_any_tool_nor_to_the_browser() {
    let home = quiet();
    let files: [(&str, &[u8]); 3] = [
        ("picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0needle and much more that could be read as words"),
        ("archive.zip", b"PK\x03\x04\x14\0\0\0\x08\0needle and much more that could be read as words"),
        ("log.gz", b"\x1f\x8b\x08\x08\x51\x52\x53\x54\x02\x03needle-and-much-more-that-could-be-read.log\0"),
    ];
    for (name, bytes) in files {
        std::fs::write(home.workspace().join(name), bytes).unwrap();
    }
    home.put("notes.txt", "needle\n");
    let server = home.serve().await;
    let content = format!("/workspaces/{}/files/content?path=", workspace(&server).await);
    for (name, _) in files {
        let edit = json!({ "path": name, "old_string": "needle", "new_string": "pin" });
        for (tool, args) in [("read", json!({ "path": name })), ("edit", edit)] {
            let answer = call(&server, json!({ "tool": tool, "args": args, "config": { "plan_mode": false } })).await;
            assert_eq!(code(&answer), "NOT_A_TEXT_FILE", "{tool} of {name}");
        }
        assert_eq!(server.get(&format!("{content}/{name}")).await["content"], Value::Null, "{name}");
    }
    let found = call(&server, json!({ "tool": "grep", "args": { "pattern": "needle" } })).await;
    assert_eq!(found["result"]["output"], "/notes.txt:1:needle\n");
    assert_eq!(server.get(&format!("{content}/notes.txt")).await["content"], "needle\n");
}

#[tokio::test]
async fn the_role_of_the_chat_goes_over_the_config_and_refusals_are_logged_there() {
    let home = quiet();
    let server = home.serve().await;
    let chat = server.chat(json!({ "agent_role": "planner" })).await;
    let id = chat.show().await["id"].clone();
    let write = json!({ "tool": "write", "args": { "path": "/a.txt", "content": "x" }, "chat_id": id, "config": { "plan_mode": false } });
    assert_eq!(code(&call(&server, write.clone()).await), "TOOL_BLOCKED_BY_MODE");
    let log = server.get(&format!("/audit?chat={}", id.as_str().unwrap())).await;
    for kind in ["tool_blocked", "disallowed_tool_attempt_in_planning"] {
        assert!(log.as_array().unwrap().iter().any(|row| row["kind"] == kind && row["details"]["tool"] == "write"), "{log}");
    }
    assert_eq!(chat.patch(json!({ "agent_role": "tester" })).await.0, StatusCode::OK);
    assert_eq!(code(&call(&server, write.clone()).await), "TOOL_NOT_PERMITTED");
    assert_eq!(chat.patch(json!({ "agent_role": "actor" })).await.0, StatusCode::OK);
    assert_eq!(call(&server, write).await["success"], true);
    assert_eq!(home.file("a.txt").as_deref(), Some("x"));
    // The user's calls are not part of the conversation.
    assert!(chat.messages().await.iter().all(|message| message["message_type"] != "tool_call"));
    let changes = server.get(&format!("{}/changes", chat.path)).await;
    assert!(!changes.to_string().contains("a.txt"), "{changes}");
}

#[tokio::test]
async fn questions_and_the_way_out_of_plan_mode_raise_cards_in_the_chat() {
    let home = quiet();
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let id = chat.show().await["id"].clone();
    let ask = json!({ "tool": "ask_user", "args": { "questions": [{ "name": "colour", "question": "Which?", "schema": { "type": "string", "enum": ["red", "blue"] } }] } });
    assert_eq!(code(&call(&server, ask.clone()).await), "INVALID_ARGUMENTS");
    let mut in_chat = ask;
    in_chat["chat_id"] = id.clone();
    let asked = call(&server, in_chat.clone()).await;
    assert_eq!(asked["result"]["status"], "question_pending");
    assert_eq!(chat.show().await["pending_question"]["question_id"], asked["result"]["question_id"]);
    assert_eq!(code(&call(&server, in_chat).await), "CONFLICT");
    assert_eq!(chat.answer(&asked["result"]["question_id"], json!({ "colour": "red" })).await.0, StatusCode::ACCEPTED);
    chat.run_to_end(0).await;

    let mut write_plan = json!({ "tool": "write_plan", "args": plan("/a.txt"), "chat_id": id });
    assert_eq!(call(&server, write_plan.clone()).await["success"], true);
    let file = chat.show().await["config"]["plan_file"].clone();
    assert!(file.is_string());
    let exit = call(&server, json!({ "tool": "exit_plan_mode", "args": { "plan_file_path": file }, "chat_id": id })).await;
    assert_eq!(exit["result"]["status"], "question_pending", "{exit}");
    assert_eq!(chat.show().await["pending_question"]["kind"], "plan_approval");
    // The plan of a chat is not for others.
    write_plan = json!({ "tool": "write", "args": { "path": file, "content": "mine" } });
    assert_eq!(code(&call(&server, write_plan.clone()).await), "PLAN_NOT_OWNED");
    write_plan["config"] = json!({ "active_plan_path": file });
    assert_eq!(call(&server, write_plan).await["success"], true);
}

#[tokio::test]
async fn calls_that_are_none_are_told_apart_from_tools_that_fail() {
    let home = quiet();
    let server = home.serve().await;
    assert_eq!(code(&call(&server, json!({ "tool": "frobnicate" })).await), "TOOL_UNKNOWN");
    assert_eq!(code(&call(&server, json!({ "tool": "read", "args": { "nothing": 1 } })).await), "INVALID_ARGUMENTS");
    assert_eq!(code(&call(&server, json!({ "tool": "read", "args": { "path": "/../etc/passwd" } })).await), "PATH_INVALID");
    let path = format!("/workspaces/{}/tools", workspace(&server).await);
    for (body, status) in [
        (json!({ "args": {} }), 422),
        (json!({ "tool": "read", "args": [] }), 422),
        (json!({ "tool": "read", "extra": 1 }), 422),
        (json!({ "tool": "ls", "chat_id": "0192a2b4-0000-7000-8000-000000000000" }), 404),
    ] {
        assert_eq!(server.post(&path, body.clone()).await.0.as_u16(), status, "{body}");
    }
    let elsewhere = "/workspaces/0192a2b4-0000-7000-8000-000000000000/tools";
    assert_eq!(server.request(Method::POST, elsewhere, Some(json!({ "tool": "ls" }))).await.0, StatusCode::NOT_FOUND);
}

/// RC-010 of the guard cases: many edit one file at once, and what is answered is what is in the file.
#[tokio::test]
async fn edits_of_one_file_at_once_are_each_there_or_told_never_mixed() {
    let home = quiet();
    let lines = (0..50).map(|number| format!("line {number};\n")).collect::<Vec<_>>().concat();
    home.put("a.txt", &lines);
    let server = home.serve().await;
    let edit = |number: usize| {
        let args = json!({ "path": "/a.txt", "old_string": format!("line {number};"), "new_string": format!("done {number};") });
        call(&server, json!({ "tool": "edit", "args": args, "config": { "plan_mode": false } }))
    };
    let answers = futures::future::join_all((0..50).map(edit)).await;
    let text = home.file("a.txt").unwrap();
    let expected = answers
        .iter()
        .enumerate()
        .map(|(number, answer)| format!("{} {number};\n", if answer["success"] == true { "done" } else { "line" }))
        .collect::<Vec<_>>()
        .concat();
    assert_eq!(text, expected);
    assert!(answers.iter().any(|answer| answer["success"] == true));
    for answer in answers.iter().filter(|answer| answer["success"] != true) {
        assert_eq!(code(answer), "FILE_CHANGED");
    }
}

#[tokio::test]
async fn a_planners_chat_gets_one_plan_by_the_users_calls_too() {
    let home = quiet();
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let id = chat.path.rsplit('/').next().unwrap().to_owned();
    let in_chat = |tool: &str, args: Value| json!({ "tool": tool, "args": args, "chat_id": id });
    assert_eq!(call(&server, in_chat("touch", json!({ "path": "/plans/a.plan" }))).await["success"], true);
    assert_eq!(chat.show().await["config"]["plan_file"], "/plans/a.plan");
    for second in
        [in_chat("touch", json!({ "path": "/plans/b.plan" })), in_chat("write", json!({ "path": "/plans/c.plan", "content": "# C\n" }))]
    {
        let answer = call(&server, second).await;
        assert_eq!(code(&answer), "PLAN_NOT_OWNED", "{answer}");
    }
    assert_eq!(call(&server, in_chat("write", json!({ "path": "/plans/a.plan", "content": "# A\n" }))).await["success"], true);
    assert_eq!((home.file("plans/b.plan"), home.file("plans/c.plan")), (None, None));
}
