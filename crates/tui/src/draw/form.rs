//! The fields of a question.

use super::lines_in;
use crate::app::AppState;
use crate::clean::clean;
use crate::dock::Dock;
use crate::form::{Field, FieldInput, QuestionForm};
use crate::markdown;
use crate::palette::{Palette, Tone};
use crate::text_field::TextField;
use crate::wrap::{columns, cut};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

/// A form as it is drawn.
pub struct FormLines {
    pub lines: Vec<Line<'static>>,
    /// The lines of the field with the focus.
    focused: (usize, usize),
    cursor: Option<(usize, usize)>,
}

#[must_use]
pub fn lines(form: &QuestionForm, width: usize, palette: Palette) -> FormLines {
    let (mut lines, mut focused, mut cursor) = (Vec::new(), (0, 0), None);
    for (index, field) in form.fields.iter().enumerate() {
        let has_focus = index == form.focus;
        let start = lines.len();
        lines.extend(label_lines(field, width, palette));
        let (inputs, place) = input_lines(&field.input, has_focus, width, palette);
        if has_focus {
            cursor = place.map(|(x, y)| (x, y + lines.len()));
        }
        lines.extend(inputs);
        if let Some(error) = &field.error {
            lines.push(Line::styled(cut(&format!("  ✗ {}", clean(error)), width), palette.style(Tone::Critical)));
        }
        if has_focus {
            focused = (start, lines.len());
        }
    }
    if !form.is_one_choice() {
        let is_focused = form.focus == form.fields.len();
        let style = if is_focused { palette.selected() } else { Style::new() };
        lines.push(Line::from(vec![Span::styled(" Send answer ", style), Span::styled(" Ctrl+S", palette.style(Tone::Dim))]));
        if is_focused {
            focused = (lines.len() - 1, lines.len());
        }
    }
    FormLines { lines, focused, cursor }
}

pub fn draw(app: &AppState, dock: &Dock, frame: &mut Frame, area: Rect, has_focus: bool) {
    let FormLines { lines, focused, cursor } = lines(&dock.form, area.width.into(), app.palette);
    let height = usize::from(area.height);
    let last = lines.len().saturating_sub(height);
    let mut start = dock.scroll.min(last);
    start = start.max(focused.1.saturating_sub(height)).min(focused.0.max(start.min(focused.0)));
    lines_in(frame, area, lines, start);
    if let Some((x, y)) = cursor.filter(|(_, y)| has_focus && (start..start + height).contains(y)) {
        frame.set_cursor_position((area.x + columns(x).min(area.width.saturating_sub(1)), area.y + columns(y - start)));
    }
}

fn label_lines(field: &Field, width: usize, palette: Palette) -> Vec<Line<'static>> {
    let optional = if field.is_required { "" } else { " (optional)" };
    let mut lines = markdown::render(&format!("{}{optional}", field.label), width, palette);
    for line in &mut lines {
        line.style = line.style.add_modifier(Modifier::BOLD);
    }
    if !field.hint.is_empty() {
        let hint = markdown::render(&field.hint, width, palette);
        lines.extend(hint.into_iter().map(|line| line.style(palette.style(Tone::Dim))));
    }
    lines
}

fn input_lines(input: &FieldInput, has_focus: bool, width: usize, palette: Palette) -> (Vec<Line<'static>>, Option<(usize, usize)>) {
    match input {
        FieldInput::Toggle(toggle) => {
            let word = |label: &str, is_on: bool| Span::styled(format!(" {label} "), if is_on { palette.selected() } else { Style::new() });
            let line = vec![Span::raw("  "), word("Yes", *toggle == Some(true)), Span::raw(" "), word("No", *toggle == Some(false))];
            let hint = if has_focus { "   Space, y or n" } else { "" };
            let mut line = line;
            line.push(Span::styled(hint, palette.style(Tone::Dim)));
            (vec![Line::from(line)], None)
        }
        FieldInput::Choice { options, chosen, cursor } => {
            let option = |index: usize| {
                let option = &options[index];
                let mark = if *chosen == Some(index) { "(•)" } else { "( )" };
                let tone = if option.is_danger { palette.style(Tone::Critical) } else { Style::new() };
                option_line(index, mark, &option.label, &option.description, has_focus && *cursor == index, tone, width, palette)
            };
            ((0..options.len()).map(option).collect(), None)
        }
        FieldInput::Checks { options, checked, cursor } => {
            let option = |index: usize| {
                let mark = if checked.get(index) == Some(&true) { "[x]" } else { "[ ]" };
                let option = &options[index];
                option_line(index, mark, &option.label, &option.description, has_focus && *cursor == index, Style::new(), width, palette)
            };
            ((0..options.len()).map(option).collect(), None)
        }
        FieldInput::Text(field) | FieldInput::Number(field) | FieldInput::Json(field) => text_lines(field, "  ▏", width, palette),
        FieldInput::Tags { tags, entry, .. } => {
            let tags = tags.iter().map(|tag| format!("‹{}›", clean(tag))).collect::<Vec<_>>().join(" ");
            let (lines, (x, y)) = entry.layout(width.saturating_sub(8));
            let mut shown =
                vec![Line::from(vec![Span::raw("  "), Span::styled(cut(&tags, width.saturating_sub(2)), palette.style(Tone::Code))])];
            shown.extend(lines.into_iter().map(|line| Line::raw(format!("  + {line}"))));
            (shown, Some((x + 4, y + 1)))
        }
    }
}

#[expect(clippy::too_many_arguments, reason = "an option has these parts, and only this file draws it")]
fn option_line(
    index: usize,
    mark: &str,
    label: &str,
    description: &str,
    has_cursor: bool,
    tone: Style,
    width: usize,
    palette: Palette,
) -> Line<'static> {
    let label = cut(&clean(label).replace('\n', " "), width.saturating_sub(10));
    let style = if has_cursor { palette.selected().patch(tone) } else { tone };
    let mut spans = vec![Span::raw(format!("  {} {mark} ", index + 1)), Span::styled(label, style)];
    if !description.is_empty() {
        spans.push(Span::styled(format!("  {}", clean(description).replace('\n', " ")), palette.style(Tone::Dim)));
    }
    Line::from(spans)
}

fn text_lines(field: &TextField, edge: &'static str, width: usize, palette: Palette) -> (Vec<Line<'static>>, Option<(usize, usize)>) {
    let (lines, (x, y)) = field.layout(width.saturating_sub(4));
    let line = |line: String| Line::from(vec![Span::styled(edge, palette.style(Tone::Dim)), Span::raw(line)]);
    (lines.into_iter().map(line).collect(), Some((x + 3, y)))
}
