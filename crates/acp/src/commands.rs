//! Slash commands, for actions without a button in the editor.

use agent_client_protocol::v1::schema::{AvailableCommand, AvailableCommandInput, AvailableCommandsUpdate, UnstructuredCommandInput};

/// A command, with the text after it.
#[derive(Debug, PartialEq, Eq)]
pub enum SlashCommand<'a> {
    /// The Execute Plan button.
    Execute,
    /// Asks the pending question again, or answers it with this text.
    Answer(&'a str),
    Compact,
}

pub fn available() -> AvailableCommandsUpdate {
    let hint = |text: &str| AvailableCommandInput::Unstructured(UnstructuredCommandInput::new(text));
    AvailableCommandsUpdate::new(vec![
        AvailableCommand::new("execute", "Approve the newest plan and execute it"),
        AvailableCommand::new("answer", "Answer the pending question, or ask it again").input(hint("the answer; leave empty to ask again")),
        AvailableCommand::new("compact", "Replace the conversation by a summary, to free the model's context"),
    ])
}

/// `None` for anything else: a text that begins with a slash may be a path.
pub fn parse(text: &str) -> Option<SlashCommand<'_>> {
    let text = text.trim();
    let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    match (name, rest.trim()) {
        ("/execute", "") => Some(SlashCommand::Execute),
        ("/answer", words) => Some(SlashCommand::Answer(words)),
        ("/compact", "") => Some(SlashCommand::Compact),
        (_, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_the_whole_text_and_everything_else_is_for_the_model() {
        assert_eq!(parse(" /execute\n"), Some(SlashCommand::Execute));
        assert_eq!(parse("/answer  with two words"), Some(SlashCommand::Answer("with two words")));
        for text in ["/execute everything at once", "/src/main.rs is broken", "please /compact", "/execution"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
