//! Writes a text or a list of names into Markdown lines, and parses it back.
//!
//! Text is written verbatim if it parses back to the same text. Otherwise it becomes a JSON string on one line: odd to look at,
//! but never a different text, and never mistaken for a heading, a box or a key.

use crate::step::Key;

/// The kind of a text, if that changes how it is parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextKind {
    Prose,
    /// People put commands in backticks, which are not part of them.
    Command,
}

/// Writes a text: its first line, then the others indented, so that they stay in the list item.
pub(crate) fn write_text(text: &str, kind: TextKind, indent: usize) -> String {
    if !stands_plain(text, kind) {
        return quote(text);
    }
    let mut written = String::with_capacity(text.len());
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            written.push('\n');
            if !line.is_empty() {
                written.extend(std::iter::repeat_n(' ', indent));
            }
        }
        written.push_str(line);
    }
    written
}

/// Parses a text from its first line and the lines below, which are indented by `indent` or, by hand, less.
pub(crate) fn read_text(first: &str, below: &[&str], kind: TextKind, indent: usize) -> String {
    let first = first.trim();
    if below.is_empty() {
        return match (unquote(first), kind) {
            (Some(text), TextKind::Prose | TextKind::Command) => text,
            (None, TextKind::Command) => without_backticks(first).unwrap_or(first).to_owned(),
            (None, TextKind::Prose) => first.to_owned(),
        };
    }
    let shift = below.iter().filter(|line| !line.trim().is_empty()).map(|line| indent_of(line)).min().unwrap_or(0).min(indent);
    let mut text = first.to_owned();
    for line in below {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(shift_left(line.trim_end(), shift));
    }
    text
}

/// Writes names as a list with commas; quotes only names that would be parsed differently.
pub(crate) fn write_list(names: &[String]) -> String {
    names.iter().map(|name| if is_plain_name(name) { name.clone() } else { quote(name) }).collect::<Vec<_>>().join(", ")
}

/// Parses names from one line: plain, in backticks or as JSON strings, separated by commas. A comma inside braces belongs to the
/// glob, as in `src/{a,b}.rs`.
pub(crate) fn read_list(line: &str) -> Vec<String> {
    split_list(line, Braces::HoldCommas).unwrap_or_else(|| split_list(line, Braces::AreLetters).unwrap_or_default())
}

/// A JSON string that escapes everything an editor would not show verbatim.
pub(crate) fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c if is_unseen(c) => quoted.extend(["\\u".to_owned(), format!("{:04x}", u32::from(c))]),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Control characters, and characters that make a line look different from what it is.
pub(crate) fn is_unseen(c: char) -> bool {
    c.is_control() || turns_text(c) || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}')
}

/// Characters that change the direction of the following text.
pub(crate) fn turns_text(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The columns of leading white space. A tab extends to the next multiple of four, as in Markdown.
pub(crate) fn indent_of(line: &str) -> usize {
    let mut columns = 0;
    for byte in line.bytes() {
        match byte {
            b' ' => columns += 1,
            b'\t' => columns = columns / 4 * 4 + 4,
            _ => break,
        }
    }
    columns
}

/// The text of a line after a bullet such as `-`, `*` or `+`, if it has one.
pub(crate) fn after_bullet(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix(['-', '*', '+'])?;
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then(|| rest.trim_start())
}

fn stands_plain(text: &str, kind: TextKind) -> bool {
    let mut lines = text.split('\n');
    let first = lines.next().unwrap_or_default();
    !text.is_empty()
        && text.trim() == text
        && !text.chars().any(|c| c != '\n' && c != '\t' && is_unseen(c))
        && text.split('\n').all(|line| line.trim_end() == line)
        && (first != text || unquote(text).is_none())
        && (kind == TextKind::Prose || without_backticks(text).is_none())
        && lines.all(|line| Key::of_line(line).is_none())
}

fn unquote(text: &str) -> Option<String> {
    if text.len() < 2 || !text.starts_with('"') || !text.ends_with('"') {
        return None;
    }
    serde_json::from_str(text).ok()
}

fn without_backticks(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('`')?.strip_suffix('`')?;
    (!inner.is_empty() && !inner.contains(['`', '\n'])).then_some(inner)
}

fn shift_left(line: &str, columns: usize) -> &str {
    let mut gone = 0;
    for (at, byte) in line.bytes().enumerate() {
        if gone >= columns || !matches!(byte, b' ' | b'\t') {
            return &line[at..];
        }
        gone = if byte == b' ' { gone + 1 } else { gone / 4 * 4 + 4 };
    }
    ""
}

fn is_plain_name(name: &str) -> bool {
    !name.is_empty()
        && name.trim() == name
        && !name.starts_with(['"', '`'])
        && !name.chars().any(is_unseen)
        && split_list(name, Braces::HoldCommas).is_some_and(|names| names == [name])
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Braces {
    HoldCommas,
    AreLetters,
}

/// `None` if braces contain commas and one of them has no partner.
fn split_list(line: &str, braces: Braces) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let mut rest = line.trim();
    while !rest.is_empty() {
        if let Some((name, after)) = quoted_name(rest) {
            names.push(name);
            rest = after;
            continue;
        }
        let end = plain_end(rest, braces)?;
        let name = rest[..end].trim();
        if !name.is_empty() {
            names.push(name.to_owned());
        }
        rest = rest.get(end + 1..).unwrap_or_default().trim_start();
    }
    Some(names)
}

fn plain_end(rest: &str, braces: Braces) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in rest.bytes().enumerate() {
        match byte {
            b'{' if braces == Braces::HoldCommas => depth += 1,
            b'}' if braces == Braces::HoldCommas => depth = depth.checked_sub(1)?,
            b',' if depth == 0 => return Some(at),
            _ => {}
        }
    }
    (depth == 0).then_some(rest.len())
}

/// A name in quotes or backticks that ends at a comma or the line's end, and the text after that comma.
fn quoted_name(rest: &str) -> Option<(String, &str)> {
    let mark = rest.chars().next().filter(|c| matches!(c, '"' | '`'))?;
    let mut escaped = false;
    let end = rest.char_indices().skip(1).find_map(|(at, c)| {
        let ends = c == mark && !escaped;
        escaped = mark == '"' && c == '\\' && !escaped;
        ends.then_some(at + 1)
    })?;
    let after = rest[end..].trim_start();
    let after = if after.is_empty() { after } else { after.strip_prefix(',')?.trim_start() };
    let name = if mark == '"' { serde_json::from_str(&rest[..end]).ok()? } else { rest[1..end - 1].to_owned() };
    Some((name, after))
}
