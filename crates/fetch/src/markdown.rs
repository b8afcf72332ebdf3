//! HTML as Markdown, in one pass over its tokens. No tree is built and nothing recurses, so that depth, unclosed elements and
//! misnested formatting of a hostile page cost no more than its length.

use crate::page::is_hidden;
use html5gum::{DefaultEmitter, Token, Tokenizer};
use std::collections::BTreeMap;
use url::Url;

/// Bytes of Markdown; links make it longer than the page.
const LONGEST: usize = 1 << 20;
const LONGEST_LINK: usize = 500;
const LONGEST_ID: usize = 100;
const LONGEST_TITLE: usize = 300;
const MOST_PLACES: usize = 5_000;
/// Deeper lists and quotes look like this deep.
const DEEPEST: usize = 8;

#[derive(Default)]
pub(crate) struct Converted {
    pub(crate) title: Option<String>,
    pub(crate) text: String,
    /// Where elements with an id begin.
    pub(crate) places: Vec<(String, usize)>,
    /// The same of headings and sections alone.
    pub(crate) headings: Vec<(String, usize)>,
    pub(crate) is_cut: bool,
}

/// Elements whose content nobody reads as text.
const SKIPPED: &[&str] = &[
    "script", "style", "noscript", "template", "svg", "math", "iframe", "object", "canvas", "nav", "footer", "button", "select",
    "textarea", "dialog", "audio", "video",
];
const VOID: &[&str] = &["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"];

pub(crate) fn convert(html: &str, base: &Url) -> Converted {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let mut writer = Writer::new(base);
    for token in Tokenizer::new_with_emitter(html, emitter) {
        match token {
            Ok(Token::StartTag(tag)) => {
                let attributes = tag.attributes.iter().map(|(name, value)| (text_of(name), text_of(&value.value))).collect();
                writer.start(&text_of(&tag.name), &attributes, tag.self_closing);
            }
            Ok(Token::EndTag(tag)) => writer.end(&text_of(&tag.name)),
            Ok(Token::String(text)) => writer.text(&text_of(&text.value)),
            Ok(Token::Comment(_) | Token::Doctype(_) | Token::Error(_)) => {}
            Err(never) => match never {},
        }
        if writer.main == MainPart::After {
            break;
        }
        if writer.found.text.len() > LONGEST {
            writer.found.is_cut = true;
            break;
        }
    }
    writer.finish()
}

fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The `main` element of a page. Nothing outside it is converted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MainPart {
    Before,
    Inside,
    After,
}

struct Writer<'a> {
    base: &'a Url,
    found: Converted,
    /// An element that is left out, and how many of its name are open in it.
    skipped: Option<(String, usize)>,
    in_title: bool,
    main: MainPart,
    /// Newlines to write before the next text.
    breaks: usize,
    /// Whether a space is due before the next word.
    space: bool,
    preformatted: usize,
    quotes: usize,
    /// The same for the line that was written last.
    quoted: usize,
    /// The number of the next item; none in lists without numbers.
    lists: Vec<Option<usize>>,
    link: Option<String>,
    cells: usize,
    rows: usize,
}

impl<'a> Writer<'a> {
    fn new(base: &'a Url) -> Self {
        Self {
            base,
            found: Converted::default(),
            skipped: None,
            in_title: false,
            main: MainPart::Before,
            breaks: 0,
            space: false,
            preformatted: 0,
            quotes: 0,
            quoted: 0,
            lists: Vec::new(),
            link: None,
            cells: 0,
            rows: 0,
        }
    }

    fn start(&mut self, name: &str, attributes: &BTreeMap<String, String>, is_closed: bool) {
        if let Some((skipped, open)) = &mut self.skipped {
            *open += usize::from(skipped == name && !is_closed);
            return;
        }
        let is_invisible = attributes.contains_key("hidden") || attributes.get("aria-hidden").is_some_and(|value| value == "true");
        if SKIPPED.contains(&name) || is_invisible && !VOID.contains(&name) {
            // Only drawings are closed by their own tag; elsewhere HTML ignores the slash.
            if !(is_closed && matches!(name, "svg" | "math")) {
                self.skipped = Some((name.to_owned(), 1));
            }
            return;
        }
        if name == "main" && self.main == MainPart::Before {
            // What stands before the main part is the same on every page of the site.
            self.main = MainPart::Inside;
            self.found = Converted { title: self.found.title.take(), ..Converted::default() };
            (self.breaks, self.lists, self.quotes, self.link) = (0, Vec::new(), 0, None);
        }
        self.open(name, attributes);
        self.note_place(name, attributes);
    }

    fn open(&mut self, name: &str, attributes: &BTreeMap<String, String>) {
        match name {
            "title" => self.in_title = self.found.title.is_none(),
            "br" => self.breaks = self.breaks.max(1),
            "hr" => self.block("---"),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.break_block();
                let level = usize::from(name.as_bytes()[1] - b'0');
                self.write(&format!("{} ", "#".repeat(level)));
            }
            "pre" => {
                self.break_block();
                self.write("```");
                self.breaks = 1;
                self.preformatted += 1;
            }
            "code" | "kbd" | "samp" | "tt" if self.preformatted == 0 => self.mark("`"),
            "strong" | "b" => self.mark("**"),
            "em" | "i" => self.mark("*"),
            "a" if self.preformatted == 0 => self.open_link(attributes.get("href")),
            "img" => {
                if let Some(alt) = attributes.get("alt").filter(|alt| !alt.trim().is_empty()) {
                    self.text(&format!("[image: {}]", alt.trim()));
                }
            }
            "blockquote" => {
                self.break_block();
                self.quotes += 1;
            }
            "ul" | "ol" | "menu" => {
                self.breaks = self.breaks.max(if self.lists.is_empty() { 2 } else { 1 });
                let first = attributes.get("start").and_then(|number| number.parse().ok()).unwrap_or(1);
                self.lists.push((name == "ol").then_some(first));
            }
            "li" => self.open_item(),
            "table" => {
                self.break_block();
                self.rows = 0;
            }
            "tr" => {
                self.breaks = self.breaks.max(1);
                self.cells = 0;
            }
            "td" | "th" => {
                self.mark(if self.cells == 0 { "| " } else { " | " });
                self.cells += 1;
            }
            "dt" | "dd" | "summary" | "figcaption" | "option" => self.breaks = self.breaks.max(1),
            name if is_block(name) => self.break_block(),
            _ => {}
        }
    }

    fn end(&mut self, name: &str) {
        if let Some((skipped, open)) = &mut self.skipped {
            *open -= usize::from(skipped == name);
            if *open == 0 {
                self.skipped = None;
            }
            return;
        }
        match name {
            "title" => self.in_title = false,
            "main" if self.main == MainPart::Inside => self.main = MainPart::After,
            "pre" if self.preformatted > 0 => {
                self.preformatted -= 1;
                self.breaks = 1;
                self.write("```");
                self.break_block();
            }
            "code" | "kbd" | "samp" | "tt" if self.preformatted == 0 => self.unmark("`"),
            "strong" | "b" => self.unmark("**"),
            "em" | "i" => self.unmark("*"),
            "a" => self.close_link(),
            "blockquote" => {
                self.break_block();
                self.quotes = self.quotes.saturating_sub(1);
            }
            "ul" | "ol" | "menu" => {
                self.lists.pop();
                self.breaks = self.breaks.max(if self.lists.is_empty() { 2 } else { 1 });
            }
            "tr" if self.cells > 0 => {
                self.unmark(" |");
                self.breaks = 1;
                self.rows += 1;
                if self.rows == 1 {
                    let line = format!("|{}", " --- |".repeat(self.cells.min(50)));
                    self.write(&line);
                    self.breaks = 1;
                }
                self.cells = 0;
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "table" => self.break_block(),
            name if is_block(name) => self.break_block(),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if self.skipped.is_some() {
            return;
        }
        if self.in_title {
            let title: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let title: String = title.chars().filter(|letter| !is_hidden(*letter)).take(LONGEST_TITLE).collect();
            self.found.title = Some(title).filter(|title| !title.is_empty());
            return;
        }
        if self.preformatted > 0 {
            for (number, line) in text.split('\n').enumerate() {
                self.breaks += usize::from(number > 0);
                if !line.is_empty() {
                    self.write(line.trim_end_matches('\r'));
                }
            }
            return;
        }
        for letter in text.chars().filter(|letter| !is_hidden(*letter)) {
            if letter.is_whitespace() {
                self.space = true;
            } else {
                self.write(letter.encode_utf8(&mut [0; 4]));
            }
        }
    }

    /// Writes text after the breaks and the space that are due.
    fn write(&mut self, text: &str) {
        let out = &mut self.found.text;
        if self.breaks > 0 {
            out.truncate(out.trim_end_matches(' ').len());
            let breaks = if out.is_empty() { 0 } else { self.breaks.min(if self.preformatted > 0 { 20 } else { 2 }) };
            // An empty line between two quotes belongs to both; before and after a quote it belongs to none.
            let between = "> ".repeat(self.quotes.min(self.quoted).min(DEEPEST));
            for left in (0..breaks).rev() {
                out.push('\n');
                out.push_str(if left > 0 { between.trim_end() } else { "" });
            }
            out.push_str(&"> ".repeat(self.quotes.min(DEEPEST)));
            self.quoted = self.quotes;
        } else if self.space && !out.is_empty() && !out.ends_with([' ', '\n']) {
            out.push(' ');
        }
        (self.breaks, self.space) = (0, false);
        if self.preformatted > 0 {
            out.extend(text.chars().filter(|letter| !is_hidden(*letter)));
        } else {
            out.push_str(text);
        }
    }

    /// A sign before the next word.
    fn mark(&mut self, sign: &str) {
        self.write(sign);
    }

    /// A sign after the last word: it stands before the space and the breaks that are due.
    fn unmark(&mut self, sign: &str) {
        self.found.text.push_str(sign);
    }

    fn block(&mut self, text: &str) {
        self.break_block();
        self.write(text);
        self.break_block();
    }

    fn break_block(&mut self) {
        // Inside of a cell or an item a block is no paragraph.
        let wanted = if self.cells > 0 {
            0
        } else if self.lists.is_empty() {
            2
        } else {
            1
        };
        self.space |= self.cells > 0;
        self.breaks = self.breaks.max(wanted);
    }

    fn open_item(&mut self) {
        self.breaks = self.breaks.max(1);
        let indent = "  ".repeat(self.lists.len().saturating_sub(1).min(DEEPEST));
        let sign = match self.lists.last_mut() {
            Some(Some(number)) => {
                *number = number.saturating_add(1);
                format!("{indent}{}. ", *number - 1)
            }
            Some(None) | None => format!("{indent}- "),
        };
        self.write(&sign);
    }

    fn open_link(&mut self, href: Option<&String>) {
        self.close_link();
        let target = href.filter(|href| !href.trim_start().starts_with('#')).and_then(|href| self.base.join(href.trim()).ok());
        let target = target.filter(|url| matches!(url.scheme(), "http" | "https") && url.as_str().len() <= LONGEST_LINK);
        if let Some(url) = target {
            self.mark("[");
            self.link = Some(url.into());
        }
    }

    fn close_link(&mut self) {
        if let Some(url) = self.link.take() {
            self.unmark(&format!("]({url})"));
        }
    }

    fn note_place(&mut self, name: &str, attributes: &BTreeMap<String, String>) {
        let is_plain = |id: &&String| {
            id.len() <= LONGEST_ID && !id.is_empty() && !id.contains(|letter: char| letter.is_whitespace() || is_hidden(letter))
        };
        let named = attributes.get("id").or_else(|| attributes.get("name").filter(|_| name == "a"));
        let Some(id) = named.filter(is_plain).filter(|_| self.found.places.len() < MOST_PLACES) else { return };
        let text = &self.found.text;
        // A heading's sign is written already, and belongs to its section.
        let is_heading = name.len() == 2 && name.starts_with('h') && name != "hr";
        let place = if is_heading { text.trim_end_matches(['#', ' ', '>', '\n']).len() } else { text.len() };
        self.found.places.push((id.clone(), place));
        if is_heading || matches!(name, "section" | "article") {
            self.found.headings.push((id.clone(), place));
        }
    }

    fn finish(mut self) -> Converted {
        self.close_link();
        if self.preformatted > 0 {
            self.found.text.push_str("\n```");
        }
        self.found
    }
}

fn is_block(name: &str) -> bool {
    matches!(
        name,
        "p" | "div"
            | "section"
            | "article"
            | "main"
            | "header"
            | "aside"
            | "figure"
            | "details"
            | "dl"
            | "fieldset"
            | "form"
            | "address"
            | "body"
    )
}

#[cfg(test)]
mod tests;
