//! Which parts of a workspace's own configuration need the user's trust.

use schemars::JsonSchema;
use serde::Serialize;

/// The parts of a workspace's file that would run or allow something. They apply when the user has accepted exactly this file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Trust {
    /// Whether nothing needs acceptance: neither the file nor a changed MCP server.
    pub trusted: bool,
    /// Whether all of the file applies.
    pub file_trusted: bool,
    /// The hash of the file; null if there is none.
    pub sha256: Option<String>,
    pub items: Vec<TrustItem>,
    /// What is ignored, and why.
    pub warnings: Vec<String>,
}

/// One item that needs the user's trust.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TrustItem {
    /// `model`, `provider`, `mcp_server` or `setting` of the file; `mcp_change` for a server that differs from what was accepted.
    pub kind: &'static str,
    /// For example `models.plan`.
    pub key: String,
    pub value: serde_json::Value,
    /// The line in the file; null if it is not from the file.
    pub line: Option<usize>,
    /// The hash to accept this item alone; items of the file are accepted by the hash of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

impl Trust {
    /// For a workspace without anything to trust.
    #[must_use]
    pub fn nothing() -> Self {
        Self { trusted: true, file_trusted: true, sha256: None, items: Vec::new(), warnings: Vec::new() }
    }
}
