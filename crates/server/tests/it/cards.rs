//! What else can happen while a card waits: the button, a typed order, a word with the answer, a second card.

use crate::ground::Home;
use crate::{home, plan, write};
use planwright_testkit::client::{ChatClient, last_id, of_type};
use serde_json::{Value, json};

fn waiting(event: &Value) -> bool {
    event["data"]["state"] == "awaiting_answer"
}

/// A plan whose card is raised by the model.
fn planner() -> Home {
    let exit = json!({ "tool": "exit_plan_mode", "args": { "plan_file_path": "/plans/say-goodbye.plan" } });
    home(&json!({
        "plan": [{ "calls": [{ "tool": "write_plan", "args": plan("bye.txt") }] }, { "calls": [exit] }, { "text": "As you like.", "told": ["too long"] }],
        "act": [{ "calls": [write("/bye.txt", "Goodbye\n")] }, { "text": "Done." }],
    }))
}

async fn card(chat: &ChatClient<'_>) -> (Value, u64) {
    chat.say("Say goodbye").await;
    let events = chat.events(0, waiting).await;
    (of_type(&events, "question_pending")[0].clone(), last_id(&events))
}

#[tokio::test]
async fn the_button_works_while_the_card_waits_and_so_does_a_typed_order() {
    for typed in [None, Some("go ahead"), Some("开始执行")] {
        let home = planner();
        let server = home.serve().await;
        let chat = server.chat(json!({})).await;
        let (_, last) = card(&chat).await;
        match typed {
            None => assert_eq!(chat.post("execute").await.0, 200),
            Some(words) => drop(chat.say(words).await),
        }
        let events = chat.run_to_end(last).await;
        assert_eq!(of_type(&events, "question_resolved")[0]["outcome"], "answered", "{typed:?}");
        assert_eq!(of_type(&events, "run_finished")[0]["outcome"], "done", "{typed:?}");
        assert_eq!(home.file("bye.txt").as_deref(), Some("Goodbye\n"), "{typed:?}");
        let logged = server.get("/audit?kind=approval_requested").await;
        assert_eq!(logged.as_array().map(Vec::len), Some(1), "{logged}");
        let approved = server.get("/audit?kind=plan_approved").await;
        assert_eq!(approved[0]["details"]["approver"], "user", "{approved}");
    }
}

#[tokio::test]
async fn what_the_user_writes_with_an_answer_reaches_the_model() {
    let home = planner();
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let (question, last) = card(&chat).await;
    let answer = json!({ "content": "It is too long.", "metadata": { "question_answer": { "question_id": question["question_id"], "answers": { "approve": false } } } });
    let (status, body) = server.post(&format!("{}/messages", chat.path), answer).await;
    assert_eq!((status.as_u16(), &body["message"]["content"]), (202, &json!("[Answered: Keep Planning]")));
    assert_eq!(body["message"]["metadata"]["comment"], "It is too long.");
    let events = chat.run_to_end(last).await;
    assert_eq!(of_type(&events, "run_finished")[0]["outcome"], "done", "{:?}", of_type(&events, "run_finished"));
}

#[tokio::test]
async fn a_reply_stays_one_reply_when_a_later_call_of_it_asks() {
    let rm = |path: &str| json!({ "tool": "rm", "args": { "path": path } });
    let home = home(
        &json!({ "act": [{ "calls": [write("/new.txt", "x\n"), rm("/a.txt"), rm("/b.txt")] }, { "text": "Both are gone.", "not_told": ["would be deleted"] }] }),
    );
    home.put("a.txt", "a\n");
    home.put("b.txt", "b\n");
    let server = home.serve().await;
    let chat = server.chat(json!({ "agent_role": "actor" })).await;
    chat.say("Remove them").await;
    let mut last = 0;
    for _ in 0..2 {
        let events = chat.events(last, waiting).await;
        last = last_id(&events);
        chat.answer(&of_type(&events, "question_pending")[0]["question_id"], json!({ "decision": "approve" })).await;
    }
    let events = chat.run_to_end(last).await;
    assert_eq!(of_type(&events, "run_finished")[0]["outcome"], "done", "{:?}", of_type(&events, "run_finished"));
    assert!(home.file("a.txt").is_none() && home.file("b.txt").is_none());
}

#[tokio::test]
async fn events_keep_their_numbers_whoever_else_looks_at_the_chat() {
    let turn = json!({ "text": "one two three four five six seven eight", "calls": [{ "tool": "ls", "args": {} }], "delay_ms": 2 });
    let home = home(&json!({ "turns": [turn, turn, turn, turn, { "text": "Done." }] }));
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    chat.say("Go").await;
    let looking = async {
        loop {
            server.get(&format!("{}/snapshot", chat.path)).await;
            chat.patch(json!({})).await;
            chat.events(0, |_| true).await;
        }
    };
    let live = tokio::select! {
        live = chat.run_to_end(0) => live,
        () = looking => unreachable!("it looks for ever"),
    };
    let stored = chat.run_to_end(0).await;
    let missed: Vec<&Value> = stored.iter().filter(|event| !live.contains(event)).collect();
    assert!(missed.is_empty(), "{missed:#?}");
    assert!(live.windows(2).all(|pair| pair[0]["seq"].as_u64() < pair[1]["seq"].as_u64()));
}

#[tokio::test]
async fn the_stream_of_a_chat_ends_when_the_chat_is_deleted() {
    let home = home(&json!({ "turns": [{ "text": "Hello." }] }));
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let numbers = server.numbers(&chat.path, 0);
    chat.say("Hi").await;
    chat.run_to_end(0).await;
    let (status, _) = server.request(reqwest::Method::DELETE, &chat.path, None).await;
    assert!(status.is_success(), "{status}");
    let heard = tokio::time::timeout(planwright_testkit::PATIENCE, numbers).await;
    assert!(!heard.expect("the stream goes on").unwrap().is_empty());
}
