//! Converts a server's answer to data for the model. Links in it are never followed.

use crate::redaction::Redaction;
use planwright_protocol::{ErrorCode, Problem};
use planwright_tools::WorkspacePath;
use planwright_tools::command::for_model;
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use std::path::Path;

/// The text of an answer.
///
/// # Errors
/// The server reports a failed call, or links to a file outside the workspace.
pub fn answer_text(server: &str, result: CallToolResult, workspace: &Path, redaction: &Redaction) -> Result<String, Problem> {
    let mut parts = Vec::new();
    for block in result.content {
        parts.push(part(block, workspace)?);
    }
    if let (Some(data), true) = (&result.structured_content, parts.iter().all(String::is_empty)) {
        parts.push(data.to_string());
    }
    // Redacted before it is shortened, and again after control characters are removed.
    let text = redaction.text(&for_model(&redaction.text(&parts.join("\n"))));
    if result.is_error == Some(true) {
        return Err(Problem::new(ErrorCode::McpFailed, format!("The MCP server `{server}` reports that the call failed: {text}")));
    }
    Ok(text)
}

fn part(block: ContentBlock, workspace: &Path) -> Result<String, Problem> {
    let left_out = |what: &str, kind: &str, length: usize| format!("[{what} of {length} bytes, {kind}: not shown]");
    Ok(match block {
        ContentBlock::Text(text) => text.text,
        ContentBlock::Image(image) => left_out("an image", &image.mime_type, image.data.len() / 4 * 3),
        ContentBlock::Audio(audio) => left_out("a sound", &audio.mime_type, audio.data.len() / 4 * 3),
        ContentBlock::Resource(embedded) => match embedded.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => format!("[{uri}]\n{text}"),
            ResourceContents::BlobResourceContents { uri, blob, .. } => left_out(&uri, "binary", blob.len() / 4 * 3),
            _ => String::new(),
        },
        ContentBlock::ResourceLink(link) => format!("[link: {}]", place(&link.uri, workspace)?),
        _ => String::new(),
    })
}

/// The target of a link: files of the workspace get their workspace path; files outside are an error.
fn place(uri: &str, workspace: &Path) -> Result<String, Problem> {
    let Ok(url) = reqwest::Url::parse(uri) else { return Ok(uri.to_owned()) };
    if url.scheme() != "file" {
        return Ok(uri.to_owned());
    }
    let inside = url.to_file_path().ok().and_then(|path| Some(path.strip_prefix(workspace).ok()?.to_str()?.to_owned()));
    let path = inside.and_then(|path| WorkspacePath::parse(&path).ok());
    path.map(|path| path.to_string()).ok_or_else(|| {
        let text = "The server's answer links to a file outside the workspace, so the answer was left out. Files outside can't be read.";
        Problem::new(ErrorCode::PathOutsideWorkspace, text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn said(result: Value) -> Result<String, Problem> {
        answer_text("notes", serde_json::from_value(result).unwrap(), Path::new("/home/me/project"), &Redaction::default())
    }

    #[test]
    fn texts_are_told_and_what_is_no_text_is_counted() {
        let result = json!({ "content": [
            { "type": "text", "text": "\u{1b}[31mone\u{1b}[0m" },
            { "type": "image", "data": "AAAA", "mimeType": "image/png" },
            { "type": "resource", "resource": { "uri": "note://1", "text": "two" } },
            { "type": "resource_link", "uri": "https://example.org/x", "name": "x" },
            { "type": "resource_link", "uri": "file:///home/me/project/src/lib.rs", "name": "y" },
        ] });
        assert_eq!(
            said(result).unwrap(),
            "one\n[an image of 3 bytes, image/png: not shown]\n[note://1]\ntwo\n[link: https://example.org/x]\n[link: /src/lib.rs]"
        );
        assert_eq!(said(json!({ "content": [], "structuredContent": { "a": 1 } })).unwrap(), "{\"a\":1}");
    }

    #[test]
    fn a_failure_is_a_failure_and_a_link_out_of_the_workspace_is_none_at_all() {
        let failed = said(json!({ "content": [{ "type": "text", "text": "no such note" }], "isError": true })).unwrap_err();
        assert!(failed.code == ErrorCode::McpFailed && failed.message.contains("no such note"));
        for uri in ["file:///etc/passwd", "file:///home/me/project/../other", "file:///home/me/projects/x", "FILE:///etc/passwd"] {
            let refused = said(json!({ "content": [{ "type": "resource_link", "uri": uri, "name": "x" }] })).unwrap_err();
            assert_eq!(refused.code, ErrorCode::PathOutsideWorkspace, "{uri}");
        }
    }

    #[test]
    fn of_an_answer_without_end_the_beginning_and_the_end_are_told() {
        let text = said(json!({ "content": [{ "type": "text", "text": "x".repeat(10 << 20) }] })).unwrap();
        assert!(text.len() < 64 << 10 && text.contains("bytes left out"));
    }
}
