//! The frontmatter of a plan file: its goal, its status, its chat.

use crate::outline::RawFrontmatter;
use crate::text::{is_unseen, quote};
use planwright_protocol::PlanFileStatus;
use planwright_protocol::api::plan::Finding;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The known keys; all others belong to the user and stay unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) goal: Option<String>,
    pub(crate) status: PlanFileStatus,
    pub(crate) chat: Option<String>,
    pub(crate) revision: u32,
    pub(crate) estimated_total_time: Option<String>,
}

impl Default for Header {
    fn default() -> Header {
        Header { goal: None, status: PlanFileStatus::Draft, chat: None, revision: 1, estimated_total_time: None }
    }
}

impl Header {
    /// The header, and the status text if it is unknown.
    pub(crate) fn read(frontmatter: RawFrontmatter<'_>) -> Result<(Header, Option<String>), Finding> {
        if frontmatter.yaml.trim().is_empty() {
            return Ok((Header::default(), None));
        }
        let keys: Option<Keys> = read_yaml(frontmatter.yaml).map_err(|error| explain(&error))?;
        let keys = keys.unwrap_or_default();
        let status = keys.status.as_deref().map_or(Some(PlanFileStatus::Draft), PlanFileStatus::parse);
        let header = Header {
            goal: keys.goal.filter(|goal| !goal.trim().is_empty()),
            status: status.unwrap_or_default(),
            chat: keys.chat,
            revision: keys.revision.unwrap_or(1),
            estimated_total_time: keys.estimated_total_time,
        };
        Ok((header, if status.is_none() { keys.status } else { None }))
    }

    pub(crate) fn write(&self) -> String {
        let lines: Vec<String> = self.lines().into_iter().filter_map(|(_, line)| line).collect();
        format!("---\n{}---\n", lines.concat())
    }

    /// The YAML with the differences from `before` replaced line by line; the rest stays unchanged.
    pub(crate) fn patch(&self, yaml: &str, before: &Header, newline: &str) -> String {
        let mut patched = yaml.to_owned();
        for ((key, was), (_, line)) in before.lines().into_iter().zip(self.lines()) {
            if was != line {
                patched = replace_key(&patched, key, &line.unwrap_or_default().replace('\n', newline));
            }
        }
        patched
    }

    /// The YAML rewritten, for frontmatter without one line per key: other keys keep their values but not their formatting.
    pub(crate) fn rewrite(&self, yaml: &str) -> String {
        let lines = self.lines();
        let mut others: Map<String, Value> = read_yaml(yaml).unwrap_or_default();
        others.retain(|other, _| lines.iter().all(|(key, _)| key != other));
        let known: Vec<String> = lines.into_iter().filter_map(|(_, line)| line).collect();
        known.concat() + &write_yaml(&others)
    }

    fn lines(&self) -> [(&'static str, Option<String>); 5] {
        let line = |key: &str, value: &str| format!("{key}: {}\n", scalar(value));
        [
            ("goal", self.goal.as_deref().map(|goal| line("goal", goal))),
            ("status", Some(line("status", self.status.as_str()))),
            ("chat", self.chat.as_deref().map(|chat| line("chat", chat))),
            ("revision", Some(format!("revision: {}\n", self.revision))),
            ("estimated_total_time", self.estimated_total_time.as_deref().map(|time| line("estimated_total_time", time))),
        ]
    }
}

/// The schema of the YAML; other keys are ignored.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Keys {
    goal: Option<String>,
    status: Option<String>,
    chat: Option<String>,
    revision: Option<u32>,
    estimated_total_time: Option<String>,
}

/// Few nodes and no aliases: frontmatter is a handful of lines, and a small file must not expand into a large one.
pub fn read_yaml<'a, T: Deserialize<'a>>(yaml: &'a str) -> Result<T, serde_saphyr::Error> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_events: 2_000,
            max_nodes: 1_000,
            max_aliases: 0,
            max_anchors: 0,
            max_depth: 16,
            max_documents: 1,
            max_merge_keys: 0,
            max_inclusion_depth: 0,
        },
        duplicate_keys: serde_saphyr::DuplicateKeyPolicy::Error,
        merge_keys: serde_saphyr::MergeKeyPolicy::AsOrdinary,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(yaml, options)
}

/// A map as YAML; an empty text for an empty map.
#[must_use]
pub fn write_yaml(map: &Map<String, Value>) -> String {
    if map.is_empty() { String::new() } else { serde_saphyr::to_string(map).unwrap_or_default() }
}

fn explain(error: &serde_saphyr::Error) -> Finding {
    let (line, column) = error.location().map_or((1, 1), |place| (place.line(), place.column()));
    let whole = error.to_string();
    // Without the parser's position, which the finding has relative to the file, and without advice for programmers.
    let reason = whole.lines().next().unwrap_or_default().split(" at line ").next().unwrap_or_default();
    let reason = reason.split(", set ").next().unwrap_or_default().replace("invalid u32", "a whole number is wanted here");
    let line = usize::try_from(line).unwrap_or(1).max(1) + 1;
    let column = usize::try_from(column).unwrap_or(1).max(1);
    Finding::error(
        line,
        column,
        format!("the frontmatter is not valid YAML here ({reason}); fix this line, or put the text in double quotes"),
    )
}

/// Replaces the line of a key and the indented lines below it; appends the line if the key is missing.
pub fn replace_key(yaml: &str, key: &str, line: &str) -> String {
    let mut patched = String::with_capacity(yaml.len() + line.len());
    let mut is_inside = false;
    let mut is_done = false;
    for raw in yaml.split_inclusive('\n') {
        is_inside = is_inside && raw.starts_with([' ', '\t']);
        let begins = !is_done && raw.strip_prefix(key).is_some_and(|rest| rest.trim_start_matches([' ', '\t']).starts_with(':'));
        if begins {
            patched.push_str(line);
            is_inside = true;
            is_done = true;
        } else if !is_inside {
            patched.push_str(raw);
        }
    }
    if !is_done {
        if !patched.is_empty() && !patched.ends_with('\n') {
            patched.push('\n');
        }
        patched.push_str(line);
    }
    patched
}

/// A YAML scalar: plain if every YAML parser reads the same text, otherwise in double quotes.
pub fn scalar(text: &str) -> String {
    let is_word = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"].iter().any(|word| word.eq_ignore_ascii_case(text));
    let is_plain = text.starts_with(char::is_alphabetic)
        && text.trim() == text
        && !is_word
        && !text.ends_with(':')
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.chars().any(is_unseen);
    if is_plain || is_id(text) { text.to_owned() } else { quote(text) }
}

fn is_id(text: &str) -> bool {
    text.len() == 36 && uuid::Uuid::try_parse(text).is_ok()
}
