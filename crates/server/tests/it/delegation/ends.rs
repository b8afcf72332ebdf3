//! How far delegation goes, and how it ends.

use super::*;

#[tokio::test]
async fn a_delegate_that_fails_is_told_of_and_the_commander_goes_on() {
    let missing = json!({ "calls": [call("read", json!({ "path": "/nowhere.txt" }))] });
    let home = home_of(
        &json!([
            { "calls": [delegate("actor", "Break")] },
            { "calls": [delegate("actor", "Repeat")], "told": ["PROVIDER_REJECTED: The task was not finished"] },
            { "text": "I give up.", "told": ["LOOP_DETECTED: The task was not finished"] },
        ]),
        &json!({
            "Break": [{ "text": "Well", "error": "PROVIDER_REJECTED" }],
            "Repeat": vec![missing; 9],
        }),
    );
    let server = home.serve().await;
    let chat = server.chat(json!({ "agent_role": "commander" })).await;
    let events = commanded(&chat).await;
    assert_eq!(outcome(&events), "done", "{:#?}", of_type(&events, "run_finished"));
}

#[tokio::test]
async fn so_many_tasks_are_handed_on_and_then_the_user_decides() {
    let home = home(&json!({
        "act": [{ "calls": [delegate("actor", "Small")] }], "tasks": { "Small": [{ "text": "Did it." }] }, "repeat": true,
    }));
    let server = home.serve().await;
    let chat = server.chat(json!({ "agent_role": "commander" })).await;
    let events = commanded(&chat).await;
    let results = of_type(&events, "tool_result");
    assert_eq!(results.iter().filter(|result| result["success"] == true).count(), 20);
    assert_eq!(results[20]["error"]["code"], "LIMIT_REACHED");
    assert_eq!(of_type(&events, "run_finished")[0]["error"]["code"], "LOOP_DETECTED", "a model that goes on asking is stopped");
}

#[tokio::test]
async fn a_delegate_s_long_conversation_is_summed_up_and_the_commander_s_is_not() {
    let big = "word after word\n".repeat(1500);
    let home = home(&json!({
        "act": [
            { "text": "The first thing I said.", "calls": [delegate("actor", "Read the big file")] },
            { "text": "Done.", "told": ["Read it all."], "not_told": ["was summarized", "short of it"] },
        ],
        "tasks": { "Read the big file": [
            { "calls": [call("read", json!({ "path": "/big.txt" })), call("read", json!({ "path": "/big.txt", "offset": 2 }))] },
            { "calls": [call("ls", json!({}))], "told": ["Read the big file"] },
            { "text": "Read it all.", "told": ["was summarized", "## The task", "Read the big file", "The short of it."], "not_told": ["The first thing I said."] },
        ] },
        "summary": { "text": "The short of it." },
        "context_tokens": 8000,
    }));
    home.put("big.txt", &big);
    let server = home.serve().await;
    let chat = server.chat(json!({ "agent_role": "commander" })).await;
    let events = commanded(&chat).await;
    assert_eq!(outcome(&events), "done", "{:#?}", of_type(&events, "run_finished"));
    let summaries: Vec<Value> = chat.messages().await.into_iter().filter(|message| !message["metadata"]["compaction"].is_null()).collect();
    assert!(!summaries.is_empty() && summaries.iter().all(|summary| !summary["metadata"]["delegation"].is_null()), "{summaries:#?}");
}

#[tokio::test]
async fn the_execute_button_answers_a_delegate_s_plan_card_too() {
    let home = home_of(
        &json!([{ "calls": [delegate("planner", "Plan it")] }, { "text": "Done.", "told": ["Planned.", "The user approved revision 1"] }]),
        &json!({ "Plan it": [
            { "calls": [call("write_plan", plan("bye.txt"))] },
            { "calls": [call("exit_plan_mode", json!({ "plan_file_path": "/plans/say-goodbye.plan" }))] },
            { "text": "Planned.", "told": ["The user executed /plans/say-goodbye.plan"] },
        ] }),
    );
    let server = home.serve().await;
    let chat = server.chat(json!({ "agent_role": "commander" })).await;
    let asked = commanded(&chat).await;
    assert_eq!(chat.post("execute").await.0, StatusCode::OK);
    let events = chat.events(last_id(&asked), rests).await;
    assert_eq!(outcome(&events), "done", "{events:#?}");
    assert_eq!(of_type(&events, "question_resolved")[0]["outcome"], "answered");
}
