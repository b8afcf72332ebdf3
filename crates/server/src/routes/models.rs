use crate::App;
use crate::answer::ApiResult;
use crate::request::{Body, Ids};
use axum::Json;
use axum::extract::State;
use futures::future::BoxFuture;
use planwright_chat::ModelOptions;
use planwright_protocol::{Problem, WorkspaceId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The configured model of each mode, as PROVIDER/MODEL; null where there is none.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
pub struct ModelNames {
    #[schemars(example = &"anthropic/claude-sonnet-4-5")]
    pub plan: Option<String>,
    #[schemars(example = &"local/qwen3-coder")]
    pub act: Option<String>,
}

/// Where models can be had from, and what is needed for it.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct ModelSources {
    /// The user's configuration file, whether it is there or not.
    #[schemars(example = &"/home/you/.config/planwright/config.toml")]
    pub config_file: Option<String>,
    pub providers: Vec<ProviderView>,
}

/// Somebody who has models.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct ProviderView {
    /// The first part of PROVIDER/MODEL.
    #[schemars(example = &"anthropic")]
    pub name: String,
    #[schemars(example = &"Anthropic")]
    pub title: String,
    /// Whether the configuration names it; the others need none.
    pub configured: bool,
    /// The environment variable that holds the key; null where none is needed.
    #[schemars(example = &"ANTHROPIC_API_KEY")]
    pub key_env: Option<String>,
    /// Whether that variable is set.
    pub has_key: bool,
    /// The environment variable that says where it is, where there is one.
    #[schemars(example = &"ANTHROPIC_BASE_URL")]
    pub base_url_env: Option<String>,
    /// Used when the key is all that is known.
    #[schemars(example = &"claude-sonnet-4-5")]
    pub default_model: Option<String>,
    /// Models that are known; others work as well.
    pub models: Vec<String>,
}

/// What the server has to know of models.
pub trait Shelf: Send + Sync {
    /// The configured ones.
    fn names(&self) -> ModelNames;

    fn sources(&self) -> ModelSources;

    /// Whether a model, as PROVIDER/MODEL, answers; what is known of it, or what is wrong and how to mend it.
    fn test<'a>(&'a self, model: &'a str) -> BoxFuture<'a, Result<String, Problem>>;
}

pub async fn list(State(app): State<App>) -> Json<ModelSources> {
    Json(app.models.sources())
}

/// The models that are configured in this workspace, and those that can be chosen for a chat.
pub async fn options(State(app): State<App>, Ids(workspace): Ids<WorkspaceId>) -> ApiResult<ModelOptions> {
    Ok(Json(app.sessions.model_options(workspace).await?))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TestBody {
    /// As PROVIDER/MODEL.
    #[schemars(example = &"demo/demo")]
    model: String,
}

/// How a model did.
#[derive(JsonSchema, Serialize)]
pub struct TestAnswer {
    /// Whether it can be used.
    success: bool,
    /// What is known of it, or what is wrong and how to mend it.
    detail: String,
}

/// Asks the provider for its models, which costs nothing. A model that can't be used is an answer like any other.
pub async fn test(State(app): State<App>, Body(body): Body<TestBody>) -> ApiResult<TestAnswer> {
    let (success, detail) = match app.models.test(&body.model).await {
        Ok(detail) => (true, detail),
        Err(problem) => (false, problem.message),
    };
    Ok(Json(TestAnswer { success, detail }))
}
