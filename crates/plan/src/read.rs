//! Parses the outline of a plan file into a plan, and collects the errors.

use crate::frontmatter::Header;
use crate::markdown::MAX_PLAN_BYTES;
use crate::outline::{Block, BlockKind, Bullet, Line, Outline, Section, heading};
use crate::step::read_step;
use crate::text::{TextKind, indent_of, read_text};
use planwright_protocol::api::plan::Finding;
use planwright_protocol::{Plan, PlanStep};

/// A plan file, parsed as far as possible.
#[derive(Debug, Default)]
pub(crate) struct Reading<'a> {
    pub(crate) outline: Outline<'a>,
    pub(crate) header: Header,
    /// An unknown status in the frontmatter.
    pub(crate) odd_status: Option<String>,
    pub(crate) plan: Plan,
    pub(crate) errors: Vec<Finding>,
}

impl<'a> Reading<'a> {
    pub(crate) fn of(text: &'a str) -> Reading<'a> {
        let mut reading = Reading::default();
        if text.len() > MAX_PLAN_BYTES {
            reading.errors.push(Finding::error(1, 1, "the plan is longer than 1 MiB; keep the steps and move the rest elsewhere"));
            return reading;
        }
        reading.outline = Outline::of(text);
        if reading.outline.frontmatter_is_open {
            reading.errors.push(Finding::error(1, 1, "the frontmatter is never closed; write `---` on a line of its own below it"));
            return reading;
        }
        reading.read_header();
        reading.read_goal();
        reading.read_sections();
        reading.plan.estimated_total_time.clone_from(&reading.header.estimated_total_time);
        reading
    }

    fn read_header(&mut self) {
        match self.outline.frontmatter.map(Header::read) {
            Some(Ok((header, odd_status))) => {
                self.header = header;
                self.odd_status = odd_status;
            }
            Some(Err(finding)) => self.errors.push(finding),
            None => {}
        }
    }

    /// The frontmatter's goal is the exact one; the heading shows it on one line.
    fn read_goal(&mut self) {
        let goal = self.header.goal.clone().or_else(|| self.outline.goal_heading().map(|(_, title)| title.to_owned()));
        self.plan.goal = goal.filter(|goal| !goal.is_empty()).unwrap_or_default();
        if self.plan.goal.is_empty() && self.errors.is_empty() {
            self.errors.push(Finding::error(1, 1, "the plan has no goal; write its purpose as `# goal`, or as `goal:` in the frontmatter"));
        }
    }

    fn read_sections(&mut self) {
        let outline = std::mem::take(&mut self.outline);
        for block in &outline.blocks {
            let texts = |block: &Block<'_>| block.listing().items.iter().map(|item| read_item(&item.own)).collect();
            match block.kind {
                BlockKind::Section(Section::Assumptions) => self.plan.assumptions = texts(block),
                BlockKind::Section(Section::Steps) => self.read_steps(block),
                BlockKind::Section(Section::Risks) => self.plan.risks = texts(block),
                BlockKind::Section(Section::Prerequisites) => self.plan.prerequisites = texts(block),
                BlockKind::Section(Section::Validation) => self.plan.validation = texts(block),
                BlockKind::Repeated(section) => {
                    let line = block.heading.map_or(1, |line| line.number);
                    let title = section.title();
                    self.errors.push(Finding::error(line, 1, format!("`## {title}` occurs twice; merge both sections")));
                }
                BlockKind::Preamble | BlockKind::Goal | BlockKind::Other => {}
            }
        }
        if outline.section(Section::Steps).is_none() {
            let message = "the plan has no steps; write them below `## Steps`, each as `- [ ] 1. what is done`";
            self.errors.push(Finding::error(outline.last_line(), 1, message));
        }
        self.outline = outline;
    }

    fn read_steps(&mut self, block: &Block<'_>) {
        let listing = block.listing();
        if listing.items.is_empty() {
            let line = block.heading.map_or(1, |line| line.number);
            self.errors.push(Finding::error(line, 1, "`## Steps` has no steps; write each as `- [ ] 1. what is done`"));
        }
        self.plan.steps = listing.items.iter().zip(1..).map(|(item, number)| read_step(&item.own, number)).collect();
        for (item, step) in listing.items.iter().zip(&self.plan.steps) {
            if step.action.trim().is_empty()
                && let Some(line) = item.own.first()
            {
                let message = format!("step {} has no action; write what to do after the box", step.step_number);
                self.errors.push(Finding::error(line.number, line.column(), message));
            }
        }
    }
}

impl<'a> Outline<'a> {
    /// The line and the text of the goal's heading.
    pub(crate) fn goal_heading(&self) -> Option<(usize, &'a str)> {
        let block = self.blocks.iter().find(|block| block.kind == BlockKind::Goal)?;
        let line = block.heading?;
        heading(line.text).map(|(_, title)| (line.number, title))
    }

    fn last_line(&self) -> usize {
        self.blocks.last().and_then(|block| block.lines.last().or(block.heading.as_ref())).map_or(1, |line| line.number)
    }
}

fn read_item(own: &[Line<'_>]) -> String {
    let Some((first, below)) = own.split_first() else { return String::new() };
    let below: Vec<&str> = below.iter().map(|line| line.text).collect();
    let text = Bullet::of(first.text).map_or(first.text, |bullet| &first.text[bullet.end..]);
    read_text(text, &below, TextKind::Prose, indent_of(first.text) + 2)
}

/// The steps and the texts of a section of the plan.
pub(crate) enum Contents<'a> {
    Steps(&'a [PlanStep]),
    Texts(&'a [String]),
}

impl<'a> Contents<'a> {
    pub(crate) fn of(plan: &'a Plan, section: Section) -> Self {
        match section {
            Section::Assumptions => Contents::Texts(&plan.assumptions),
            Section::Steps => Contents::Steps(&plan.steps),
            Section::Risks => Contents::Texts(&plan.risks),
            Section::Prerequisites => Contents::Texts(&plan.prerequisites),
            Section::Validation => Contents::Texts(&plan.validation),
        }
    }
}

/// The number of the step that a line of a plan file belongs to.
#[must_use]
pub fn step_at(text: &str, line: usize) -> Option<u32> {
    let outline = Outline::of(text);
    let listing = outline.section(Section::Steps)?.listing();
    let holds =
        |own: &[Line<'_>]| own.first().is_some_and(|first| first.number <= line) && own.last().is_some_and(|last| line <= last.number);
    listing.items.iter().zip(1..).find(|(item, _)| holds(&item.own)).map(|(_, number)| number)
}

#[cfg(test)]
mod tests {
    use super::step_at;

    #[test]
    fn a_finding_belongs_to_the_step_whose_lines_it_is_in() {
        let text = "# Greet\n\n## Steps\n\n- [ ] 1. Say hello\n  files: a.txt\n- [ ] 2. Test it\n\n## Risks\n\n- none\n";
        let steps: Vec<Option<u32>> = (1..=11).map(|line| step_at(text, line)).collect();
        let expected = [None, None, None, None, Some(1), Some(1), Some(2), None, None, None, None];
        assert_eq!(steps, expected);
        assert_eq!(step_at("no plan", 1), None);
    }
}
