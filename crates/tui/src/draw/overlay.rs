//! What lies over a page.

use super::{centred, clear, field_in, lines_in};
use crate::app::AppState;
use crate::clean::{clean, clean_line};
use crate::composer::SLASH_COMMANDS;
use crate::keys::HELP;
use crate::overlay::{ConfirmDialog, Overlay, Picker};
use crate::palette::{Palette, Tone};
use crate::wrap::{columns, cut, wrap_text};
use planwright_protocol::api::workspace::Trust;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Borders, Paragraph};

pub fn draw(app: &AppState, overlay: &Overlay, frame: &mut Frame, area: Rect) {
    match overlay {
        Overlay::Help { scroll } => help(frame, area, *scroll, app.palette),
        Overlay::Picker(picker) => draw_picker(frame, area, picker, app.palette),
        Overlay::Confirm(confirm) => draw_confirm(frame, area, confirm, app.palette),
        Overlay::Prompt { title, field } => {
            let inner = window(frame, centred(area, 60, 3), title, app.palette);
            field_in(frame, inner, field, true);
        }
        Overlay::Trust { trust, scroll } => draw_trust(frame, area, trust, *scroll, app.palette),
        Overlay::Leave => draw_leave(app, frame, area),
    }
}

/// A window with a title; returns its inside.
fn window(frame: &mut Frame, area: Rect, title: &str, palette: Palette) -> Rect {
    clear(frame, area);
    let title = format!(" {} ", cut(&clean_line(title), usize::from(area.width.saturating_sub(6))));
    let block = Block::new().borders(Borders::ALL).border_type(BorderType::Thick).title(Span::styled(title, palette.style(Tone::Heading)));
    let inner = block.inner(area);
    frame.render_widget(block, area);
    Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner }
}

fn help(frame: &mut Frame, area: Rect, scroll: usize, palette: Palette) {
    let mut lines = Vec::new();
    let entry = |key: &str, what: &str| {
        Line::from(vec![Span::styled(format!("  {key:<20}"), Style::new().add_modifier(Modifier::BOLD)), Span::raw(what.to_owned())])
    };
    for (place, keys) in HELP {
        lines.push(Line::styled(*place, palette.style(Tone::Heading)));
        lines.extend(keys.iter().map(|(key, what)| entry(key, what)));
        lines.push(Line::raw(""));
    }
    lines.push(Line::styled("Commands", palette.style(Tone::Heading)));
    lines.extend(SLASH_COMMANDS.iter().map(|(name, what)| entry(name, what)));
    let inner = window(frame, centred(area, 76, area.height.saturating_sub(2)), "Keys and commands · ↑ ↓ scroll, Esc closes", palette);
    let start = scroll.min(lines.len().saturating_sub(inner.height.into()));
    lines_in(frame, inner, lines, start);
}

fn draw_picker(frame: &mut Frame, area: Rect, picker: &Picker, palette: Palette) {
    let shown = picker.shown();
    let height = columns(picker.items.len()).saturating_add(4).min(area.height.saturating_sub(2));
    let inner = window(frame, centred(area, 76, height), picker.title, palette);
    let field = Rect { height: 1, ..inner };
    field_in(frame, field, &picker.filter, true);
    let list = Rect { y: inner.y + 1, height: inner.height.saturating_sub(1), ..inner };
    let start = (picker.selected + 1).saturating_sub(list.height.into());
    let rows = shown.iter().enumerate().skip(start).take(list.height.into());
    let line = |(index, item): (usize, &&crate::overlay::PickerItem)| {
        let style = if index == picker.selected { palette.selected() } else { Style::new() };
        let label = clean_line(&item.label);
        let room = usize::from(list.width).saturating_sub(label.len() + 3);
        Line::from(vec![
            Span::styled(format!(" {label} "), style),
            Span::styled(format!(" {}", cut(&clean_line(&item.hint), room)), palette.style(Tone::Dim)),
        ])
    };
    frame.render_widget(Paragraph::new(rows.map(line).collect::<Vec<_>>()), list);
}

fn draw_confirm(frame: &mut Frame, area: Rect, confirm: &ConfirmDialog, palette: Palette) {
    let width = 70.min(area.width);
    let text: Vec<Line> =
        confirm.lines.iter().flat_map(|line| wrap_text(&clean_line(line), usize::from(width.saturating_sub(4)), Style::new())).collect();
    let height = columns(text.len()).saturating_add(4).min(area.height);
    let inner = window(frame, centred(area, width, height), &confirm.title, palette);
    let mut lines = text;
    lines.truncate(usize::from(inner.height).saturating_sub(2));
    lines.push(Line::raw(""));
    let bold = Style::new().add_modifier(Modifier::BOLD);
    lines.push(Line::from(vec![
        Span::styled("y ", bold),
        Span::raw(format!("{}    ", confirm.yes)),
        Span::styled("n ", bold),
        Span::raw(confirm.no),
    ]));
    frame.render_widget(Paragraph::new(lines), inner);
}

fn draw_trust(frame: &mut Frame, area: Rect, trust: &Trust, scroll: usize, palette: Palette) {
    let inner = window(frame, centred(area, 90, area.height.saturating_sub(4)), "What this folder's configuration wants", palette);
    let width = usize::from(inner.width);
    let mut lines = Vec::new();
    if trust.items.is_empty() {
        lines.push(Line::raw("Nothing here needs your trust."));
    }
    for item in &trust.items {
        let line = item.line.map(|line| format!(", line {line}")).unwrap_or_default();
        lines.push(Line::styled(cut(&clean_line(&format!("{} ({}{line})", item.key, item.kind)), width), palette.style(Tone::Heading)));
        let value = serde_json::to_string_pretty(&item.value).unwrap_or_default();
        lines.extend(
            wrap_text(&clean(&value), width.saturating_sub(2), Style::new()).into_iter().map(|line| super::row::indented(line, "  ")),
        );
    }
    lines.extend(trust.warnings.iter().flat_map(|warning| wrap_text(&clean_line(warning), width, palette.style(Tone::Major))));
    let body = Rect { height: inner.height.saturating_sub(2), ..inner };
    let start = scroll.min(lines.len().saturating_sub(body.height.into()));
    lines_in(frame, body, lines, start);
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let keys = if trust.trusted {
        Line::from(vec![Span::styled("Esc ", bold), Span::raw("Close")])
    } else {
        Line::from(vec![
            Span::styled("t ", bold),
            Span::raw("Trust exactly this content    "),
            Span::styled("n ", bold),
            Span::raw("Not now: none of it applies"),
        ])
    };
    let foot = Rect { y: inner.y + inner.height.saturating_sub(1), height: 1, ..inner };
    frame.render_widget(Paragraph::new(keys), foot);
}

fn draw_leave(app: &AppState, frame: &mut Frame, area: Rect) {
    let inner = window(frame, centred(area, 66, 7), "The agent is at work", app.palette);
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let keep =
        if app.is_host { "Leave; the run goes on where it is when Planwright starts again" } else { "Leave; the server goes on with it" };
    let lines = vec![
        Line::from(vec![Span::styled("s ", bold), Span::raw("Stop the run and leave")]),
        Line::from(vec![Span::styled("k ", bold), Span::raw(keep)]),
        Line::from(vec![Span::styled("Esc ", bold), Span::raw("Stay")]),
    ];
    frame.render_widget(Paragraph::new(lines), inner);
}
