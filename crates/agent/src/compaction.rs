//! Compaction: what remains of a long conversation.
//!
//! The model writes a summary. Facts that must not depend on it are added from the stored history: the user's own words,
//! decisions, the plan, the changed files. The prompt holds the mode and the approved plan anyway, and messages that the
//! model has not answered yet stay in the conversation unchanged.

use crate::fit::{cut_middle, max_conversation_bytes};
use crate::history::Conversation;
use crate::render::{QuestionsByCard, answered_question, message_text};
use crate::thread::is_task;
use planwright_protocol::message::{CallStatus, Category};
use planwright_protocol::{Author, Message, Problem};
use serde_json::json;
use std::collections::BTreeSet;
use std::fmt::Write;

/// The instruction to the model, as the last message of the request.
pub const INSTRUCTION: &str = "Write the summary now.";
/// Maximum bytes of one section besides the summary, however large the model's context is.
const MAX_SECTION_BYTES: usize = 24_000;
/// Candidate limits in bytes for each of the user's earlier messages: the largest that lets all of them stay wins.
const MESSAGE_LIMITS: [usize; 5] = [4_000, 1_000, 300, 100, 40];
const MOST_FILES: usize = 200;

/// The system prompt for a summary.
#[must_use]
pub fn system_prompt() -> &'static str {
    include_str!("../prompts/summary.md")
}

/// Whether the conversation is so long that it should be compacted before the next request.
#[must_use]
pub fn is_due(conversation: &Conversation, used: u64, context: u64) -> bool {
    let is_long = used > context / 4 * 3 || conversation.size(context) > max_conversation_bytes(context);
    conversation.has_grown() && (conversation.is_cut() || is_long)
}

/// The `reason` in a problem's details when a request exceeds the model's context.
pub const TOO_LONG: &str = "context_length_exceeded";

/// Whether the model rejected the request as too long, however short our estimate was.
#[must_use]
pub fn is_too_long(problem: &Problem) -> bool {
    let reason = problem.details.as_ref().and_then(|details| details.get("reason"));
    reason.is_some_and(|reason| reason == TOO_LONG)
}

/// The message that replaces the history. The last `unanswered` messages of the user stay in the conversation, so they are
/// not repeated here. `context` is the model's, in tokens.
#[must_use]
pub fn text(history: &[Message], unanswered: usize, summary: &str, context: u64) -> String {
    let most = (max_conversation_bytes(context) / 8).min(MAX_SECTION_BYTES);
    let mut text = "The conversation so far was summarized to save space. This message replaces it.\n".to_owned();
    let mut part = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            let _ = write!(text, "\n## {title}\n\n{}\n", cut_middle(&lines.join("\n"), most));
        }
    };
    part("The task", history.iter().filter(|message| is_task(message)).map(|message| message.content.clone()).collect());
    part("The user's words", user_messages(history, unanswered, most));
    part("Decisions", decisions(history));
    part("The plan as it was last written", plan(history).into_iter().collect());
    part("Files changed", changed_files(history));
    if !summary.trim().is_empty() {
        let _ = write!(text, "\n## Summary\n\n{}\n", cut_middle(summary.trim(), 2 * most));
    }
    text
}

/// The user's messages: the newest in full length, the others cut so that all of them fit.
fn user_messages(history: &[Message], unanswered: usize, most: usize) -> Vec<String> {
    let mut said: Vec<&Message> = history.iter().filter(|message| message.author == Author::User).collect();
    said.truncate(said.len().saturating_sub(unanswered));
    said.retain(|message| answered_question(message).is_none());
    let Some((newest, earlier)) = said.split_last() else { return Vec::new() };
    let line = |message: &Message, most: usize| {
        // Whether the model still sees an image is decided elsewhere.
        let images = " (with an image)".repeat(message.images().len());
        format!("- {}{images}", cut_middle(&message.content, most).replace('\n', "\n  "))
    };
    let brief = |most: usize| earlier.iter().map(|message| line(message, most)).collect::<Vec<_>>();
    let fits = |lines: &Vec<String>| lines.iter().map(String::len).sum::<usize>() <= most / 2;
    let lines = MESSAGE_LIMITS.into_iter().map(brief).find(fits);
    let mut lines = lines.unwrap_or_else(|| first_and_last(&brief(MESSAGE_LIMITS[4]), most / 2));
    lines.push(line(newest, most / 2 - most / 8));
    lines
}

/// The first message, which often states the whole task, and the last ones that fit.
fn first_and_last(lines: &[String], most: usize) -> Vec<String> {
    let Some((first, others)) = lines.split_first() else { return Vec::new() };
    let mut left = most.saturating_sub(first.len());
    let fitting = others.iter().rev().take_while(|line| {
        let fits = line.len() <= left;
        left = left.saturating_sub(line.len());
        fits
    });
    let place = others.len() - fitting.count();
    let gap = format!("- ({place} messages left out)");
    [first.clone(), gap].into_iter().chain(others[place..].iter().cloned()).collect()
}

/// Answers, mode changes and approvals, in order.
fn decisions(history: &[Message]) -> Vec<String> {
    let cards = history.iter().filter_map(|message| message.body.question());
    let asked: QuestionsByCard = cards.map(|card| (card.question_id, card.questions.clone())).collect();
    let decided = |message: &Message| {
        if answered_question(message).is_some() {
            return Some(cut_middle(&message_text(message, &asked), 2_000).replace('\n', "\n  "));
        }
        message.body.notice()?.mode_change().map(|_| message.content.clone())
    };
    history.iter().filter_map(decided).map(|text| format!("- {text}")).collect()
}

fn plan(history: &[Message]) -> Option<String> {
    let newest = history.iter().rev().find_map(|message| message.body.plan())?;
    Some(format!("{}\n\n```json\n{}\n```", newest.plan_file, json!(newest.plan)))
}

fn changed_files(history: &[Message]) -> Vec<String> {
    let paths: BTreeSet<&str> = history
        .iter()
        .filter_map(|message| message.body.tool_call())
        .filter(|call| call.category == Some(Category::Write) && call.status == CallStatus::Done)
        .filter_map(|call| call.args.as_object())
        .flat_map(|args| ["path", "from", "to"].into_iter().filter_map(|key| args.get(key)?.as_str()))
        .collect();
    let more = (paths.len() > MOST_FILES).then(|| format!("- and {} more", paths.len() - MOST_FILES));
    paths.into_iter().take(MOST_FILES).map(|path| format!("- {path}")).chain(more).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{answer, card, message, notice, plan, user, with_images};
    use planwright_protocol::message::{ModeChange, ToolCall};
    use planwright_protocol::{CallId, Notice, Role, SwitchedBy};

    fn write(path: &str, status: CallStatus) -> Message {
        let call = ToolCall::new(CallId::generate(), "write", json!({ "path": path }));
        message(ToolCall { category: Some(Category::Write), status, ..call }, "")
    }

    #[test]
    fn words_decisions_plan_and_changed_files_stay_whatever_the_summary_says() {
        let history = [
            user("Never touch\nthe database."),
            plan(None),
            card("q", vec![], "", "Which greeting?"),
            answer("q", json!({}), "[Answered: hello]"),
            notice(
                Notice::ModeChange(ModeChange { from: Role::Planner, to: Role::Actor, by: SwitchedBy::Approval }),
                "The user approved revision 1.",
            ),
            write("/src/a.rs", CallStatus::Done),
            write("/src/b.rs", CallStatus::Failed),
        ];
        let text = text(&history, 0, "Half of it is done.", 128_000);
        for part in [
            "- Never touch\n  the database.",
            "- [Answered: hello]",
            "- The user approved revision 1.",
            "/plans/greet.plan\n\n```json\n{\"goal\":\"Greet\",",
            "- /src/a.rs",
            "## Summary\n\nHalf of it is done.",
        ] {
            assert!(text.contains(part), "{part:?} is not in\n{text}");
        }
        assert!(!text.contains("/src/b.rs"));
    }

    #[test]
    fn words_that_came_with_images_say_so() {
        let said = with_images("Like this", &["aa", "aa"]);
        assert!(text(&[said], 0, "", 128_000).contains("- Like this (with an image) (with an image)\n"));
    }

    #[test]
    fn all_of_the_users_words_stay_in_brief_and_the_newest_least_so() {
        let said = |number: usize| user(&format!("{number}a{}{number}z", "é".repeat(20_000)));
        for (count, context) in [(3, 128_000), (100, 128_000), (10, 16_000)] {
            let history: Vec<Message> = (0..count).map(said).collect();
            let text = text(&history, 0, "", context);
            assert!(text.len() < 24_500, "{}", text.len());
            for number in 0..count {
                assert!(text.contains(&format!("- {number}a")) && text.contains(&format!("{number}z\n")), "{number} of {count}");
            }
            assert!(text.contains("characters left out") && !text.contains("messages left out") && !text.contains("## Summary"));
        }
    }

    #[test]
    fn of_very_many_words_the_first_and_the_newest_stay() {
        let history: Vec<Message> = (0..3_000).map(|number| user(&format!("word {number}."))).collect();
        let text = text(&history, 0, "", 16_000);
        assert!(["- word 0.", "- word 2999.", "- word 2990.", "messages left out"].iter().all(|part| text.contains(part)), "{text}");
        assert!(!text.contains("word 1000.") && text.len() < 6_000, "{}", text.len());
    }

    #[test]
    fn words_that_stay_in_the_conversation_are_not_repeated() {
        let history = ["first", "second", "third"].map(user);
        let text = text(&history, 2, "", 128_000);
        assert!(text.contains("- first") && !text.contains("second") && !text.contains("third"), "{text}");
    }
}
