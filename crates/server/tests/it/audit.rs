//! The audit log, and how well models keep to their roles by its account.

use crate::ground::Server;
use crate::{home, plan, write};
use planwright_testkit::client::last_id;
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

fn script() -> Value {
    json!({
        "plan": [
            { "text": "I will just do it.", "calls": [write("/bye.txt", "x"), { "tool": "read", "args": { "path": "/hello.txt" } }] },
            { "calls": [{ "tool": "write_plan", "args": plan("bye.txt") }] },
            { "text": "Ready." },
        ],
        "act": [{ "calls": [write("/bye.txt", "x")] }, { "text": "Done." }],
        "repeat": true,
    })
}

async fn kinds(server: &Server, path: &str) -> Vec<String> {
    let mut rows = server.get(path).await.as_array().unwrap().clone();
    rows.reverse();
    rows.iter().map(|row| row["kind"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn what_models_and_users_do_is_logged_and_adherence_is_counted_by_model_and_role() {
    let home = home(&script());
    home.put("hello.txt", "Hello\n");
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Say goodbye").await;
    let planning = chat.run_to_end(0).await;
    chat.say("go ahead").await;
    chat.run_to_end(last_id(&planning)).await;
    let (workspace, _) = chat.path.split_once("/chats").unwrap();
    let expected = [
        "mode_entered",
        "tool_blocked",
        "disallowed_tool_attempt_in_planning",
        "plan_written",
        "execution_intent_detected",
        "mode_switched_by_intent",
        "plan_approved",
        "mode_entered",
    ];
    assert_eq!(kinds(&server, "/audit").await, expected);
    assert_eq!(kinds(&server, &format!("{workspace}/audit")).await, expected);
    let entered = server.get("/audit?kind=mode_entered").await;
    assert_eq!([&entered[1]["details"]["mode"], &entered[0]["details"]["mode"]], ["plan", "act"]);
    let attempt = server.get("/audit?kind=disallowed_tool_attempt_in_planning").await[0].clone();
    let id = chat.path.rsplit('/').next().unwrap();
    assert_eq!(
        (&attempt["agent_role"], &attempt["details"]["tool"], &attempt["chat_id"]),
        (&json!("planner"), &json!("write"), &json!(id))
    );

    let model = attempt["model"].as_str().unwrap();
    assert!(model.starts_with("script/"), "{attempt}");
    let adherence = server.get("/audit/adherence").await;
    assert_eq!(
        adherence,
        json!([
            { "model": model, "agent_role": "planner", "calls": 3, "blocked": 1, "disallowed_in_planning": 1, "questions": 0, "deviations": 0, "adherence": 1.0 - 1.0 / 3.0 },
            { "model": model, "agent_role": "actor", "calls": 1, "blocked": 0, "disallowed_in_planning": 0, "questions": 0, "deviations": 0, "adherence": 1.0 },
        ])
    );
    assert_eq!(server.get(&format!("{workspace}/audit/adherence?role=actor")).await, json!([adherence[1]]));
}

#[tokio::test]
async fn the_log_is_counted_by_day_with_what_each_switch_came_by_and_read_page_by_page() {
    let home = home(&script());
    home.put("hello.txt", "Hello\n");
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Say goodbye").await;
    let planning = chat.run_to_end(0).await;
    chat.say("go ahead").await;
    chat.run_to_end(last_id(&planning)).await;
    server.request(Method::PATCH, &chat.path, Some(json!({ "agent_mode": "plan" }))).await;
    let (workspace, _) = chat.path.split_once("/chats").unwrap();

    let counts = server.get("/audit/counts?kind=mode_entered&offset=0").await;
    let told: Vec<_> = counts.as_array().unwrap().iter().map(|row| json!([row["mode"], row["by"], row["count"]])).collect();
    assert_eq!(told, [json!(["plan", null, 1]), json!(["plan", "user", 1]), json!(["act", "intent", 1])], "{counts}");
    let blocked = server.get(&format!("{workspace}/audit/counts?kind=tool_blocked")).await;
    assert_eq!((&blocked[0]["tool"], &blocked[0]["count"], &blocked[0]["agent_role"]), (&json!("write"), &json!(1), &json!("planner")));
    for offset in ["1441", "noon"] {
        let (status, body) = server.request(Method::GET, &format!("/audit/counts?offset={offset}"), None).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(body["error"]["details"]["fields"]["offset"].is_string(), "{body}");
    }

    let all = kinds(&server, "/audit").await;
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let url = format!("{}/api/v1/audit?limit=2{cursor}", server.base);
        let response = server.send(server.client().get(url).bearer_auth(&server.token)).await;
        let next = response.headers().get("x-next-cursor").map(|next| next.to_str().unwrap().to_owned());
        let rows: Value = response.json().await.unwrap();
        seen.extend(rows.as_array().unwrap().iter().map(|row| row["kind"].as_str().unwrap().to_owned()));
        let Some(next) = next else { break };
        cursor = format!("&cursor={next}");
    }
    seen.reverse();
    assert_eq!(seen, all);
    let (status, body) = server.request(Method::GET, "/audit?cursor=nowhere", None).await;
    assert_eq!((status, body["error"]["details"]["fields"]["cursor"].is_string()), (StatusCode::UNPROCESSABLE_ENTITY, true), "{body}");
}

#[tokio::test]
async fn the_log_is_filtered_and_a_filter_that_does_not_fit_is_named() {
    let home = home(&script());
    let server = home.serve().await;
    let (first, second) = (server.chat(json!({})).await, server.chat(json!({ "agent_role": "tester" })).await);
    let count = async |query: &str| server.get(&format!("/audit?{query}")).await.as_array().unwrap().len();
    let id = |path: &str| path.rsplit('/').next().unwrap().to_owned();
    let at = server.get("/audit").await[0]["at"].as_str().unwrap().to_owned();
    for (query, expected) in [
        (String::new(), 2),
        (format!("chat={}", id(&first.path)), 1),
        ("role=Tester".to_owned(), 1),
        ("role=planner&kind=mode_entered".to_owned(), 1),
        ("model=nobody".to_owned(), 0),
        (format!("from={at}"), 1),
        (format!("to={at}"), 1),
        ("limit=1".to_owned(), 1),
    ] {
        assert_eq!(count(&query).await, expected, "{query}");
    }
    let (workspace, _) = second.path.split_once("/chats").unwrap();
    for (query, field) in [
        ("from=yesterday", "from"),
        ("to=2026", "to"),
        ("from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z", "to"),
        ("kind=crime", "kind"),
        ("role=king", "role"),
        ("chat=7", "chat"),
        ("limit=many", "limit"),
    ] {
        for path in ["/audit".to_owned(), format!("{workspace}/audit")] {
            let (status, body) = server.request(Method::GET, &format!("{path}?{query}"), None).await;
            assert_eq!(
                (status, &body["error"]["code"]),
                (StatusCode::UNPROCESSABLE_ENTITY, &json!("VALIDATION_FAILED")),
                "{query}: {body}"
            );
            assert!(body["error"]["details"]["fields"][field].is_string(), "{query}: {body}");
        }
    }
    let nowhere = "/workspaces/00000000-0000-7000-8000-000000000000/audit";
    assert_eq!(server.request(Method::GET, nowhere, None).await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn chats_are_found_by_mode_role_and_plan_file_also_when_the_plan_is_gone() {
    let home = home(&script());
    home.put("hello.txt", "Hello\n");
    let server = home.serve().await;
    let planner = server.chat(json!({})).await;
    server.chat(json!({ "agent_role": "tester" })).await;
    server.chat(json!({ "mode": "build" })).await;
    planner.say("Say goodbye").await;
    planner.run_to_end(0).await;
    std::fs::remove_dir_all(home.workspace().join("plans")).unwrap();
    let (list, _) = planner.path.rsplit_once('/').unwrap();
    let count = async |query: &str| server.get(&format!("{list}?{query}")).await.as_array().unwrap().len();
    for (query, expected) in [
        ("", 3),
        ("mode=plan", 1),
        ("mode=build", 2),
        ("mode=act&role=tester", 1),
        ("role=actor", 1),
        ("role=reviewer", 0),
        ("plan_file=/plans/say-goodbye.plan", 1),
        ("plan_file=/plans/say-goodbye.plan&mode=act", 0),
        ("plan_file=/plans/none.plan", 0),
    ] {
        assert_eq!(count(query).await, expected, "{query}");
    }
    for (query, field) in [("mode=yolo", "mode"), ("role=king", "role")] {
        let (status, body) = server.request(Method::GET, &format!("{list}?{query}"), None).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{body}");
        assert!(body["error"]["details"]["fields"][field].is_string(), "{body}");
    }
    let (status, body) = planner.post("execute").await;
    assert_eq!((status, &body["error"]["code"]), (StatusCode::CONFLICT, &json!("NO_PLAN")), "a plan that is gone can't be carried out");
}

/// A page of the log: its rows, and where the next one begins.
async fn page(server: &Server, path: &str) -> (Vec<Value>, Option<String>) {
    let request = server.client().get(format!("{}/api/v1{path}", server.base)).bearer_auth(&server.token);
    let response = server.send(request).await;
    assert_eq!(response.status(), StatusCode::OK, "{path}");
    let next = response.headers().get("x-next-cursor").map(|next| next.to_str().unwrap().to_owned());
    (response.json::<Value>().await.unwrap().as_array().unwrap().clone(), next)
}

#[tokio::test]
async fn the_log_is_read_in_pages_by_cursors_that_stay_where_they_are() {
    let home = home(&script());
    let server = home.serve().await;
    for _ in 0..5 {
        server.chat(json!({})).await;
    }
    let (workspace, _) = server.chat(json!({})).await.path.split_once("/chats").map(|(path, id)| (path.to_owned(), id.to_owned())).unwrap();
    for list in ["/audit".to_owned(), format!("{workspace}/audit")] {
        let (all, none) = page(&server, &list).await;
        assert!(all.len() >= 6 && none.is_none(), "{all:?}");
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let (rows, next) = page(&server, &format!("{list}?limit=2{cursor}")).await;
            assert!(rows.len() <= 2);
            seen.extend(rows);
            // What comes in meanwhile is newer, and moves nothing.
            server.chat(json!({})).await;
            let Some(next) = next else { break };
            cursor = format!("&cursor={next}");
        }
        assert_eq!(seen, all);
        let ids: std::collections::BTreeSet<i64> = seen.iter().map(|row| row["id"].as_i64().unwrap()).collect();
        assert_eq!(ids.len(), all.len());
        for wrong in ["abc", "1", "1.x", "", "x.1"] {
            let (status, body) = server.request(Method::GET, &format!("{list}?cursor={wrong}"), None).await;
            assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{wrong:?}: {body}");
            assert!(body["error"]["details"]["fields"]["cursor"].is_string(), "{body}");
        }
    }
}

#[tokio::test]
async fn the_log_and_adherence_outlive_the_chat_and_the_workspace_that_they_tell_of() {
    let home = home(&script());
    home.put("hello.txt", "Hello\n");
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Say goodbye").await;
    chat.run_to_end(0).await;
    let (workspace, id) = chat.path.split_once("/chats/").unwrap();
    let paths = ["/audit".to_owned(), format!("/audit?chat={id}"), "/audit/adherence".to_owned(), format!("/audit/adherence?chat={id}")];
    let look = async || {
        let mut seen = Vec::new();
        for path in &paths {
            seen.push(server.get(path).await);
        }
        seen
    };
    let before = look().await;
    assert_eq!((&before[1][0]["chat_id"], &before[3][0]["calls"]), (&json!(id), &json!(3)), "{before:?}");
    assert_eq!(server.request(Method::DELETE, &chat.path, None).await.0, StatusCode::NO_CONTENT);
    assert_eq!(look().await, before);
    assert_eq!(server.get(&format!("{workspace}/audit")).await, before[0]);
    assert_eq!(server.request(Method::DELETE, workspace, None).await.0, StatusCode::NO_CONTENT);
    assert_eq!(look().await, before);
}

#[tokio::test]
async fn arguments_without_end_are_cut_in_the_log_and_marked() {
    let home = home(&script());
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let (workspace, id) = chat.path.split_once("/chats/").unwrap();
    let path = format!("{workspace}/tools");
    for chat_id in [json!(id), Value::Null] {
        for call in [write("/a.txt", &"x".repeat(1_900_000)), json!({ "tool": "x".repeat(200_000), "args": {} })] {
            let body = json!({ "tool": call["tool"], "args": call["args"], "chat_id": chat_id });
            let (status, answer) = server.post(&path, body).await;
            assert_eq!((status, &answer["success"]), (StatusCode::OK, &json!(false)), "{answer}");
            let row = server.get("/audit?kind=tool_blocked&limit=1").await[0].clone();
            assert_eq!((&row["workspace_id"], &row["chat_id"]), (&json!(workspace.rsplit('/').next().unwrap()), &chat_id));
            assert!(row["details"].to_string().len() <= 4096 && row["details"]["cut"].as_u64() > Some(200_000), "{row}");
            assert!(row["details"]["tool"].as_str().unwrap().starts_with(&call["tool"].as_str().unwrap()[..5]), "{row}");
        }
    }
}
