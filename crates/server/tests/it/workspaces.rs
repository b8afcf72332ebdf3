//! `/workspaces` and what lies in them: added, set up, listed, forgotten.

use crate::ground::{Home, Server};
use crate::{home, plan};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

fn quiet() -> Home {
    home(&json!({ "turns": [{ "text": "Very well." }], "repeat": true }))
}

async fn first(server: &Server) -> String {
    format!("/workspaces/{}", server.get("/workspaces").await[0]["id"].as_str().unwrap())
}

#[tokio::test]
async fn a_folder_is_added_set_up_and_forgotten_and_its_files_stay() {
    let home = quiet();
    let server = home.serve().await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("kept.txt"), "kept").unwrap();
    let (status, made) = server.post("/workspaces", json!({ "name": "Second", "path": folder.path() })).await;
    assert_eq!((status, &made["name"]), (StatusCode::CREATED, &json!("Second")));
    let path = format!("/workspaces/{}", made["id"].as_str().unwrap());
    let settings = json!({ "settings": { "default_mode": "act", "intent_switch": "off" } });
    let (status, set) = server.request(Method::PATCH, &path, Some(settings)).await;
    assert_eq!((status, &set["settings"]["default_mode"]), (StatusCode::OK, &json!("act")));
    let (_, chat) = server.post(&format!("{path}/chats"), json!({})).await;
    assert_eq!(chat["config"]["agent_mode"], "act");
    let (_, less) = server.request(Method::PATCH, &path, Some(json!({ "name": "2", "settings": { "default_mode": null } }))).await;
    assert_eq!((&less["name"], &less["settings"]), (&json!("2"), &json!({ "intent_switch": "off" })));
    assert_eq!(server.post(&format!("{path}/chats"), json!({})).await.1["config"]["agent_mode"], "plan");
    for wrong in [json!({ "settings": { "default_mode": "yolo" } }), json!({ "settings": { "colour": "red" } }), json!({ "name": "" })] {
        assert_eq!(server.request(Method::PATCH, &path, Some(wrong)).await.0, StatusCode::UNPROCESSABLE_ENTITY);
    }
    let chat_path = format!("{path}/chats/{}", chat["id"].as_str().unwrap());
    server.post(&format!("{chat_path}/messages"), json!({ "content": "Hi" })).await;
    let mut stream = server.stream(&format!("{chat_path}/events"), None).await;
    assert_eq!(server.request(Method::DELETE, &path, None).await.0, StatusCode::NO_CONTENT);
    while stream.next().await.is_some() {}
    for gone in [&path, &chat_path] {
        assert_eq!(server.request(Method::GET, gone, None).await.0, StatusCode::NOT_FOUND);
    }
    assert_eq!(server.request(Method::DELETE, &path, None).await.0, StatusCode::NOT_FOUND);
    assert_eq!(std::fs::read_to_string(folder.path().join("kept.txt")).unwrap(), "kept");
}

#[tokio::test]
async fn a_folder_that_is_none_or_holds_our_own_data_is_refused() {
    let home = quiet();
    let server = home.serve().await;
    let data = home.workspace().parent().unwrap().join("data");
    let file = home.workspace().join("file");
    std::fs::write(&file, "").unwrap();
    for path in [json!("relative"), json!("/does/not/exist"), json!(file), json!(data), json!(data.parent()), json!("/")] {
        let (status, error) = server.post("/workspaces", json!({ "path": path })).await;
        assert_eq!((status, &error["error"]["code"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!("VALIDATION_FAILED")), "{path}");
        assert!(error["error"]["details"]["fields"]["path"].is_string());
    }
    let (_, again) = server.post("/workspaces", json!({ "path": home.workspace() })).await;
    assert_eq!(server.get("/workspaces").await, json!([again]), "what is known is not made anew");
}

#[tokio::test]
async fn a_workspace_whose_folder_became_a_link_is_not_opened() {
    let home = quiet();
    let (place, foreign) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(foreign.path().join("secret.txt"), "hunter2").unwrap();
    let folder = place.path().join("mine");
    std::fs::create_dir(&folder).unwrap();
    let server = home.serve().await;
    let (status, made) = server.post("/workspaces", json!({ "path": folder })).await;
    assert_eq!(status, StatusCode::CREATED, "{made}");
    assert!(server.terminate().await);
    std::fs::remove_dir(&folder).unwrap();
    std::os::unix::fs::symlink(foreign.path(), &folder).unwrap();
    let server = home.serve().await;
    let files = format!("/workspaces/{}/files/content?path=/secret.txt", made["id"].as_str().unwrap());
    let (status, answer) = server.request(Method::GET, &files, None).await;
    assert_eq!(status, StatusCode::NOT_FOUND, "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("contains a link"), "{answer}");
}

#[tokio::test]
async fn the_tree_tells_folders_documents_plans_and_chats_and_files_are_read() {
    let home = quiet();
    home.put("src/lib.rs", "fn main() {}\n");
    home.put("plans/x.plan", "# No plan yet\n");
    home.put(".env", "KEY=1");
    std::fs::write(home.workspace().join("image.bin"), b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR").unwrap();
    std::fs::write(home.workspace().join("huge.txt"), vec![b'x'; 3 << 20]).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", home.workspace().join("out")).unwrap();
    let server = home.serve().await;
    let chat = server.chat(json!({ "title": "One" })).await;
    let path = first(&server).await;
    let tree = server.get(&format!("{path}/files?path=/&depth=3")).await;
    let find = |path: &str| {
        let mut left = vec![&tree];
        while let Some(node) = left.pop() {
            if node["path"] == path {
                return node.clone();
            }
            left.extend(node["children"].as_array().into_iter().flatten());
        }
        Value::Null
    };
    let chat_file = format!("/.planwright/chats/{}.chat", chat.show().await["id"].as_str().unwrap());
    for (path, file_type) in [
        ("/", "folder"),
        ("/src", "folder"),
        ("/src/lib.rs", "document"),
        ("/plans/x.plan", "plan"),
        (chat_file.as_str(), "chat"),
        ("/out", "document"),
    ] {
        assert_eq!(find(path)["file_type"], file_type, "{path} in {tree}");
    }
    assert_eq!(find("/out")["is_special"], true);
    let shallow = server.get(&format!("{path}/files")).await;
    assert!(shallow["children"].as_array().unwrap().iter().all(|child| child.get("children").is_none()));
    let content = async |file: &str| server.request(Method::GET, &format!("{path}/files/content?path={file}"), None).await;
    assert_eq!(content("/src/lib.rs").await.1["content"], "fn main() {}\n");
    assert_eq!(content("/.env").await.1["content"], "KEY=1", "the user may see their own secrets");
    assert_eq!(content("/image.bin").await.1["content"], Value::Null);
    for (file, status) in [("/huge.txt", 413), ("/none", 404), ("/src", 422), ("/out", 422), ("/../x", 422)] {
        let (got, error) = content(file).await;
        assert_eq!(got.as_u16(), status, "{file}: {error}");
    }
    for (query, status) in [("path=/none", 404), ("depth=0", 422), ("depth=99", 422), ("path=/..", 422)] {
        assert_eq!(server.request(Method::GET, &format!("{path}/files?{query}"), None).await.0.as_u16(), status, "{query}");
    }
}

#[tokio::test]
async fn plans_are_listed_with_how_far_they_have_come() {
    let home = home(&json!({
        "plan": [{ "calls": [{ "tool": "write_plan", "args": plan("/a.txt") }] }, { "text": "There it is." }],
        "act": [{ "calls": [{ "tool": "update_step", "args": { "step_number": 1, "status": "done" } }] }, { "text": "Done." }],
    }));
    home.put("plans/broken.plan", "no plan at all");
    home.put("plans/notes.txt", "not a plan");
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Plan something").await;
    chat.run_to_end(0).await;
    let path = format!("{}/plans", first(&server).await);
    let of_chat = |plans: &Value, id: &Value| plans.as_array().unwrap().iter().find(|plan| plan["chat_id"] == *id).cloned().unwrap();
    let id = chat.show().await["id"].clone();
    let plans = server.get(&path).await;
    assert_eq!(plans.as_array().unwrap().len(), 2, "{plans}");
    let own = of_chat(&plans, &id);
    assert_eq!(
        (&own["status"], &own["goal"], &own["steps_done"], &own["steps_total"]),
        (&json!("draft"), &json!("Say goodbye"), &json!(0), &json!(1))
    );
    assert!(plans.as_array().unwrap().iter().any(|plan| plan["plan_file"] == "/plans/broken.plan" && plan["status"].is_null()));
    assert_eq!(chat.post("execute").await.0, StatusCode::OK);
    chat.events(0, |event| event["type"] == "run_finished" && event["data"]["open_steps"].is_null()).await;
    chat.events(0, |event| event["type"] == "plan_step" && event["data"]["status"] == "done").await;
    let own = of_chat(&server.get(&path).await, &id);
    assert_eq!((&own["status"], &own["steps_done"]), (&json!("done"), &json!(1)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn edits_of_one_workspace_at_the_same_time_are_all_kept() {
    let home = crate::home(&json!({ "turns": [{ "text": "Noted." }] }));
    let server = home.serve().await;
    let path = format!("/workspaces/{}", server.get("/workspaces").await[0]["id"].as_str().unwrap());
    for round in 0..20 {
        let modes = ["plan", "act"];
        let settings = [
            json!({ "settings": { "default_mode": modes[round % 2] } }),
            json!({ "settings": { "intent_switch": if round % 2 == 0 { "off" } else { "suggest" } } }),
            json!({ "settings": { "intent_classifier": if round % 2 == 0 { "off" } else { "model" } } }),
            json!({ "name": format!("round {round}") }),
        ];
        let edits = settings.iter().map(|body| server.request(Method::PATCH, &path, Some(body.clone())));
        for (status, answer) in futures::future::join_all(edits).await {
            assert!(status.is_success(), "{answer}");
        }
        let row = server.get(&path).await;
        for edit in &settings[..3] {
            for (key, value) in edit["settings"].as_object().unwrap() {
                assert_eq!(&row["settings"][key], value, "round {round}: {row}");
            }
        }
        assert_eq!(row["name"], settings[3]["name"]);
    }
}
