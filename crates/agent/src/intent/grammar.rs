//! Matches phrases and patterns against tokens.

use super::text::Token;
use std::collections::BTreeSet;

/// A sequence of slots. Each slot has alternatives; an empty alternative makes it optional.
pub(super) type Pattern = &'static [&'static [&'static str]];

pub(super) type Table = &'static [Pattern];

/// Every position reachable from `starts` by any number of the tables' patterns, including none.
pub(super) fn repeated(clause: &[Token], starts: BTreeSet<usize>, tables: &[Table]) -> BTreeSet<usize> {
    let mut reached = starts.clone();
    let mut open = starts;
    while let Some(at) = open.pop_first() {
        open.extend(after(clause, at, tables).into_iter().filter(|&end| reached.insert(end)));
    }
    reached
}

/// Every position where one of the tables' patterns, started at `at`, can end.
pub(super) fn after(clause: &[Token], at: usize, tables: &[Table]) -> BTreeSet<usize> {
    tables.iter().copied().flatten().flat_map(|pattern| pattern_ends(clause, at, pattern)).collect()
}

fn pattern_ends(clause: &[Token], at: usize, pattern: Pattern) -> Vec<usize> {
    let Some((slot, rest)) = pattern.split_first() else { return vec![at] };
    let places = slot.iter().filter_map(|phrase| phrase_end(clause, at, phrase));
    places.flat_map(|place| pattern_ends(clause, place, rest)).collect()
}

pub(super) fn contains(tokens: &[Token], phrases: &[&str]) -> bool {
    (0..tokens.len()).any(|at| phrase_after(tokens, at, phrases).is_some())
}

pub(super) fn begins_with(clause: &[Token], phrases: &[&str]) -> bool {
    phrase_after(clause, 0, phrases).is_some()
}

pub(super) fn ends_with(clause: &[Token], phrases: &[&str]) -> bool {
    (clause.len().saturating_sub(2)..clause.len())
        .any(|at| phrases.iter().any(|phrase| phrase_end(clause, at, phrase) == Some(clause.len())))
}

pub(super) fn is_any(clause: &[Token], phrases: &[&str]) -> bool {
    phrases.iter().any(|phrase| phrase_end(clause, 0, phrase) == Some(clause.len()))
}

pub(super) fn phrase_after(tokens: &[Token], at: usize, phrases: &[&str]) -> Option<usize> {
    phrases.iter().find_map(|phrase| phrase_end(tokens, at, phrase))
}

/// The end of `phrase` if it starts at `at`. The empty phrase ends where it starts.
pub(super) fn phrase_end(tokens: &[Token], at: usize, phrase: &str) -> Option<usize> {
    let mut end = at;
    let mut rest = phrase;
    while !rest.is_empty() {
        let word = word(tokens.get(end)?)?;
        rest = rest.strip_prefix(word)?;
        // The table's word must end here too: "go" is not the start of "goes".
        if word.is_ascii() && rest.starts_with(|c: char| c.is_ascii() && c != ' ') {
            return None;
        }
        rest = rest.trim_start();
        end += 1;
    }
    Some(end)
}

pub(super) fn word(token: &Token) -> Option<&str> {
    match token {
        Token::Word(word) => Some(word),
        Token::Comma | Token::Colon | Token::Stop | Token::Question | Token::Opaque => None,
    }
}

/// Sentences keep their closing mark, because only it shows a question.
pub(super) fn sentences(tokens: &[Token]) -> impl Iterator<Item = &[Token]> {
    tokens.split_inclusive(|token| matches!(token, Token::Stop | Token::Question))
}

pub(super) fn clauses(tokens: &[Token]) -> impl Iterator<Item = &[Token]> {
    tokens.split(|token| matches!(token, Token::Comma | Token::Colon | Token::Stop | Token::Question)).filter(|clause| !clause.is_empty())
}
