//! The page of the changed files: the list, and one file's diff.

use super::lines_in;
use crate::app::AppState;
use crate::changes_page::ChangesPage;
use crate::clean::{clean, clean_line};
use crate::highlight::diff_style;
use crate::palette::{Palette, Tone};
use crate::wrap::{columns, cut};
use planwright_protocol::api::changes::{ChangedFile, FileDiff, Status};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

/// From this width on, list and diff stand beside each other.
const WIDE: u16 = 110;
const LIST_WIDTH: u16 = 40;

pub fn draw(app: &AppState, frame: &mut Frame, area: Rect) {
    let page = &app.changes;
    if page.files.is_empty() {
        let text = if page.is_loaded { "This chat has changed no file." } else { "Loading the changes…" };
        return frame.render_widget(Paragraph::new(Line::styled(text, app.palette.style(Tone::Dim))), area);
    }
    let (list, diff) = if area.width >= WIDE {
        let [list, _, diff] = Layout::horizontal([Constraint::Length(LIST_WIDTH), Constraint::Length(1), Constraint::Min(0)]).areas(area);
        (list, diff)
    } else {
        let height = columns(page.files.len()).min(area.height / 3).max(1);
        let [list, rule, diff] = Layout::vertical([Constraint::Length(height), Constraint::Length(1), Constraint::Min(0)]).areas(area);
        frame.render_widget(Paragraph::new(Line::styled("─".repeat(area.width.into()), app.palette.style(Tone::Dim))), rule);
        (list, diff)
    };
    draw_list(page, frame, list, app.palette);
    draw_diff(page, frame, diff, app.palette);
}

fn draw_list(page: &ChangesPage, frame: &mut Frame, area: Rect, palette: Palette) {
    let height = usize::from(area.height);
    let start = (page.selected + 1).saturating_sub(height);
    let rows = page.files.iter().enumerate().skip(start).take(height);
    let lines: Vec<Line> = rows.map(|(index, file)| file_line(file, index == page.selected, area.width.into(), palette)).collect();
    frame.render_widget(Paragraph::new(lines), area);
}

fn file_line(file: &ChangedFile, is_selected: bool, width: usize, palette: Palette) -> Line<'static> {
    let (letter, tone) = match file.status {
        Status::Created => ("A", Tone::Added),
        Status::Modified => ("M", Tone::Major),
        Status::Deleted => ("D", Tone::Removed),
        Status::Moved => ("R", Tone::Plan),
    };
    let counts = format!(" +{} −{}", file.added, file.removed);
    let outside = if file.outside_plan == Some(true) { " not in the plan" } else { "" };
    let room = width.saturating_sub(counts.len() + outside.len() + 3);
    let style = if is_selected { palette.selected() } else { Style::new() };
    Line::from(vec![
        Span::styled(format!("{letter} "), palette.style(tone)),
        Span::styled(cut(&clean_line(&file.path), room), style),
        Span::styled(counts, palette.style(Tone::Dim)),
        Span::styled(outside, palette.style(Tone::Major)),
    ])
}

fn draw_diff(page: &ChangesPage, frame: &mut Frame, area: Rect, palette: Palette) {
    let Some(diff) = &page.diff else {
        return frame.render_widget(Paragraph::new(Line::styled("Loading…", palette.style(Tone::Dim))), area);
    };
    let (lines, hunk) = diff_lines(diff, page.hunk, area.width.into(), palette);
    let start = page.window.place(lines.len(), area.height.into(), hunk);
    lines_in(frame, area, lines, start);
}

/// The lines of a diff, and the head of the selected hunk.
fn diff_lines(diff: &FileDiff, hunk: usize, width: usize, palette: Palette) -> (Vec<Line<'static>>, Option<(usize, usize)>) {
    let mut lines = Vec::new();
    let mut note = |text: String, tone: Tone| lines.push(Line::styled(cut(&clean_line(&text), width), palette.style(tone)));
    if diff.file.binary {
        note("This file is not text.".to_owned(), Tone::Dim);
    }
    if diff.changed_since {
        note("The file was changed since by somebody else, so that it can't be taken back.".to_owned(), Tone::Major);
    }
    if let Some(reason) = &diff.file.irreversible {
        note(format!("Can’t be taken back: {reason}"), Tone::Major);
    }
    if let Some(git) = &diff.file.git {
        note(git.clone(), Tone::Dim);
    }
    let (mut number, mut selected) = (0, None);
    for line in clean(&diff.file.diff).lines() {
        if !line.starts_with("@@") {
            lines.push(Line::styled(cut(line, width), diff_style(line, palette)));
            continue;
        }
        let is_selected = number == hunk;
        if is_selected {
            selected = Some((lines.len(), lines.len() + 6));
        }
        let mark = if is_selected { "▌" } else { " " };
        let style = palette.style(Tone::Code);
        let style = if is_selected { style.add_modifier(Modifier::BOLD) } else { style };
        lines.push(Line::styled(cut(&format!("{mark}{line}"), width), style));
        number += 1;
    }
    if diff.file.truncated {
        lines.push(Line::styled("The diff is longer than what is shown.", palette.style(Tone::Dim)));
    }
    let count = lines.len();
    (lines, selected.map(|(first, end): (usize, usize)| (first, end.min(count))))
}
