//! The page of a chat: the history, the dock below it, the composer at the bottom.

use super::{dock, field_in, lines_in, row};
use crate::app::{AppState, Focus};
use crate::clean::{clean, clean_line};
use crate::palette::{Tone, mode_word};
use crate::wrap::{columns, cut, wrap_text};
use planwright_protocol::ChatState;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Borders, Paragraph};
use std::rc::Rc;

/// Maximum number of lines of the message on the screen.
const MOST_COMPOSER: u16 = 10;
const MOST_SUGGESTIONS: usize = 8;

pub fn draw(app: &AppState, frame: &mut Frame, area: Rect) {
    let inner = usize::from(area.width.saturating_sub(4));
    let lines = columns(app.composer.field.layout(inner).0.len());
    let composer = lines.min(MOST_COMPOSER).min(area.height / 3) + 2;
    let left = area.height.saturating_sub(composer + 1);
    let dock = app.dock.as_ref().map_or(0, |dock| dock::height(app, dock, area.width, left * 3 / 5));
    let areas = Layout::vertical([Constraint::Min(0), Constraint::Length(1), Constraint::Length(dock), Constraint::Length(composer)]);
    let [history, activity, question, message] = areas.areas(area);
    draw_history(app, frame, history);
    draw_activity(app, frame, activity);
    if let Some(shown) = &app.dock {
        dock::draw(app, shown, frame, question);
    }
    draw_composer(app, frame, message);
    draw_suggestions(app, frame, Rect { height: message.y - area.y, ..area });
}

fn draw_history(app: &AppState, frame: &mut Frame, area: Rect) {
    let width = usize::from(area.width);
    let Some(chat) = &app.chat else {
        return frame.render_widget(Paragraph::new(welcome(app, width)), area);
    };
    let mut lines: Vec<Line<'static>> = Vec::new();
    let mut revealed = None;
    for (index, shown) in app.history.rows.iter().enumerate() {
        let is_open = app.history.is_open(shown.row.id);
        let drawn = shown.lines(width, is_open, |row| row::lines(row, width, is_open, app.palette));
        let is_selected = app.focus == Focus::History && app.history.selected == Some(index);
        let start = lines.len();
        lines.extend(Rc::unwrap_or_clone(drawn).into_iter().map(|line| if is_selected { mark(line) } else { line }));
        lines.extend(row::live_output(&shown.row, chat, width, app.palette));
        if is_selected {
            revealed = Some((start, lines.len()));
        }
    }
    if let Some(partial) = &chat.partial {
        lines.extend(row::partial_lines(partial, width, app.palette));
    }
    let start = app.history.view.place(lines.len(), area.height.into(), revealed);
    lines_in(frame, area, lines, start);
}

/// A selected row has a bar at its left edge.
fn mark(mut line: Line<'static>) -> Line<'static> {
    if let Some(first) = line.spans.first_mut() {
        let rest: String = first.content.chars().skip(1).collect();
        *first = Span::styled(format!("▌{rest}"), first.style);
    }
    line
}

/// What a new chat says: what to do, or what is missing.
fn welcome(app: &AppState, width: usize) -> Vec<Line<'static>> {
    let palette = app.palette;
    let Some(start) = &app.start else {
        return vec![Line::styled("  Opening…", palette.style(Tone::Dim))];
    };
    let mut lines = vec![Line::raw(""), Line::styled("  Planwright", palette.style(Tone::Heading)), Line::raw("")];
    let mut paragraph = |text: &str, style: Style| {
        lines.extend(wrap_text(text, width.saturating_sub(4), style).into_iter().map(|line| row::indented(line, "  ")));
        lines.push(Line::raw(""));
    };
    paragraph(&format!("Folder: {}", clean_line(&start.workspace.path)), palette.style(Tone::Dim));
    if start.models.plan.is_none() && start.models.act.is_none() {
        paragraph("No model is configured.", palette.style(Tone::Critical));
        let todo = "Set a key, such as ANTHROPIC_API_KEY or OPENAI_API_KEY, and start again; or name a model with --model PROVIDER/MODEL. \
                    `planwright doctor` checks the set-up. To try everything without a model: planwright --model demo/demo";
        paragraph(todo, Style::new());
    } else {
        paragraph(
            "Say what you want to have. In PLAN the agent reads, asks and writes a plan; nothing of your files changes before you approve it.",
            Style::new(),
        );
        paragraph("Press ? for the keys, / for the commands, @ to name a file.", palette.style(Tone::Dim));
    }
    if !start.trust.trusted {
        paragraph("This folder's own configuration wants to run or allow more. Type /trust to review it.", palette.style(Tone::Major));
    }
    if !start.chats.is_empty() {
        paragraph(&format!("{} earlier chats: press Ctrl+O.", start.chats.len()), palette.style(Tone::Dim));
    }
    lines
}

const SPINNER: [&str; 4] = ["◐", "◓", "◑", "◒"];

/// One line between history and composer: what the agent does now, how the last run ended, how much there is below.
fn draw_activity(app: &AppState, frame: &mut Frame, area: Rect) {
    let Some(chat) = &app.chat else { return };
    let palette = app.palette;
    let spinner = SPINNER[usize::try_from(app.ticks % 4).unwrap_or(0)];
    let doing = match chat.chat.state {
        ChatState::Idle => None,
        ChatState::Thinking => Some("Thinking"),
        ChatState::Exploring => Some("Reading"),
        ChatState::Planning => Some("Planning"),
        ChatState::Executing => Some("Working"),
        ChatState::AwaitingAnswer => Some("Waiting for your answer"),
        ChatState::Stopping => Some("Stopping"),
        ChatState::Failed => Some("The run failed. Type /retry to continue."),
    };
    let mut spans = Vec::new();
    if let Some(doing) = doing {
        let style = match chat.chat.state {
            ChatState::Failed => palette.style(Tone::Critical),
            ChatState::AwaitingAnswer => palette.style(Tone::Major),
            ChatState::Idle
            | ChatState::Thinking
            | ChatState::Exploring
            | ChatState::Planning
            | ChatState::Executing
            | ChatState::Stopping => palette.mode(app.role().mode()),
        };
        let sign = if chat.is_running() { spinner } else { "●" };
        spans.push(Span::styled(format!("{sign} {doing}"), style));
        let current = chat
            .chat
            .progress
            .as_ref()
            .and_then(|progress| progress.steps.iter().find(|step| step.status == planwright_protocol::StepStatus::InProgress));
        if let Some(step) = current {
            let text = format!(" · step {}: {}", step.step_number, clean_line(&step.action));
            spans.push(Span::styled(cut(&text, usize::from(area.width).saturating_sub(30)), palette.style(Tone::Dim)));
        }
    }
    if !chat.queued.is_empty() {
        spans.push(Span::styled(format!(" · {} queued", chat.queued.len()), palette.style(Tone::Dim)));
    }
    let below = app.history.view.below();
    if below > 0 {
        spans.push(Span::styled(format!("  ↓ {below} more lines (PgDn)"), palette.style(Tone::Dim)));
    }
    frame.render_widget(Paragraph::new(Line::from(spans)), area);
}

fn draw_composer(app: &AppState, frame: &mut Frame, area: Rect) {
    let role = app.role();
    let style = app.palette.mode(role.mode());
    let word = format!(" {} · {} ", mode_word(role.mode()), role.row().title);
    let block = Block::new().borders(Borders::ALL).border_type(BorderType::Rounded).border_style(style).title(Span::styled(word, style));
    let inner = block.inner(area);
    frame.render_widget(block, area);
    let text = Rect { x: inner.x + 1, width: inner.width.saturating_sub(1), ..inner };
    if app.composer.field.is_empty() {
        let hint = if app.dock.is_some() { "A message instead leaves the question unanswered." } else { "What should be done?" };
        frame.render_widget(Paragraph::new(Line::styled(hint, app.palette.style(Tone::Dim))), text);
    }
    field_in(frame, text, &app.composer.field, app.focus == Focus::Composer && app.overlay.is_none());
}

/// Above the composer, over the history.
fn draw_suggestions(app: &AppState, frame: &mut Frame, above: Rect) {
    let suggestions = &app.composer.suggestions;
    if suggestions.items.is_empty() || app.focus != Focus::Composer {
        return;
    }
    let start = (suggestions.selected + 1).saturating_sub(MOST_SUGGESTIONS);
    let shown: Vec<Line> = suggestions
        .items
        .iter()
        .enumerate()
        .skip(start)
        .take(MOST_SUGGESTIONS)
        .map(|(index, item)| {
            let style = if index == suggestions.selected { app.palette.selected() } else { Style::new() };
            let text = clean(&item.text);
            Line::from(vec![
                Span::styled(format!(" {text:<12}"), style),
                Span::styled(format!("  {}", item.hint), app.palette.style(Tone::Dim)),
            ])
        })
        .collect();
    let height = columns(shown.len()).min(above.height);
    let area = Rect { y: above.y + above.height - height, height, ..above };
    super::clear(frame, area);
    frame.render_widget(Paragraph::new(shown), area);
}
