//! A screen as SVG, for the guide.

use std::fmt::Write;
use vt100::{Cell, Color, Screen};

const WIDTH: u16 = 9;
const HEIGHT: u16 = 20;
const INK: &str = "#d7dae0";
const PAPER: &str = "#16181d";
/// The 16 colours, as most dark terminals have them.
const COLOURS: [&str; 16] = [
    "#2b2e36", "#f0717b", "#8fce7a", "#e5c07b", "#72b4f3", "#cf8ee4", "#5ec4ce", "#c8ccd4", "#6f7683", "#ff8f98", "#a9e494", "#f5d999",
    "#94c8ff", "#e0aef0", "#83dde6", "#ffffff",
];
/// The levels of the colour cube.
const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// What a run of cells has in common.
#[derive(PartialEq)]
struct Look {
    ink: String,
    paper: String,
    /// Further attributes of the text.
    more: String,
}

fn colour(colour: Color, otherwise: &str) -> String {
    match colour {
        Color::Default => otherwise.to_owned(),
        Color::Idx(index @ 0..=15) => COLOURS[usize::from(index)].to_owned(),
        Color::Idx(index @ 16..=231) => {
            let level = |place: u8| LEVELS[usize::from((index - 16) / place % 6)];
            format!("#{:02x}{:02x}{:02x}", level(36), level(6), level(1))
        }
        Color::Idx(index) => format!("#{0:02x}{0:02x}{0:02x}", 8 + (index - 232) * 10),
        Color::Rgb(red, green, blue) => format!("#{red:02x}{green:02x}{blue:02x}"),
    }
}

fn look(cell: &Cell) -> Look {
    let (mut ink, mut paper) = (colour(cell.fgcolor(), INK), colour(cell.bgcolor(), PAPER));
    if cell.inverse() {
        std::mem::swap(&mut ink, &mut paper);
    }
    let mut more = String::new();
    for (is_so, attribute) in [
        (cell.bold(), r#" font-weight="bold""#),
        (cell.dim(), r#" opacity="0.65""#),
        (cell.italic(), r#" font-style="italic""#),
        (cell.underline(), r#" text-decoration="underline""#),
    ] {
        more.push_str(if is_so { attribute } else { "" });
    }
    Look { ink, paper, more }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A run of cells from a column on: its paper, then its text, which is kept to the width of its cells.
fn run(svg: &mut String, at: (u16, u16), width: u16, text: &str, look: &Look) {
    let (x, y) = (at.0 * WIDTH + WIDTH, at.1 * HEIGHT + HEIGHT / 2);
    let length = width * WIDTH;
    if look.paper != PAPER {
        writeln!(svg, r#"<rect x="{x}" y="{y}" width="{length}" height="{HEIGHT}" fill="{}"/>"#, look.paper).unwrap();
    }
    if text.trim().is_empty() {
        return;
    }
    // Viewers drop spaces at both ends.
    let blank = |text: &str, rest: &str| u16::try_from(text.len() - rest.len()).unwrap();
    let (left, right) = (blank(text, text.trim_start()), blank(text, text.trim_end()));
    let (x, length) = (x + left * WIDTH, length - (left + right) * WIDTH);
    let (base, ink, more, text) = (y + 15, &look.ink, &look.more, escaped(text.trim()));
    writeln!(svg, r#"<text x="{x}" y="{base}" textLength="{length}" fill="{ink}"{more}>{text}</text>"#).unwrap();
}

/// The whole screen.
#[must_use]
pub fn picture(screen: &Screen) -> String {
    let (rows, columns) = screen.size();
    let (rows, columns) = (rows.get(), columns.get());
    let (width, height) = ((columns + 2) * WIDTH, (rows + 1) * HEIGHT);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"ui-monospace, 'DejaVu Sans Mono', \
         'Noto Sans Mono CJK SC', monospace\" font-size=\"15\">\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"{PAPER}\"/>\n"
    );
    for row in 0..rows {
        let (mut start, mut text, mut current) = (0, String::new(), None::<Look>);
        for column in 0..columns {
            let Some(cell) = screen.cell(row, column).filter(|cell| !cell.is_wide_continuation()) else { continue };
            let next = look(cell);
            if current.as_ref() != Some(&next) {
                if let Some(look) = &current {
                    run(&mut svg, (start, row), column - start, &text, look);
                }
                (start, current) = (column, Some(next));
                text.clear();
            }
            text.push_str(if cell.contents().is_empty() { " " } else { cell.contents() });
        }
        if let Some(look) = &current {
            run(&mut svg, (start, row), columns - start, &text, look);
        }
    }
    svg + "</svg>\n"
}
