use super::files;
use crate::path::WorkspacePath;
use crate::text_file::{self, Encoding, Text, encoding_of};
use crate::tool::{Category, Input, Output, Prepared, Spec, ToolContext};
use crate::workspace::{LARGEST_FILE, Stamp};
use planwright_protocol::Problem;
use schemars::JsonSchema;
use serde::Deserialize;
use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};

/// Read a text file with line numbers, or a part of it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Read {
    path: String,
    /// From 1.
    offset: Option<u64>,
    limit: Option<u64>,
}

const LINES: u64 = 2000;
const LONGEST_LINE: usize = 2000;
const LONGEST_OUTPUT: usize = 100_000;
/// How far into a file `offset` may search for its line, in bytes.
const FARTHEST: u64 = 1 << 30;

impl Input for Read {
    const SPEC: Spec<'static> =
        Spec::reading("read", Category::Read, &[r#"{"path": "/src/a.rs"}"#, r#"{"path": "/src/main.rs", "offset": 200, "limit": 50}"#]);

    fn prepare(self, cx: &ToolContext) -> Result<Prepared, Problem> {
        let path = WorkspacePath::parse(&self.path)?;
        let first = self.offset.unwrap_or(1).max(1);
        let limit = self.limit.unwrap_or(LINES).clamp(1, LINES);
        let file = cx.workspace.open_file(&path)?;
        let effects = files::read_effects(&path, cx.workspace.real_path(&file));
        let cx = cx.clone();
        Ok(Prepared::new(effects, move |_| {
            let failed = |error| files::unreadable(&path, &error);
            let stamp = Stamp::of_file(&file).map_err(failed)?;
            let page = Page::read(file, first, limit).map_err(failed)?.ok_or_else(|| text_file::not_text(&path))?;
            cx.seen.note(&path, stamp);
            Ok(page.into_output(&path, first))
        }))
    }
}

/// The requested lines of a file.
#[derive(Default)]
struct Page {
    text: String,
    lines: u64,
    /// Whether more lines follow.
    more: bool,
    lossy: bool,
}

impl Page {
    /// `None` if the file is not text.
    fn read(file: File, first: u64, limit: u64) -> std::io::Result<Option<Page>> {
        let mut reader = BufReader::with_capacity(64 << 10, file.take(FARTHEST));
        Ok(match encoding_of(reader.fill_buf()?) {
            None => None,
            Some(Encoding::Bytes) => Some(Page::of(reader, first, limit)?),
            Some(Encoding::Utf16(_)) => {
                let mut bytes = Vec::new();
                reader.take(LARGEST_FILE).read_to_end(&mut bytes)?;
                Text::of(&bytes).map(|text| Page::of(text.bytes.as_ref(), first, limit)).transpose()?
            }
        })
    }

    fn of(mut reader: impl BufRead, first: u64, limit: u64) -> std::io::Result<Page> {
        let mut page = Page::default();
        let mut number = 0;
        let mut line = Vec::new();
        loop {
            let wanted = number + 1 >= first;
            if page.lines == limit || page.text.len() > LONGEST_OUTPUT {
                page.more = !reader.fill_buf()?.is_empty();
                return Ok(page);
            }
            let Some(length) = next_line(&mut reader, &mut line, if wanted { LONGEST_LINE } else { 0 })? else { return Ok(page) };
            number += 1;
            if wanted {
                page.push(number, &line, length);
            }
        }
    }

    fn push(&mut self, number: u64, line: &[u8], length: usize) {
        let text = text_file::shown(line);
        self.lossy |= matches!(text, std::borrow::Cow::Owned(_));
        self.text.push_str(&format!("{number:6}\t{}", text.trim_end_matches('\r')));
        if length > line.len() {
            self.text.push_str(&format!(" [line cut: {} more bytes]", length - line.len()));
        }
        self.text.push('\n');
        self.lines += 1;
    }

    fn into_output(mut self, path: &WorkspacePath, first: u64) -> Output {
        if self.lines == 0 {
            self.text = if first == 1 { "[the file is empty]\n".to_owned() } else { format!("[the file has fewer than {first} lines]\n") };
        }
        if self.more {
            self.text.push_str(&format!("[more follows: read on with offset {}]\n", first + self.lines));
        }
        if self.lossy {
            self.text.push_str("[some bytes are not UTF-8 and are shown as \u{FFFD}]\n");
        }
        Output::text(self.text)
            .with("path", path.to_string())
            .with("lines", self.lines)
            .with("truncated", self.more)
            .with("lossy", self.lossy)
    }
}

/// Reads to the end of the line and keeps its first `keep` bytes. Returns the line's full length without its line ending, or
/// `None` at the end of the file.
fn next_line(reader: &mut impl BufRead, line: &mut Vec<u8>, keep: usize) -> std::io::Result<Option<usize>> {
    line.clear();
    let mut length = 0;
    loop {
        let buffer = reader.fill_buf()?;
        if buffer.is_empty() {
            return Ok((length > 0).then_some(length));
        }
        let end = buffer.iter().position(|&byte| byte == b'\n');
        let piece = &buffer[..end.unwrap_or(buffer.len())];
        line.extend_from_slice(&piece[..piece.len().min(keep.saturating_sub(line.len()))]);
        length += piece.len();
        let used = piece.len() + usize::from(end.is_some());
        reader.consume(used);
        if end.is_some() {
            return Ok(Some(length));
        }
    }
}
