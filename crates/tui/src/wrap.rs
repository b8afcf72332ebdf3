//! Lines broken to a width, counted in terminal columns.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// A grapheme with its style and its columns.
#[derive(Clone, Copy)]
struct Cell<'t> {
    text: &'t str,
    style: Style,
    width: usize,
}

/// Breaks a line at spaces and between wide characters; a word that is too long is cut. Later lines begin with `indent`.
#[must_use]
pub fn wrap(line: &Line<'_>, width: usize, indent: &Span<'static>) -> Vec<Line<'static>> {
    let width = width.max(4);
    let cells: Vec<Cell> = line.spans.iter().flat_map(cells_of).collect();
    let (mut lines, mut start) = (Vec::new(), 0);
    loop {
        let indent = if start == 0 { Span::raw("") } else { indent.clone() };
        let room = width.saturating_sub(indent.width()).max(2);
        let end = line_end(&cells, start, room);
        let is_broken = end < cells.len();
        let drawn = cells[start..end].iter().rposition(|cell| !is_broken || cell.text != " ").map_or(start, |last| start + last + 1);
        lines.push(joined(indent, &cells[start..drawn], line.style));
        start = end;
        // The spaces at which the line was broken are not drawn.
        start += cells[start..].iter().take_while(|cell| cell.text == " ").count();
        if start >= cells.len() {
            return lines;
        }
    }
}

fn cells_of<'t>(span: &'t Span<'_>) -> impl Iterator<Item = Cell<'t>> {
    span.content.graphemes(true).map(|text| Cell { text, style: span.style, width: text.width() })
}

/// Where the line that begins at `start` ends.
fn line_end(cells: &[Cell], start: usize, room: usize) -> usize {
    let (mut used, mut last_break) = (0, None);
    for (index, cell) in cells.iter().enumerate().skip(start) {
        if used + cell.width > room {
            let fits_a_break = cell.text == " ";
            return if fits_a_break { index } else { last_break.filter(|&at| at > start).unwrap_or(index.max(start + 1)) };
        }
        used += cell.width;
        let next = cells.get(index + 1);
        if cell.text == " " || cell.width > 1 || next.is_some_and(|next| next.width > 1) {
            last_break = Some(index + 1);
        }
    }
    cells.len()
}

fn joined(indent: Span<'static>, cells: &[Cell], style: Style) -> Line<'static> {
    let mut spans: Vec<Span<'static>> = Vec::new();
    if !indent.content.is_empty() {
        spans.push(indent);
    }
    for group in cells.chunk_by(|a, b| a.style == b.style) {
        let text: String = group.iter().map(|cell| cell.text).collect();
        spans.push(Span::styled(text, group[0].style));
    }
    Line::from(spans).style(style)
}

/// Wraps plain text of several lines.
#[must_use]
pub fn wrap_text(text: &str, width: usize, style: Style) -> Vec<Line<'static>> {
    text.split('\n').flat_map(|line| wrap(&Line::styled(line.to_owned(), style), width, &Span::raw(""))).collect()
}

/// Cuts a text to a width, with an ellipsis if something is left out.
#[must_use]
pub fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let (mut kept, mut used) = (String::new(), 0);
    for grapheme in text.graphemes(true) {
        if used + grapheme.width() + 1 > width {
            break;
        }
        used += grapheme.width();
        kept.push_str(grapheme);
    }
    kept.push('…');
    kept
}

/// A length or a position as the terminal counts it.
#[must_use]
pub fn columns(count: usize) -> u16 {
    u16::try_from(count).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(text: &str, width: usize) -> Vec<String> {
        wrap(&Line::from(text.to_owned()), width, &Span::raw("  ")).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn lines_break_at_spaces_and_long_words_are_cut() {
        assert_eq!(wrapped("one two three four", 9), ["one two", "  three", "  four"]);
        assert_eq!(wrapped("abcdefghijkl", 6), ["abcdef", "  ghij", "  kl"]);
        assert_eq!(wrapped("", 6), [""]);
        assert_eq!(wrapped("fits it", 7), ["fits it"]);
    }

    #[test]
    fn chinese_breaks_anywhere_and_takes_two_columns() {
        assert_eq!(wrapped("开始执行计划", 8), ["开始执行", "  计划"]);
        assert_eq!(wrapped("a开始执行", 6), ["a开始", "  执行"]);
    }

    #[test]
    fn a_cut_text_says_so() {
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("longer text", 7), "longer…");
        assert_eq!(cut("计划模式", 5), "计划…");
    }

    #[test]
    fn styles_survive_the_break() {
        let line = Line::from(vec![Span::raw("aa "), Span::styled("bb cc", Style::new().bold())]);
        let lines = wrap(&line, 6, &Span::raw(""));
        assert_eq!(lines[1].spans[0].style, Style::new().bold());
    }
}
