use super::source_search::{Hit, SourceSearch};
use crate::path::WorkspacePath;
use crate::text_file::shown;
use crate::tool::{Category, Input, Output, Prepared, Spec, ToolContext};
use planwright_code::{Symbol, SymbolGroup};
use planwright_protocol::Problem;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Find definitions by name, the best match first.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Symbols {
    /// Name, part of it, or `Type::name`.
    query: String,
    kind: Option<KindArgument>,
    path: Option<String>,
    limit: Option<usize>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum KindArgument {
    Function,
    Type,
    Value,
    Module,
}

const LIMIT: usize = 30;
const MOST: usize = 500;
/// Maximum length of a displayed line.
const LONGEST_LINE: usize = 160;

impl Input for Symbols {
    const SPEC: Spec<'static> = Spec::reading(
        "symbols",
        Category::Search,
        &[r#"{"query": "parse"}"#, r#"{"query": "Plan::parse", "kind": "function", "path": "/src"}"#],
    );

    fn prepare(self, cx: &ToolContext) -> Result<Prepared, Problem> {
        let (search, effects) = SourceSearch::prepare(cx, &self.query, self.path.as_deref())?;
        let limit = self.limit.unwrap_or(LIMIT).clamp(1, MOST);
        let group = self.kind.map(|kind| match kind {
            KindArgument::Function => SymbolGroup::Function,
            KindArgument::Type => SymbolGroup::Type,
            KindArgument::Value => SymbolGroup::Value,
            KindArgument::Module => SymbolGroup::Module,
        });
        let cx = cx.clone();
        Ok(Prepared::new(effects, move |_| {
            let found = Mutex::new(Definitions::default());
            let name = search.needle.text();
            let searched = search.run(&cx.workspace, |path, hit| {
                let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                match hit {
                    Hit::Parsed(source) => {
                        for symbol in &source.symbols {
                            let is_kind = group.is_none_or(|group| symbol.kind.group() == group);
                            let is_inside = search.container.as_deref().is_none_or(|container| is_in(symbol, container));
                            if let Some(rank) = Rank::of(&symbol.name, name).filter(|_| is_kind && is_inside) {
                                found.add((rank, path.clone(), symbol.line), described(symbol), limit);
                            }
                        }
                    }
                    Hit::Text(text) => {
                        for (line, text) in search.needle.lines_in(text).take(MOST) {
                            let text = shown(&text[..text.len().min(LONGEST_LINE)]).trim().to_owned();
                            found.add((Rank::Text, path.clone(), line), text, limit);
                        }
                    }
                }
            })?;
            let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
            Ok(found.into_output(name, &searched.notes(), searched.late))
        }))
    }
}

/// How well a name matches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    Same,
    SameButCase,
    Beginning,
    Part,
    /// A word in a file without a syntax tree.
    Text,
}

impl Rank {
    fn of(name: &str, query: &str) -> Option<Self> {
        let (lower, lower_query) = (name.to_ascii_lowercase(), query.to_ascii_lowercase());
        if name == query {
            Some(Rank::Same)
        } else if lower == lower_query {
            Some(Rank::SameButCase)
        } else if lower.starts_with(&lower_query) {
            Some(Rank::Beginning)
        } else {
            lower.contains(&lower_query).then_some(Rank::Part)
        }
    }
}

/// Whether a symbol belongs to a type or module with this name; `Greeter<T>` and `a::Greeter` are `Greeter`.
fn is_in(symbol: &Symbol, container: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    symbol.container.as_deref().is_some_and(|held| held.split(|c| !is_word(c)).any(|word| word == container))
}

fn described(symbol: &Symbol) -> String {
    let end = if symbol.end_line > symbol.line { format!("-{}", symbol.end_line) } else { String::new() };
    let container = symbol.container.as_deref().map(|name| format!(" [in {name}]")).unwrap_or_default();
    format!("{end}: {}: {}{container}", symbol.kind.label(), symbol.signature)
}

/// The best matches, and the total number.
#[derive(Default)]
struct Definitions {
    best: BTreeMap<(Rank, WorkspacePath, u32), Vec<String>>,
    held: usize,
    total: usize,
    texts: usize,
}

impl Definitions {
    fn add(&mut self, place: (Rank, WorkspacePath, u32), text: String, limit: usize) {
        if place.0 == Rank::Text {
            self.texts += 1;
        } else {
            self.total += 1;
        }
        let here = self.best.entry(place).or_default();
        // One line can have a hundred thousand definitions.
        if here.len() >= limit {
            return;
        }
        here.push(text);
        self.held += 1;
        while let Some(last) = self.best.last_entry() {
            if self.held - last.get().len() < limit {
                break;
            }
            self.held -= last.remove().len();
        }
    }

    fn into_output(self, name: &str, notes: &str, late: bool) -> Output {
        let mut text = String::new();
        let mut shown = 0;
        for ((rank, path, line), symbols) in &self.best {
            // If there are definitions, matches in files without a syntax tree are left out.
            if *rank == Rank::Text && self.total > 0 {
                break;
            }
            if *rank == Rank::Text && shown == 0 {
                text.push_str(&format!("[`{name}` has no definition in files with a syntax tree; as text:]\n"));
            }
            for symbol in symbols {
                let mark = if *rank == Rank::Text { ": " } else { "" };
                text.push_str(&format!("{path}:{line}{mark}{symbol}\n"));
                shown += 1;
            }
        }
        let all = if self.total > 0 { self.total } else { self.texts };
        if all == 0 {
            text.push_str("[no definitions: try a shorter part of the name, or `grep`]\n");
        } else if shown < all {
            text.push_str(&format!("[{shown} of {all}: raise `limit` (at most {MOST}), or narrow `query`, `kind` or `path`]\n"));
        }
        text.push_str(notes);
        Output::text(text).with("symbols", self.total).with("truncated", shown < all || late)
    }
}

#[cfg(test)]
mod tests {
    use crate::builtin::trial::Trial;
    use serde_json::json;

    fn found(trial: &Trial, args: &str) -> String {
        trial.plan("symbols", args).unwrap().text
    }

    #[test]
    fn of_very_many_definitions_on_one_line_no_more_than_the_limit_are_shown() {
        let trial = Trial::new(&[("a.rs", &"fn parse() {} ".repeat(3_000))]);
        let output = trial.plan("symbols", r#"{"query": "parse", "limit": 7}"#).unwrap();
        assert_eq!(output.text.matches("function").count(), 7, "{}", output.text);
        assert_eq!((output.data["symbols"].clone(), output.data["truncated"].clone()), (json!(3_000), json!(true)));
        let uses = trial.plan("references", r#"{"symbol": "parse"}"#).unwrap();
        assert!(uses.text.lines().count() < 200 && uses.data["definitions"] == 3_000, "{}", uses.text);
    }

    #[test]
    fn definitions_are_found_in_all_languages_the_best_first() {
        let trial = Trial::new(&[
            ("a.rs", "pub struct Plan;\nimpl Plan {\n    pub fn parse(text: &str) -> Plan {\n        Plan\n    }\n}\n"),
            ("b.py", "def parse_all(): pass\nclass Parse: pass\n# parse\n"),
            ("c.ts", "export const reparse = () => parse();\n"),
            ("d.md", "`parse` reads\n"),
            (".gitignore", "out\n"),
            ("out/e.rs", "fn parse() {}\n"),
        ]);
        assert_eq!(
            found(&trial, r#"{"query": "parse"}"#),
            "/a.rs:3-5: method: pub fn parse(text: &str) -> Plan [in Plan]\n/b.py:2: class: class Parse\n/b.py:1: function: def parse_all()\n/c.ts:1: function: export const reparse = () => parse()\n"
        );
        assert_eq!(found(&trial, r#"{"query": "Plan::parse()"}"#), "/a.rs:3-5: method: pub fn parse(text: &str) -> Plan [in Plan]\n");
        assert_eq!(found(&trial, r#"{"query": "parse", "kind": "type"}"#), "/b.py:2: class: class Parse\n");
        assert_eq!(found(&trial, r#"{"query": "parse", "path": "c.ts"}"#).lines().count(), 1);
        let cut = trial.plan("symbols", r#"{"query": "parse", "limit": 1}"#).unwrap();
        assert!(cut.text.contains("[1 of 4: raise `limit` (at most 500)") && cut.data["truncated"] == true, "{}", cut.text);
    }

    #[test]
    fn what_is_in_no_syntax_tree_is_told_as_text() {
        let trial = Trial::new(&[("a.kt", "fun deploy() {}\n"), ("b.rs", "fn other() { deploy() }\n")]);
        assert_eq!(
            found(&trial, r#"{"query": "deploy"}"#),
            "[`deploy` has no definition in files with a syntax tree; as text:]\n/a.kt:1: fun deploy() {}\n"
        );
        assert!(found(&trial, r#"{"query": "nothing_at_all"}"#).starts_with("[no definitions"));
        assert_eq!(trial.refusal("symbols", r#"{"query": " "}"#), "INVALID_ARGUMENTS");
        assert_eq!(trial.refusal("symbols", r#"{"query": "two words"}"#), "INVALID_ARGUMENTS");
        assert_eq!(trial.refusal("symbols", r#"{"query": "a", "path": "/none"}"#), "PATH_NOT_FOUND");
    }

    #[test]
    fn a_file_that_changed_is_read_again_and_secrets_are_not_searched() {
        let trial = Trial::new(&[("a.rs", "fn one() {}\n"), (".env.rs", "fn one() {}\n")]);
        let text = found(&trial, r#"{"query": "one"}"#);
        assert!(text.starts_with("/a.rs:1: function: fn one()\n[1 files that look like secrets"), "{text}");
        trial.put("a.rs", b"fn two() {}\n");
        assert!(found(&trial, r#"{"query": "one"}"#).starts_with("[no definitions"));
        assert!(found(&trial, r#"{"query": "two"}"#).starts_with("/a.rs:1: function: fn two()\n"));
        let prepared = trial.prepare("symbols", &json!({ "query": "one", "path": "/.env.rs" }).to_string()).unwrap();
        let verdict = trial.verdict(planwright_protocol::Role::Planner, "symbols", &prepared.effects, crate::gate::Consent::Needed);
        assert!(matches!(verdict, crate::gate::Verdict::Ask(_)));
    }
}
