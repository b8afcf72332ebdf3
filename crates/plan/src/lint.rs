//! The linter of `.plan` files.

use crate::outline::{Block, BlockKind, Bullet, Line, Outline, Section, heading};
use crate::read::Reading;
use crate::rewrite::goal_heading;
use crate::scope;
use crate::step::{Field, Head, Key, fields, word_and_value};
use crate::text::{indent_of, read_list, turns_text};
use planwright_protocol::api::plan::{Finding, Gravity};
use planwright_protocol::{PlanFileStatus, PlanStep};
use std::collections::HashSet;

/// All findings of a plan file, in the order of its lines. Contains an error exactly if the file can't be parsed as a plan.
#[must_use]
pub fn lint(text: &str) -> Vec<Finding> {
    let reading = Reading::of(text);
    let mut findings = reading.errors.clone();
    lint_header(&reading, &mut findings);
    lint_characters(text, &mut findings);
    if let Some(line) = reading.outline.open_fence {
        let message = "this code block is never closed, so nothing below it is part of the plan; close it with the same marks";
        findings.push(Finding::warning(line, 1, message));
    }
    for block in &reading.outline.blocks {
        lint_titles(block, &mut findings);
        if let BlockKind::Section(section) = block.kind {
            lint_section(block, section, &mut findings);
        }
    }
    if let Some(block) = reading.outline.section(Section::Steps) {
        if let (None, Some(first)) = (block.heading, block.lines.first()) {
            findings.push(Finding::warning(first.number, 1, "the steps have no heading; write `## Steps` above them"));
        }
        lint_steps(block, &reading.plan.steps, &mut findings);
        let names_no_file = !reading.plan.steps.is_empty() && reading.plan.files().is_empty();
        if let Some(first) = block.lines.first().filter(|_| names_no_file) {
            let message = "no step names a file, so that no change asks; where `plan_requires_files` is set, such a plan can't be approved";
            findings.push(Finding::warning(first.number, 1, message));
        }
    }
    // Errors first, so that none is cut off.
    findings.sort_by_key(|finding| finding.gravity == Gravity::Warning);
    let more = findings.len().saturating_sub(MAX_FINDINGS);
    findings.truncate(MAX_FINDINGS);
    findings.sort_by_key(|finding| (finding.line, finding.column));
    if more > 0 {
        let line = findings.last().map_or(1, |finding| finding.line);
        findings.push(Finding::warning(line, 1, format!("{more} more findings are not shown; fix these first")));
    }
    findings
}

/// Nobody reads more.
const MAX_FINDINGS: usize = 200;

/// Per step.
const MAX_DOUBTS: usize = 20;

/// Read-only tools: a step that uses only these touches no files.
const READING_TOOLS: [&str; 13] = [
    "read",
    "ls",
    "history",
    "web_fetch",
    "glob",
    "grep",
    "outline",
    "symbols",
    "references",
    "explore",
    "web_search",
    "ask_user",
    "submit_review",
];

fn lint_header(reading: &Reading<'_>, findings: &mut Vec<Finding>) {
    let status_line = key_line(&reading.outline, "status");
    if let Some(odd) = &reading.odd_status {
        let words = PlanFileStatus::ALL.map(PlanFileStatus::as_str).join(", ");
        findings.push(Finding::warning(
            status_line,
            1,
            format!("`{odd}` is not a status of a plan and counts as draft; write one of {words}"),
        ));
    }
    if let (Some(goal), Some((line, title))) = (&reading.header.goal, reading.outline.goal_heading())
        && goal_heading(goal) != goal_heading(title)
    {
        let message = "the heading is not the frontmatter's `goal`, which is the one that counts; make them the same";
        findings.push(Finding::warning(line, 1, message));
    }
    let steps = &reading.plan.steps;
    let all_over = !steps.is_empty() && steps.iter().all(|step| step.status.is_finished());
    let status = reading.header.status;
    if all_over && status != PlanFileStatus::Done && reading.odd_status.is_none() {
        let message = format!("every step is done or skipped, but the status is {}; write `status: done`", status.as_str());
        findings.push(Finding::warning(status_line, 1, message));
    }
    if let Some(open) = steps.iter().find(|step| !step.status.is_finished())
        && status == PlanFileStatus::Done
    {
        let message = format!(
            "the status is done, but step {} is not; tick it, mark it `[-]` if it was skipped, or change the status",
            open.step_number
        );
        findings.push(Finding::warning(status_line, 1, message));
    }
}

/// The line of a frontmatter key; the first line if the key is missing.
fn key_line(outline: &Outline<'_>, key: &str) -> usize {
    let yaml = outline.frontmatter.map_or("", |frontmatter| frontmatter.yaml);
    yaml.lines().position(|line| line.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(':'))).map_or(1, |index| index + 2)
}

fn lint_characters(text: &str, findings: &mut Vec<Finding>) {
    for (index, line) in text.lines().enumerate() {
        if let Some(column) = line.chars().position(turns_text) {
            let message =
                "a hidden character here turns the direction of the text, so that it reads differently from what it says; take it out";
            findings.push(Finding::warning(index + 1, column + 1, message));
        }
    }
}

/// Headings that look like a section of the plan but are not one.
fn lint_titles(block: &Block<'_>, findings: &mut Vec<Finding>) {
    let own = block.heading.iter().filter(|_| block.kind == BlockKind::Other);
    for line in own.chain(&block.lines).filter(|line| !line.fenced) {
        if let Some((level, title)) = heading(line.text)
            && level != 2
            && let Some(section) = Section::of_title(title)
        {
            let message = format!("this heading is not read as the section {0}; write `## {0}`", section.title());
            findings.push(Finding::warning(line.number, 1, message));
        }
    }
}

fn lint_section(block: &Block<'_>, section: Section, findings: &mut Vec<Finding>) {
    let listing = block.listing();
    let mut stray = Stray::default();
    stray.look_at(&listing.before, findings);
    let mut has_tab = false;
    for item in &listing.items {
        stray.look_at(&item.tail, findings);
        if let Some(line) = item.own.iter().find(|line| line.text.starts_with('\t') && !has_tab) {
            has_tab = true;
            let message = "a tab indents this line; use spaces, since what belongs to what goes by the indentation";
            findings.push(Finding::warning(line.number, 1, message));
        }
        let is_bare = |line: &&Line<'_>| Bullet::of(line.text).is_some_and(|bullet| bullet.end == line.text.len());
        if let Some(line) = item.own.first().filter(is_bare).filter(|_| section != Section::Steps && item.own.len() == 1) {
            findings.push(Finding::warning(line.number, line.column(), "this item is empty; write it or take the line out"));
        }
    }
}

/// Text of a section outside its list, reported once per paragraph.
#[derive(Default)]
struct Stray {
    in_comment: bool,
}

impl Stray {
    fn look_at(&mut self, lines: &[Line<'_>], findings: &mut Vec<Finding>) {
        let mut is_reported = false;
        for line in lines {
            self.in_comment = self.in_comment || line.text.trim_start().starts_with("<!--");
            let is_text = !self.in_comment && !line.fenced && line.text.contains(char::is_alphanumeric) && heading(line.text).is_none();
            if is_text && !is_reported {
                let message = "this text is not in the list, so it is kept but is not part of the plan; begin it with `- `, or indent it below its item";
                findings.push(Finding::warning(line.number, line.column(), message));
            }
            is_reported = is_text;
            self.in_comment = self.in_comment && !line.text.contains("-->");
        }
    }
}

fn lint_steps(block: &Block<'_>, steps: &[PlanStep], findings: &mut Vec<Finding>) {
    let mut seen = HashSet::new();
    let mut expected = 1;
    for (item, step) in block.listing().items.iter().zip(steps) {
        let Some((first, below)) = item.own.split_first() else { continue };
        let head = Head::of(first.text);
        let mut warn = |column: usize, message: String| findings.push(Finding::warning(first.number, column, message));
        match &head.checkbox {
            None => warn(first.column(), format!("step {0} has no box; write `- [ ] {0}. …`, so that it can be ticked", step.step_number)),
            Some(checkbox) if checkbox.status.is_none() => {
                let column = first.column_of(checkbox.range.start);
                let sign = &first.text[checkbox.range.clone()];
                warn(column, format!("`{sign}` is not a state of a step; write `[ ]` open, `[~]` begun, `[x]` done or `[-]` skipped"));
            }
            Some(checkbox) if checkbox.range.len() == 2 => {
                warn(first.column_of(checkbox.range.start), "this box has no space for a tick; write `[ ]`".to_owned());
            }
            Some(_) => {}
        }
        if let Some(number) = &head.number {
            let column = first.column_of(number.range.start);
            let value = number.value;
            if !seen.insert(value) {
                warn(column, format!("the number {value} occurs twice; number the steps 1, 2, 3 in order, as they are counted that way"));
            } else if value != expected {
                warn(
                    column,
                    format!("this should be step {expected}, not {value}; number the steps 1, 2, 3 in order, as they are counted that way"),
                );
            }
            expected = value.saturating_add(1);
        } else {
            expected += 1;
        }
        let fields = fields(&item.own);
        if !step.action.trim().is_empty() {
            lint_fields(first, &fields, step, findings);
        }
        lint_unknown_keys(first, below, &fields, findings);
    }
}

fn lint_fields(first: &Line<'_>, fields: &[Field<'_>], step: &PlanStep, findings: &mut Vec<Finding>) {
    let number = step.step_number;
    if step.reason.trim().is_empty() {
        let message = format!("step {number} has no reason; write why it is needed, as `reason: …` below it");
        findings.push(Finding::warning(first.number, first.column(), message));
    }
    let only_reads = !step.tools_needed.is_empty() && step.tools_needed.iter().all(|tool| READING_TOOLS.contains(&tool.as_str()));
    if step.files.is_empty() && !only_reads {
        let message =
            format!("step {number} has no files; write which files it touches, as `files: …` below it, so that changes elsewhere ask");
        findings.push(Finding::warning(first.number, first.column(), message));
    }
    let mut seen = Vec::new();
    for field in fields {
        if seen.contains(&field.key) {
            let message = format!("`{}` occurs twice in step {number}; merge both", field.key.word());
            findings.push(Finding::warning(field.line.number, field.line.column(), message));
        }
        seen.push(field.key);
        if field.key == Key::Files {
            lint_files(field, findings);
        }
    }
}

fn lint_files(field: &Field<'_>, findings: &mut Vec<Finding>) {
    let mut doubts = Vec::new();
    for (line, list) in field.lists() {
        let mut at = line.text.len() - list.len();
        for name in read_list(list) {
            // An escaped name is not found verbatim; then the position of the previous one must do.
            let start = line.text[at..].find(&name).map_or(at, |offset| at + offset);
            at = if line.text[start..].starts_with(&name) { start + name.len() } else { start };
            if let Some(doubt) = scope::doubt(&name).filter(|_| doubts.len() < MAX_DOUBTS) {
                doubts.push(Finding::warning(line.number, line.column_of(start), doubt));
            }
        }
    }
    findings.append(&mut doubts);
}

/// Lines that look like a key but are none of ours: mostly misspelled.
fn lint_unknown_keys(first: &Line<'_>, below: &[Line<'_>], fields: &[Field<'_>], findings: &mut Vec<Finding>) {
    let usual = indent_of(first.text) + 3;
    let indent = fields.iter().skip(1).map(|field| indent_of(field.line.text)).min().unwrap_or(usual);
    for line in below.iter().filter(|line| indent_of(line.text) <= indent && Key::of_line(line.text).is_none()) {
        if let Some((word, _)) = word_and_value(line.text) {
            let message = format!(
                "`{word}` is not a key of a step (reason, tools, files, time, verify), so it counts as text of the line above; rename it, or indent it further"
            );
            findings.push(Finding::warning(line.number, line.column(), message));
        }
    }
}
