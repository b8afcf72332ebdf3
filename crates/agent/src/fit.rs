//! Shortens a conversation until it fits a model's context.
//!
//! No message is dropped: a long text keeps its beginning and its end, and states how much is missing between them.

use crate::history::BYTES_OF_A_TOKEN;
use crate::provider::ModelMessage;
use std::borrow::Cow;
use std::sync::Arc;

/// No text is cut to fewer bytes than this.
const MIN_TEXT_BYTES: usize = 400;
/// A model with a smaller context can't even read the prompt.
const MIN_CONTEXT: u64 = 2_000;
/// Reading this many bytes is cheap, however few of them the model takes.
const MIN_WINDOW: usize = 512 << 10;

/// Maximum bytes of one message: half of the model's context.
#[must_use]
pub fn max_message_bytes(context_tokens: u64) -> usize {
    bytes(context_tokens) / 2
}

/// Maximum bytes of the conversation; the rest of the context is for the prompt and the reply.
#[must_use]
pub fn max_conversation_bytes(context_tokens: u64) -> usize {
    bytes(context_tokens) / 4 * 3
}

/// How many bytes of stored messages are read for a model with this context: more than fit into it, since records have more in
/// them than a model reads.
#[must_use]
pub fn window(context_tokens: u64) -> usize {
    max_conversation_bytes(context_tokens).saturating_mul(2).max(MIN_WINDOW)
}

fn bytes(tokens: u64) -> usize {
    usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(BYTES_OF_A_TOKEN)
}

/// The bytes of a conversation, each message counted as the model would read it.
#[must_use]
pub fn size(entries: &[ModelMessage], context_tokens: u64) -> usize {
    let most = max_message_bytes(context_tokens);
    entries.iter().map(|entry| cut_size(entry, most)).sum()
}

/// The conversation, shortened to fit this context. The user's newest message loses least.
#[must_use]
pub fn shorten(entries: Arc<Vec<ModelMessage>>, context_tokens: u64) -> Arc<Vec<ModelMessage>> {
    let limits = Limits::of(&entries, context_tokens);
    if entries.iter().enumerate().all(|(place, entry)| text_of(entry).is_none_or(|text| text.len() <= limits.at(place))) {
        return entries;
    }
    Arc::new(entries.iter().enumerate().map(|(place, entry)| cut(entry, limits.at(place))).collect())
}

/// The next smaller context at which more of the conversation would be cut; `None` if nothing is left to cut.
#[must_use]
pub fn next_smaller_context(entries: &[ModelMessage], context_tokens: u64) -> Option<u64> {
    let size = |context: &u64| Limits::of(entries, *context).total(entries);
    let now = size(&context_tokens);
    let halves = std::iter::successors(Some(context_tokens / 2), |context| Some(context / 2));
    halves.take_while(|context| *context >= MIN_CONTEXT).find(|context| size(context) < now)
}

/// The maximum length of each message.
struct Limits {
    most: usize,
    /// The index of the user's newest message; it has its own limit.
    newest: Option<usize>,
    most_of_newest: usize,
}

impl Limits {
    fn of(entries: &[ModelMessage], context_tokens: u64) -> Self {
        let (most, room) = (max_message_bytes(context_tokens), max_conversation_bytes(context_tokens));
        let newest = entries.iter().rposition(|entry| matches!(entry, ModelMessage::User(_)));
        let mut limits = Self { most, newest, most_of_newest: most };
        while limits.most > MIN_TEXT_BYTES && limits.total(entries) > room {
            limits.most = (limits.most / 2).max(MIN_TEXT_BYTES);
            limits.most_of_newest = limits.most.max(room / 2);
        }
        limits
    }

    fn at(&self, place: usize) -> usize {
        if Some(place) == self.newest { self.most_of_newest } else { self.most }
    }

    fn total(&self, entries: &[ModelMessage]) -> usize {
        entries.iter().enumerate().map(|(place, entry)| cut_size(entry, self.at(place))).sum()
    }
}

/// The text of an entry that may be cut. Calls may not: they must stay exactly what the model wrote.
fn text_of(entry: &ModelMessage) -> Option<&str> {
    match entry {
        ModelMessage::User(text) | ModelMessage::ToolResult { text, .. } | ModelMessage::Assistant { text, .. } => Some(text),
        ModelMessage::Image(_) => None,
    }
}

fn cut_size(entry: &ModelMessage, most: usize) -> usize {
    entry.size() - text_of(entry).map_or(0, |text| text.len().saturating_sub(most))
}

fn cut(entry: &ModelMessage, most: usize) -> ModelMessage {
    let mut entry = entry.clone();
    match &mut entry {
        ModelMessage::User(text) | ModelMessage::ToolResult { text, .. } | ModelMessage::Assistant { text, .. } => {
            if let Cow::Owned(shorter) = cut_middle(text, most) {
                *text = shorter;
            }
        }
        ModelMessage::Image(_) => {}
    }
    entry
}

/// The beginning and the end of a text that has more bytes than `most`.
#[must_use]
pub fn cut_middle(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let (head, tail) = (text.floor_char_boundary(most / 2), text.ceil_char_boundary(text.len() - most / 2));
    let missing = text[head..tail].chars().count();
    Cow::Owned(format!("{}\n[… {missing} characters left out …]\n{}", &text[..head], &text[tail..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_protocol::Mode;

    fn user(text: &str) -> ModelMessage {
        ModelMessage::User(text.to_owned())
    }

    fn result(text: &str) -> ModelMessage {
        ModelMessage::ToolResult { call_id: "a".to_owned(), text: text.to_owned() }
    }

    fn long(name: &str, bytes: usize) -> String {
        format!("{name} begins {} {name} ends", "é".repeat(bytes / 2))
    }

    fn has_ends(entry: &ModelMessage, name: &str) -> bool {
        text_of(entry).is_some_and(|text| text.starts_with(&format!("{name} begins")) && text.ends_with(&format!("{name} ends")))
    }

    #[test]
    fn what_fits_is_shared_and_not_copied() {
        let entries = Arc::new(vec![user("a"), result(&long("b", 1_000))]);
        assert!(Arc::ptr_eq(&shorten(entries.clone(), 1_000), &entries));
    }

    #[test]
    fn long_texts_of_any_kind_keep_both_ends_and_say_what_is_missing() {
        for context in [2_000, 8_000, 128_000] {
            let said = ModelMessage::Assistant { mode: Mode::Plan, text: long("said", 900_000), calls: vec![], native: None };
            let entries =
                vec![user(&long("old", 500_000)), said, result(&long("result", 500_000)), user(&long("new", 900_000)), user("short")];
            let shorten = shorten(Arc::new(entries), context);
            let room = max_conversation_bytes(context);
            assert!(shorten.iter().map(ModelMessage::size).sum::<usize>() < room + 1_000, "{context}");
            for (entry, name) in shorten.iter().zip(["old", "said", "result", "new"]) {
                assert!(has_ends(entry, name) && text_of(entry).unwrap().contains("characters left out"), "{name} at {context}");
            }
            assert_eq!(shorten[4], user("short"));
        }
    }

    #[test]
    fn a_smaller_context_is_tried_only_where_it_would_cut_more() {
        assert_eq!(next_smaller_context(&[user("short")], 128_000), None);
        assert_eq!(next_smaller_context(&[user(&long("a", 10_000))], 128_000), Some(4_000));
        assert_eq!(next_smaller_context(&[user(&long("a", 900_000))], 128_000), Some(64_000));
        assert_eq!(next_smaller_context(&[user(&long("a", 900_000))], 3_000), None);
    }

    #[test]
    fn the_newest_words_lose_least() {
        let entries = vec![user(&long("old", 60_000)), user(&long("older", 60_000)), user(&long("new", 60_000))];
        let shorten = shorten(Arc::new(entries), 8_000);
        assert!(shorten[2].size() > 2 * shorten[0].size(), "{} and {}", shorten[2].size(), shorten[0].size());
    }

    #[test]
    fn many_long_messages_are_all_there_in_brief() {
        let entries: Vec<ModelMessage> = (0..40).map(|number| user(&long(&number.to_string(), 100_000))).collect();
        let shorten = shorten(Arc::new(entries), 16_000);
        assert!((0..40).all(|number| has_ends(&shorten[number], &number.to_string())));
    }
}
