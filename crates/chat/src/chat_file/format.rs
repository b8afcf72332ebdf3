//! The file of a chat: YAML frontmatter, and a transcript for people to read.
//!
//! The database is authoritative; nothing is read back from the file. People may edit it, so nothing that is not ours is removed.

use planwright_plan::frontmatter::{read_yaml, replace_key, scalar, write_yaml};
use planwright_protocol::message::ToolOutcome;
use planwright_protocol::{Author, ChatConfig, ChatId, Message, MessageBody, MessageType, Timestamp};
use serde_json::{Map, Value};
use std::collections::HashSet;

/// Maximum size of one message in the file.
const LONGEST_ENTRY: usize = 64 << 10;
/// Maximum length of a call's arguments: enough to recognise the call.
const LONGEST_ARGS: usize = 200;
const FENCE: &str = "---";

/// The content of the frontmatter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatHeader {
    pub id: ChatId,
    pub title: String,
    pub config: ChatConfig,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl ChatHeader {
    /// Whether two headers need the same frontmatter: new times alone are no reason to rewrite it.
    #[must_use]
    pub fn tells_the_same(&self, other: &ChatHeader) -> bool {
        (self.id, &self.title, &self.config) == (other.id, &other.title, &other.config)
    }

    /// Whether a file that begins like this has this frontmatter, ignoring times.
    #[must_use]
    pub fn is_shown_by(&self, beginning: &[u8]) -> bool {
        let (Some(found), Some(mut wanted)) = (frontmatter(beginning), frontmatter(&self.put_into(&[]))) else { return false };
        wanted.retain(|key, _| key != "updated_at");
        wanted.iter().all(|(key, value)| found.get(key) == Some(value))
    }

    /// The file's content with this frontmatter. Keeps foreign keys, and everything else byte for byte.
    #[must_use]
    pub fn put_into(&self, content: &[u8]) -> Vec<u8> {
        let (yaml, rest) = match split(content) {
            Some((yaml, rest)) => (self.patched(yaml), rest),
            None => (self.lines().map(|(_, line)| line).concat(), without_broken_frontmatter(content)),
        };
        [format!("{FENCE}\n{yaml}{FENCE}\n").as_bytes(), rest].concat()
    }

    /// Patched line by line, so that foreign keys and comments stay; rewritten if there is no line per key.
    fn patched(&self, yaml: &str) -> String {
        let lines = self.lines();
        let mut patched = lines.iter().fold(yaml.to_owned(), |yaml, (key, line)| replace_key(&yaml, key, line));
        if !patched.ends_with('\n') {
            patched.push('\n');
        }
        let own = lines.iter().map(|(_, line)| line.as_str()).collect::<String>();
        let wanted: Map<String, Value> = read_yaml(&own).unwrap_or_default();
        let fits = |found: &Map<String, Value>| wanted.iter().all(|(key, value)| found.get(key) == Some(value));
        if read_yaml(&patched).is_ok_and(|found: Map<String, Value>| fits(&found)) {
            return patched;
        }
        let mut others: Map<String, Value> = read_yaml(yaml).unwrap_or_default();
        others.retain(|key, _| !wanted.contains_key(key));
        own + &write_yaml(&others)
    }

    fn lines(&self) -> [(&'static str, String); 8] {
        let config = serde_json::to_value(&self.config).unwrap_or_default();
        let text = |value: &Value| value.as_str().map_or_else(|| "null".to_owned(), scalar);
        [
            ("id", scalar(&self.id.to_string())),
            ("title", scalar(&self.title)),
            ("agent_role", text(&config["agent_role"])),
            ("agent_mode", text(&config["agent_mode"])),
            ("mode", text(&config["mode"])),
            ("plan_file", text(&config["plan_file"])),
            ("created_at", scalar(&self.created_at.to_string())),
            ("updated_at", scalar(&self.updated_at.to_string())),
        ]
        .map(|(key, value)| (key, format!("{key}: {value}\n")))
    }
}

/// A file's frontmatter; `None` if it has no valid one.
#[must_use]
pub fn frontmatter(content: &[u8]) -> Option<Map<String, Value>> {
    read_yaml(split(content)?.0).ok()
}

/// A message as a transcript entry; `None` if there is nothing to show.
#[must_use]
pub fn entry(message: &Message) -> Option<String> {
    entry_within(message, LONGEST_ENTRY)
}

/// The same, without a length limit.
#[must_use]
pub fn whole_entry(message: &Message) -> Option<String> {
    entry_within(message, usize::MAX)
}

fn entry_within(message: &Message, longest: usize) -> Option<String> {
    let mark = mark(message);
    let heading = |who: &str| format!("\n## {who}, {} {mark}\n\n", message.created_at.strftime("%Y-%m-%d %H:%M:%S UTC"));
    let who = match message.author {
        Author::User => "User".to_owned(),
        Author::System => "System".to_owned(),
        Author::Assistant | Author::Tool => message.agent_role.map_or_else(|| "Assistant".to_owned(), |role| role.to_string()),
    };
    match &message.body {
        MessageBody::ToolCall(call) => Some(format!("\n- `{}` {} {mark}\n", call.tool, one_line(&call.args_text()))),
        // Only the status of a tool result: contents of files, and secrets in them, are not copied.
        MessageBody::ToolResult(result) => Some(format!("  - {}: {} {mark}\n", result.tool, fate(&result.outcome, &message.content))),
        MessageBody::Unknown(unknown) if unknown.message_type == MessageType::ToolResult => None,
        MessageBody::UserText(_)
        | MessageBody::Answer(_)
        | MessageBody::AssistantText(_)
        | MessageBody::Question(_)
        | MessageBody::Plan(_)
        | MessageBody::Notice(_)
        | MessageBody::Unknown(_)
            if message.content.trim().is_empty() =>
        {
            None
        }
        MessageBody::UserText(_)
        | MessageBody::Answer(_)
        | MessageBody::AssistantText(_)
        | MessageBody::Question(_)
        | MessageBody::Notice(_)
        | MessageBody::Unknown(_) => {
            let images = message.images().iter().map(|image| format!("({}, {} bytes)", image.mime_type, image.size));
            let parts: Vec<String> = std::iter::once(shortened(&message.content, longest)).chain(images).collect();
            Some(format!("{}{}\n", heading(&who), parts.join("\n\n")))
        }
        MessageBody::Plan(version) => {
            Some(format!("{}{}\n\nPlan: {}\n", heading(&who), shortened(&message.content, longest), version.plan_file))
        }
    }
}

/// The messages after the newest one in the file. Entries that people removed stay removed.
#[must_use]
pub fn missing_from<'m>(content: &[u8], history: &'m [Message]) -> &'m [Message] {
    let text = String::from_utf8_lossy(content);
    let marks: HashSet<&str> = text.split("<!-- ").skip(1).filter_map(|rest| rest.split(" -->").next()).collect();
    let newest = history.iter().rposition(|message| marks.contains(message.id.to_string().as_str()));
    &history[newest.map_or(0, |newest| newest + 1)..]
}

/// A comment with the message's id, invisible in rendered Markdown.
fn mark(message: &Message) -> String {
    format!("<!-- {} -->", message.id)
}

fn fate(outcome: &ToolOutcome, content: &str) -> String {
    match outcome {
        ToolOutcome::Succeeded(_) => "done".to_owned(),
        ToolOutcome::Failed(_) => one_line(content),
    }
}

fn one_line(text: &str) -> String {
    shortened(&text.split_whitespace().collect::<Vec<_>>().join(" "), LONGEST_ARGS)
}

fn shortened(text: &str, longest: usize) -> String {
    if text.len() <= longest {
        return text.trim_end().to_owned();
    }
    format!("{} …", &text[..text.floor_char_boundary(longest)])
}

/// The YAML between the fences, if it is a map, and the rest.
fn split(content: &[u8]) -> Option<(&str, &[u8])> {
    let start = fence(content)?;
    let mut end = start;
    for line in content[start..].split_inclusive(|&byte| byte == b'\n') {
        if line.trim_ascii_end() == FENCE.as_bytes() {
            let yaml = std::str::from_utf8(&content[start..end]).ok()?;
            let is_map = yaml.trim().is_empty() || read_yaml::<Map<String, Value>>(yaml).is_ok();
            return is_map.then(|| (yaml, &content[end + line.len()..]));
        }
        end += line.len();
    }
    None
}

/// The end of the first line, if it opens a frontmatter.
fn fence(content: &[u8]) -> Option<usize> {
    let line = content.split_inclusive(|&byte| byte == b'\n').next()?;
    let text = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
    (text.trim_ascii_end() == FENCE.as_bytes()).then_some(line.len())
}

/// The rest of a file with an invalid frontmatter: removes only our own lines, and only at the top, because its end is unknown.
fn without_broken_frontmatter(content: &[u8]) -> &[u8] {
    let Some(mut at) = fence(content) else { return content };
    let keys = ["id", "title", "agent_role", "agent_mode", "mode", "plan_file", "created_at", "updated_at"];
    for line in content[at..].split_inclusive(|&byte| byte == b'\n') {
        let ours = keys.iter().any(|key| line.strip_prefix(key.as_bytes()).is_some_and(|rest| rest.starts_with(b":")));
        let closes = line.trim_ascii_end() == FENCE.as_bytes();
        if !ours && !closes {
            break;
        }
        at += line.len();
        if closes {
            break;
        }
    }
    &content[at..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_protocol::message::{ToolCall, ToolResult, UserText};
    use planwright_protocol::{CallId, ErrorCode, Problem, Role};
    use serde_json::json;

    fn header() -> ChatHeader {
        let config = ChatConfig { role: Role::Planner, plan_file: None };
        let at = "2026-11-15T12:00:00Z".parse().unwrap();
        ChatHeader { id: ChatId::generate(), title: "Fix: the # of bugs".to_owned(), config, created_at: at, updated_at: at }
    }

    fn put(header: &ChatHeader, content: &str) -> String {
        String::from_utf8(header.put_into(content.as_bytes())).unwrap()
    }

    #[test]
    fn a_header_reads_back_as_what_was_written() {
        let header = header();
        let read = frontmatter(put(&header, "").as_bytes()).unwrap();
        let expected = json!({
            "id": header.id, "title": "Fix: the # of bugs", "agent_role": "planner", "agent_mode": "plan", "mode": "plan",
            "plan_file": null, "created_at": "2026-11-15T12:00:00Z", "updated_at": "2026-11-15T12:00:00Z",
        });
        assert_eq!(Value::Object(read), expected);
    }

    #[test]
    fn every_title_survives_as_yaml() {
        for title in ["yes", "null", "- a", "\"quoted\"", "a: b", "标题", "#x", "---", "a\\b", "1", "{}", "'", " x", "|"] {
            let header = ChatHeader { title: title.to_owned(), ..header() };
            assert_eq!(frontmatter(put(&header, "").as_bytes()).unwrap()["title"], title);
        }
    }

    #[test]
    fn another_header_changes_its_own_keys_and_nothing_else() {
        let old = header();
        let by_hand = put(&old, "\nmy words\n---\ntitle: not this one\n").replacen("---\n", "---\n# mine\ntags: [a, b]\n", 1);
        let new = ChatHeader {
            title: "New".to_owned(),
            config: ChatConfig { role: Role::Actor, plan_file: Some("/plans/x.plan".into()) },
            ..old
        };
        let written = put(&new, &by_hand);
        assert!(written.ends_with("---\n\nmy words\n---\ntitle: not this one\n"), "{written}");
        assert!(written.starts_with("---\n# mine\ntags: [a, b]\n"), "{written}");
        let read = frontmatter(written.as_bytes()).unwrap();
        assert_eq!((&read["title"], &read["mode"], &read["tags"]), (&json!("New"), &json!("build"), &json!(["a", "b"])));
        assert_eq!(put(&new, &written), written, "the same header changes nothing");
        let flow = put(&new, "---\n{tags: [a], title: x}\n---\nrest");
        assert_eq!(frontmatter(flow.as_bytes()).unwrap()["tags"], json!(["a"]));
        assert!(flow.ends_with("---\nrest"));
    }

    #[test]
    fn a_broken_frontmatter_is_replaced_and_no_other_line_is_lost() {
        let header = header();
        for (broken, kept) in [
            ("no frontmatter\n", "no frontmatter\n"),
            ("---\nid: 1\ntitle: \"open\nmy words\n---\nmore\n", "my words\n---\nmore\n"),
            ("---\nid: 1\nno end", "no end"),
            ("---\nid: [\n---\nmy words\n", "my words\n"),
            ("---\nid: 1\nid: 2\n---\nmy words\n", "my words\n"),
            ("---\njust text\n---\nmore\n", "just text\n---\nmore\n"),
            ("---", ""),
            ("---\r\nid: 1\r\n---\r\nmy words\r\n", "my words\r\n"),
        ] {
            let written = put(&header, broken);
            assert!(written.ends_with(&format!("---\n{kept}")), "{broken:?} became {written:?}");
            assert_eq!(frontmatter(written.as_bytes()).unwrap()["id"], header.id.to_string());
        }
        assert!(header.put_into(b"\xff\xfe\n").ends_with(b"---\n\xff\xfe\n"), "what is no text is kept as well");
    }

    #[test]
    fn a_transcript_has_what_was_said_and_only_the_fate_of_calls() {
        let chat = ChatId::generate();
        let call = Message::new(chat, ToolCall::new(CallId::generate(), "read", json!({"path": "/.env"})), "");
        let result = |outcome, content: &str| {
            let result = ToolResult { call_id: CallId::generate(), tool: "read".to_owned(), outcome, question_id: None, body_size: None };
            Message::new(chat, result, content)
        };
        let failed = result(ToolOutcome::Failed(Problem::new(ErrorCode::PathNotFound, "no")), "PATH_NOT_FOUND: no");
        let result = result(ToolOutcome::Succeeded(None), "KEY=hunter2");
        let said = Message::new(chat, UserText::default(), "Look\nat it");
        assert!(entry(&said).unwrap().contains("\n\nLook\nat it\n") && entry(&said).unwrap().starts_with("\n## User, "));
        assert!(entry(&call).unwrap().starts_with("\n- `read` {\"path\":\"/.env\"} "));
        assert!(!entry(&result).unwrap().contains("hunter2") && entry(&failed).unwrap().contains("PATH_NOT_FOUND"));
    }

    #[test]
    fn messages_after_the_newest_one_of_the_file_are_missing_from_it() {
        let chat = ChatId::generate();
        let history: Vec<Message> = ["a", "b", "c", "d"].map(|text| Message::new(chat, UserText::default(), text)).into();
        let file: String = [&history[0], &history[2]].into_iter().filter_map(entry).collect();
        assert_eq!(missing_from(file.as_bytes(), &history), &history[3..], "what was taken out by hand stays out");
        assert_eq!(missing_from(b"<!-- --> <!-- x", &history), &history[..]);
        assert!(missing_from(history.iter().filter_map(entry).collect::<String>().as_bytes(), &history).is_empty());
    }
}
