//! Detects whether a user's message orders the plan to be executed.
//!
//! An order approves the newest plan, so a wrong `ExecuteNow` approves something that nobody approved. The detector
//! therefore uses an allow-list: the whole message, word for word, must consist of courtesy and orders from the tables, and
//! one unknown word is enough to refuse. It judges words alone: the caller makes sure that the user typed them, and not a
//! file, a tool or another member.

pub mod classifier;
mod grammar;
mod markers;
mod phrases;
mod simple_fix;
mod text;

pub use simple_fix::is_simple_fix;

use grammar::{Table, after, begins_with, clauses, contains, ends_with, is_any, phrase_after, repeated, sentences, word};
use std::collections::BTreeSet;
use text::{Text, Token};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intent {
    /// Nothing in the message asks for execution: questions, tasks, feedback, orders to wait or only plan.
    PlanOnly,
    /// The whole message is an order to execute, and nothing else.
    ExecuteNow,
    /// The message leans towards execution without ordering it cleanly (a bare "yes", a condition,
    /// an order with additions), or cannot be read. A classifier may look closer.
    Unclear,
}

impl Intent {
    pub const fn as_str(self) -> &'static str {
        match self {
            Intent::PlanOnly => "PLAN_ONLY",
            Intent::ExecuteNow => "EXECUTE_NOW",
            Intent::Unclear => "UNCLEAR",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    pub intent: Intent,
    /// A clause of a longer message is an order. The server may offer it to the user as a suggestion, and never acts on it.
    /// Always false with `ExecuteNow`, where nothing is left to suggest.
    pub suggests_execution: bool,
}

/// Maximum tokens of an order with all its courtesy. Longer messages are never one order.
const LONGEST_ORDER: usize = 32;

/// Longer messages are pasted, not typed; searching them for orders would only cost time.
const LONGEST_READ: usize = 64 * 1024;

/// Classifies the user's message, in time linear in its length.
pub fn detect(message: &str) -> Reading {
    if message.len() > LONGEST_READ {
        return Reading { intent: Intent::Unclear, suggests_execution: false };
    }
    let text = text::read(message);
    if is_whole_order(&text) {
        return Reading { intent: Intent::ExecuteNow, suggests_execution: false };
    }
    let has_words = text.tokens.iter().any(|token| word(token).is_some());
    if text.unreadable || !has_words || is_only_courtesy(&text) {
        return Reading { intent: Intent::Unclear, suggests_execution: false };
    }
    let stances: Vec<Stance> = sentences(&text.tokens).map(stance).collect();
    let orders = stances.contains(&Stance::Orders);
    if stances.contains(&Stance::Forbids) || !(orders || stances.contains(&Stance::Leans)) {
        return Reading { intent: Intent::PlanOnly, suggests_execution: false };
    }
    Reading { intent: Intent::Unclear, suggests_execution: orders }
}

fn is_whole_order(text: &Text) -> bool {
    let announces_or_asks = text.tokens.iter().any(|token| matches!(token, Token::Colon | Token::Question));
    if text.unreadable || text.tokens.len() > LONGEST_ORDER || announces_or_asks {
        return false;
    }
    let mut ordered = false;
    let mut condition_like = false;
    for clause in clauses(&text.tokens) {
        if is_order(clause) && !(condition_like && begins_with(clause, &["就"])) {
            ordered = true;
        } else if ordered && !is_made_of(clause, &[phrases::CLOSERS]) || !is_courtesy(clause) {
            return false;
        }
        condition_like = is_any(clause, phrases::CONDITION_LIKE);
    }
    ordered
}

fn is_only_courtesy(text: &Text) -> bool {
    clauses(&text.tokens).all(is_courtesy)
}

/// The attitude of a sentence that is not a clean order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stance {
    Silent,
    /// Overrules every order elsewhere in the message.
    Forbids,
    Leans,
    Orders,
}

fn stance(sentence: &[Token]) -> Stance {
    if contains(sentence, markers::PLAN_ONLY) || clauses(sentence).any(forbids) {
        return Stance::Forbids;
    }
    let asks = sentence.contains(&Token::Question)
        || contains(sentence, markers::QUESTION_WORDS)
        || clauses(sentence).any(|clause| begins_with(clause, markers::QUESTION_OPENINGS) || ends_with(clause, markers::QUESTION_ENDINGS));
    if asks || contains(sentence, markers::REPORTS) || contains(sentence, markers::POSTPONEMENTS) {
        return Stance::Silent;
    }
    let mentioned = clauses(sentence).any(mentions_order);
    if contains(sentence, markers::CONDITIONS) {
        return if mentioned { Stance::Leans } else { Stance::Silent };
    }
    if contains(sentence, markers::NARROWINGS) {
        return Stance::Silent;
    }
    if clauses(sentence).any(gives_order) {
        return Stance::Orders;
    }
    if mentioned || clauses(sentence).any(hints) { Stance::Leans } else { Stance::Silent }
}

/// A retraction, or a negation followed by an order.
fn forbids(clause: &[Token]) -> bool {
    if begins_with(clause, markers::STOP_OPENINGS) || is_any(clause, markers::STOP_CLAUSES) {
        return true;
    }
    let Some(negator) = first_negator(clause) else { return false };
    let orders = [phrases::ORDERS, phrases::SHORT_ORDERS, phrases::THEN_ORDERS];
    (negator + 1..clause.len()).any(|at| !after(clause, at, &orders).is_empty())
}

fn first_negator(clause: &[Token]) -> Option<usize> {
    let mut at = 0;
    while let Some(token) = clause.get(at) {
        if let Some(end) = phrase_after(clause, at, markers::NOT_NEGATORS) {
            at = end;
        } else if word(token).is_some_and(|word| word.ends_with("n't")) || phrase_after(clause, at, markers::NEGATORS).is_some() {
            return Some(at);
        } else {
            at += 1;
        }
    }
    None
}

/// The clause is an order, or starts with one.
fn gives_order(clause: &[Token]) -> bool {
    let goes_on = || {
        openings(clause, &[phrases::OPENERS, phrases::ASSENTS]).iter().any(|&at| opens_order(clause, at, phrases::ORDERS))
            || opens_order(clause, 0, phrases::THEN_ORDERS)
    };
    is_order(clause) || first_negator(clause).is_none() && goes_on()
}

fn mentions_order(clause: &[Token]) -> bool {
    is_order(clause) || (0..clause.len()).any(|at| opens_order(clause, at, phrases::ORDERS))
}

/// An order starts at `at`, and the words after it do not turn it into an order to talk or into a noun.
fn opens_order(clause: &[Token], at: usize, orders: Table) -> bool {
    let Some(&end) = after(clause, at, &[orders]).last() else { return false };
    !(end..end + 3).any(|next| phrase_after(clause, next, markers::HARMLESS_TAILS).is_some())
}

fn hints(clause: &[Token]) -> bool {
    let openings = openings(clause, &[phrases::OPENERS, phrases::ASSENTS]);
    begins_with(clause, markers::WORK_OPENINGS) || openings.iter().any(|&at| after(clause, at, &[phrases::HINTS]).contains(&clause.len()))
}

fn is_courtesy(clause: &[Token]) -> bool {
    is_made_of(clause, &[phrases::OPENERS, phrases::ASSENTS, phrases::VERDICTS, phrases::CLOSERS])
}

/// The whole clause is an order, with courtesy around it.
fn is_order(clause: &[Token]) -> bool {
    let mut ends = after(clause, 0, &[phrases::THEN_ORDERS]);
    ends.extend(openings(clause, &[phrases::OPENERS]).iter().flat_map(|&at| after(clause, at, &[phrases::SHORT_ORDERS])));
    ends.extend(openings(clause, &[phrases::OPENERS, phrases::ASSENTS]).iter().flat_map(|&at| after(clause, at, &[phrases::ORDERS])));
    repeated(clause, ends, &[phrases::CLOSERS]).contains(&clause.len())
}

/// Positions where a clause may continue after courtesy, including its start.
fn openings(clause: &[Token], courtesy: &[Table]) -> BTreeSet<usize> {
    repeated(clause, BTreeSet::from([0]), courtesy)
}

fn is_made_of(clause: &[Token], tables: &[Table]) -> bool {
    openings(clause, tables).contains(&clause.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SENTENCES: &str = include_str!("../tests/data/intent-sentences.tsv");

    fn sentences_of_the_data_file() -> Vec<(&'static str, String)> {
        let lines = SENTENCES.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        lines
            .map(|line| {
                let (expected, sentence) = line.split_once('\t').unwrap_or_else(|| panic!("no tab in {line:?}"));
                (expected, sentence.replace("\\n", "\n"))
            })
            .collect()
    }

    fn assert_none_executes(messages: &[&str]) {
        let wrong: Vec<_> = messages.iter().filter(|message| detect(message).intent == Intent::ExecuteNow).collect();
        assert!(wrong.is_empty(), "taken for orders: {wrong:#?}");
    }

    #[test]
    fn every_sentence_of_the_data_file_gets_its_label() {
        let wrong: Vec<String> = sentences_of_the_data_file()
            .into_iter()
            .filter(|(expected, sentence)| detect(sentence).intent.as_str() != *expected)
            .map(|(expected, sentence)| format!("{sentence:?}: expected {expected}, got {}", detect(&sentence).intent.as_str()))
            .collect();
        assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    }

    #[test]
    fn the_data_file_is_large_half_chinese_and_mostly_refusals() {
        let sentences = sentences_of_the_data_file();
        let unique: BTreeSet<_> = sentences.iter().map(|(_, sentence)| sentence).collect();
        let chinese = sentences.iter().filter(|(_, sentence)| sentence.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c))).count();
        let refused = sentences.iter().filter(|(expected, _)| *expected != "EXECUTE_NOW").count();
        assert_eq!(unique.len(), sentences.len());
        assert!(sentences.len() >= 240);
        assert!(chinese * 2 >= sentences.len(), "{chinese} of {}", sentences.len());
        assert!(refused * 3 >= sentences.len() * 2, "{refused} of {}", sentences.len());
    }

    #[test]
    fn a_whole_message_order_executes() {
        for message in
            ["go ahead", "ＧＯ　ＡＨＥＡＤ！", "yes, go ahead please 👍🏻", "looks good, go ahead", "好的，开始执行吧！", "按這個計劃做"]
        {
            assert_eq!(detect(message), Reading { intent: Intent::ExecuteNow, suggests_execution: false }, "{message}");
        }
    }

    #[test]
    fn an_order_inside_a_longer_message_only_suggests() {
        for message in ["Nice plan. Go ahead and also add docs.", "Go ahead. Don't touch the tests.", "方案不错，开始执行，顺便补一下文档"]
        {
            assert_eq!(detect(message), Reading { intent: Intent::Unclear, suggests_execution: true }, "{message}");
        }
    }

    #[test]
    fn an_order_that_is_negated_asked_conditional_quoted_or_read_only_suggests_nothing() {
        for message in [
            "Go ahead. Wait, not yet.",
            "Nice plan. Shall we go ahead?",
            "Nice plan. Go ahead if the tests pass.",
            "He said:\ngo ahead",
            "The label reads `go ahead`, make it blue.",
            "go ahead and explain step 2",
            "开始执行，先别改代码",
            "计划不错。可以开始执行吗",
            "等测试通过再开始执行",
            "开始执行的按钮颜色不对",
        ] {
            assert!(!detect(message).suggests_execution, "{message}");
        }
    }

    #[test]
    fn negations_questions_conditions_and_quotations_never_execute() {
        let around = [
            ("don't ", ""),
            ("", "?"),
            ("", " if it is safe"),
            ("\"", "\""),
            ("`", "`"),
            ("> ", ""),
            ("```\n", "\n```"),
            ("he said ", ""),
            ("", " tomorrow"),
            ("", "..."),
            ("~~", "~~"),
            ("- ", ""),
            ("先别", ""),
            ("不要", ""),
            ("", "吗"),
            ("如果可以就", ""),
            ("没问题就", ""),
            ("“", "”"),
            ("「", "」"),
            ("他说：", ""),
            ("明天再", ""),
            ("", "的时候叫我"),
        ];
        for order in ["go ahead", "proceed", "implement it", "execute the plan", "开始执行", "按这个计划做", "可以改代码了", "直接实现"]
        {
            assert_eq!(detect(order).intent, Intent::ExecuteNow, "{order}");
            for (before, after) in around {
                assert_none_executes(&[&format!("{before}{order}{after}")]);
            }
        }
    }

    #[test]
    fn disguised_letters_and_invisible_characters_never_execute() {
        for message in
            ["gо ahead", "go\u{200b} ahead", "\u{202e}go ahead", "go ahead\u{feff}", "g o a h e a d", "开\u{200d}始执行", "开 始 执 行"]
        {
            assert_eq!(detect(message), Reading { intent: Intent::Unclear, suggests_execution: false }, "{message:?}");
        }
        assert_none_executes(&["proceed\u{fe0f}", "ﬁne, go ahead", "𝐠𝐨 𝐚𝐡𝐞𝐚𝐝", "o\u{212a}, go ahead", "go ahead\u{0}", "g\u{336}o ahead"]);
    }

    #[test]
    fn a_very_long_message_is_read_in_linear_time_and_never_executes() {
        let start = std::time::Instant::now();
        for unit in ["go ahead. ", "ok ", "please ", "开始执行，", "按", "不", "don't go ", "\"", "就", "a ", "…", "if go ahead "]
        {
            assert_none_executes(&[&unit.repeat(4_000)]);
        }
        assert!(start.elapsed().as_secs() < 30, "took {:?}", start.elapsed());
    }
}
