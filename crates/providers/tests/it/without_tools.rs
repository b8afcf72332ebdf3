//! Models that were not taught to call tools.

use crate::{endpoint, hear, user};
use planwright_agent::{ModelCall, ModelMessage};
use planwright_protocol::settings::ToolCalls;
use planwright_protocol::{ErrorCode, Mode};
use planwright_providers::{Endpoint, Remote};
use planwright_testkit::model_server::{MODEL, ModelServer, ScriptedReply, Wire};

#[tokio::test]
async fn a_model_without_tool_calls_is_held_to_a_schema_of_actions() {
    for (wire, fence) in [(Wire::Chat, "```"), (Wire::Openrouter, ""), (Wire::Ollama, "")] {
        let answer = r#"{"say": "Looking.", "calls": [{"tool": "read", "args": {"path": "/é"}}]}"#;
        let answer = if fence.is_empty() { answer.to_owned() } else { format!("<think>Hm.</think>\n{fence}json\n{answer}\n{fence}\n") };
        let server = ModelServer::start(wire, [ScriptedReply::text(&answer)]).await;
        let model = Remote::new(Endpoint { tools: ToolCalls::Json, ..endpoint(&server) }, MODEL).unwrap();
        let call = ModelCall { id: "1".into(), tool: "ls".into(), args: r#"{"path": "/"}"#.into() };
        let made = ModelMessage::Assistant { mode: Mode::Plan, text: "Hm.".into(), calls: vec![call], native: None };
        let result = ModelMessage::ToolResult { call_id: "1".into(), text: "a.txt".into() };
        let heard = hear(&model, vec![user("Go"), made, result]).await;
        assert_eq!((heard.failure, heard.text.as_str()), (None, "Looking."), "{wire:?}");
        assert_eq!((heard.calls[0].tool.as_str(), heard.calls[0].args.as_str()), ("read", r#"{"path": "/é"}"#));
        let body = server.asked()[0].body.clone();
        assert!(body.get("tools").is_none(), "{body}");
        let schema = if wire == Wire::Ollama { &body["format"] } else { &body["response_format"]["json_schema"]["schema"] };
        assert_eq!(
            schema["properties"]["calls"]["items"]["anyOf"][0]["properties"]["args"]["required"],
            serde_json::json!(["path"]),
            "{body}"
        );
        let text = body.to_string();
        for part in ["Result of ls:\\na.txt", r#"[{\"tool\":\"ls\",\"args\":{\"path\":\"/\"}}]"#, "## read"] {
            assert!(text.contains(part), "{wire:?} lacks {part}: {text}");
        }
    }
}

#[tokio::test]
async fn an_answer_that_is_not_the_agreed_json_is_garbled_and_carries_out_nothing() {
    for answer in ["Sure, I will read it!", r#"{"say": "x", "calls": [{"tool": "read", "args": {"path": "/a"}}"#] {
        let server = ModelServer::start(Wire::Chat, [ScriptedReply::text(answer)]).await;
        let model = Remote::new(Endpoint { tools: ToolCalls::Json, ..endpoint(&server) }, MODEL).unwrap();
        let heard = hear(&model, vec![user("Go")]).await;
        assert_eq!(heard.failure.unwrap().code, ErrorCode::ProviderGarbled);
        assert!(heard.calls.is_empty());
    }
}
