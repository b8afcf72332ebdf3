//! The page of the plan.

use super::{field_in, lines_in};
use crate::app::AppState;
use crate::clean::{clean, clean_line};
use crate::palette::{Palette, Tone};
use crate::plan_page::PlanPage;
use crate::wrap::{cut, wrap_text};
use planwright_protocol::api::plan::PlanFileView;
use planwright_protocol::{Plan, PlanStep, StepStatus};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph};

pub fn draw(app: &AppState, frame: &mut Frame, area: Rect) {
    let page = &app.plan;
    let Some(view) = &page.view else {
        let text = page.problem.clone().unwrap_or_else(|| "Loading the plan…".to_owned());
        return frame.render_widget(Paragraph::new(wrap_text(&clean(&text), area.width.into(), Style::new())), area);
    };
    let writing = if page.writing.is_some() { 5 } else { 0 };
    let [body, comment, bar] = Layout::vertical([Constraint::Min(0), Constraint::Length(writing), Constraint::Length(1)]).areas(area);
    let (lines, selected) = plan_lines(page, view, usize::from(area.width), app.palette);
    let start = page.window.place(lines.len(), body.height.into(), selected);
    lines_in(frame, body, lines, start);
    if let Some(field) = &page.writing {
        let title = format!(" Comment on step {} ", page.selected_number().unwrap_or_default());
        let block = Block::new().borders(Borders::ALL).title(title);
        let inner = block.inner(comment);
        frame.render_widget(block, comment);
        field_in(frame, inner, field, app.overlay.is_none());
    }
    draw_bar(app, page, view, frame, bar);
}

/// The button, and what stands in its way.
fn draw_bar(app: &AppState, page: &PlanPage, view: &PlanFileView, frame: &mut Frame, area: Rect) {
    let palette = app.palette;
    let is_empty = page.chosen().is_empty();
    let style = if is_empty { palette.style(Tone::Dim) } else { palette.label(Tone::Act) };
    let mut spans = vec![Span::styled(format!(" x {} ", page.execute_label()), style)];
    if !page.comments.is_empty() {
        let count = page.comments.len();
        let noun = if count == 1 { "comment" } else { "comments" };
        spans.push(Span::styled(format!("  r Request changes ({count} {noun})"), palette.style(Tone::Major)));
    }
    if view.approved_sha256.as_ref() == Some(&view.sha256) {
        spans.push(Span::styled("  This version was approved.", palette.style(Tone::Dim)));
    }
    frame.render_widget(Paragraph::new(Line::from(spans)), area);
}

/// The lines of the page, and those of the selected step.
fn plan_lines(page: &PlanPage, view: &PlanFileView, width: usize, palette: Palette) -> (Vec<Line<'static>>, Option<(usize, usize)>) {
    let dim = palette.style(Tone::Dim);
    let Some(plan) = &view.plan else {
        let mut lines = wrap_text("The plan file can't be read as a plan. Press e to mend it.", width, palette.style(Tone::Critical));
        lines.extend(view.findings.iter().map(|finding| Line::raw(cut(&clean_line(&finding.finding.to_string()), width))));
        return (lines, None);
    };
    let mut lines = wrap_text(&clean_line(&plan.goal), width, palette.style(Tone::Heading));
    let revision = view.revision.map(|revision| format!("v{revision}")).unwrap_or_default();
    let parts = [Some(revision), plan.estimated_total_time.clone(), Some(view.plan_file.clone())];
    let facts = parts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
    lines.push(Line::styled(cut(&clean_line(&facts), width), dim));
    lines.push(Line::raw(""));
    let mut selected = None;
    for (index, step) in plan.steps.iter().enumerate() {
        let start = lines.len();
        lines.extend(step_lines(page, view, step, index == page.selected, width, palette));
        if index == page.selected {
            selected = Some((if index == 0 { 0 } else { start }, lines.len()));
        }
    }
    lines.extend(section_lines(plan, view, width, palette));
    (lines, selected)
}

fn step_lines(
    page: &PlanPage,
    view: &PlanFileView,
    step: &PlanStep,
    is_selected: bool,
    width: usize,
    palette: Palette,
) -> Vec<Line<'static>> {
    let dim = palette.style(Tone::Dim);
    let number = step.step_number;
    let is_skipped = page.skipped.contains(&number) || page.stop_after.is_some_and(|stop| number > stop);
    let (mark, tone) = match step.status {
        StepStatus::Done => ("✓", palette.style(Tone::Passed)),
        StepStatus::InProgress => ("▸", palette.style(Tone::Major)),
        StepStatus::Skipped => ("–", dim),
        StepStatus::Pending if is_skipped => ("–", dim),
        StepStatus::Pending => ("○", Style::new()),
    };
    let style = if is_skipped { dim } else { Style::new() };
    let bar = if is_selected { Span::styled("▌", palette.style(Tone::Heading)) } else { Span::raw(" ") };
    let style = if is_selected { style.add_modifier(Modifier::BOLD) } else { style };
    let text = format!("{number}. {}", clean_line(&step.action));
    let mut lines = Vec::new();
    for (index, line) in wrap_text(&text, width.saturating_sub(4), style).into_iter().enumerate() {
        let mark = if index == 0 { format!("{mark} ") } else { "  ".to_owned() };
        let mut spans = vec![bar.clone(), Span::styled(mark, tone)];
        spans.extend(line.spans);
        lines.push(Line::from(spans).style(line.style));
    }
    let mut detail = |label: &str, text: &str, style: Style| {
        if !text.is_empty() {
            let wrapped = wrap_text(&format!("{label}{}", clean(text)), width.saturating_sub(7), style);
            lines.extend(wrapped.into_iter().map(|line| super::row::indented(line, "      ")));
        }
    };
    detail("", &step.files.join(", "), palette.style(Tone::Code));
    if page.open.contains(&number) {
        detail("Why: ", &step.reason, dim);
        detail("Check: ", step.verify.as_deref().unwrap_or_default(), dim);
        detail("Tools: ", &step.tools_needed.join(", "), dim);
        detail("Time: ", step.estimated_time.as_deref().unwrap_or_default(), dim);
    }
    for finding in view.findings.iter().filter(|finding| finding.step == Some(number)) {
        detail("Linter: ", &finding.finding.message, palette.style(Tone::Major));
    }
    for comment in page.comments.iter().filter(|comment| comment.step == Some(number)) {
        detail("Your comment: ", &comment.text, palette.style(Tone::Purple));
    }
    if page.stop_after == Some(number) {
        lines.push(Line::styled("   ── stop here and ask ──", palette.style(Tone::Major)));
    }
    lines
}

/// What there is besides steps.
fn section_lines(plan: &Plan, view: &PlanFileView, width: usize, palette: Palette) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    let sections = [
        ("Risks", &plan.risks),
        ("Prerequisites", &plan.prerequisites),
        ("Assumptions", &plan.assumptions),
        ("Validation", &plan.validation),
    ];
    for (title, entries) in sections.into_iter().filter(|(_, entries)| !entries.is_empty()) {
        lines.push(Line::raw(""));
        lines.push(Line::styled(title, palette.style(Tone::Heading)));
        for entry in entries {
            lines.extend(wrap_text(&format!("• {}", clean_line(entry)), width, Style::new()));
        }
    }
    let general: Vec<_> = view.findings.iter().filter(|finding| finding.step.is_none()).collect();
    if !general.is_empty() {
        lines.push(Line::raw(""));
        let text = |finding: &planwright_protocol::api::plan::PlanFinding| format!("Linter: {}", clean_line(&finding.finding.message));
        lines.extend(general.into_iter().flat_map(|finding| wrap_text(&text(finding), width, palette.style(Tone::Major))));
    }
    lines
}
