use super::{bare, quiet_home};
use serde_json::{Value, json};

#[tokio::test]
async fn a_plan_that_is_being_edited_is_linted_line_by_line_and_nothing_is_stored() {
    let home = quiet_home();
    let server = home.serve().await;
    let workspace = server.get("/workspaces").await[0]["id"].as_str().unwrap().to_owned();
    let lint = async |workspace: &str, text: &str| {
        let path = format!("/api/v1/workspaces/{workspace}/plans/lint");
        let response = server.send(bare(&server, "post", &path).bearer_auth(&server.token).json(&json!({ "text": text }))).await;
        (response.status().as_u16(), response.json::<Value>().await.unwrap())
    };
    let sound = "---\ngoal: Say goodbye\nstatus: draft\n---\n# Say goodbye\n\n## Steps\n\n- [ ] 1. Write it\n  reason: Nobody says it yet.\n  files: /src/lib.rs\n";
    assert_eq!(lint(&workspace, sound).await, (200, json!({ "findings": [] })));

    let (status, answer) = lint(&workspace, &sound.replace("- [ ] 1. Write it", "- [ ] 2. Write it")).await;
    let finding = &answer["findings"][0];
    assert_eq!((status, &finding["line"]), (200, &json!(9)), "{answer}");
    assert!(finding["message"].is_string() && finding["column"].is_u64(), "{answer}");

    home.put("src/lib.rs", "pub fn farewell() {}\n");
    home.put("src/main.rs", "fn main() {\n    farewell();\n}\n");
    let (_, answer) = lint(&workspace, &sound.replace("Write it", "Rename `farewell`")).await;
    let finding = &answer["findings"][0];
    assert_eq!((&finding["line"], &finding["gravity"]), (&json!(9), &json!("warning")), "{answer}");
    assert!(finding["message"].as_str().unwrap().contains("/src/main.rs:2"), "{answer}");

    let (_, answer) = lint(&workspace, "nothing of a plan").await;
    assert!(answer["findings"].as_array().unwrap().iter().any(|finding| finding["gravity"] == "error"), "{answer}");
    assert_eq!(home.file("plans"), None);
    assert_eq!(lint("0198c0de-0000-7000-8000-000000000000", sound).await.0, 404);
}
