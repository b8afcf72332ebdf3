//! The whole prompt of each role, as it is sent. `UPDATE_GOLDEN=1 cargo test` writes them anew.

use planwright_agent::prompt::{PromptFacts, system_prompt, tool_definitions};
use planwright_protocol::Role;
use planwright_tools::Offer;
use std::fmt::Write;
use std::path::Path;

/// The prompt with every part it can have, and the tools that go with it.
fn prompt_of(role: Role) -> String {
    let environment = ["Paths begin with / at the root of the workspace.".to_owned()];
    let instructions = [("/AGENTS.md".to_owned(), "Run the tests with `make test`.".to_owned())];
    let facts = PromptFacts {
        approved_plan: Some("# Greet in French\n\n## Steps\n\n- [ ] 1. Say bonjour"),
        instructions: &instructions,
        environment: &environment,
        offer: Offer::default(),
        mcp_tools: &[],
        works_for: None,
    };
    let mut text = system_prompt(role, &facts);
    text.push_str("\n\n---- tools ----\n");
    for tool in tool_definitions(role, Offer::default(), &[]) {
        let _ = write!(text, "\n{}: {}\n{}\n", tool.name, tool.description, tool.schema);
    }
    text
}

#[test]
fn each_role_has_the_prompt_that_lies_in_the_folder() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/prompts");
    let mut differing = Vec::new();
    for role in Role::all() {
        let (file, prompt) = (folder.join(format!("{role}.txt")), prompt_of(role));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&file, &prompt).unwrap();
        }
        if std::fs::read_to_string(&file).unwrap_or_default() != prompt {
            differing.push(role.to_string());
        }
    }
    assert!(differing.is_empty(), "other prompts than in {}: {}", folder.display(), differing.join(", "));
}
