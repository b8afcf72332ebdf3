use super::*;

#[test]
fn the_tool_config_is_plan_mode_unless_said() {
    let config = ToolConfig::default();
    assert!(config.plan_mode && config.active_plan_path.is_none());
}

#[test]
fn read_only_is_said_of_exactly_the_tools_that_change_nothing() {
    let marked: Vec<&str> = BUILTIN.iter().filter(|tool| tool.spec().read_only).map(|tool| tool.spec().name).collect();
    assert_eq!(
        marked,
        [
            "read",
            "ls",
            "history",
            "web_fetch",
            "glob",
            "grep",
            "outline",
            "symbols",
            "references",
            "explore",
            "web_search",
            "ask_user",
            "submit_review"
        ]
    );
}

#[test]
fn a_tool_is_known_by_exactly_its_name() {
    assert!(tool_named("write").is_ok());
    for name in ["Write", " write", "write ", "write\0", "../write", "shell", ""] {
        assert_eq!(tool_named(name).err().map(|problem| problem.code), Some(ErrorCode::ToolUnknown), "{name:?}");
    }
}
