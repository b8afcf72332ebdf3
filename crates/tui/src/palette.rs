//! Colours by meaning, in as many as the terminal has. Every colour also has a word or a sign beside it.

use planwright_protocol::{Mode, Role, Severity};
use ratatui::style::{Color, Modifier, Style};

/// How many colours the terminal shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColourDepth {
    None,
    Sixteen,
    Indexed,
    True,
}

impl ColourDepth {
    /// What the environment says: `NO_COLOR`, `COLORTERM`, `TERM`.
    #[must_use]
    pub fn detect(variable: impl Fn(&str) -> Option<String>) -> Self {
        let term = variable("TERM").unwrap_or_default();
        if variable("NO_COLOR").is_some_and(|value| !value.is_empty()) || term == "dumb" {
            return ColourDepth::None;
        }
        let colours = variable("COLORTERM").unwrap_or_default();
        if colours == "truecolor" || colours == "24bit" || term.ends_with("-direct") {
            return ColourDepth::True;
        }
        if term.contains("256") { ColourDepth::Indexed } else { ColourDepth::Sixteen }
    }
}

/// A meaning that has a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Plan,
    Act,
    Critical,
    Major,
    Passed,
    Added,
    Removed,
    Dim,
    Heading,
    Code,
    Keyword,
    Text,
    Comment,
    Number,
    Purple,
    Amber,
    Teal,
    Orange,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Palette {
    pub depth: ColourDepth,
}

impl Palette {
    #[must_use]
    pub fn style(self, tone: Tone) -> Style {
        let style = Style::new().add_modifier(modifiers(tone));
        let (rgb, index, basic) = shades(tone);
        match (self.depth, tone) {
            (ColourDepth::None, _) | (_, Tone::Heading) => style,
            (ColourDepth::True, _) => style.fg(Color::Rgb(rgb.0, rgb.1, rgb.2)),
            (ColourDepth::Indexed, _) => style.fg(Color::Indexed(index)),
            (ColourDepth::Sixteen, _) => style.fg(basic),
        }
    }

    /// A filled label, such as the word of the mode.
    #[must_use]
    pub fn label(self, tone: Tone) -> Style {
        self.style(tone).remove_modifier(Modifier::DIM).add_modifier(Modifier::BOLD | Modifier::REVERSED)
    }

    /// The selected row or button.
    #[must_use]
    pub fn selected(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    #[must_use]
    pub fn mode(self, mode: Mode) -> Style {
        self.style(mode_tone(mode))
    }

    #[must_use]
    pub fn role(self, role: Role) -> Style {
        self.style(match role.row().colour {
            "blue" => Tone::Plan,
            "green" => Tone::Act,
            "purple" => Tone::Purple,
            "amber" => Tone::Amber,
            "teal" => Tone::Teal,
            _ => Tone::Orange,
        })
    }

    #[must_use]
    pub fn severity(self, severity: Severity) -> Style {
        self.style(match severity {
            Severity::Critical => Tone::Critical,
            Severity::Major => Tone::Major,
            Severity::Minor => Tone::Heading,
        })
    }
}

#[must_use]
pub fn mode_tone(mode: Mode) -> Tone {
    match mode {
        Mode::Plan => Tone::Plan,
        Mode::Act => Tone::Act,
    }
}

/// The word of a mode, as everywhere in the product.
#[must_use]
pub fn mode_word(mode: Mode) -> &'static str {
    match mode {
        Mode::Plan => "PLAN",
        Mode::Act => "BUILD",
    }
}

/// A sign for the role, in one column.
#[must_use]
pub fn role_sign(role: Role) -> &'static str {
    match role.row().icon {
        "magnifying-glass" => "?",
        "lightning-bolt" => "!",
        "eye" => "@",
        "compass" => "*",
        "pencil-ruler" => "/",
        _ => "%",
    }
}

fn modifiers(tone: Tone) -> Modifier {
    match tone {
        Tone::Heading | Tone::Critical => Modifier::BOLD,
        Tone::Dim | Tone::Comment => Modifier::DIM,
        Tone::Plan
        | Tone::Act
        | Tone::Major
        | Tone::Passed
        | Tone::Added
        | Tone::Removed
        | Tone::Code
        | Tone::Keyword
        | Tone::Text
        | Tone::Number
        | Tone::Purple
        | Tone::Amber
        | Tone::Teal
        | Tone::Orange => Modifier::empty(),
    }
}

/// True colour, one of 256, one of 16. Readable on light and on dark grounds: the ground is the terminal's own.
fn shades(tone: Tone) -> ((u8, u8, u8), u8, Color) {
    match tone {
        Tone::Plan => ((74, 134, 240), 69, Color::Blue),
        Tone::Act | Tone::Passed | Tone::Added => ((38, 162, 84), 35, Color::Green),
        Tone::Critical | Tone::Removed => ((222, 84, 72), 167, Color::Red),
        Tone::Major | Tone::Amber => ((196, 132, 24), 172, Color::Yellow),
        Tone::Dim | Tone::Comment => ((128, 136, 148), 245, Color::Reset),
        Tone::Heading => ((0, 0, 0), 0, Color::Reset),
        Tone::Code | Tone::Teal => ((24, 154, 160), 37, Color::Cyan),
        Tone::Keyword | Tone::Purple => ((158, 108, 216), 134, Color::Magenta),
        Tone::Text => ((38, 162, 84), 71, Color::Green),
        Tone::Number | Tone::Orange => ((208, 112, 48), 173, Color::Yellow),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depth(variables: &[(&str, &str)]) -> ColourDepth {
        ColourDepth::detect(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn the_environment_decides_how_many_colours_there_are() {
        assert_eq!(depth(&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")]), ColourDepth::True);
        assert_eq!(depth(&[("TERM", "screen-256color")]), ColourDepth::Indexed);
        assert_eq!(depth(&[("TERM", "linux")]), ColourDepth::Sixteen);
        assert_eq!(depth(&[("TERM", "xterm-256color"), ("NO_COLOR", "1")]), ColourDepth::None);
        assert_eq!(depth(&[("TERM", "xterm"), ("NO_COLOR", "")]), ColourDepth::Sixteen);
        assert_eq!(depth(&[("TERM", "dumb")]), ColourDepth::None);
    }

    #[test]
    fn without_colours_no_style_has_one() {
        let palette = Palette { depth: ColourDepth::None };
        for role in Role::all() {
            assert_eq!(palette.role(role).fg, None);
            assert_eq!(palette.mode(role.mode()).fg, None);
        }
        assert_eq!(palette.label(Tone::Plan).fg, None);
    }

    #[test]
    fn every_role_has_a_sign_of_its_own() {
        let signs: std::collections::HashSet<_> = Role::all().map(role_sign).collect();
        assert_eq!(signs.len(), Role::all().count());
    }
}
