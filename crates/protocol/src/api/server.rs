//! The server, its user and what it answers to a message.

use crate::ids::UserId;
use crate::message::Message;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The signed-in user, and this server.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Me {
    pub user: User,
    /// The server's version.
    #[schemars(example = &"0.1.0")]
    pub version: String,
    pub auth: AuthMode,
    pub models: ModelNames,
    /// Whether one of these models reads images.
    pub takes_images: bool,
}

/// A user with an account, or the person who runs a server without accounts.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct User {
    /// Null without an account.
    pub id: Option<UserId>,
    #[schemars(example = &"you")]
    pub name: String,
    /// Whether they administer the server: they own the workspaces without members, and see failed sign-ins.
    pub admin: bool,
    /// Whether they may add folders as workspaces.
    pub adds_folders: bool,
}

/// The way of signing in, without its secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AuthMode {
    Token,
    Off,
    Users,
}

/// The configured model of each mode, as PROVIDER/MODEL; null if there is none.
#[derive(Clone, Debug, Default, JsonSchema, Deserialize, Serialize)]
pub struct ModelNames {
    #[schemars(example = &"anthropic/claude-sonnet-4-5")]
    pub plan: Option<String>,
    #[schemars(example = &"local/qwen3-coder")]
    pub act: Option<String>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct MessageAnswer {
    pub message: Option<Message>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct ImageContent {
    #[schemars(example = &"image/png")]
    pub mime_type: String,
    /// The bytes of the file, as base64.
    pub data: String,
}
