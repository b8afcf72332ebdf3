//! What goes with every request costs the user every time, so it has a budget.

use planwright_agent::prompt::{PromptFacts, system_prompt, tool_definitions};
use planwright_protocol::{Mode, Role};
use planwright_tools::{Offer, SearchOffer};
use serde_json::{Value, json};

const PLAN: usize = 9_000;
const ACT: usize = 11_000;

/// Bytes of system prompt and tool definitions, as the Anthropic wire has them, without `AGENTS.md`, plan and MCP.
fn size(role: Role) -> usize {
    let tool = |tool: &planwright_agent::ToolDefinition| json!({ "name": tool.name, "description": tool.description, "input_schema": tool.schema });
    let offer = Offer { search: SearchOffer::On, ..Offer::default() };
    let tools: Value = tool_definitions(role, offer, &[]).iter().map(tool).collect();
    json!({ "system": system_prompt(role, &PromptFacts { offer, ..PromptFacts::default() }), "tools": tools }).to_string().len()
}

#[test]
fn prompt_and_tools_of_each_role_stay_within_their_budget() {
    let sizes: Vec<(Role, usize)> = Role::all().map(|role| (role, size(role))).collect();
    for (role, size) in &sizes {
        let most = match role.mode() {
            Mode::Plan => PLAN,
            Mode::Act => ACT,
        };
        assert!(*size <= most, "{role} has {size} bytes, at most {most}: {sizes:?}");
    }
}
