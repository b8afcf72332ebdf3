//! The tools, as clients read them.

use planwright_protocol::Role;
use planwright_tools::tool::{Spec, Tool};
use planwright_tools::{BUILTIN, Inspect, tools_of};
use serde::Serialize;
use serde_json::Value;

#[derive(Debug, Serialize)]
pub struct ToolView {
    #[serde(flatten)]
    pub spec: Spec,
    pub description: String,
    pub schema: Value,
}

/// The tools a role has; all there are when no role is named.
#[must_use]
pub fn tool_views(role: Option<Role>, inspect: Inspect) -> Vec<ToolView> {
    let view = |tool: &dyn Tool| ToolView { spec: *tool.spec(), description: tool.description(), schema: tool.schema() };
    let listed: Vec<&dyn Tool> = role.map_or_else(|| BUILTIN.to_vec(), |role| tools_of(role, inspect).collect());
    listed.into_iter().map(view).collect()
}
