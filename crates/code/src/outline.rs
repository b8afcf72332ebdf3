//! Renders the symbols of a file as text.

use crate::language::is_outlined;
use crate::source::ParsedSource;
use crate::symbol::Symbol;

/// A reader reads the whole outline, so it is short: the deepest levels are left out first.
const MOST_LINES: usize = 300;
const LONGEST_LINE: usize = 160;

/// An outline as text.
#[derive(Debug, PartialEq, Eq)]
pub struct OutlineText {
    pub text: String,
    pub symbols: usize,
    /// The number of symbols left out, not counting fields.
    pub left_out: usize,
}

/// The symbols of a parsed file with their lines, nested as in the file.
#[must_use]
pub fn outline(source: &ParsedSource) -> OutlineText {
    let depths = depths(source);
    let shown: Vec<(&Symbol, usize)> = source.symbols.iter().zip(depths).filter(|(symbol, _)| is_outlined(symbol.kind)).collect();
    let deepest = deepest_shown(shown.iter().map(|(_, depth)| *depth));
    let mut text = String::new();
    let mut symbols = 0;
    let mut before = None;
    for (symbol, depth) in shown.iter().filter(|(_, depth)| *depth <= deepest).take(MOST_LINES) {
        let lines = if symbol.end_line > symbol.line { format!("{}-{}", symbol.line, symbol.end_line) } else { symbol.line.to_string() };
        symbols += 1;
        // Names that are declared together share a line.
        if before.replace((symbol.end_line, &symbol.signature)) != Some((symbol.end_line, &symbol.signature)) {
            text.push_str(&format!("{lines}: {}{}\n", "  ".repeat((*depth).min(8)), symbol.signature));
        }
    }
    OutlineText { text, symbols, left_out: shown.len() - symbols }
}

/// The deepest level at which all symbols down to it still fit into the outline.
fn deepest_shown(depths: impl Iterator<Item = usize>) -> usize {
    let mut counts = Vec::new();
    for depth in depths {
        counts.resize(counts.len().max(depth + 1), 0_usize);
        counts[depth] += 1;
    }
    let sums = counts.into_iter().scan(0, |sum, count| {
        *sum += count;
        Some(*sum)
    });
    sums.take_while(|sum| *sum <= MOST_LINES).count().saturating_sub(1)
}

/// The nesting depth of each symbol.
fn depths(source: &ParsedSource) -> Vec<usize> {
    let mut depths: Vec<usize> = Vec::with_capacity(source.symbols.len());
    for symbol in &source.symbols {
        let depth = symbol.parent.and_then(|parent| depths.get(parent as usize)).map_or(0, |depth| depth + 1);
        depths.push(depth);
    }
    depths
}

/// Words that begin a definition in languages without a grammar here.
const WORDS: &[&str] = &[
    "abstract",
    "async",
    "class",
    "def",
    "defmodule",
    "defp",
    "enum",
    "export",
    "extension",
    "fn",
    "fun",
    "func",
    "function",
    "impl",
    "interface",
    "let",
    "local",
    "module",
    "mod",
    "namespace",
    "object",
    "package",
    "proc",
    "protocol",
    "pub",
    "public",
    "private",
    "resource",
    "rule",
    "service",
    "message",
    "struct",
    "sub",
    "trait",
    "type",
    "val",
    "var",
    "CREATE",
    "create",
];

/// Lines that look like definitions or headings, for a file without a syntax tree.
#[must_use]
pub fn text_outline(text: &str) -> OutlineText {
    let mut outline = OutlineText { text: String::new(), symbols: 0, left_out: 0 };
    let mut is_fenced = false;
    for (line, number) in text.lines().zip(1_u32..) {
        is_fenced ^= line.starts_with("```");
        if is_fenced || !looks_like_definition(line) {
            continue;
        }
        if outline.symbols == MOST_LINES {
            outline.left_out += 1;
            continue;
        }
        outline.symbols += 1;
        let shown = &line[..line.floor_char_boundary(LONGEST_LINE)];
        outline.text.push_str(&format!("{number}: {}\n", shown.trim_end().trim_end_matches(['{', ' '])));
    }
    outline
}

fn looks_like_definition(line: &str) -> bool {
    let indent = line.len() - line.trim_start().len();
    let trimmed = line.trim();
    let first = trimmed.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
    let is_heading =
        indent == 0 && (trimmed.starts_with("# ") || trimmed.starts_with("##")) && trimmed.trim_start_matches('#').starts_with(' ');
    let is_section = indent == 0 && trimmed.starts_with('[') && trimmed.ends_with(']');
    let is_target = indent == 0
        && trimmed
            .strip_suffix(':')
            .is_some_and(|name| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "-_./".contains(c)));
    is_heading || is_section || is_target || (indent <= 8 && WORDS.contains(&first) && trimmed.len() > first.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_shown_as_long_as_all_their_symbols_fit_also_if_there_are_a_million_levels() {
        assert_eq!(deepest_shown(0..1_000_000), MOST_LINES - 1);
        assert_eq!(deepest_shown([0, 1, 2, 2, 1].into_iter()), 2);
        assert_eq!(deepest_shown([vec![0], vec![1; MOST_LINES]].concat().into_iter()), 0);
        assert_eq!(deepest_shown(std::iter::repeat_n(0, MOST_LINES + 1)), 0);
        assert_eq!(deepest_shown(std::iter::empty()), 0);
    }

    #[test]
    fn files_without_a_grammar_show_headings_sections_and_what_begins_like_a_definition() {
        let kotlin = "package a\n\nclass Greeter(val name: String) {\n    fun greet() {\n        println(name)\n    }\n}\n";
        assert_eq!(text_outline(kotlin).text, "1: package a\n3: class Greeter(val name: String)\n4:     fun greet()\n");
        let markdown = "# Title\n\nText: some.\n\n```sh\n# a comment\n```\n\n## Part\n";
        assert_eq!(text_outline(markdown).text, "1: # Title\n9: ## Part\n");
        assert_eq!(text_outline("[package]\nname = \"a\"\n").text, "1: [package]\n");
        let long = text_outline(&"class A\n".repeat(1000));
        assert_eq!((long.symbols, long.left_out), (MOST_LINES, 1000 - MOST_LINES));
    }
}
