//! `planwright acp`, and a chat that goes from one front end to the next.
//!
//! What clients that others wrote make of it is tested in `crates/acp/tests/clients`.

mod cases;

use crate::{home, plan, write};
use planwright_testkit::server::{last_id, of_type};
use reqwest::Method;
use serde_json::{Value, json};

/// The smallest PNG there is: one pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

#[tokio::test]
async fn an_image_in_a_prompt_reaches_the_model_and_is_kept_with_the_chat() {
    let home = home(&json!({
        "images": true,
        "plan": [
            { "text": "A pixel.", "told": ["What is this?", "[image/png, 70 bytes]"] },
            { "text": "Still there.", "told": ["[image/png, 70 bytes]"] },
        ],
    }));
    let mut editor = home.editor("allow_once").await;
    assert_eq!(editor.agent["agentCapabilities"]["promptCapabilities"]["image"], true);
    editor.begin(&home.workspace()).await;
    let id = editor.session.clone();
    let prompt = json!([{ "type": "text", "text": "What is this?" }, { "type": "image", "data": PIXEL, "mimeType": "image/png" }]);
    editor.request("session/prompt", json!({ "sessionId": id, "prompt": prompt })).await.unwrap();
    assert!(editor.words().contains("A pixel."), "{}", editor.words());
    let sound = json!([{ "type": "image", "data": "UklGRg==", "mimeType": "audio/wav" }]);
    let refused = editor.request("session/prompt", json!({ "sessionId": id, "prompt": sound })).await.unwrap_err();
    assert!(refused.to_string().contains("neither PNG, JPEG, GIF nor WebP"), "{refused}");
    assert!(editor.close().await);

    // Another process, which knows it from the database alone.
    let mut editor = home.editor("allow_once").await;
    editor.load(&id, &home.workspace()).await.unwrap();
    let shown: Vec<&Value> = editor.updates.iter().filter(|update| update["content"]["type"] == "image").collect();
    assert_eq!(shown.len(), 1);
    assert_eq!((&shown[0]["sessionUpdate"], &shown[0]["content"]["data"]), (&json!("user_message_chunk"), &json!(PIXEL)));
    editor.say("Look again").await;
    assert!(editor.words().contains("Still there."), "{}", editor.words());
    assert!(editor.close().await);

    let exported = home.command(&["export", &id, "--format", "json"]).output().await.unwrap();
    let exported: Value = serde_json::from_slice(&exported.stdout).unwrap();
    assert_eq!(exported["messages"][0]["metadata"]["images"][0]["data"], PIXEL);
    let server = home.serve().await;
    let (_, workspaces) = server.attempt(Method::GET, "/workspaces", None).await.unwrap();
    let chat = server.reopened(&format!("/workspaces/{}/chats/{id}", workspaces[0]["id"].as_str().unwrap()));
    let said = chat.messages().await.remove(0);
    assert_eq!((&said["metadata"]["images"][0]["mime_type"], &said["metadata"]["images"][0]["size"]), (&json!("image/png"), &json!(70)));
    let path = format!("{}/messages/{}/images", chat.path, said["id"].as_str().unwrap());
    let (_, images) = server.attempt(Method::GET, &path, None).await.unwrap();
    assert_eq!(images, json!([{ "mime_type": "image/png", "data": PIXEL }]));
}

#[tokio::test]
async fn go_ahead_with_an_image_is_no_order_and_no_command_takes_one() {
    let exit = json!({ "tool": "exit_plan_mode", "args": { "plan_file_path": "/plans/say-goodbye.plan" } });
    let home = home(&json!({
        "images": true,
        "plan": [{ "calls": [{ "tool": "write_plan", "args": plan("bye.txt") }] }, { "calls": [exit] }, { "text": "Like that, then.", "told": ["go ahead"] }],
        "act": [{ "calls": [write("/bye.txt", "Goodbye\n")] }, { "text": "Done." }],
    }));
    let mut editor = home.editor("nothing").await;
    editor.begin(&home.workspace()).await;
    assert_eq!(editor.say("Plan it").await, "end_turn");
    let with_image = |words: &str| json!([{ "type": "text", "text": words }, { "type": "image", "data": PIXEL, "mimeType": "image/png" }]);
    let session = editor.session.clone();
    for command in ["/answer yes", "/execute", "/compact"] {
        let asked = editor.request("session/prompt", json!({ "sessionId": session, "prompt": with_image(command) })).await;
        assert!(asked.unwrap_err().to_string().contains("an image can't be sent with a command"), "{command}");
    }
    editor.request("session/prompt", json!({ "sessionId": session, "prompt": with_image("go ahead") })).await.unwrap();
    assert!(editor.words().contains("Like that, then."), "{}", editor.words());
    assert_eq!(home.file("bye.txt"), None, "nothing was approved");
    assert_eq!(editor.say("/execute").await, "end_turn");
    assert_eq!(home.file("bye.txt").as_deref(), Some("Goodbye\n"));
}

#[tokio::test]
async fn a_line_that_is_no_message_spoils_no_other() {
    let home = home(&json!({ "plan": [{ "text": "Hello." }] }));
    let mut editor = home.editor("allow_once").await;
    for line in [b"not json".as_slice(), b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"session/list\",\"params\":{\"cwd\":\"/\xff\"}}"] {
        editor.write_line(line).await;
    }
    editor.begin(&home.workspace()).await;
    assert_eq!(editor.say("Hello").await, "end_turn");
    assert!(editor.close().await);
}

#[tokio::test]
async fn a_model_that_takes_no_images_is_offered_none_and_sent_none() {
    let home = home(&json!({ "plan": [{ "text": "Hello." }] }));
    let mut editor = home.editor("allow_once").await;
    assert_eq!(editor.agent["agentCapabilities"]["promptCapabilities"]["image"], false);
    editor.begin(&home.workspace()).await;
    let prompt = json!([{ "type": "image", "data": PIXEL, "mimeType": "image/png" }]);
    let refused = editor.request("session/prompt", json!({ "sessionId": editor.session, "prompt": prompt })).await.unwrap_err();
    assert!(refused.to_string().contains("is not known to look at images"), "{refused}");
    assert_eq!(editor.say("Hello").await, "end_turn");
}

#[tokio::test]
async fn a_chat_begun_over_http_goes_on_in_an_editor_and_is_finished_by_run_with_one_history() {
    let step = |number: u32| json!({ "tool": "update_step", "args": { "step_number": number, "status": "done" } });
    let mut two_steps = plan("bye.txt");
    two_steps["steps"].as_array_mut().unwrap().push(json!({ "step_number": 2, "action": "Greet", "files": ["hello.txt"] }));
    let exit = json!({ "tool": "exit_plan_mode", "args": { "plan_file_path": "/plans/say-goodbye.plan" } });
    let home = home(&json!({
        "plan": [{ "text": "Let me plan.", "calls": [{ "tool": "write_plan", "args": two_steps }] }, { "calls": [exit] }],
        "act": [
            { "calls": [write("/bye.txt", "Goodbye\n"), step(1)] },
            { "text": "One step done.", "told": ["Say goodbye, please"] },
            { "calls": [write("/hello.txt", "Hello\n"), step(2)], "told": ["Say goodbye, please", "One step done.", "And the rest"] },
            { "text": "All done." },
        ],
    }));

    // As the web UI does it.
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Say goodbye, please").await;
    let planning = chat.events(0, |event| event["data"]["state"] == "awaiting_answer").await;
    let path = chat.path.clone();
    let id = path.rsplit('/').next().unwrap().to_owned();
    let begun = chat.messages().await;
    assert!(server.terminate().await);

    // The card that the server raised is answered in the editor.
    let mut editor = home.editor("allow_once").await;
    let loaded = editor.load(&id, &home.workspace()).await.unwrap();
    assert_eq!(loaded["modes"]["currentModeId"], "plan");
    assert!(editor.words().contains("Let me plan.") && editor.words().contains("Accept & Build"), "{}", editor.words());
    assert!(editor.asked.is_empty(), "nothing is asked before the user wants to go on");
    assert_eq!(editor.say("/answer").await, "end_turn");
    assert_eq!(editor.asked[0]["method"], "session/request_permission");
    assert_eq!(home.file("bye.txt").as_deref(), Some("Goodbye\n"));
    assert_eq!(home.file("hello.txt"), None);
    assert!(editor.close().await);

    let run = home.command(&["run", "And the rest", "--chat", &id, "--json"]).output().await.unwrap();
    assert_eq!(run.status.code(), Some(0), "{}", String::from_utf8_lossy(&run.stderr));
    let finishing: Vec<Value> = String::from_utf8(run.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(of_type(&finishing, "plan_step"), [&json!({ "step_number": 2, "status": "done" })]);
    assert_eq!(home.file("hello.txt").as_deref(), Some("Hello\n"));

    // One history: what each front end saw is in it, once, in its order.
    let server = home.serve().await;
    let chat = server.reopened(&path);
    let events = chat.events(0, |event| event["seq"] == last_id(&finishing)).await;
    let stored = |event: &&Value| !["text_delta", "reasoning_delta", "tool_output"].contains(&event["type"].as_str().unwrap());
    let seen = |part: &[Value]| part.iter().filter(stored).map(|event| event["seq"].as_u64().unwrap()).collect::<Vec<_>>();
    let numbers = seen(&events);
    assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
    assert!(seen(&planning).iter().chain(&seen(&finishing)).all(|number| numbers.contains(number)));
    let outcomes: Vec<&Value> = of_type(&events, "run_finished").into_iter().map(|end| &end["outcome"]).collect();
    assert_eq!(outcomes, ["done", "done"]);
    assert_eq!(of_type(&events, "question_resolved").len(), 1);
    assert_eq!(of_type(&events, "mode_changed").iter().map(|change| &change["by"]).collect::<Vec<_>>(), ["approval"]);
    let messages = chat.messages().await;
    assert_eq!(
        messages[..begun.len()].iter().map(|message| &message["id"]).collect::<Vec<_>>(),
        begun.iter().map(|message| &message["id"]).collect::<Vec<_>>()
    );
    let said: Vec<&str> =
        messages.iter().filter(|message| message["author"] == "user").map(|message| message["content"].as_str().unwrap()).collect();
    assert_eq!(said, ["Say goodbye, please", "[Answered: Accept & Build]", "And the rest"]);
    assert_eq!(chat.show().await["progress"]["done"], 2);
}

#[tokio::test]
async fn run_goes_on_with_a_chat_in_its_role_or_in_another_and_only_in_its_folder() {
    let home = home(&json!({
        "plan": [{ "text": "Planned." }, { "calls": [write("/a.txt", "no")] }, { "text": "Still planning.", "told": ["First"] }],
        "act": [{ "calls": [write("/a.txt", "yes\n")] }, { "text": "Done.", "told": ["First", "Second"] }],
    }));
    let mut editor = home.editor("allow_once").await;
    editor.begin(&home.workspace()).await;
    assert_eq!(editor.say("First").await, "end_turn");
    let id = editor.session.clone();
    assert!(editor.close().await);
    let run = |args: Vec<&'static str>| {
        let mut command = home.command(&["run"]);
        command.args(args).args(["--chat", &id]);
        async move {
            let output = command.output().await.unwrap();
            (output.status.code(), String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
        }
    };
    let (code, answer, _) = run(vec!["Second"]).await;
    assert_eq!((code, answer.trim()), (Some(0), "Still planning."));
    assert_eq!(home.file("a.txt"), None, "the chat's own role is kept");
    let (code, answer, _) = run(vec!["Third", "--mode", "act"]).await;
    assert_eq!((code, answer.trim()), (Some(0), "Done."));
    assert_eq!(home.file("a.txt").as_deref(), Some("yes\n"));
    home.put("inner/b.txt", "b");
    let (code, _, why) = run(vec!["Fourth", "--workspace", "inner"]).await;
    assert_eq!(code, Some(2));
    assert!(why.contains("belongs to another folder"), "{why}");
}

#[tokio::test]
async fn an_editor_beside_a_server_works_on_the_same_chats_and_both_see_all_of_it() {
    let home = home(&json!({ "act": [{ "calls": [write("/a.txt", "new\n")] }, { "text": "Done." }] }));
    home.put("a.txt", "old\n");
    let server = home.serve().await;
    let mut editor = home.editor("allow_once").await;
    editor.begin(&home.workspace()).await;
    let id = editor.session.clone();
    editor.request("session/set_mode", json!({ "sessionId": id, "modeId": "build" })).await.unwrap();
    assert_eq!(editor.say("Go").await, "end_turn");
    let diff = editor.updates.iter().filter_map(|update| update["content"].as_array()).flatten().rfind(|content| content["type"] == "diff");
    let diff = diff.expect("the editor shows the whole file before and after");
    assert_eq!((&diff["oldText"], &diff["newText"]), (&json!("old\n"), &json!("new\n")));
    let workspace = server.get("/workspaces").await[0]["id"].as_str().unwrap().to_owned();
    let chat = server.reopened(&format!("/workspaces/{workspace}/chats/{id}"));
    assert_eq!(chat.messages().await.last().unwrap()["content"], "Done.");
    assert!(editor.close().await);
    assert!(server.terminate().await);
}
