//! What the composer sends besides words: images, and the model and effort of a chat. And what is stored for people to look at.

use crate::wires;
use planwright_testkit::model_server::{MODEL, ModelServer, ScriptedReply, Wire};
use reqwest::StatusCode;
use serde_json::{Value, json};

#[tokio::test]
async fn a_chat_has_a_model_and_an_effort_of_its_own_out_of_those_configured() {
    let models =
        ModelServer::start(Wire::Openrouter, [ScriptedReply::text("One."), ScriptedReply::text("Two."), ScriptedReply::text("Three.")])
            .await;
    let home = wires::home_with(&models, "");
    let config = format!(
        "[models]\nplan = \"test/{MODEL}\"\nact = \"test/other\"\n[providers.test]\nkind = \"{}\"\nbase_url = \"{}\"\napi_key_env = \"TEST_API_KEY\"\n",
        models.wire.kind(),
        models.base_url()
    );
    home.put_config(&config);
    let server = wires::serve(&home).await;
    let chat = server.chat(json!({})).await;
    let offered = server.get(&format!("{}/models", chat.path.split("/chats").next().unwrap())).await;
    let configured = format!("test/{MODEL}");
    assert_eq!(offered, json!({ "plan": configured, "act": "test/other", "available": [configured, "test/other"] }));
    let (status, refused) = chat.patch(json!({ "model": "script//etc/passwd" })).await;
    assert_eq!((status, &refused["error"]["code"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!("VALIDATION_FAILED")), "{refused}");
    let (status, refused) = chat.patch(json!({ "effort": "huge" })).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{refused}");

    chat.say("Hello").await;
    chat.run_to_end(0).await;
    let (status, chosen) = chat.patch(json!({ "model": "test/other", "effort": "high" })).await;
    assert_eq!((status, &chosen["model"], &chosen["effort"]), (StatusCode::OK, &json!("test/other"), &json!("high")), "{chosen}");
    let told = chat.events(0, |event| event["type"] == "chat_updated" && event["data"]["effort"] == "high").await;
    chat.say("Again").await;
    let again = chat.run_to_end(planwright_testkit::server::last_id(&told)).await;
    let (status, back) = chat.patch(json!({ "model": null, "effort": null })).await;
    assert_eq!((status, &back["model"], &back["effort"]), (StatusCode::OK, &Value::Null, &Value::Null), "{back}");
    chat.say("Once more").await;
    chat.run_to_end(planwright_testkit::server::last_id(&again)).await;
    let asked: Vec<(Value, Value)> =
        models.asked().iter().map(|asked| (asked.body["model"].clone(), asked.body["reasoning"]["effort"].clone())).collect();
    assert_eq!(asked, [(json!(MODEL), Value::Null), (json!("other"), json!("high")), (json!(MODEL), Value::Null)]);
    let fork = json!({ "message_id": chat.messages().await[1]["id"] });
    chat.patch(json!({ "model": "test/other" })).await;
    let (_, fork) = server.post(&format!("{}/fork", chat.path), fork).await;
    assert_eq!(fork["model"], "test/other", "a fork keeps the choice");
}
