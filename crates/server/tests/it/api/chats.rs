use super::quiet_home;
use reqwest::StatusCode;
use serde_json::{Value, json};

const PLAN: &str =
    "---\ngoal: Say goodbye\nstatus: draft\nrevision: 1\n---\n# Say goodbye\n\n## Steps\n\n- [ ] 1. Write the file\n  files: bye.txt\n";

#[tokio::test]
async fn a_plan_of_the_workspace_can_be_given_to_a_chat_and_taken_away() {
    let home = quiet_home();
    home.put("plans/bye.plan", PLAN);
    let server = home.serve().await;
    let chat = server.chat(json!({})).await;
    let plan_file = async |body: Value| {
        let (status, chat) = chat.patch(body).await;
        assert_eq!(status, StatusCode::OK, "{chat}");
        chat["config"]["plan_file"].clone()
    };
    assert_eq!(plan_file(json!({ "plan_file": "plans/bye.plan" })).await, "/plans/bye.plan");
    assert_eq!(plan_file(json!({ "title": "Still there" })).await, "/plans/bye.plan");
    assert_eq!(plan_file(json!({ "plan_file": null })).await, Value::Null);
    let (status, answer) = chat.post("execute").await;
    assert_eq!((status, &answer["error"]["code"]), (StatusCode::CONFLICT, &json!("NO_PLAN")), "{answer}");
}
