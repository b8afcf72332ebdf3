//! Writes a plan file: a new one, or the changes to a parsed one.

use crate::frontmatter::Header;
use crate::markdown::{PlanDocument, Source};
use crate::outline::{Block, BlockKind, Line, Outline, Section};
use crate::read::{Contents, Reading};
use crate::step::{Head, write_step};
use crate::text::{TextKind, is_unseen, write_text};
use planwright_protocol::{Plan, PlanStep};

/// A new file.
pub(crate) fn write(document: &PlanDocument) -> String {
    let mut text = format!("{}\n{}", document.header().write(), goal_heading(&document.plan.goal));
    for section in Section::ALL {
        text.push_str(&write_section(&document.plan, section).map(|section| format!("\n{section}")).unwrap_or_default());
    }
    text
}

/// The parsed file with the changes since. Each manner keeps less of its formatting than the one before; the first whose text
/// parses back to the document wins, so that no unusual file can turn a plan into another one.
pub(crate) fn rewrite(source: &Source, document: &PlanDocument) -> String {
    let mut header = document.header();
    if source.header.goal.is_none() && source.plan.goal == document.plan.goal {
        header.goal = None;
    }
    if header == source.header && document.plan == source.plan {
        return source.text.clone();
    }
    let newline = if source.text.contains("\r\n") { "\r\n" } else { "\n" };
    let loom = Loom { source, document, outline: Outline::of(&source.text), newline };
    let frontmatter = loom.frontmatter(&header);
    for manner in [Manner::Keep, Manner::Rewrite] {
        let text = format!("{}{}", frontmatter, loom.body(manner));
        if reads_as(&text, document) {
            return text;
        }
    }
    loom.gathered()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// Unchanged items stay as they are.
    Keep,
    /// All items of a changed section are rewritten.
    Rewrite,
}

struct Loom<'a> {
    source: &'a Source,
    document: &'a PlanDocument,
    outline: Outline<'a>,
    newline: &'static str,
}

impl Loom<'_> {
    fn frontmatter(&self, header: &Header) -> String {
        let mark = self.outline.mark;
        let before = &self.source.header;
        let Some(raw) = self.outline.frontmatter else {
            let is_same = header == before;
            return if is_same { mark.to_owned() } else { format!("{mark}{}", self.local(&(self.document.header().write() + "\n"))) };
        };
        let patched = header.patch(raw.yaml, before, self.newline);
        let frame = |yaml: &str| format!("{mark}{}{yaml}{}", raw.opening, raw.closing);
        // Frontmatter such as `{goal: x}` has no line per key.
        let text = frame(&patched);
        let outline = Outline::of(&text);
        let is_read = outline.frontmatter.and_then(|raw| Header::read(raw).ok()).is_some_and(|(read, _)| read == *header);
        if is_read { text } else { frame(&self.local(&self.document.header().rewrite(raw.yaml))) }
    }

    fn body(&self, manner: Manner) -> String {
        let mut pieces: Vec<(Option<Section>, String)> = Vec::new();
        for block in &self.outline.blocks {
            match block.kind {
                BlockKind::Goal => pieces.push((None, self.goal(block))),
                BlockKind::Section(section) => pieces.push((Some(section), self.section(block, section, manner))),
                BlockKind::Preamble | BlockKind::Other | BlockKind::Repeated(_) => pieces.push((None, raw_block(block))),
            }
        }
        for section in Section::ALL {
            let is_new = self.outline.section(section).is_none();
            if let Some(text) = write_section(&self.document.plan, section).filter(|_| is_new) {
                let at = place_of(&pieces, section);
                let is_last = pieces[at..].iter().all(|(_, text)| text.is_empty());
                let above = pieces[..at].iter().rev().find(|(_, text)| !text.is_empty()).map_or("", |(_, text)| text);
                let is_apart = above.is_empty() || above.ends_with("\n\n") || above.ends_with("\n\r\n");
                let text = format!("{}{text}{}", if is_apart { "" } else { "\n" }, if is_last { "" } else { "\n" });
                pieces.insert(at, (Some(section), self.local(&text)));
            }
        }
        self.join(pieces.into_iter().map(|(_, text)| text))
    }

    fn goal(&self, block: &Block<'_>) -> String {
        let is_same = self.source.plan.goal == self.document.plan.goal;
        match block.heading {
            Some(_) if !is_same => self.local(&goal_heading(&self.document.plan.goal)) + &raw(&block.lines),
            Some(_) | None => raw_block(block),
        }
    }

    fn section(&self, block: &Block<'_>, section: Section, manner: Manner) -> String {
        let listing = block.listing();
        let mut items: Vec<String> = match (Contents::of(&self.source.plan, section), Contents::of(&self.document.plan, section)) {
            (Contents::Texts(before), Contents::Texts(now)) if before == now => return raw_block(block),
            (Contents::Texts(before), Contents::Texts(now)) => {
                let keep = |index: usize| before.get(index) == now.get(index) && manner == Manner::Keep;
                let item = |(index, text): (usize, &String)| match listing.items.get(index).filter(|_| keep(index)) {
                    Some(item) => raw(&item.own),
                    None => self.local(&write_item(text)),
                };
                now.iter().enumerate().map(item).collect()
            }
            (Contents::Steps(before), Contents::Steps(now)) => {
                let own = |index: usize| listing.items.get(index).map(|item| item.own.as_slice()).filter(|_| manner == Manner::Keep);
                let item = |(index, step)| match (before.get(index), own(index)) {
                    (Some(before), Some(own)) => self.step(before, step, own),
                    (Some(_) | None, _) => self.local(&write_step(step)),
                };
                now.iter().enumerate().map(item).collect()
            }
            (Contents::Texts(_), Contents::Steps(_)) | (Contents::Steps(_), Contents::Texts(_)) => Vec::new(),
        };
        let end = listing.items.last().map(|item| raw(&item.tail)).unwrap_or_default();
        let before = raw(&listing.before);
        if items.is_empty() && before.trim().is_empty() && end.trim().is_empty() {
            return String::new();
        }
        // Lines between two items stay there; lines below the last item stay last.
        let between = items.len().min(listing.items.len()).saturating_sub(1);
        for (item, read) in items.iter_mut().zip(&listing.items).take(between) {
            item.push_str(&raw(&read.tail));
        }
        let heading = block.heading.map(|line| line.raw).unwrap_or_default();
        self.join([heading.to_owned(), before].into_iter().chain(items).chain([end]))
    }

    /// A step keeps its lines if only its box or number changed.
    fn step(&self, before: &PlanStep, now: &PlanStep, own: &[Line<'_>]) -> String {
        let moved = PlanStep { status: now.status, ..before.clone() };
        match own.split_first() {
            Some((first, below)) if moved == *now => Head::of(first.text).patched(first.raw, now.status, now.step_number) + &raw(below),
            Some(_) | None => self.local(&write_step(now)),
        }
    }

    /// The plan as in a new file, followed by the sections that are not the plan's.
    fn gathered(&self) -> String {
        let (document, blocks) = (self.document, &self.outline.blocks);
        let header = document.header();
        let frontmatter = self.outline.frontmatter.map_or(header.write(), |raw| format!("---\n{}---\n", header.rewrite(raw.yaml)));
        let mut text = format!("{}{}", self.outline.mark, self.local(&format!("{frontmatter}\n{}", goal_heading(&document.plan.goal))));
        let mut add = |piece: &str| text = self.join([text.clone(), self.newline.to_owned(), piece.to_owned()].into_iter());
        // Text without a heading would become part of the section above it.
        for block in blocks.iter().filter(|block| matches!(block.kind, BlockKind::Preamble | BlockKind::Goal)) {
            let lines = raw(&block.lines);
            if !lines.trim().is_empty() {
                add(&lines);
            }
        }
        for section in Section::ALL.into_iter().filter_map(|section| write_section(&document.plan, section)) {
            add(&self.local(&section));
        }
        let others: String = blocks.iter().filter(|block| block.kind == BlockKind::Other).map(raw_block).collect();
        if !others.is_empty() {
            add(&others);
        }
        text
    }

    /// Our own text with the file's line ends.
    fn local(&self, text: &str) -> String {
        if self.newline == "\n" { text.to_owned() } else { text.replace('\n', self.newline) }
    }

    /// Joins parts line by line; the last line of a file may have no line end.
    fn join(&self, pieces: impl Iterator<Item = String>) -> String {
        let mut text = String::new();
        for piece in pieces.filter(|piece| !piece.is_empty()) {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push_str(self.newline);
            }
            text.push_str(&piece);
        }
        text
    }
}

fn reads_as(text: &str, document: &PlanDocument) -> bool {
    let reading = Reading::of(text);
    let header = &reading.header;
    reading.errors.is_empty()
        && reading.plan == document.plan
        && (header.status, &header.chat, header.revision) == (document.status, &document.chat, document.revision)
}

/// The heading shows the goal on one line; the frontmatter has it verbatim.
pub(crate) fn goal_heading(goal: &str) -> String {
    let seen: String = goal.chars().map(|c| if is_unseen(c) { ' ' } else { c }).collect();
    let words: Vec<&str> = seen.split_whitespace().collect();
    format!("# {}\n", words.join(" "))
}

fn write_section(plan: &Plan, section: Section) -> Option<String> {
    let items: Vec<String> = match Contents::of(plan, section) {
        Contents::Steps(steps) => steps.iter().map(write_step).collect(),
        Contents::Texts(texts) => texts.iter().map(|text| write_item(text)).collect(),
    };
    (!items.is_empty()).then(|| format!("## {}\n\n{}", section.title(), items.concat()))
}

fn write_item(text: &str) -> String {
    format!("- {}\n", write_text(text, TextKind::Prose, 2))
}

/// The position of a section that the file lacks: after those that precede it.
fn place_of(pieces: &[(Option<Section>, String)], section: Section) -> usize {
    let after = pieces.iter().rposition(|(other, _)| other.is_some_and(|other| other < section));
    let before = pieces.iter().position(|(other, _)| other.is_some_and(|other| other > section));
    after.map(|at| at + 1).or(before).unwrap_or(pieces.len())
}

fn raw_block(block: &Block<'_>) -> String {
    let heading = block.heading.map(|line| line.raw).unwrap_or_default();
    heading.to_owned() + &raw(&block.lines)
}

fn raw(lines: &[Line<'_>]) -> String {
    lines.iter().map(|line| line.raw).collect()
}
