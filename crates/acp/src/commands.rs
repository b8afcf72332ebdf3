//! Slash commands: what an editor has no button for.

use agent_client_protocol::v1::schema::{AvailableCommand, AvailableCommandInput, AvailableCommandsUpdate, UnstructuredCommandInput};

/// What the user asks for by a command, with the words after it.
#[derive(Debug, PartialEq, Eq)]
pub enum SlashCommand<'a> {
    /// The Execute Plan button.
    Execute,
    /// The pending question, asked again, or answered by these words.
    Answer(&'a str),
    Compact,
}

pub fn available() -> AvailableCommandsUpdate {
    let hint = |text: &str| AvailableCommandInput::Unstructured(UnstructuredCommandInput::new(text));
    AvailableCommandsUpdate::new(vec![
        AvailableCommand::new("execute", "Approve the newest plan and carry it out"),
        AvailableCommand::new("answer", "Answer the question that waits, or have it asked again")
            .input(hint("the answer; nothing asks again")),
        AvailableCommand::new("compact", "Sum the conversation up, so that the model has room again"),
    ])
}

/// `None` for anything else: a text that begins with a slash may well be a path.
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
