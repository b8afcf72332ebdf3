//! The pending question. Cards of the server have a double frame, which no other text can have: [`crate::clean`] replaces it.

use super::{field_in, form, lines_in};
use crate::app::{AppState, Focus};
use crate::approval::{TextPrompt, command, effect_line, title};
use crate::clean::{clean, clean_line};
use crate::dock::Dock;
use crate::highlight::diff_style;
use crate::markdown;
use crate::palette::{Palette, Tone};
use crate::wrap::{columns, cut, wrap_text};
use planwright_protocol::api::chat::Pending;
use planwright_protocol::message::{CallToApprove, EntryKind, PlanToApprove};
use planwright_protocol::{QuestionKind, Severity};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Borders, Paragraph};

/// Two lines of frame, and at least so many of the body.
const LEAST_BODY: u16 = 3;

/// How many lines the dock gets, of at most so many.
#[must_use]
pub fn height(app: &AppState, dock: &Dock, width: u16, most: u16) -> u16 {
    let inner = usize::from(width.saturating_sub(4));
    let body = if dock.actions.is_empty() {
        form::lines(&dock.form, inner, app.palette).lines.len()
    } else {
        body(&dock.pending, inner, app.palette).len()
    };
    let wanted = columns(body) + foot_height(dock, inner) + 2;
    wanted.min(most.max(LEAST_BODY + foot_height(dock, inner) + 2))
}

fn foot_height(dock: &Dock, width: usize) -> u16 {
    let error = u16::from(dock.error.is_some());
    match &dock.text {
        Some((_, field)) => columns(field.layout(width.saturating_sub(2)).0.len()).min(4) + 1 + error,
        None => columns(dock.actions.len()) + error,
    }
}

pub fn draw(app: &AppState, dock: &Dock, frame: &mut Frame, area: Rect) {
    let palette = app.palette;
    let has_focus = app.focus == Focus::Dock && app.overlay.is_none();
    let style = palette.severity(dock.pending.severity);
    let style = if has_focus { style.add_modifier(Modifier::BOLD) } else { style };
    let is_card = dock.pending.kind != QuestionKind::User;
    let kind = if is_card { BorderType::Double } else { BorderType::Plain };
    let sign = match dock.pending.severity {
        Severity::Critical => "‼ ",
        Severity::Major => "! ",
        Severity::Minor => "",
    };
    let name = format!(" {sign}{} ", cut(&clean_line(&title(&dock.pending)), usize::from(area.width.saturating_sub(22))));
    let hint = if has_focus { " answer here " } else { " Tab to answer " };
    let block = Block::new()
        .borders(Borders::ALL)
        .border_type(kind)
        .border_style(style)
        .title(Span::styled(name, style.add_modifier(Modifier::BOLD)))
        .title(Line::styled(hint, style).right_aligned());
    let inner = block.inner(area);
    super::clear(frame, area);
    frame.render_widget(block, area);
    let inner = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
    let width = usize::from(inner.width);
    let [content, foot] = Layout::vertical([Constraint::Min(0), Constraint::Length(foot_height(dock, width))]).areas(inner);
    if dock.actions.is_empty() {
        form::draw(app, dock, frame, content, has_focus);
    } else {
        draw_body(dock, frame, content, palette);
    }
    draw_foot(app, dock, frame, foot, has_focus);
}

fn draw_body(dock: &Dock, frame: &mut Frame, area: Rect, palette: Palette) {
    let lines = body(&dock.pending, area.width.into(), palette);
    let height = usize::from(area.height);
    let start = dock.scroll.min(lines.len().saturating_sub(height));
    let left = lines.len().saturating_sub(start + height);
    lines_in(frame, area, lines, start);
    if left > 0 && area.height > 0 {
        let more = format!(" ↓ {} more lines (PgDn) ", left + 1);
        let y = area.y + area.height - 1;
        let line = Rect { y, height: 1, ..area };
        super::clear(frame, line);
        frame.render_widget(Paragraph::new(Line::styled(more, palette.style(Tone::Dim))), line);
    }
}

/// The decisions, one per line, or the text that goes along with one.
fn draw_foot(app: &AppState, dock: &Dock, frame: &mut Frame, area: Rect, has_focus: bool) {
    let palette = app.palette;
    let mut lines = Vec::new();
    if let Some(error) = &dock.error {
        lines.push(Line::styled(cut(&clean_line(error), area.width.into()), palette.style(Tone::Critical)));
    }
    if let Some((at, field)) = &dock.text {
        let prompt = dock.actions.get(*at).and_then(|action| action.text);
        let text = match prompt {
            Some(TextPrompt::Required(text) | TextPrompt::Optional(text)) => text,
            None => "",
        };
        lines.push(Line::styled(text, Style::new().add_modifier(Modifier::BOLD)));
        let head = columns(lines.len());
        frame.render_widget(Paragraph::new(lines), area);
        let rest = Rect { x: area.x + 2, y: area.y + head, width: area.width.saturating_sub(2), height: area.height.saturating_sub(head) };
        return field_in(frame, rest, field, has_focus);
    }
    for (index, action) in dock.actions.iter().enumerate() {
        let is_selected = has_focus && dock.selected == Some(index);
        let style = if is_selected { palette.selected() } else { Style::new() };
        let style = if action.is_danger { style.patch(palette.style(Tone::Critical)) } else { style };
        let mut spans = vec![Span::styled(format!(" {} ", action.key), Style::new().add_modifier(Modifier::BOLD))];
        spans.push(Span::styled(format!(" {} ", clean_line(&action.label)), style));
        if !action.hint.is_empty() {
            spans.push(Span::styled(format!(" {}", clean_line(&action.hint)), palette.style(Tone::Dim)));
        }
        lines.push(Line::from(spans));
    }
    if dock.is_sending {
        lines.push(Line::styled("Sending…", palette.style(Tone::Dim)));
    }
    frame.render_widget(Paragraph::new(lines), area);
}

/// What the decision is about.
#[must_use]
pub fn body(pending: &Pending, width: usize, palette: Palette) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    if let Some(plan) = &pending.plan {
        lines.extend(plan_lines(plan, width, palette));
    }
    if let Some(call) = pending.call.as_ref().filter(|_| pending.kind == QuestionKind::ToolApproval) {
        lines.extend(call_lines(call, width, palette));
        return lines;
    }
    for question in &pending.questions {
        if pending.kind != QuestionKind::PlanApproval {
            lines.extend(markdown::render(&question.question, width, palette));
        }
        if let Some(context) = &question.context {
            lines.push(Line::styled("The agent's remark:", palette.style(Tone::Dim)));
            lines.extend(markdown::render(context, width, palette));
        }
    }
    lines
}

fn plan_lines(plan: &PlanToApprove, width: usize, palette: Palette) -> Vec<Line<'static>> {
    let mut lines = wrap_text(&clean_line(&plan.goal), width, palette.style(Tone::Heading));
    for step in &plan.steps {
        lines.push(Line::raw(cut(&format!("{}. {}", step.step_number, clean_line(&step.action)), width)));
        if !step.files.is_empty() {
            lines.push(Line::styled(cut(&format!("   {}", clean_line(&step.files.join(", "))), width), palette.style(Tone::Dim)));
        }
    }
    lines
        .extend(plan.risks.iter().map(|risk| Line::styled(cut(&format!("Risk: {}", clean_line(risk)), width), palette.style(Tone::Major))));
    lines.push(Line::styled("p shows the whole plan: comments, single steps, a stop.", palette.style(Tone::Dim)));
    lines
}

fn call_lines(call: &CallToApprove, width: usize, palette: Palette) -> Vec<Line<'static>> {
    let dim = palette.style(Tone::Dim);
    let step = call.step_number.map(|step| format!("Step {step} of the plan. ")).unwrap_or_default();
    let mut lines = wrap_text(&clean_line(&format!("{step}{}", call.reason)), width, Style::new());
    if let Some(command) = command(call) {
        lines.extend(
            wrap_text(&clean(command), width.saturating_sub(2), palette.style(Tone::Code))
                .into_iter()
                .map(|line| super::row::indented(line, "$ ")),
        );
    }
    let has = |effect: &str| call.effects.iter().any(|shown| shown.effect == effect);
    if has("network") {
        lines.push(Line::styled("Can reach any host. The sandbox stays on.", palette.style(Tone::Major)));
    }
    if has("unconfined") {
        lines.push(Line::styled("Runs without the sandbox, as you.", palette.style(Tone::Critical)));
    }
    for entry in &call.deleted {
        let kind = match entry.kind {
            EntryKind::File => String::new(),
            EntryKind::Folder => " (folder)".to_owned(),
            EntryKind::Link => " (link)".to_owned(),
            EntryKind::Other => " (no plain file)".to_owned(),
        };
        let lines_of = |count| format!(", {count} {}", if count == 1 { "line" } else { "lines" });
        let size = entry.lines.map(lines_of).or_else(|| entry.size.map(|size| format!(", {size} bytes")));
        let text = format!("− {}{kind}{}", clean_line(&entry.path), size.unwrap_or_default());
        lines.push(Line::styled(cut(&text, width), palette.style(Tone::Removed)));
        let beginning = clean(entry.beginning.as_deref().unwrap_or_default());
        lines.extend(beginning.lines().take(3).map(|line| Line::styled(cut(&format!("    {line}"), width), dim)));
    }
    let shown = u64::try_from(call.deleted.len()).unwrap_or(u64::MAX);
    if call.deleted_count > shown {
        lines.push(Line::styled(format!("and {} more", call.deleted_count - shown), dim));
    }
    if let Some(diff) = &call.diff {
        lines.extend(clean(diff).lines().map(|line| Line::styled(cut(line, width), diff_style(line, palette))));
    }
    if call.deleted.is_empty() && call.diff.is_none() {
        let effects = call
            .effects
            .iter()
            .filter(|effect| effect.effect != "execute")
            .filter_map(|effect| effect_line(&effect.effect, effect.target.as_ref()));
        lines.extend(effects.take(20).map(|line| Line::raw(cut(&clean_line(&line), width))));
    }
    match call.reversible {
        Some(true) => lines.push(Line::styled("Can be taken back: the chat keeps a copy of every file.", dim)),
        Some(false) => lines.push(Line::styled("Can’t be taken back.", palette.style(Tone::Critical))),
        None => {}
    }
    lines
}
