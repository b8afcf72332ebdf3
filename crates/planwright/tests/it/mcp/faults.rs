//! Servers that hang, die, babble, flood and lie. The chat goes on.

use super::site::{call, checked, code, configured, hostile, output, processes};
use planwright_testkit::server::of_type;
use serde_json::json;

const FLOOD: &str = "it sent more than the limit";

#[tokio::test]
async fn a_server_that_misbehaves_in_a_call_is_reported_and_the_next_call_works() {
    let without_answer = [
        ("hang", "did not answer within 5 seconds"),
        ("half", "did not answer"),
        ("garbage", "where only MCP messages belong, it wrote: \""),
        ("garbage", "not json at all"),
    ];
    let at_once = [("die", "has ended"), ("fail", "it does not work today"), ("line", FLOOD), ("long", FLOOD), ("flood", FLOOD)];
    for (seconds, cases) in [(5, without_answer.as_slice()), (1800, &at_once)] {
        let home = configured(&hostile(&["plain"], &format!("timeout_s = {seconds}\nkeep = true")));
        let server = home.serve().await;
        for (tool, part) in cases {
            let answer = call(&server, "act", &format!("h__{tool}"), json!({})).await;
            assert_eq!(code(&answer), "MCP_FAILED", "{tool}");
            let message = answer["error"]["message"].as_str().unwrap();
            assert!(message.contains("`h`") && message.contains(part), "{tool}: {message}");
            assert!(output(&server, "act", "h__look", json!({})).await.starts_with("Nothing"), "after {tool}");
        }
    }
}

#[tokio::test]
async fn a_flood_in_a_call_is_noticed_at_once_and_not_when_its_time_is_over() {
    let home = configured(&hostile(&["plain"], "timeout_s = 1800"));
    let server = home.serve().await;
    for tool in ["long", "line", "flood"] {
        let answer = call(&server, "act", &format!("h__{tool}"), json!({})).await;
        assert_eq!(code(&answer), "MCP_FAILED", "{tool}");
        assert!(answer.to_string().contains(FLOOD), "{tool}: {answer}");
    }
}

#[tokio::test]
async fn the_same_holds_for_a_server_that_has_a_process_for_each_call() {
    let home = configured(&hostile(&["plain"], "timeout_s = 3"));
    let server = home.serve().await;
    for tool in ["hang", "die", "half", "line", "flood"] {
        assert_eq!(code(&call(&server, "act", &format!("h__{tool}"), json!({})).await), "MCP_FAILED", "{tool}");
    }
    assert!(output(&server, "act", "h__look", json!({})).await.starts_with("Nothing"));
}

#[tokio::test]
async fn a_server_that_does_not_come_up_is_left_out_and_the_chat_goes_on() {
    for (way, part) in [
        ("silent", "did not answer in time"),
        ("dead", "I could not find my configuration"),
        ("babble", "Starting up"),
        ("shim", "the full path of the real program"),
        ("banner", "it wrote: \"Listening for requests, is that right?\"."),
        ("endless", "too many pages"),
        ("many", "more than 256 tools"),
    ] {
        let home = configured(&hostile(&[way], "start_timeout_s = 4"));
        home.write_script(&json!({ "turns": [{ "calls": [{ "tool": "h__look", "args": {} }] }, { "text": "Then without it." }] }));
        let server = home.serve().await;
        let chat = server.chat(json!({ "mode": "build" })).await;
        chat.say("Look").await;
        let events = chat.run_to_end(0).await;
        assert_eq!(of_type(&events, "run_finished")[0]["outcome"], "done", "{way}: {events:#?}");
        assert_eq!(of_type(&events, "tool_result")[0]["error"]["code"], "MCP_FAILED", "{way}");
        let told: Vec<_> = chat.messages().await.into_iter().filter(|message| message["metadata"]["mcp_server"] == "h").collect();
        assert_eq!(told.len(), 1, "{way}: reported once: {told:#?}");
        assert!(told[0]["content"].as_str().unwrap().starts_with("The MCP server `h` can't be used"), "{way}: {told:#?}");
        let reports = checked(&server).await;
        assert_eq!(reports[0]["status"], "failed", "{way}: {reports}");
        let error = reports[0]["error"].as_str().unwrap();
        assert!(error.contains(part) && !error.contains("Tell the user") && !error.contains("?."), "{way}: {reports}");
    }
}

#[tokio::test]
async fn neither_a_stop_nor_a_shutdown_waits_for_a_server_that_does_not_come_up() {
    let home = configured("");
    let mark = home.workspace().join("silent").to_str().unwrap().to_owned();
    home.put_config(&hostile(&["silent", &mark], "start_timeout_s = 1800"));
    let server = home.serve().await;
    let chat = server.chat(json!({ "mode": "build" })).await;
    let until = async |is_there: bool| {
        while (processes(&[&mark]) > 0) != is_there {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    chat.say("Look").await;
    until(true).await;
    let (status, body) = chat.post("stop").await;
    assert!(status.is_success(), "{body}");
    until(false).await;
    assert_eq!(chat.show().await["state"], "idle");
    chat.say("Look").await;
    until(true).await;
    assert!(server.terminate().await);
    until(false).await;
}

#[tokio::test]
async fn a_server_of_the_newest_protocol_is_greeted_as_it_wants() {
    let home = configured(&hostile(&["newest"], "trust_read_only = true"));
    let server = home.serve().await;
    assert!(output(&server, "plan", "h__look", json!({})).await.starts_with("Nothing"));
    assert_eq!(code(&call(&server, "plan", "h__fail", json!({})).await), "MCP_FAILED");
}

#[tokio::test]
async fn a_server_that_was_mended_is_there_at_once_when_the_user_checks() {
    let home = configured("");
    let script = home.workspace().with_file_name("servers").join("mended.mjs");
    std::fs::create_dir(script.parent().unwrap()).unwrap();
    std::fs::write(&script, "process.exit(1)").unwrap();
    home.put_config(&super::site::node("h", &[script.to_str().unwrap(), "plain"], ""));
    let server = home.serve().await;
    assert_eq!(checked(&server).await[0]["status"], "failed");
    std::fs::copy(super::site::servers().join("hostile.mjs"), &script).unwrap();
    assert_eq!(code(&call(&server, "act", "h__look", json!({})).await), "MCP_FAILED", "it is left alone for a while");
    assert_eq!(checked(&server).await[0]["status"], "ready");
    assert!(output(&server, "act", "h__look", json!({})).await.starts_with("Nothing"));
}

#[tokio::test]
async fn a_tool_that_cannot_be_read_is_left_out_and_named_and_the_others_work() {
    let home = configured(&hostile(&["malformed"], ""));
    let mut command = home.command(&["serve", "--listen", "127.0.0.1:0"]);
    command.stderr(std::process::Stdio::piped());
    let (server, mut log) = home.serve_logged(command).await;
    assert!(output(&server, "act", "h__look", json!({})).await.starts_with("Nothing"));
    assert_eq!(code(&call(&server, "act", "h__bad", json!({})).await), "MCP_FAILED");
    let reports = checked(&server).await;
    let (status, error) = (&reports[0]["status"], reports[0]["error"].as_str().unwrap());
    assert_eq!((status, super::site::offered(&reports[0])), (&json!("ready"), vec!["h__look"]), "{reports}");
    assert!(error.contains("\"bad\"") && error.contains("missing field `inputSchema`") && error.contains("\"#2\""), "{error}");
    assert!(server.terminate().await);
    let mut logged = String::new();
    while let Ok(Some(line)) = log.next_line().await {
        logged.push_str(&line);
    }
    assert_eq!(logged.matches("missing field `inputSchema`").count(), 1, "it is logged once: {logged}");
    let (well, checks) = super::reports::doctor(&home, &[]).await;
    let detail = checks[0]["detail"].as_str().unwrap();
    assert!(well && checks[0]["status"] == "warning" && detail.starts_with("h: 1 tools; ") && detail.contains("\"bad\""), "{detail}");
}

#[tokio::test]
async fn a_run_says_which_server_it_is_waiting_for() {
    let home = configured(&hostile(&["silent"], "start_timeout_s = 3"));
    for args in [&["run", "Hi"][..], &["run", "Hi", "--json"], &["doctor"]] {
        let output = home.command(args).output().await.unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(told.matches("waiting for the MCP server `h` to start, at most 3 s").count(), 1, "{args:?}: {told}");
    }
}

#[tokio::test]
async fn names_that_look_alike_are_refused_and_the_rest_is_used() {
    let home = configured(&hostile(&["alike"], ""));
    let server = home.serve().await;
    for name in ["h__Read", "h__r\u{435}ad"] {
        assert_eq!(code(&call(&server, "plan", name, json!({})).await), "CONFLICT", "{name}");
    }
    assert_eq!(code(&call(&server, "plan", "h__read", json!({})).await), "TOOL_UNKNOWN");
    assert_eq!(code(&call(&server, "plan", "h__look", json!({})).await), "TOOL_BLOCKED_BY_MODE");
}

#[tokio::test]
async fn an_answer_is_data_bounded_and_without_what_a_terminal_obeys() {
    let home = configured(&hostile(&["plain"], "keep = true"));
    let server = home.serve().await;
    let huge = output(&server, "act", "h__huge", json!({})).await;
    assert!(huge.starts_with("begin ") && huge.ends_with(" end") && huge.len() < 64 << 10, "{}", huge.len());
    let plain = output(&server, "act", "h__escape", json!({})).await;
    assert!(plain.contains("red gone") && !plain.contains('\u{1b}') && !plain.contains('\u{7}'), "{plain:?}");
    let straight = output(&server, "act", "h__reorder", json!({})).await;
    assert_eq!(straight, "rm \u{fffd}gpj.\u{fffd}x\u{fffd}", "nothing turns the text around for whoever reads it");
    let link = call(&server, "act", "h__link", json!({})).await;
    assert_eq!(code(&link), "PATH_OUTSIDE_WORKSPACE");
    assert!(!link.to_string().contains("root:"));
    assert_eq!(output(&server, "act", "h__ask", json!({})).await, "asked", "what it asks back gets no answer from anybody");
}

#[tokio::test]
async fn an_order_in_an_answer_gives_no_right() {
    let home = configured(&hostile(&["plain"], "trust_read_only = true"));
    let calls = json!([{ "tool": "write", "args": { "path": "/a.txt", "content": "x" } }]);
    home.write_script(&json!({ "turns": [{ "calls": [{ "tool": "h__look", "args": {} }] }, { "calls": calls }, { "text": "Done." }] }));
    let server = home.serve().await;
    let chat = server.chat(json!({ "mode": "plan" })).await;
    chat.say("Look").await;
    let events = chat.run_to_end(0).await;
    let results = of_type(&events, "tool_result");
    assert!(results[0]["result"]["output"].as_str().unwrap().contains("approved everything"), "{results:#?}");
    assert_eq!(results[1]["error"]["code"], "TOOL_BLOCKED_BY_MODE");
    assert_eq!((home.file("a.txt"), chat.show().await["config"]["mode"].as_str()), (None, Some("plan")));
}

#[tokio::test]
async fn a_stop_ends_the_call_and_the_program_that_was_asked() {
    // Without `keep` there is a process for the call besides the one that was asked for its tools, which can change nothing.
    for (more, others) in [("", 1), ("keep = true", 0)] {
        let home = configured("");
        let mark = home.workspace().join("stopped").to_str().unwrap().to_owned();
        home.put_config(&format!("[approvals]\nmcp = \"allow\"\n{}", hostile(&["plain", &mark], more)));
        home.write_script(&json!({ "turns": [{ "calls": [{ "tool": "h__hang", "args": {} }] }, { "text": "Done." }] }));
        let server = home.serve().await;
        let chat = server.chat(json!({ "mode": "build" })).await;
        chat.say("Hang").await;
        // The intent is stored right before the call is made.
        let running =
            |event: &serde_json::Value| event["type"] == "message_updated" && event["data"]["message"]["metadata"]["status"] == "running";
        chat.events(0, running).await;
        while processes(&[&mark]) == others {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        let (status, body) = chat.post("stop").await;
        assert!(status.is_success(), "{body}");
        let result = chat.messages().await.into_iter().find(|message| message["message_type"] == "tool_result").unwrap();
        assert_eq!(result["metadata"]["error"]["code"], "CANCELLED", "{more:?}: {result}");
        assert_eq!(processes(&[&mark]), others, "{more:?}: nothing of it is left");
    }
}
