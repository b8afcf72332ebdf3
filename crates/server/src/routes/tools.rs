use crate::App;
use crate::answer::ApiResult;
use crate::guard::Caller;
use crate::request::{Body, Ids};
use axum::Json;
use axum::extract::State;
use planwright_chat::{Place, UserCall};
use planwright_protocol::event::ToolResponse;
use planwright_protocol::{ChatId, Mode, WorkspaceId};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CallBody {
    /// The name of the tool.
    #[schemars(example = &"read")]
    tool: String,
    /// Its arguments, by its schema.
    #[serde(default)]
    #[schemars(example = serde_json::json!({ "path": "/README.md" }))]
    args: Map<String, Value>,
    /// The chat whose role applies; takes precedence over `config`.
    chat_id: Option<ChatId>,
    config: Option<CallConfig>,
}

/// The settings for a call without a chat.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CallConfig {
    /// Whether the call has plan mode's permissions (default true).
    plan_mode: Option<bool>,
    /// The plan that the call may write.
    #[schemars(example = "/plans/add-a-farewell.plan")]
    active_plan_path: Option<String>,
}

/// Runs one tool, through the same gate and log as a model's calls. The response contains the call's own errors.
pub async fn call(
    State(app): State<App>,
    caller: Caller,
    Ids(workspace): Ids<WorkspaceId>,
    Body(body): Body<CallBody>,
) -> ApiResult<ToolResponse> {
    let place = match (body.chat_id, body.config) {
        (Some(chat), _) => Place::Chat(chat),
        (None, None) => Place::Alone { mode: Mode::Plan, active_plan: None },
        (None, Some(CallConfig { plan_mode, active_plan_path })) => {
            let mode = match plan_mode {
                Some(false) => Mode::Act,
                Some(true) | None => Mode::Plan,
            };
            Place::Alone { mode, active_plan: active_plan_path }
        }
    };
    let call = UserCall { tool: body.tool, args: Value::Object(body.args), user: caller.account.map(|account| account.name) };
    Ok(Json(app.sessions.call(workspace, call, place).await?))
}
