//! The optional second opinion on a message that the rules call unclear: one small request to a model.
//!
//! The user's message and the model's answer are both data. The caller may only suggest, for any answer.

use super::Intent;
use crate::history::Replies;
use crate::provider::{ModelMessage, ModelRequest, Purpose};
use planwright_protocol::Mode;
use std::collections::HashMap;
use std::sync::Arc;

/// Characters of the message that the model sees, from its beginning and from its end: the last words often decide.
const SHOWN: usize = 400;

/// A longer answer can't be one of the three words.
pub const LONGEST_ANSWER: usize = 64;

/// The request to classify a message.
#[must_use]
pub fn request(message: &str) -> ModelRequest {
    let text = format!("BEGIN MESSAGE\n{}\nEND MESSAGE", shortened(message));
    ModelRequest {
        system: include_str!("../../prompts/intent.md").to_owned(),
        messages: Arc::new(vec![ModelMessage::User(text)]),
        images: HashMap::new(),
        tools: Vec::new(),
        mode: Mode::Plan,
        purpose: Purpose::Intent,
        replies: Replies::default(),
        task: None,
    }
}

/// Parses the model's answer: exactly one of the three words, otherwise `Unclear`.
#[must_use]
pub fn read(answer: &str) -> Intent {
    let known = [Intent::PlanOnly, Intent::ExecuteNow, Intent::Unclear];
    known.into_iter().find(|intent| intent.as_str() == answer.trim()).unwrap_or(Intent::Unclear)
}

fn shortened(message: &str) -> String {
    let count = message.chars().count();
    if count <= 2 * SHOWN {
        return message.to_owned();
    }
    let (start, end): (String, String) = (message.chars().take(SHOWN).collect(), message.chars().skip(count - SHOWN).collect());
    format!("{start}\n[…]\n{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_of_the_three_words_counts() {
        for (answer, intent) in [
            ("EXECUTE_NOW", Intent::ExecuteNow),
            (" EXECUTE_NOW\n", Intent::ExecuteNow),
            ("PLAN_ONLY", Intent::PlanOnly),
            ("UNCLEAR", Intent::Unclear),
            ("", Intent::Unclear),
            ("execute_now", Intent::Unclear),
            ("EXECUTE_NOW.", Intent::Unclear),
            ("EXECUTE_NOW EXECUTE_NOW", Intent::Unclear),
            ("The answer is EXECUTE_NOW", Intent::Unclear),
            ("{\"intent\": \"EXECUTE_NOW\"}", Intent::Unclear),
            ("ＥＸＥＣＵＴＥ＿ＮＯＷ", Intent::Unclear),
        ] {
            assert_eq!(read(answer), intent, "{answer:?}");
        }
    }

    #[test]
    fn the_request_is_small_whatever_the_message_and_keeps_its_beginning_and_its_end() {
        let shown = |message: &str| match &request(message).messages[..] {
            [ModelMessage::User(text)] => text.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(shown("sounds good"), "BEGIN MESSAGE\nsounds good\nEND MESSAGE");
        let exact = "字".repeat(2 * SHOWN);
        assert_eq!(shown(&exact), format!("BEGIN MESSAGE\n{exact}\nEND MESSAGE"));
        let long = shown(&format!("first {} last", "字".repeat(1_000_000)));
        assert!(long.contains("MESSAGE\nfirst ") && long.contains(" last\nEND") && long.contains("\n[…]\n"));
        assert!(long.chars().count() < 2 * SHOWN + 50);
        assert!(request("x").tools.is_empty() && request("x").system.len() < 1000);
    }
}
