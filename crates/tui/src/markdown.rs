//! Markdown to lines. Line by line, so that a text that is still being written looks as it will when it is whole.

use crate::clean::clean;
use crate::highlight::highlight;
use crate::palette::{Palette, Tone};
use crate::wrap::{cut, wrap};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

/// The lines of a foreign text at a width.
#[must_use]
pub fn render(text: &str, width: usize, palette: Palette) -> Vec<Line<'static>> {
    let text = clean(text);
    let mut page = Page { lines: Vec::new(), width, palette };
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if let Some((fence, language)) = fence(line) {
            while let Some(code) = lines.next_if(|line| !line.trim_start().starts_with(fence)) {
                page.code(code, language);
            }
            lines.next();
        } else if is_table_row(line) {
            let mut rows = vec![line];
            while let Some(row) = lines.next_if(|line| is_table_row(line)) {
                rows.push(row);
            }
            page.table(&rows);
        } else {
            page.text(line);
        }
    }
    page.lines
}

struct Page {
    lines: Vec<Line<'static>>,
    width: usize,
    palette: Palette,
}

impl Page {
    fn code(&mut self, line: &str, language: &str) {
        let mut spans = vec![Span::styled("▏ ", self.palette.style(Tone::Dim))];
        spans.extend(highlight(line, language, self.palette).spans);
        let style = highlight(line, language, self.palette).style;
        let whole = Line::from(spans).style(style);
        self.lines.extend(wrap(&whole, self.width, &Span::styled("▏ ", self.palette.style(Tone::Dim))));
    }

    fn text(&mut self, line: &str) {
        let depth = line.len() - line.trim_start().len();
        let content = line.trim();
        if let Some(heading) = heading(content) {
            let line = Line::from(self.inline(heading)).style(self.palette.style(Tone::Heading));
            return self.wrapped(&line, 0);
        }
        if is_rule(content) {
            return self.lines.push(Line::styled("─".repeat(self.width.min(40)), self.palette.style(Tone::Dim)));
        }
        if let Some(quoted) = content.strip_prefix('>') {
            let mut spans = vec![Span::styled("▎ ", self.palette.style(Tone::Dim))];
            spans.extend(self.inline(quoted.trim_start()));
            return self.wrapped(&Line::from(spans), 2);
        }
        if let Some((mark, rest)) = list_item(content) {
            let depth = depth.min(12);
            let mark = format!("{}{mark} ", " ".repeat(depth));
            let indent = mark.width();
            let mut spans = vec![Span::styled(mark, self.palette.style(Tone::Dim))];
            spans.extend(self.inline(rest));
            return self.wrapped(&Line::from(spans), indent);
        }
        self.wrapped(&Line::from(self.inline(content)), 0);
    }

    fn wrapped(&mut self, line: &Line<'static>, indent: usize) {
        self.lines.extend(wrap(line, self.width, &Span::raw(" ".repeat(indent))));
    }

    /// Columns as wide as their widest cell, narrowed evenly where the width is not enough.
    fn table(&mut self, rows: &[&str]) {
        let cells: Vec<Vec<String>> = rows.iter().filter(|row| !is_table_rule(row)).map(|row| table_cells(row)).collect();
        let count = cells.iter().map(Vec::len).max().unwrap_or_default();
        if count == 0 {
            return;
        }
        let room = self.width.saturating_sub(3 * (count - 1)) / count;
        let widest = |column: usize| cells.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max().unwrap_or_default();
        let natural: Vec<usize> = (0..count).map(widest).collect();
        let fits = natural.iter().sum::<usize>() + 3 * (count - 1) <= self.width;
        for (index, row) in cells.iter().enumerate() {
            let mut spans = Vec::new();
            for (column, natural) in natural.iter().enumerate() {
                let width = if fits { *natural } else { (*natural).min(room.max(4)) };
                let text = cut(row.get(column).map_or("", String::as_str), width);
                let space = " ".repeat(width.saturating_sub(text.width()));
                spans.extend(self.inline(&text));
                spans.push(Span::raw(space));
                if column + 1 < count {
                    spans.push(Span::styled(" │ ", self.palette.style(Tone::Dim)));
                }
            }
            let style = if index == 0 && rows.len() > 1 { self.palette.style(Tone::Heading) } else { Style::new() };
            self.wrapped(&Line::from(spans).style(style), 0);
        }
    }

    /// Emphasis, code and links within a line.
    fn inline(&self, text: &str) -> Vec<Span<'static>> {
        let (mut spans, mut plain, mut rest) = (Vec::new(), String::new(), text);
        let mut before = ' ';
        while let Some(first) = rest.chars().next() {
            if let Some((piece, style, length)) = self.marked(rest, before) {
                if !plain.is_empty() {
                    spans.push(Span::raw(std::mem::take(&mut plain)));
                }
                spans.push(Span::styled(piece, style));
                before = ' ';
                rest = &rest[length..];
                continue;
            }
            plain.push(first);
            before = first;
            rest = &rest[first.len_utf8()..];
        }
        if !plain.is_empty() {
            spans.push(Span::raw(plain));
        }
        spans
    }

    /// A marked piece at the start of `text`: what it says, its style, and its length in bytes.
    fn marked(&self, text: &str, before: char) -> Option<(String, Style, usize)> {
        let between = |mark: &str| -> Option<(String, usize)> {
            let inner = text.strip_prefix(mark)?;
            let end = inner.find(mark).filter(|&end| end > 0)?;
            let piece = &inner[..end];
            let hugs = !piece.starts_with(' ') && !piece.ends_with(' ');
            hugs.then(|| (piece.to_owned(), end + 2 * mark.len()))
        };
        if text.starts_with('`') {
            let (piece, length) = between("``").or_else(|| between("`"))?;
            return Some((piece, self.palette.style(Tone::Code), length));
        }
        if let Some((piece, length)) = between("**") {
            return Some((piece, Style::new().add_modifier(Modifier::BOLD), length));
        }
        if let Some((piece, length)) = between("~~") {
            return Some((piece, Style::new().add_modifier(Modifier::CROSSED_OUT), length));
        }
        if !before.is_alphanumeric()
            && let Some((piece, length)) = between("*").or_else(|| between("_"))
        {
            return Some((piece, Style::new().add_modifier(Modifier::ITALIC), length));
        }
        let label = text.strip_prefix('[')?;
        let (label, target) = label.split_once("](")?;
        let target = &target[..target.find(')')?];
        // The target is always shown: a label can't claim another one.
        let shown = if label == target { label.to_owned() } else { format!("{label} ({target})") };
        (!label.contains(['[', '\n'])).then(|| {
            let length = label.len() + target.len() + "[]()".len();
            (shown, Style::new().add_modifier(Modifier::UNDERLINED), length)
        })
    }
}

/// The mark of a fence and its language.
fn fence(line: &str) -> Option<(&'static str, &str)> {
    let line = line.trim_start();
    ["```", "~~~"].into_iter().find_map(|mark| {
        let language = line.strip_prefix(mark)?.trim_start_matches(['`', '~']).trim();
        (!language.contains('`')).then(|| (mark, language.split([' ', ',', '{']).next().unwrap_or_default()))
    })
}

fn heading(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches('#');
    ((1..=6).contains(&(line.len() - rest.len())) && rest.starts_with(' ')).then(|| rest.trim())
}

fn is_rule(line: &str) -> bool {
    line.len() >= 3 && ["-", "*", "_"].iter().any(|mark| line.replace(' ', "").trim_start_matches(mark).is_empty())
}

/// A bullet, number or box, and the text of the item.
fn list_item(line: &str) -> Option<(String, &str)> {
    let bullet = ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark));
    if let Some(rest) = bullet {
        for (mark, shown) in [("[ ] ", "☐"), ("[x] ", "☑"), ("[X] ", "☑")] {
            if let Some(rest) = rest.strip_prefix(mark) {
                return Some((shown.to_owned(), rest));
            }
        }
        return Some(("•".to_owned(), rest));
    }
    let digits = line.find(|c: char| !c.is_ascii_digit()).filter(|&end| (1..=4).contains(&end))?;
    let rest = line[digits..].strip_prefix(". ").or_else(|| line[digits..].strip_prefix(") "))?;
    Some((format!("{}.", &line[..digits]), rest))
}

fn is_table_row(line: &str) -> bool {
    let line = line.trim();
    line.len() > 2 && line.starts_with('|') && line.ends_with('|')
}

fn is_table_rule(row: &str) -> bool {
    row.chars().all(|c| "|-: ".contains(c))
}

fn table_cells(row: &str) -> Vec<String> {
    row.trim().trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::palette::ColourDepth;

    fn shown(text: &str, width: usize) -> Vec<String> {
        render(text, width, Palette { depth: ColourDepth::None }).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn blocks_of_markdown_have_their_shapes() {
        let text = "# Title\n\nSome **bold** and `code`.\n- one\n  - [x] two\n1. three\n> said\n\n---\n```rust\nlet x = 1;\n```\nend";
        assert_eq!(
            shown(text, 40),
            ["Title", "", "Some bold and code.", "• one", "  ☑ two", "1. three", "▎ said", "", &"─".repeat(40), "▏ let x = 1;", "end"]
        );
    }

    #[test]
    fn a_text_that_is_still_written_shows_what_is_there() {
        assert_eq!(shown("```py\nprint(", 40), ["▏ print("]);
        assert_eq!(shown("half **bo", 40), ["half **bo"]);
        assert_eq!(shown("see [docs](http://x", 40), ["see [docs](http://x"]);
    }

    #[test]
    fn links_show_where_they_lead() {
        assert_eq!(shown("[click](https://evil.example)", 60), ["click (https://evil.example)"]);
        assert_eq!(shown("a_b_c 2*3*4 * x *", 60), ["a_b_c 2*3*4 * x *"]);
    }

    #[test]
    fn tables_have_columns_and_narrow_with_the_screen() {
        assert_eq!(shown("| a | long cell |\n|---|---|\n| 执行 | b |", 40), ["a    │ long cell", "执行 │ b        "]);
        assert!(shown("| aaaaaaaaaaaaaaaaaaaaaaaaa | bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb |", 24).iter().all(|line| line.width() <= 24));
    }

    #[test]
    fn any_width_holds() {
        let text = "# 标题 title\n\n> quoted text that is long\n\n- item 开始执行 with `code` and more\n\n```rs\nfn a_very_long_function_name() {}\n```";
        for width in 8..60 {
            assert!(shown(text, width).iter().all(|line| line.width() <= width), "{width}");
        }
    }
}
