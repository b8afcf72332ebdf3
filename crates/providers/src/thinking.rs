//! Separates reasoning that a model writes at the beginning of its answer, between `<think>` and `</think>`. Some servers don't
//! remove it themselves.

use planwright_agent::Delta;

const OPENS: &str = "<think>";
const CLOSES: &str = "</think>";
/// Maximum bytes of white space before the opening mark. All of it is examined again with each delta.
const MAX_LEAD: usize = 256;

/// Separates reasoning from text in a stream.
#[derive(Debug, Default)]
pub(crate) enum Thinking {
    /// Everything so far may be the beginning of the opening mark.
    #[default]
    Perhaps,
    Inside,
    /// After the closing mark, before the first word.
    JustOver,
    Over,
}

#[derive(Debug, Default)]
pub(crate) struct Thoughts {
    state: Thinking,
    /// Text that may be part of a mark.
    held: String,
}

impl Thoughts {
    /// Returns the text whose kind is known by now.
    pub(crate) fn hear(&mut self, text: &str) -> Vec<Delta> {
        let mut heard = Vec::new();
        self.held.push_str(text);
        if let Thinking::Perhaps = self.state {
            let start = self.held.trim_start();
            if let Some(thought) = start.strip_prefix(OPENS) {
                (self.state, self.held) = (Thinking::Inside, thought.to_owned());
            } else if !OPENS.starts_with(start) || self.held.len() > MAX_LEAD {
                self.state = Thinking::Over;
            }
        }
        if let Thinking::Inside = self.state {
            if let Some((thought, rest)) = self.held.split_once(CLOSES) {
                heard.push(Delta::Reasoning(thought.to_owned()));
                (self.state, self.held) = (Thinking::JustOver, rest.to_owned());
            } else {
                let rest = self.held.split_off(self.held.len() - beginning_of_end(&self.held));
                heard.push(Delta::Reasoning(std::mem::replace(&mut self.held, rest)));
            }
        }
        if let Thinking::JustOver = self.state {
            self.held = self.held.trim_start().to_owned();
            if !self.held.is_empty() {
                self.state = Thinking::Over;
            }
        }
        if let Thinking::Over = self.state {
            heard.push(Delta::Text(std::mem::take(&mut self.held)));
        }
        heard.retain(|delta| !matches!(delta, Delta::Text(text) | Delta::Reasoning(text) if text.is_empty()));
        heard
    }

    /// The held text, at the end of the stream.
    pub(crate) fn end(&mut self) -> Option<Delta> {
        let held = std::mem::take(&mut self.held);
        match self.state {
            Thinking::Inside | Thinking::Perhaps | Thinking::JustOver | Thinking::Over if held.is_empty() => None,
            Thinking::Inside => Some(Delta::Reasoning(held)),
            Thinking::Perhaps | Thinking::JustOver | Thinking::Over => Some(Delta::Text(held)),
        }
    }
}

/// How many bytes at the end of a text may be the beginning of the closing mark.
fn beginning_of_end(text: &str) -> usize {
    (1..CLOSES.len()).rev().find(|&length| text.ends_with(&CLOSES[..length])).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(pieces: &[&str]) -> (String, String) {
        let (mut thoughts, mut reasoning, mut words) = (Thoughts::default(), String::new(), String::new());
        let mut deltas: Vec<Delta> = pieces.iter().flat_map(|piece| thoughts.hear(piece)).collect();
        deltas.extend(thoughts.end());
        for delta in deltas {
            match delta {
                Delta::Reasoning(text) => reasoning.push_str(&text),
                Delta::Text(text) => words.push_str(&text),
                Delta::Call(_) | Delta::Usage(_) | Delta::Native(_) => {}
            }
        }
        (reasoning, words)
    }

    #[test]
    fn reasoning_between_marks_is_told_apart_wherever_the_pieces_end() {
        let text = "\n<think>a < b </t 再</think>\n\nHello <think>x</think>";
        for size in 1..text.chars().count() {
            let pieces: Vec<String> = text.chars().collect::<Vec<_>>().chunks(size).map(|piece| piece.iter().collect()).collect();
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            assert_eq!(heard(&pieces), ("a < b </t 再".to_owned(), "Hello <think>x</think>".to_owned()), "{size}");
        }
    }

    #[test]
    fn white_space_without_end_is_passed_on_and_not_examined_again_with_each_delta() {
        let mut thoughts = Thoughts::default();
        let mut passed = 0;
        for _ in 0..200_000 {
            for delta in thoughts.hear(" ") {
                passed += usize::from(matches!(delta, Delta::Text(text) if text.len() <= MAX_LEAD + 1));
            }
            assert!(thoughts.held.len() <= MAX_LEAD);
        }
        assert_eq!(passed, 200_000 - MAX_LEAD);
        assert_eq!(heard(&["\n\n  ", "<think>a</think>b"]), ("a".to_owned(), "b".to_owned()));
    }

    #[test]
    fn words_without_marks_and_marks_without_end_are_kept() {
        for text in ["", "Hello", " <thin", "<thick>", "a <think>b</think>"] {
            assert_eq!(heard(&[text]), (String::new(), text.to_owned()));
        }
        assert_eq!(heard(&["<think>never", " ends</th"]), ("never ends</th".to_owned(), String::new()));
    }
}
