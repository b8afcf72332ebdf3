//! Lists of chats.

use super::{field_in, lines_in};
use crate::app::AppState;
use crate::clean::clean_line;
use crate::list_page::{ListKind, ListRow};
use crate::palette::{Palette, Tone, mode_word, role_sign};
use crate::wrap::cut;
use planwright_protocol::ChatState;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

pub fn draw(app: &AppState, frame: &mut Frame, area: Rect) {
    let (page, palette) = (&app.list, app.palette);
    let [top, body] = Layout::vertical([Constraint::Length(2), Constraint::Min(0)]).areas(area);
    let title = match page.kind {
        ListKind::Chats => "Chats of this folder: ",
        ListKind::Inbox => "Inbox: ",
        ListKind::Search => "Search all chats: ",
    };
    frame.render_widget(Paragraph::new(Line::styled(title, palette.style(Tone::Heading))), top);
    let offset = crate::wrap::columns(title.len()).min(top.width);
    let field = Rect { x: top.x + offset, width: top.width - offset, height: 1, ..top };
    field_in(frame, field, &page.filter, app.overlay.is_none());
    let shown = page.shown();
    if shown.is_empty() {
        let text = match (page.kind, page.is_loaded) {
            (ListKind::Search, false) => "Type what to search for, and press Enter.",
            (ListKind::Chats | ListKind::Inbox, false) => "Loading…",
            (_, true) => "Nothing found.",
        };
        return frame.render_widget(Paragraph::new(Line::styled(text, palette.style(Tone::Dim))), body);
    }
    let (mut lines, mut selected, mut group) = (Vec::new(), None, "");
    for (index, row) in shown.into_iter().enumerate() {
        if row.group != group {
            group = row.group;
            lines.push(Line::styled(group, palette.style(Tone::Dim).add_modifier(Modifier::BOLD)));
        }
        let start = lines.len();
        lines.extend(row_lines(row, index == page.selected, usize::from(area.width), palette));
        if index == page.selected {
            selected = Some((if index == 0 { 0 } else { start }, lines.len()));
        }
    }
    let start = page.window.place(lines.len(), body.height.into(), selected);
    lines_in(frame, body, lines, start);
}

fn row_lines(row: &ListRow, is_selected: bool, width: usize, palette: Palette) -> Vec<Line<'static>> {
    let style = if is_selected { palette.selected() } else { Style::new() };
    let mut spans = Vec::new();
    spans.push(row.role.map_or_else(
        || Span::raw("  "),
        |role| Span::styled(format!("{} {:<5} ", role_sign(role), mode_word(role.mode())), palette.role(role)),
    ));
    let state = row.state.map(state_word).unwrap_or_default();
    spans.push(Span::styled(cut(&clean_line(&row.title), width.saturating_sub(14 + state.len())), style));
    if !state.is_empty() {
        spans.push(Span::styled(format!("  {state}"), palette.style(Tone::Major)));
    }
    let mut lines = vec![Line::from(spans)];
    if !row.detail.is_empty() {
        lines.push(Line::styled(cut(&format!("        {}", clean_line(&row.detail)), width), palette.style(Tone::Dim)));
    }
    lines
}

fn state_word(state: ChatState) -> &'static str {
    match state {
        ChatState::Idle => "",
        ChatState::Thinking | ChatState::Exploring | ChatState::Planning | ChatState::Executing => "working",
        ChatState::AwaitingAnswer => "needs you",
        ChatState::Stopping => "stopping",
        ChatState::Failed => "failed",
    }
}
