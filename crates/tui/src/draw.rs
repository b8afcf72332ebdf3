//! The state as a screen. Pure: the same state gives the same picture.
//!
//! | module | contents |
//! | --- | --- |
//! | `chat` | the page of a chat: header, history, composer |
//! | `row` | one row of the history |
//! | `dock` | the pending question; the only place with the double frame of an approval |
//! | `form` | the fields of a question |
//! | `plan`, `changes`, `list` | the other pages |
//! | `overlay` | what lies over a page |
//!
//! Invariants: every foreign text goes through [`crate::clean`] before it becomes a span. The dock has an area of its own, below the
//! history; nothing of the history is drawn in it.

mod changes;
mod chat;
mod dock;
mod form;
mod list;
mod overlay;
mod plan;
mod row;

use crate::app::{AppState, PageName};
use crate::clean::clean_line;
use crate::palette::{Tone, mode_tone, mode_word};
use crate::request::ConnectionState;
use crate::wrap::{columns, cut};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Clear, Paragraph};
use unicode_width::UnicodeWidthStr;

/// Smaller than this there is no room for a chat.
const LEAST: (u16, u16) = (40, 10);

pub fn draw(app: &AppState, frame: &mut Frame) {
    let area = frame.area();
    if area.width < LEAST.0 || area.height < LEAST.1 {
        let text = format!("The terminal is too small: {}×{}. Planwright needs {}×{}.", area.width, area.height, LEAST.0, LEAST.1);
        frame.render_widget(Paragraph::new(text).wrap(ratatui::widgets::Wrap { trim: true }), area);
        return;
    }
    let [head, body, foot] = Layout::vertical([Constraint::Length(2), Constraint::Min(0), Constraint::Length(1)]).areas(area);
    header(app, frame, head);
    match app.page {
        PageName::Chat => chat::draw(app, frame, body),
        PageName::Plan => plan::draw(app, frame, body),
        PageName::Changes => changes::draw(app, frame, body),
        PageName::List => list::draw(app, frame, body),
    }
    footer(app, frame, foot);
    if let Some(overlay) = &app.overlay {
        overlay::draw(app, overlay, frame, area);
    }
}

/// The mode as a filled word and as the colour of the line below, the role, the title; model, cost and connection on the right.
fn header(app: &AppState, frame: &mut Frame, area: Rect) {
    let (palette, role) = (app.palette, app.role());
    let mode = role.mode();
    let row = role.row();
    let mut left = vec![
        Span::styled(format!(" {} ", mode_word(mode)), palette.label(mode_tone(mode))),
        Span::raw(" "),
        Span::styled(format!("{} {}", crate::palette::role_sign(role), row.title), palette.role(role).add_modifier(Modifier::BOLD)),
        Span::styled(" · ", palette.style(Tone::Dim)),
    ];
    let right = status(app);
    let right_width: usize = right.iter().map(Span::width).sum();
    let left_width: usize = left.iter().map(Span::width).sum();
    let room = usize::from(area.width).saturating_sub(left_width + right_width + 2);
    left.push(Span::styled(cut(&title(app), room), Style::new().add_modifier(Modifier::BOLD)));
    let used: usize = left.iter().map(Span::width).sum();
    left.push(Span::raw(" ".repeat(usize::from(area.width).saturating_sub(used + right_width + 1))));
    left.extend(right);
    let line = Line::styled("━".repeat(area.width.into()), palette.mode(mode));
    frame.render_widget(Paragraph::new(vec![Line::from(left), line]), area);
}

fn title(app: &AppState) -> String {
    let folder = app.start.as_ref().map(|start| clean_line(&start.workspace.name)).unwrap_or_default();
    let chat = app.chat.as_ref().map_or_else(|| "New chat".to_owned(), |chat| crate::list_page::title_or(&clean_line(&chat.chat.title)));
    let page = match app.page {
        PageName::Chat => chat,
        PageName::Plan => format!("Plan · {chat}"),
        PageName::Changes => format!("Changes · {chat}"),
        PageName::List => return folder,
    };
    if folder.is_empty() { page } else { format!("{folder} / {page}") }
}

fn status(app: &AppState) -> Vec<Span<'static>> {
    let palette = app.palette;
    let dim = palette.style(Tone::Dim);
    let mut parts: Vec<Span> = Vec::new();
    if let ConnectionState::Lost(_) = app.connection {
        parts.push(Span::styled("reconnecting… ", palette.style(Tone::Critical)));
    }
    if app.page != PageName::Chat && app.dock.is_some() {
        parts.push(Span::styled("● needs you ", palette.style(Tone::Major)));
    }
    if let Some(chat) = &app.chat {
        if let Some(progress) = &chat.chat.progress {
            parts.push(Span::styled(format!("{}/{} steps ", progress.done + progress.skipped, progress.total), dim));
        }
        if chat.chat.usage.cost > 0.0 {
            parts.push(Span::styled(format!("${:.2} ", chat.chat.usage.cost), dim));
        }
    }
    if let Some(model) = model(app) {
        parts.push(Span::styled(cut(&clean_line(&model), 24), dim));
    }
    parts
}

/// The model in force, without its provider.
fn model(app: &AppState) -> Option<String> {
    let models = &app.start.as_ref()?.models;
    let configured = match app.role().mode() {
        planwright_protocol::Mode::Plan => models.plan.clone(),
        planwright_protocol::Mode::Act => models.act.clone(),
    };
    let model = app.chat.as_ref().and_then(|chat| chat.chat.model.clone()).or(configured)?;
    Some(model.rsplit('/').next().unwrap_or(&model).to_owned())
}

/// A message for a moment, or the keys of the page.
fn footer(app: &AppState, frame: &mut Frame, area: Rect) {
    let line = match &app.toast {
        Some(toast) => Line::styled(cut(&clean_line(&toast.text), area.width.into()), app.palette.style(toast.tone)),
        None => keys_line(crate::keys::hints(app), area.width, app),
    };
    frame.render_widget(Paragraph::new(line), area);
}

/// As many keys as there is room for; `?` is always there.
fn keys_line(hints: Vec<(&'static str, &'static str)>, width: u16, app: &AppState) -> Line<'static> {
    let mut spans = Vec::new();
    let mut used = 0;
    for (key, what) in hints {
        let length = key.width() + what.width() + 3;
        if used + length > usize::from(width) {
            break;
        }
        used += length;
        spans.push(Span::styled(key, Style::new().add_modifier(Modifier::BOLD)));
        spans.push(Span::styled(format!(" {what}  "), app.palette.style(Tone::Dim)));
    }
    Line::from(spans)
}

/// Draws lines from the one that the window is at.
pub(crate) fn lines_in(frame: &mut Frame, area: Rect, lines: Vec<Line<'static>>, start: usize) {
    let visible: Vec<Line> = lines.into_iter().skip(start).take(area.height.into()).collect();
    frame.render_widget(Paragraph::new(visible), area);
}

/// A window in the middle of the screen.
pub(crate) fn centred(area: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(area.width), height.min(area.height));
    Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height }
}

pub(crate) fn clear(frame: &mut Frame, area: Rect) {
    frame.render_widget(Clear, area);
}

/// A text field with its cursor, at most `height` lines around it.
pub(crate) fn field_in(frame: &mut Frame, area: Rect, field: &crate::text_field::TextField, has_focus: bool) {
    let (lines, (x, y)) = field.layout(area.width.into());
    let height = usize::from(area.height);
    let start = (y + 1).saturating_sub(height);
    let shown: Vec<Line> = lines.into_iter().skip(start).take(height).map(Line::from).collect();
    frame.render_widget(Paragraph::new(shown), area);
    if has_focus && area.height > 0 {
        let x = columns(x).min(area.width.saturating_sub(1));
        frame.set_cursor_position((area.x + x, area.y + columns(y - start)));
    }
}
