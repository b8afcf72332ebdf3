//! Shortens a conversation to what a model can take.
//!
//! Nothing is left out whole: a long text keeps its beginning and its end, and says how much is missing between them.

use crate::history::BYTES_OF_A_TOKEN;
use crate::provider::ModelMessage;
use std::borrow::Cow;
use std::sync::Arc;

/// No text is cut to fewer bytes than this.
const LEAST: usize = 400;
/// A model that takes fewer tokens can't even read the prompt.
const LEAST_CONTEXT: u64 = 2_000;
/// Reading so much costs little, whatever the model takes of it.
const LEAST_WINDOW: usize = 512 << 10;

/// How many bytes of one message a model reads at most: those of half its context.
#[must_use]
pub fn most_of_one(context_tokens: u64) -> usize {
    bytes(context_tokens) / 2
}

/// How many bytes of conversation fit into a context; the rest is for the prompt and the reply.
#[must_use]
pub fn room(context_tokens: u64) -> usize {
    bytes(context_tokens) / 4 * 3
}

/// How many bytes of stored messages are read for a model with this context: more than fit into it, since records have more in
/// them than a model reads.
#[must_use]
pub fn window(context_tokens: u64) -> usize {
    room(context_tokens).saturating_mul(2).max(LEAST_WINDOW)
}

fn bytes(tokens: u64) -> usize {
    usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(BYTES_OF_A_TOKEN)
}

/// The bytes of a conversation, each message counted as the model would read it.
#[must_use]
pub fn size(entries: &[ModelMessage], context_tokens: u64) -> usize {
    let most = most_of_one(context_tokens);
    entries.iter().map(|entry| cut_size(entry, most)).sum()
}

/// The conversation, short enough for a model with this context. The newest words of the user lose least.
#[must_use]
pub fn fitted(entries: Arc<Vec<ModelMessage>>, context_tokens: u64) -> Arc<Vec<ModelMessage>> {
    let limits = Limits::of(&entries, context_tokens);
    if entries.iter().enumerate().all(|(place, entry)| text_of(entry).is_none_or(|text| text.len() <= limits.at(place))) {
        return entries;
    }
    Arc::new(entries.iter().enumerate().map(|(place, entry)| cut(entry, limits.at(place))).collect())
}

/// The next smaller context for which more of the conversation would be cut; `None` if there is nothing left to cut.
#[must_use]
pub fn smaller(entries: &[ModelMessage], context_tokens: u64) -> Option<u64> {
    let size = |context: &u64| Limits::of(entries, *context).total(entries);
    let now = size(&context_tokens);
    let halves = std::iter::successors(Some(context_tokens / 2), |context| Some(context / 2));
    halves.take_while(|context| *context >= LEAST_CONTEXT).find(|context| size(context) < now)
}

/// How long each message may be.
struct Limits {
    most: usize,
    /// The newest words of the user, and how long they may be.
    newest: Option<usize>,
    most_of_newest: usize,
}

impl Limits {
    fn of(entries: &[ModelMessage], context_tokens: u64) -> Self {
        let (most, room) = (most_of_one(context_tokens), room(context_tokens));
        let newest = entries.iter().rposition(|entry| matches!(entry, ModelMessage::User(_)));
        let mut limits = Self { most, newest, most_of_newest: most };
        while limits.most > LEAST && limits.total(entries) > room {
            limits.most = (limits.most / 2).max(LEAST);
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

/// What can be cut of an entry. Calls can't: they must stay what the model wrote.
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
            if let Cow::Owned(shorter) = without_middle(text, most) {
                *text = shorter;
            }
        }
        ModelMessage::Image(_) => {}
    }
    entry
}

/// The beginning and the end of a text that has more bytes than `most`.
#[must_use]
pub fn without_middle(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let (head, tail) = (text.floor_char_boundary(most / 2), text.ceil_char_boundary(text.len() - most / 2));
    let missing = text[head..tail].chars().count();
    Cow::Owned(format!("{}\n[… {missing} characters are left out here …]\n{}", &text[..head], &text[tail..]))
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
        assert!(Arc::ptr_eq(&fitted(entries.clone(), 1_000), &entries));
    }

    #[test]
    fn long_texts_of_any_kind_keep_both_ends_and_say_what_is_missing() {
        for context in [2_000, 8_000, 128_000] {
            let said = ModelMessage::Assistant { mode: Mode::Plan, text: long("said", 900_000), calls: vec![], native: None };
            let entries =
                vec![user(&long("old", 500_000)), said, result(&long("result", 500_000)), user(&long("new", 900_000)), user("short")];
            let fitted = fitted(Arc::new(entries), context);
            let room = room(context);
            assert!(fitted.iter().map(ModelMessage::size).sum::<usize>() < room + 1_000, "{context}");
            for (entry, name) in fitted.iter().zip(["old", "said", "result", "new"]) {
                assert!(has_ends(entry, name) && text_of(entry).unwrap().contains("characters are left out here"), "{name} at {context}");
            }
            assert_eq!(fitted[4], user("short"));
        }
    }

    #[test]
    fn a_smaller_context_is_tried_only_where_it_would_cut_more() {
        assert_eq!(smaller(&[user("short")], 128_000), None);
        assert_eq!(smaller(&[user(&long("a", 10_000))], 128_000), Some(4_000));
        assert_eq!(smaller(&[user(&long("a", 900_000))], 128_000), Some(64_000));
        assert_eq!(smaller(&[user(&long("a", 900_000))], 3_000), None);
    }

    #[test]
    fn the_newest_words_lose_least() {
        let entries = vec![user(&long("old", 60_000)), user(&long("older", 60_000)), user(&long("new", 60_000))];
        let fitted = fitted(Arc::new(entries), 8_000);
        assert!(fitted[2].size() > 2 * fitted[0].size(), "{} and {}", fitted[2].size(), fitted[0].size());
    }

    #[test]
    fn many_long_messages_are_all_there_in_brief() {
        let entries: Vec<ModelMessage> = (0..40).map(|number| user(&long(&number.to_string(), 100_000))).collect();
        let fitted = fitted(Arc::new(entries), 16_000);
        assert!((0..40).all(|number| has_ends(&fitted[number], &number.to_string())));
    }
}
