//! One row of the history as lines. The first two columns belong to the program: who speaks, and nothing else.

use crate::clean::{clean, clean_line};
use crate::highlight::{diff_style, highlight, language_of};
use crate::markdown;
use crate::open_chat::{OpenChat, StreamedAnswer};
use crate::palette::{Palette, Tone, role_sign};
use crate::transcript::{CallRow, NoticeRow, PlanRow, Row, RowContent, burst_summary};
use crate::wrap::{cut, wrap_text};
use planwright_protocol::Role;
use planwright_protocol::message::{CallStatus, CommentOutcome, Review};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use serde_json::Value;

/// Of a folded-out result, at most this many lines.
const MOST_RESULT: usize = 200;
const LIVE_LINES: usize = 8;

#[must_use]
pub fn lines(row: &Row, width: usize, is_open: bool, palette: Palette) -> Vec<Line<'static>> {
    let gutter = if row.is_delegated { 4 } else { 2 };
    let inner = width.saturating_sub(gutter + 1).max(8);
    let (sign, style, content) = content(&row.content, inner, is_open, palette);
    let mut lines = Vec::with_capacity(content.len() + 1);
    for (index, line) in content.into_iter().enumerate() {
        let mark = if index == 0 { format!("{sign} ") } else { "  ".to_owned() };
        let mut spans = vec![Span::styled(mark, style)];
        if row.is_delegated {
            spans.push(Span::styled("┆ ", palette.style(Tone::Dim)));
        }
        spans.extend(line.spans);
        lines.push(Line::from(spans).style(line.style));
    }
    lines.push(Line::raw("  "));
    lines
}

type Content = (&'static str, Style, Vec<Line<'static>>);

fn content(content: &RowContent, width: usize, is_open: bool, palette: Palette) -> Content {
    let dim = palette.style(Tone::Dim);
    match content {
        RowContent::User { text, is_queued } => {
            let bold = Style::new().add_modifier(Modifier::BOLD);
            let mut lines = wrap_text(&clean(text), width, bold);
            if *is_queued {
                lines.push(Line::styled("waits to be read (Tab, then w withdraws it)", dim));
            }
            ("›", bold, lines)
        }
        RowContent::Answered(text) => ("›", dim, wrap_text(&clean(text), width, dim)),
        RowContent::Assistant { role, text, is_interrupted, review } => {
            let mut lines = markdown::render(text, width, palette);
            lines.extend(review.iter().flat_map(|review| review_lines(review, width, palette)));
            if *is_interrupted {
                lines.push(Line::styled("interrupted", palette.style(Tone::Major)));
            }
            (role_sign(*role), palette.role(*role), lines)
        }
        RowContent::Reasoning(text) => ("·", dim, reasoning_lines(text, width, is_open, palette)),
        RowContent::Burst(calls) => ("·", dim, burst_lines(calls, width, is_open, palette)),
        RowContent::Plan(plan) => ("▤", palette.style(Tone::Plan), plan_lines(plan, width, is_open, palette)),
        RowContent::Question { text, .. } => {
            let first = clean_line(text.lines().next().unwrap_or_default());
            ("?", palette.style(Tone::Major), vec![Line::styled(cut(&format!("Asked: {first}"), width), dim)])
        }
        RowContent::Notice(NoticeRow::Switch { to, text }) => {
            let line = Line::styled(cut(&clean_line(text), width), palette.role(*to));
            (role_sign(*to), palette.role(*to), vec![line])
        }
        RowContent::Notice(NoticeRow::Plain(text)) => ("–", dim, wrap_text(&clean(text), width, dim)),
    }
}

fn reasoning_lines(text: &str, width: usize, is_open: bool, palette: Palette) -> Vec<Line<'static>> {
    let dim = palette.style(Tone::Dim);
    if is_open {
        return wrap_text(&clean(text), width, dim);
    }
    let words = text.split_whitespace().count();
    vec![Line::styled(format!("Reasoned, {words} words"), dim)]
}

fn review_lines(review: &Review, width: usize, palette: Palette) -> Vec<Line<'static>> {
    let mut lines = markdown::render(&review.summary, width, palette);
    for finding in &review.findings {
        let line = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
        let place = format!("{:?} {}{line}", finding.severity, clean_line(&finding.path));
        lines.push(Line::styled(cut(&place, width), palette.severity(finding.severity)));
        lines.extend(markdown::render(&finding.comment, width.saturating_sub(2), palette).into_iter().map(|line| indented(line, "  ")));
    }
    lines
}

/// A burst folds to one line; failed calls keep a line of their own, and so does the one that runs.
fn burst_lines(calls: &[CallRow], width: usize, is_open: bool, palette: Palette) -> Vec<Line<'static>> {
    let dim = palette.style(Tone::Dim);
    if is_open {
        return calls.iter().flat_map(|call| call_lines(call, width, palette)).collect();
    }
    let mut lines = Vec::new();
    let notable = |call: &&CallRow| call.error.is_some() || matches!(call.status, CallStatus::Pending | CallStatus::Running);
    let quiet: Vec<CallRow> = calls.iter().filter(|call| !notable(call)).cloned().collect();
    match quiet.as_slice() {
        [] => {}
        [only] => lines.push(Line::styled(cut(&clean_line(&only.title), width), dim)),
        several => lines.push(Line::styled(cut(&clean_line(&burst_summary(several)), width), dim)),
    }
    lines.extend(calls.iter().filter(notable).flat_map(|call| call_head(call, width, palette)));
    lines
}

fn call_head(call: &CallRow, width: usize, palette: Palette) -> Vec<Line<'static>> {
    let (sign, style) = match call.status {
        CallStatus::Pending | CallStatus::Running => ("▸", palette.style(Tone::Major)),
        CallStatus::Done => ("✓", palette.style(Tone::Passed)),
        CallStatus::Failed | CallStatus::Cancelled => ("✗", palette.style(Tone::Removed)),
    };
    let mut lines =
        vec![Line::from(vec![Span::styled(format!("{sign} "), style), Span::raw(cut(&clean_line(&call.title), width.saturating_sub(2)))])];
    if let Some(error) = &call.error {
        let text = cut(&clean_line(error), width.saturating_sub(2) * 2);
        lines.extend(wrap_text(&text, width.saturating_sub(2), style).into_iter().map(|line| indented(line, "  ")));
    }
    lines
}

fn call_lines(call: &CallRow, width: usize, palette: Palette) -> Vec<Line<'static>> {
    let mut lines = call_head(call, width, palette);
    let inner = width.saturating_sub(4);
    let text = |key: &str| call.args.get(key).and_then(Value::as_str);
    if let Some((old, new)) = text("old_string").zip(text("new_string")) {
        let diff = old.lines().map(|line| format!("-{line}")).chain(new.lines().map(|line| format!("+{line}")));
        lines.extend(diff.flat_map(|line| wrap_text(&clean(&line), inner, diff_style(&line, palette))).map(|line| indented(line, "  ")));
    } else if let Some(content) = text("content") {
        let language = language_of(text("path").unwrap_or_default());
        let code = clean(content);
        lines.extend(code.lines().take(MOST_RESULT).map(|line| indented(highlight(&cut(line, inner), language, palette), "  ")));
    }
    if let Some(result) = &call.result {
        let result = clean(result);
        let count = result.lines().count();
        let shown = result.lines().take(MOST_RESULT).map(|line| Line::styled(cut(line, inner), palette.style(Tone::Dim)));
        lines.extend(shown.map(|line| indented(line, "  ")));
        if count > MOST_RESULT {
            lines.push(Line::styled(format!("  and {} more lines", count - MOST_RESULT), palette.style(Tone::Dim)));
        }
    }
    lines
}

fn plan_lines(plan: &PlanRow, width: usize, is_open: bool, palette: Palette) -> Vec<Line<'static>> {
    let version = &plan.version;
    let author = if version.is_edited { ", edited by you" } else { "" };
    let count = version.plan.steps.len();
    let steps = if count == 1 { "step" } else { "steps" };
    let head = format!("Plan v{}{author}: {}", version.revision, clean_line(&version.plan.goal));
    let mut lines = wrap_text(&head, width, palette.style(Tone::Heading));
    for step in &version.plan.steps {
        let text = format!("{}. {}", step.step_number, clean_line(&step.action));
        if is_open {
            lines.extend(wrap_text(&text, width, Style::new()));
            lines.extend(
                wrap_text(&clean_line(&step.reason), width.saturating_sub(3), palette.style(Tone::Dim))
                    .into_iter()
                    .map(|line| indented(line, "   ")),
            );
        } else {
            lines.push(Line::raw(cut(&text, width)));
        }
    }
    for comment in &plan.comments {
        let outcome = match comment.outcome {
            Some(CommentOutcome::Done) => ("✓", Tone::Passed),
            Some(CommentOutcome::Declined) => ("✗", Tone::Major),
            None => ("·", Tone::Dim),
        };
        let text =
            format!("{} {}: {} {}", outcome.0, comment.comment.place(), clean_line(&comment.comment.text), clean_line(&comment.note));
        lines.extend(wrap_text(&text, width, palette.style(outcome.1)));
    }
    lines.push(Line::styled(format!("{count} {steps}. Ctrl+P opens the plan: comment, choose steps, execute."), palette.style(Tone::Dim)));
    lines
}

/// The end of the output of a command that runs.
#[must_use]
pub fn live_output(row: &Row, chat: &OpenChat, width: usize, palette: Palette) -> Vec<Line<'static>> {
    let RowContent::Burst(calls) = &row.content else { return Vec::new() };
    let running = calls.iter().filter(|call| call.result.is_none() && call.error.is_none());
    let mut lines = Vec::new();
    for printed in running.filter_map(|call| chat.printed.get(&call.call_id)) {
        let printed = clean(printed);
        let all: Vec<&str> = printed.lines().collect();
        let shown = &all[all.len().saturating_sub(LIVE_LINES)..];
        lines
            .extend(shown.iter().map(|line| Line::styled(format!("  ▏ {}", cut(line, width.saturating_sub(5))), palette.style(Tone::Dim))));
    }
    lines
}

/// The answer that is being written.
#[must_use]
pub fn partial_lines(partial: &StreamedAnswer, width: usize, palette: Palette) -> Vec<Line<'static>> {
    let role: Role = partial.by.role;
    let inner = width.saturating_sub(3).max(8);
    let content = if partial.text.is_empty() {
        let words = partial.reasoning.split_whitespace().count();
        vec![Line::styled(format!("Reasoning, {words} words"), palette.style(Tone::Dim))]
    } else {
        markdown::render(&partial.text, inner, palette)
    };
    let mut lines = Vec::with_capacity(content.len());
    for (index, line) in content.into_iter().enumerate() {
        let mark = if index == 0 { format!("{} ", role_sign(role)) } else { "  ".to_owned() };
        let mut spans = vec![Span::styled(mark, palette.role(role))];
        spans.extend(line.spans);
        lines.push(Line::from(spans).style(line.style));
    }
    lines
}

/// The line further to the right.
#[must_use]
pub fn indented(line: Line<'static>, indent: &'static str) -> Line<'static> {
    let style = line.style;
    let mut spans = vec![Span::raw(indent)];
    spans.extend(line.spans);
    Line::from(spans).style(style)
}
