//! Tool calls in the editor's form: title, kind, locations, diffs.

use crate::changed_text::ChangedText;
use agent_client_protocol::v1::schema::{
    Content, ContentBlock, Diff, ToolCall, ToolCallContent, ToolCallLocation, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields,
    ToolKind,
};
use planwright_protocol::message::{CallStatus, Category, ToolCall as MadeCall, ToolResult};
use serde_json::{Value, json};
use std::path::{Component, Path, PathBuf};

/// Maximum bytes of a result or of a command's output.
const MAX_SHOWN: usize = 16 << 10;

/// A call as the model made it.
pub fn started(call: &MadeCall, root: &Path) -> ToolCall {
    ToolCall::new(call.call_id.to_string(), title(&call.tool, &call.args))
        .name(call.tool.clone())
        .kind(kind(&call.tool, call.category))
        .status(status(call.status))
        .locations(locations(&call.args, root))
        .content(preview(&call.tool, &call.args, root))
        .raw_input(call.args.clone())
}

/// The status of a call, from its message.
pub fn status(status: CallStatus) -> ToolCallStatus {
    match status {
        CallStatus::Pending => ToolCallStatus::Pending,
        CallStatus::Running => ToolCallStatus::InProgress,
        CallStatus::Done => ToolCallStatus::Completed,
        CallStatus::Failed | CallStatus::Cancelled => ToolCallStatus::Failed,
    }
}

/// The result of a call, with the files it changed.
pub fn finished(result: &ToolResult, words: &str, changed: &[ChangedText], root: &Path) -> ToolCallUpdate {
    let error = result.outcome.error();
    let succeeded = error.is_none();
    let mut content: Vec<ToolCallContent> = changed.iter().filter_map(|text| diff(text, root)).collect();
    if content.is_empty() || !succeeded {
        content.push(text(&shown(words)));
    }
    let output = json!({
        "success": succeeded, "output": shown(words), "facts": result.outcome.facts(), "error": error,
    });
    let changed = changed.iter().filter_map(|text| location(&text.path, None, root)).collect::<Vec<_>>();
    let mut fields = ToolCallUpdateFields::new()
        .status(if succeeded { ToolCallStatus::Completed } else { ToolCallStatus::Failed })
        .content(content)
        .raw_output(output);
    if !changed.is_empty() {
        fields = fields.locations(changed);
    }
    ToolCallUpdate::new(result.call_id.to_string(), fields)
}

/// A command's output so far.
pub fn printing(call_id: &str, output: &str) -> ToolCallUpdate {
    let fields = ToolCallUpdateFields::new().status(ToolCallStatus::InProgress).content(vec![text(output)]);
    ToolCallUpdate::new(call_id.to_owned(), fields)
}

/// Keeps the newest part of a command's output.
pub fn keep_newest(output: &mut String) {
    if output.len() > MAX_SHOWN {
        let cut = output.floor_char_boundary(output.len() - MAX_SHOWN / 2);
        output.replace_range(..cut, "…");
    }
}

pub fn text(text: &str) -> ToolCallContent {
    ToolCallContent::Content(Content::new(ContentBlock::from(text)))
}

/// A workspace path on this machine; `None` if it is not in the workspace.
pub fn location(path: &str, line: Option<u32>, root: &Path) -> Option<ToolCallLocation> {
    Some(ToolCallLocation::new(on_machine(path, root)?).line(line))
}

fn on_machine(path: &str, root: &Path) -> Option<PathBuf> {
    let relative = Path::new(path.trim_start_matches('/'));
    relative.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)).then(|| root.join(relative))
}

fn diff(text: &ChangedText, root: &Path) -> Option<ToolCallContent> {
    let new = text.after.clone().unwrap_or_default();
    Some(ToolCallContent::Diff(Diff::new(on_machine(&text.path, root)?, new).old_text(text.before.clone())))
}

/// The changes that a call would make, as far as its arguments show.
pub fn preview(tool: &str, args: &Value, root: &Path) -> Vec<ToolCallContent> {
    let place = args.get("path").and_then(Value::as_str).and_then(|path| on_machine(path, root));
    let word = |key: &str| args.get(key).and_then(Value::as_str).map(str::to_owned);
    let shown = match (tool, place) {
        ("edit", Some(place)) => word("new_string").map(|new| Diff::new(place, new).old_text(word("old_string"))),
        ("write", Some(place)) => word("content").map(|new| Diff::new(place, new)),
        (_, _) => None,
    };
    shown.into_iter().map(ToolCallContent::Diff).collect()
}

pub fn locations(args: &Value, root: &Path) -> Vec<ToolCallLocation> {
    let line = args.get("offset").and_then(Value::as_u64).and_then(|line| u32::try_from(line).ok());
    let named = ["path", "from", "to", "plan_file_path"].into_iter().filter_map(|key| args.get(key).and_then(Value::as_str));
    named.filter_map(|path| location(path, line, root)).collect()
}

fn kind(tool: &str, category: Option<Category>) -> ToolKind {
    match (tool, category) {
        ("rm", _) => ToolKind::Delete,
        ("mv", _) => ToolKind::Move,
        ("exit_plan_mode", _) => ToolKind::SwitchMode,
        ("write_plan" | "update_step", _) => ToolKind::Think,
        (_, Some(Category::Read)) => ToolKind::Read,
        (_, Some(Category::Search)) => ToolKind::Search,
        (_, Some(Category::Write)) => ToolKind::Edit,
        (_, Some(Category::Execute)) => ToolKind::Execute,
        (_, Some(Category::Other) | None) => ToolKind::Other,
    }
}

/// Tools without an entry here are shown by name and path.
pub fn title(tool: &str, args: &Value) -> String {
    let word = |key: &str| args.get(key).map(plain).unwrap_or_default();
    let title = match tool {
        "read" => format!("Read {}", word("path")),
        "ls" => format!("List {}", args.get("path").map_or_else(|| "/".to_owned(), plain)),
        "glob" => format!("Find {}", word("pattern")),
        "grep" => format!("Search for {}", word("pattern")),
        "outline" => format!("Outline {}", word("path")),
        "symbols" => format!("Find definitions of {}", word("query")),
        "references" => format!("Find references to {}", word("symbol")),
        "history" => format!("Git {} {}", word("action"), word("path")),
        "web_fetch" => format!("Fetch {}", word("url")),
        "web_search" => format!("Search the web for {}", word("query")),
        "explore" => "Explore".to_owned(),
        "write" => format!("Write {}", word("path")),
        "edit" => format!("Edit {}", word("path")),
        "touch" | "mkdir" => format!("Create {}", word("path")),
        "mv" => format!("Move {} to {}", word("from"), word("to")),
        "rm" => format!("Delete {}", word("path")),
        "run" => word("command"),
        "ask_user" => "Ask you".to_owned(),
        "write_plan" => format!("Write the plan: {}", word("goal")),
        "exit_plan_mode" => "Ask for approval of the plan".to_owned(),
        "update_step" => format!("Step {}: {}", word("step_number"), word("status")),
        "delegate" => format!("Delegate to {}: {}", word("role"), word("task")),
        "submit_review" => "Submit the review".to_owned(),
        other => format!("{other} {}", word("path")),
    };
    let line: String = title.trim().chars().take(200).map(|character| if character.is_control() { ' ' } else { character }).collect();
    if line.is_empty() { tool.to_owned() } else { line }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn shown(text: &str) -> String {
    let cut = text.floor_char_boundary(MAX_SHOWN);
    let rest = if cut < text.len() { "\n… (shortened; the model read more)" } else { "" };
    format!("{}{rest}", &text[..cut])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_inside_the_workspace_or_not_told() {
        let root = Path::new("/project");
        assert_eq!(on_machine("/src/a.rs", root), Some("/project/src/a.rs".into()));
        assert_eq!(on_machine("../etc/passwd", root), None);
        assert_eq!(on_machine("/src/../../etc", root), None);
    }

    #[test]
    fn what_a_command_prints_is_kept_to_its_newest_part() {
        let mut output = "é".repeat(20_000);
        keep_newest(&mut output);
        assert!(output.len() <= MAX_SHOWN && output.starts_with('…'), "{}", output.len());
    }

    #[test]
    fn a_title_is_one_line_also_where_the_arguments_are_none() {
        assert_eq!(title("run", &json!({"command": "echo a\necho b"})), "echo a echo b");
        assert_eq!(title("server__tool", &Value::Null), "server__tool");
        assert_eq!(title("read", &Value::String("no json".into())), "Read");
    }
}
