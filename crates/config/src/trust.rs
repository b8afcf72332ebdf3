//! What of a workspace's own configuration needs the user's trust.

use schemars::JsonSchema;
use serde::Serialize;

/// What the file of a workspace wants that would run or widen something. It is obeyed when the user has accepted the
/// file as it is.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Trust {
    /// Whether nothing waits for the user's word: the file, and no MCP server that has changed.
    pub trusted: bool,
    /// Whether all that the file wants is obeyed.
    pub file_trusted: bool,
    /// The hash of the file; null where there is none.
    pub sha256: Option<String>,
    pub items: Vec<TrustItem>,
    /// What is ignored, and why.
    pub warnings: Vec<String>,
}

/// One thing that needs the user's trust.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TrustItem {
    /// `model`, `provider`, `mcp_server` or `setting` of the file; `mcp_change` of a server that is not what was accepted.
    pub kind: &'static str,
    /// As in `models.plan`.
    pub key: String,
    pub value: serde_json::Value,
    /// Of the file; null for what does not stand there.
    pub line: Option<usize>,
    /// To accept this alone by; the file's items are accepted by the hash of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

impl Trust {
    /// Where there is nothing to trust.
    #[must_use]
    pub fn nothing() -> Self {
        Self { trusted: true, file_trusted: true, sha256: None, items: Vec::new(), warnings: Vec::new() }
    }
}
