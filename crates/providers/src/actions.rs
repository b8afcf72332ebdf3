//! Tool calls for models without native ones: the prompt lists the tools, and a JSON schema of actions constrains the reply.

use planwright_agent::{ModelCall, ModelMessage, ToolDefinition};
use planwright_protocol::CallId;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// The reply of such a model: `{"say": "…", "calls": [{"tool": "…", "args": {…}}]}`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    say: String,
    calls: Vec<Action>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Action {
    tool: String,
    /// As written, so that the check of the arguments sees everything.
    args: Box<RawValue>,
}

/// The instructions in the prompt.
pub(crate) fn instructions(tools: &[ToolDefinition]) -> String {
    let mut text = "\n\n# How to answer\n\nAnswer with one JSON object and nothing else: `{\"say\": \"…\", \"calls\": [{\"tool\": \"…\", \"args\": {…}}]}`. `say` is the text for the user. `calls` lists the tools to call now, in order; their results are in the next message. Leave `calls` empty when you are done. If these instructions ask for JSON as your answer, put it into `say` as text.\n\n# Tools\n".to_owned();
    for tool in tools {
        text.push_str(&format!("\n## {}\n\n{}\n\nSchema of `args`: `{}`\n", tool.name, tool.description, tool.schema));
    }
    text
}

/// The schema that constrains the reply.
pub(crate) fn schema(tools: &[ToolDefinition]) -> Value {
    let mut shared = Map::new();
    let calls: Vec<Value> = tools
        .iter()
        .map(|tool| {
            json!({
                "type": "object",
                "properties": { "tool": { "type": "string", "enum": [tool.name] }, "args": arguments(tool, &mut shared) },
                "required": ["tool", "args"],
                "additionalProperties": false,
            })
        })
        .collect();
    let items = if calls.is_empty() { json!(false) } else { json!({ "anyOf": calls }) };
    json!({
        "type": "object",
        "properties": { "say": { "type": "string" }, "calls": { "type": "array", "items": items } },
        "required": ["say", "calls"],
        "additionalProperties": false,
        "$defs": shared,
    })
}

/// A tool's schema as a part of the whole; its definitions move to the top, where references resolve.
fn arguments(tool: &ToolDefinition, shared: &mut Map<String, Value>) -> Value {
    let mut schema = tool.schema.clone();
    let Some(fields) = schema.as_object_mut() else { return json!({ "type": "object" }) };
    fields.remove("$schema");
    let definitions = match fields.remove("$defs") {
        Some(Value::Object(definitions)) => definitions,
        Some(_) | None => Map::new(),
    };
    if definitions.iter().any(|(name, definition)| shared.get(name).is_some_and(|other| other != definition)) {
        // Conflicting names: the arguments are checked when the call is made.
        return json!({ "type": "object" });
    }
    shared.extend(definitions);
    schema
}

/// The reply without the code fence that some models put around JSON.
fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let inside = text.strip_prefix("```json").or(text.strip_prefix("```")).and_then(|text| text.strip_suffix("```"));
    inside.unwrap_or(text)
}

/// Parses the reply strictly: anything but the object is a fault of the server, which had to enforce the schema.
pub(crate) fn read(text: &str) -> Result<(String, Vec<ModelCall>), String> {
    let answer: Answer = serde_json::from_str(unfenced(text)).map_err(|error| {
        format!("it is not the JSON that was asked for ({error}); with tools = \"json\" the server must hold the model to a JSON schema")
    })?;
    let calls = answer.calls.into_iter().map(|action| ModelCall {
        id: CallId::generate().to_string(),
        tool: action.tool,
        args: action.args.get().to_owned(),
    });
    Ok((answer.say, calls.collect()))
}

/// The conversation without calls: they become the model's text, and their results the user's.
pub(crate) fn without_calls(messages: &[ModelMessage]) -> Vec<ModelMessage> {
    let mut names: Vec<(&str, &str)> = Vec::new();
    let mut out = Vec::new();
    for message in messages {
        out.push(match message {
            ModelMessage::User(_) | ModelMessage::Image(_) => message.clone(),
            ModelMessage::Assistant { mode, text, calls, .. } => {
                names.extend(calls.iter().map(|call| (call.id.as_str(), call.tool.as_str())));
                let calls: Vec<Value> = calls.iter().map(|call| json!({ "tool": call.tool, "args": as_json(&call.args) })).collect();
                let text = json!({ "say": text, "calls": calls }).to_string();
                ModelMessage::Assistant { mode: *mode, text, calls: Vec::new(), native: None }
            }
            ModelMessage::ToolResult { call_id, text } => {
                let tool = names.iter().rev().find(|(id, _)| id == call_id).map_or("a call", |(_, tool)| *tool);
                ModelMessage::User(format!("Result of {tool}:\n{text}"))
            }
        });
    }
    out
}

fn as_json(args: &str) -> Value {
    serde_json::from_str(args).unwrap_or_else(|_| Value::String(args.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_strictly() {
        let (say, calls) =
            read("{\"say\": \"Looking.\", \"calls\": [{\"tool\": \"read\", \"args\": {\"path\": \"/a\", \"path\": \"/b\"}}]}").unwrap();
        assert_eq!((say.as_str(), calls[0].tool.as_str()), ("Looking.", "read"));
        assert_eq!(calls[0].args, "{\"path\": \"/a\", \"path\": \"/b\"}", "whoever checks them sees that a name came twice");
        for fenced in ["```json\n{\"say\": \"x\", \"calls\": []}\n```\n", "```{\"say\": \"x\", \"calls\": []}```"] {
            assert_eq!(read(fenced).unwrap().0, "x", "{fenced}");
        }
        for wrong in [
            "",
            "```json\n{\"say\": \"x\", \"calls\": []}\n```\nand more",
            "Hello",
            "{\"say\": \"x\"}",
            "{\"say\": \"x\", \"calls\": [], \"more\": 1}",
            "{\"say\": \"x\", \"calls\": [{\"tool\": \"read\"",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn definitions_of_tools_stand_where_references_look_for_them() {
        let tool = |name: &str, definition: Value| ToolDefinition {
            name: name.into(),
            description: String::new(),
            schema: json!({ "type": "object", "properties": { "x": { "$ref": "#/$defs/X" } }, "$defs": { "X": definition } }),
        };
        let string = json!({ "type": "string" });
        let whole = schema(&[tool("a", string.clone()), tool("b", string.clone()), tool("c", json!({ "type": "integer" }))]);
        assert_eq!(whole["$defs"], json!({ "X": string }));
        let calls = &whole["properties"]["calls"]["items"]["anyOf"];
        assert_eq!(calls[1]["properties"]["args"]["properties"]["x"], json!({ "$ref": "#/$defs/X" }));
        assert_eq!(calls[2]["properties"]["args"], json!({ "type": "object" }));
    }
}
