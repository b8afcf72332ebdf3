//! Code in colours: keywords, texts, comments and numbers, by a few facts about each language.

use crate::palette::{Palette, Tone};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// What there is to know about a language.
struct Language {
    names: &'static [&'static str],
    keywords: &'static str,
    line_comment: &'static str,
    /// The characters that begin and end a text.
    quotes: &'static str,
}

const C_LIKE: &str = "if else for while do switch case default break continue return struct enum union const static void int char long \
    float double bool true false null new delete class public private protected this namespace using template typename virtual override \
    try catch throw import package extends implements interface abstract final extern sizeof auto var let function async await typeof";

const LANGUAGES: &[Language] = &[
    Language {
        names: &["rust", "rs"],
        keywords: "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub \
            ref return self Self static struct super trait true type unsafe use where while",
        line_comment: "//",
        quotes: "\"",
    },
    Language {
        names: &["python", "py"],
        keywords: "and as assert async await break class continue def del elif else except False finally for from global if import in is \
            lambda None nonlocal not or pass raise return True try while with yield self",
        line_comment: "#",
        quotes: "\"'",
    },
    Language {
        names: &["javascript", "js", "jsx", "typescript", "ts", "tsx", "mjs"],
        keywords: "async await break case catch class const continue default delete do else export extends false finally for from function \
            if import in instanceof interface let new null of return static super switch this throw true try type typeof undefined var \
            void while yield",
        line_comment: "//",
        quotes: "\"'`",
    },
    Language {
        names: &["go"],
        keywords: "break case chan const continue default defer else fallthrough for func go goto if import interface map nil package range \
            return select struct switch type var true false",
        line_comment: "//",
        quotes: "\"`'",
    },
    Language {
        names: &["sh", "bash", "shell", "zsh", "console"],
        keywords: "if then else elif fi for in do done while until case esac function return export local set cd echo exit",
        line_comment: "#",
        quotes: "\"'",
    },
    Language { names: &["toml", "yaml", "yml", "ini"], keywords: "true false null yes no", line_comment: "#", quotes: "\"'" },
    Language { names: &["json"], keywords: "true false null", line_comment: "//", quotes: "\"" },
    Language {
        names: &["sql"],
        keywords: "select from where insert into values update set delete create table index join left right inner outer on group by order \
            having limit and or not null as SELECT FROM WHERE INSERT INTO VALUES UPDATE SET DELETE CREATE TABLE INDEX JOIN LEFT RIGHT \
            INNER OUTER ON GROUP BY ORDER HAVING LIMIT AND OR NOT NULL AS",
        line_comment: "--",
        quotes: "'\"",
    },
    Language {
        names: &["ruby", "rb"],
        keywords: "alias and begin break case class def do else elsif end ensure false for if in module next nil not or redo rescue retry \
            return self super then true undef unless until when while yield require",
        line_comment: "#",
        quotes: "\"'",
    },
    Language {
        names: &["c", "h", "cpp", "c++", "cc", "hpp", "java", "csharp", "cs", "php", "kotlin", "kt", "swift"],
        keywords: C_LIKE,
        line_comment: "//",
        quotes: "\"'",
    },
];

/// One line of code of the language with this name. An unknown name, and `diff`, have their own rules.
#[must_use]
pub fn highlight(line: &str, language: &str, palette: Palette) -> Line<'static> {
    let name = language.trim().to_ascii_lowercase();
    if name == "diff" || name == "patch" {
        return Line::styled(line.to_owned(), diff_style(line, palette));
    }
    match LANGUAGES.iter().find(|language| language.names.contains(&name.as_str())) {
        Some(language) => coloured(line, language, palette),
        None => Line::styled(line.to_owned(), palette.style(Tone::Code)),
    }
}

/// The name of a file's language, by its ending.
#[must_use]
pub fn language_of(path: &str) -> &str {
    path.rsplit(['/', '.']).next().unwrap_or_default()
}

#[must_use]
pub fn diff_style(line: &str, palette: Palette) -> Style {
    match line.as_bytes().first() {
        Some(b'+') if !line.starts_with("+++") => palette.style(Tone::Added),
        Some(b'-') if !line.starts_with("---") => palette.style(Tone::Removed),
        Some(b'@') => palette.style(Tone::Code),
        Some(b'+' | b'-' | b'\\') => palette.style(Tone::Dim),
        _ => Style::new(),
    }
}

fn coloured(line: &str, language: &Language, palette: Palette) -> Line<'static> {
    let mut spans: Vec<Span<'static>> = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let (length, tone) = if rest.starts_with(language.line_comment) {
            (rest.len(), Some(Tone::Comment))
        } else if language.quotes.contains(first) {
            (text_length(rest, first), Some(Tone::Text))
        } else if first.is_ascii_digit() {
            (span_length(rest, |c| c.is_ascii_alphanumeric() || c == '_' || c == '.'), Some(Tone::Number))
        } else if is_word(first) {
            let length = span_length(rest, is_word);
            let is_keyword = language.keywords.split_whitespace().any(|keyword| keyword == &rest[..length]);
            (length, is_keyword.then_some(Tone::Keyword))
        } else {
            (first.len_utf8(), None)
        };
        let style = tone.map(|tone| palette.style(tone)).unwrap_or_default();
        match spans.last_mut() {
            Some(last) if last.style == style => last.content.to_mut().push_str(&rest[..length]),
            _ => spans.push(Span::styled(rest[..length].to_owned(), style)),
        }
        rest = &rest[length..];
    }
    Line::from(spans)
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

fn span_length(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|character| !belongs(character)).unwrap_or(text.len())
}

/// The length of a text with its quotes; one that does not end on its line ends with the line.
fn text_length(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        if is_escaped {
            is_escaped = false;
        } else if character == '\\' {
            is_escaped = true;
        } else if character == quote {
            return at + character.len_utf8();
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::palette::ColourDepth;

    fn tones(line: &str, language: &str) -> Vec<(String, Style)> {
        let palette = Palette { depth: ColourDepth::Indexed };
        highlight(line, language, palette).spans.into_iter().map(|span| (span.content.into_owned(), span.style)).collect()
    }

    #[test]
    fn keywords_texts_numbers_and_comments_have_colours() {
        let palette = Palette { depth: ColourDepth::Indexed };
        let spans = tones("let x = \"a \\\" b\" + 12; // why", "rust");
        assert_eq!(spans[0], ("let".to_owned(), palette.style(Tone::Keyword)));
        assert!(spans.contains(&("\"a \\\" b\"".to_owned(), palette.style(Tone::Text))));
        assert!(spans.contains(&("12".to_owned(), palette.style(Tone::Number))));
        assert_eq!(spans.last().unwrap(), &("// why".to_owned(), palette.style(Tone::Comment)));
    }

    #[test]
    fn no_character_of_a_line_is_lost_in_any_language() {
        let line = "fn 你好(x: &'a str) { \"unended ‘ # // `' 1.5e3_u8 }";
        for language in ["rust", "py", "ts", "go", "sh", "toml", "json", "sql", "ruby", "c", "unknown", "diff", ""] {
            let all: String = tones(line, language).into_iter().map(|(text, _)| text).collect();
            assert_eq!(all, line, "{language}");
        }
    }

    #[test]
    fn a_diff_has_its_two_sides() {
        let palette = Palette { depth: ColourDepth::Sixteen };
        assert_eq!(diff_style("+new", palette), palette.style(Tone::Added));
        assert_eq!(diff_style("-old", palette), palette.style(Tone::Removed));
        assert_eq!(diff_style("+++ b/x", palette), palette.style(Tone::Dim));
        assert_eq!(language_of("/src/lib.rs"), "rs");
    }
}
