//! Splits the lines of a plan file into frontmatter, goal, sections and list items, without interpreting them. The raw lines
//! joined again are the file.

use crate::text::indent_of;
use std::ops::Range;

/// The sections of the plan, in the order of writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Section {
    Assumptions,
    Steps,
    Risks,
    Prerequisites,
    Validation,
}

impl Section {
    pub(crate) const ALL: [Section; 5] =
        [Section::Assumptions, Section::Steps, Section::Risks, Section::Prerequisites, Section::Validation];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Section::Assumptions => "Assumptions",
            Section::Steps => "Steps",
            Section::Risks => "Risks",
            Section::Prerequisites => "Prerequisites",
            Section::Validation => "Validation",
        }
    }

    pub(crate) fn of_title(title: &str) -> Option<Section> {
        let title = title.trim().trim_end_matches(':').trim_end();
        Section::ALL.into_iter().find(|section| section.title().eq_ignore_ascii_case(title))
    }
}

/// One line: `raw` with its line end, `text` without it and without spaces before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    pub(crate) number: usize,
    pub(crate) raw: &'a str,
    pub(crate) text: &'a str,
    /// Inside a fenced code block, where nothing is part of the plan.
    pub(crate) fenced: bool,
}

impl Line<'_> {
    /// The 1-based column, in characters, of a byte of the line's text.
    pub(crate) fn column_of(&self, byte: usize) -> usize {
        self.text.get(..byte).unwrap_or(self.text).chars().count() + 1
    }

    /// The 1-based column of the first character that is not white space.
    pub(crate) fn column(&self) -> usize {
        self.column_of(self.text.len() - self.text.trim_start().len())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockKind {
    /// The lines before the first heading.
    Preamble,
    /// The first `#` heading, and the text below it.
    Goal,
    Section(Section),
    /// A section that occurred before.
    Repeated(Section),
    /// A section of the user's own.
    Other,
}

#[derive(Clone, Debug)]
pub(crate) struct Block<'a> {
    pub(crate) kind: BlockKind,
    pub(crate) heading: Option<Line<'a>>,
    pub(crate) lines: Vec<Line<'a>>,
}

impl<'a> Block<'a> {
    /// The list items of the block, and the lines before the first.
    pub(crate) fn listing(&self) -> Listing<'a> {
        list(&self.lines)
    }
}

/// The lines of a section, by list item.
#[derive(Clone, Debug, Default)]
pub(crate) struct Listing<'a> {
    pub(crate) before: Vec<Line<'a>>,
    pub(crate) items: Vec<Item<'a>>,
}

/// A list item: its lines, at least one, and the lines between it and the next.
#[derive(Clone, Debug)]
pub(crate) struct Item<'a> {
    pub(crate) own: Vec<Line<'a>>,
    pub(crate) tail: Vec<Line<'a>>,
}

/// The frontmatter's three parts, raw.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawFrontmatter<'a> {
    pub(crate) opening: &'a str,
    pub(crate) yaml: &'a str,
    pub(crate) closing: &'a str,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Outline<'a> {
    pub(crate) mark: &'a str,
    pub(crate) frontmatter: Option<RawFrontmatter<'a>>,
    pub(crate) frontmatter_is_open: bool,
    pub(crate) blocks: Vec<Block<'a>>,
    /// The line of an unclosed code fence.
    pub(crate) open_fence: Option<usize>,
}

impl<'a> Outline<'a> {
    pub(crate) fn of(text: &'a str) -> Outline<'a> {
        let body = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut outline = Outline { mark: &text[..text.len() - body.len()], ..Outline::default() };
        let Ok((frontmatter, body, first)) = cut_frontmatter(body) else {
            outline.frontmatter_is_open = true;
            return outline;
        };
        outline.frontmatter = frontmatter;
        let (lines, open_fence) = cut_lines(body, first);
        outline.open_fence = open_fence;
        outline.blocks = cut_blocks(lines);
        outline.find_bare_steps();
        outline
    }

    /// A hand-written file may have its boxes right below the goal, without a heading.
    fn find_bare_steps(&mut self) {
        if self.section(Section::Steps).is_some() {
            return;
        }
        let boxed = |line: &Line<'_>| !line.fenced && Bullet::of(line.text).is_some_and(|bullet| is_box(&line.text[bullet.end..]));
        let mut found = self.blocks.iter().enumerate().filter(|(_, block)| block.kind == BlockKind::Goal);
        let Some((index, at)) = found.find_map(|(index, block)| Some((index, block.lines.iter().position(boxed)?))) else {
            return;
        };
        let lines = self.blocks[index].lines.split_off(at);
        self.blocks.insert(index + 1, Block { kind: BlockKind::Section(Section::Steps), heading: None, lines });
    }

    pub(crate) fn section(&self, section: Section) -> Option<&Block<'a>> {
        self.blocks.iter().find(|block| block.kind == BlockKind::Section(section))
    }
}

/// A list marker: where it ends, and the digits of a numbered one.
pub(crate) struct Bullet {
    pub(crate) end: usize,
    pub(crate) digits: Option<Range<usize>>,
}

impl Bullet {
    pub(crate) fn of(text: &str) -> Option<Bullet> {
        let start = text.len() - text.trim_start_matches([' ', '\t']).len();
        let rest = &text[start..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (length, digits) = match digits {
            0 if rest.starts_with(['-', '*', '+']) => (1, None),
            1..=9 if rest[digits..].starts_with(['.', ')']) => (digits + 1, Some(start..start + digits)),
            _ => return None,
        };
        let after = &rest[length..];
        (after.is_empty() || after.starts_with([' ', '\t'])).then_some(Bullet { end: start + length, digits })
    }
}

/// The level and the text of a heading. It begins in the first column: list items are indented, so their text never is one.
pub(crate) fn heading(text: &str) -> Option<(usize, &str)> {
    let level = text.bytes().take_while(|byte| *byte == b'#').count();
    let rest = &text[level..];
    ((1..=6).contains(&level) && (rest.is_empty() || rest.starts_with([' ', '\t']))).then(|| (level, rest.trim()))
}

/// Whether the text of a list item begins with a box.
fn is_box(text: &str) -> bool {
    let mut characters = text.trim_start().chars();
    characters.next() == Some('[') && characters.next().is_some() && characters.next() == Some(']')
}

struct Unclosed;

type Cut<'a> = (Option<RawFrontmatter<'a>>, &'a str, usize);

/// The frontmatter, the rest, and the number of the rest's first line.
fn cut_frontmatter(text: &str) -> Result<Cut<'_>, Unclosed> {
    let mut at = 0;
    let mut opening = 0;
    for (index, raw) in text.split_inclusive('\n').enumerate() {
        let line = raw.trim_end();
        if index == 0 {
            if line != "---" {
                return Ok((None, text, 1));
            }
            opening = raw.len();
        } else if line == "---" || line == "..." {
            let (head, rest) = text.split_at(at + raw.len());
            let frontmatter = RawFrontmatter { opening: &head[..opening], yaml: &head[opening..at], closing: &head[at..] };
            return Ok((Some(frontmatter), rest, index + 2));
        }
        at += raw.len();
    }
    if text.is_empty() { Ok((None, text, 1)) } else { Err(Unclosed) }
}

fn cut_lines(body: &str, first: usize) -> (Vec<Line<'_>>, Option<usize>) {
    let mut lines = Vec::new();
    let mut fence: Option<(u8, usize, usize)> = None;
    for (index, raw) in body.split_inclusive('\n').enumerate() {
        let text = raw.trim_end();
        let number = first + index;
        let here = fence_of(text);
        let fenced = fence.is_some() || here.is_some();
        fence = match (fence, here) {
            (None, Some((mark, length, _))) => Some((mark, length, number)),
            (Some((mark, length, _)), Some((other, longer, FenceEnd::Bare))) if mark == other && longer >= length => None,
            (open, _) => open,
        };
        lines.push(Line { number, raw, text, fenced });
    }
    (lines, fence.map(|(_, _, number)| number))
}

#[derive(Clone, Copy)]
enum FenceEnd {
    Bare,
    Info,
}

fn fence_of(text: &str) -> Option<(u8, usize, FenceEnd)> {
    let mark = *text.as_bytes().first().filter(|byte| matches!(byte, b'`' | b'~'))?;
    let length = text.bytes().take_while(|byte| *byte == mark).count();
    let info = &text[length..];
    let is_fence = length >= 3 && !(mark == b'`' && info.contains('`'));
    is_fence.then_some((mark, length, if info.is_empty() { FenceEnd::Bare } else { FenceEnd::Info }))
}

fn cut_blocks(lines: Vec<Line<'_>>) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut seen = Vec::new();
    for line in lines {
        let title = if line.fenced { None } else { heading(line.text) };
        let kind = match title {
            Some((1, _)) if blocks.iter().all(|block| block.kind == BlockKind::Preamble) => Some(BlockKind::Goal),
            Some((1, _)) => Some(BlockKind::Other),
            Some((2, title)) => Some(section_kind(&mut seen, title)),
            Some(_) | None => None,
        };
        match (kind, blocks.last_mut()) {
            (Some(kind), _) => blocks.push(Block { kind, heading: Some(line), lines: Vec::new() }),
            (None, Some(block)) => block.lines.push(line),
            (None, None) => blocks.push(Block { kind: BlockKind::Preamble, heading: None, lines: vec![line] }),
        }
    }
    blocks
}

fn section_kind(seen: &mut Vec<Section>, title: &str) -> BlockKind {
    let Some(section) = Section::of_title(title) else { return BlockKind::Other };
    if seen.contains(&section) {
        return BlockKind::Repeated(section);
    }
    seen.push(section);
    BlockKind::Section(section)
}

fn list<'a>(lines: &[Line<'a>]) -> Listing<'a> {
    let mut listing = Listing::default();
    let mut first_indent = None;
    let mut last = LastItem { indent: 0, is_over: false };
    for line in lines {
        let indent = indent_of(line.text);
        let is_item = !line.fenced && Bullet::of(line.text).is_some() && first_indent.is_none_or(|first| indent < first + 2);
        if is_item {
            first_indent.get_or_insert(indent);
            last = LastItem { indent, is_over: false };
            listing.items.push(Item { own: vec![*line], tail: Vec::new() });
            continue;
        }
        let Some(item) = listing.items.last_mut() else {
            listing.before.push(*line);
            continue;
        };
        if !line.text.is_empty() && !last.is_over {
            last.is_over = indent <= last.indent && !(item.tail.is_empty() && is_paragraph(line));
            if !last.is_over {
                item.own.append(&mut item.tail);
                item.own.push(*line);
                continue;
            }
        }
        item.tail.push(*line);
    }
    listing
}

/// An item continues with indented lines, also after blank ones, and with plain text that follows at once.
struct LastItem {
    indent: usize,
    is_over: bool,
}

fn is_paragraph(line: &Line<'_>) -> bool {
    let is_rule = ["-", "*", "_"].iter().any(|mark| line.text.replace([' ', '\t'], "").replace(mark, "").is_empty());
    !line.fenced && !is_rule && !line.text.starts_with(['#', '<', '>', '|'])
}
