use crate::App;
use crate::answer::ApiResult;
use crate::guard::Caller;
use crate::request::{Body, Ids};
use axum::Json;
use axum::extract::State;
use futures::future::BoxFuture;
use planwright_protocol::api::server::ModelNames;
use planwright_protocol::api::workspace::ModelOptions;
use planwright_protocol::{Problem, WorkspaceId};
use planwright_store::Rank;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The providers of models, and what each still needs.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct ModelSources {
    /// The path of the user's configuration file, whether or not it exists.
    #[schemars(example = &"/home/you/.config/planwright/config.toml")]
    pub config_file: Option<String>,
    pub providers: Vec<ProviderView>,
}

/// A provider of models.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct ProviderView {
    /// The first part of PROVIDER/MODEL.
    #[schemars(example = &"anthropic")]
    pub name: String,
    #[schemars(example = &"Anthropic")]
    pub title: String,
    /// Whether the configuration names it; the others need no entry.
    pub configured: bool,
    /// The environment variable that holds the key; null if none is needed.
    #[schemars(example = &"ANTHROPIC_API_KEY")]
    pub key_env: Option<String>,
    /// Whether that variable is set.
    pub has_key: bool,
    /// The environment variable with its address, if there is one.
    #[schemars(example = &"ANTHROPIC_BASE_URL")]
    pub base_url_env: Option<String>,
    /// The model to use if only the key is known.
    #[schemars(example = &"claude-sonnet-4-5")]
    pub default_model: Option<String>,
    /// Known models; others work as well.
    pub models: Vec<String>,
}

/// The server's view of models.
pub trait ModelDirectory: Send + Sync {
    /// The configured ones.
    fn names(&self) -> ModelNames;

    fn sources(&self) -> ModelSources;

    /// Checks whether a model, as PROVIDER/MODEL, is usable; returns facts about it, or the problem and its fix.
    fn test<'a>(&'a self, model: &'a str) -> BoxFuture<'a, Result<String, Problem>>;
}

pub async fn list(State(app): State<App>, caller: Caller) -> Json<ModelSources> {
    let sources = app.models.sources();
    // Other users can't edit the file, and its path names a home of the machine.
    let is_admin = caller.account.is_none_or(|account| account.rank == Rank::Admin);
    Json(ModelSources { config_file: sources.config_file.filter(|_| is_admin), ..sources })
}

/// The models configured for this workspace, and those that a chat can choose.
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

/// The result of a check.
#[derive(JsonSchema, Serialize)]
pub struct TestAnswer {
    /// Whether the model is usable.
    success: bool,
    /// Facts about the model, or the problem and how to fix it.
    detail: String,
}

/// Asks the provider for its models, which costs nothing. An unusable model is a normal result.
pub async fn test(State(app): State<App>, Body(body): Body<TestBody>) -> ApiResult<TestAnswer> {
    let (success, detail) = match app.models.test(&body.model).await {
        Ok(detail) => (true, detail),
        Err(problem) => (false, problem.message),
    };
    Ok(Json(TestAnswer { success, detail }))
}
