//! The languages with a grammar.

use crate::rules::{self, Rule};
use crate::symbol::SymbolKind;
use std::collections::HashMap;
use std::sync::LazyLock;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    C,
    CSharp,
    Cpp,
    Go,
    Java,
    JavaScript,
    Php,
    Python,
    Ruby,
    Rust,
    Tsx,
    TypeScript,
}

/// How much of a header is read to distinguish C from C++.
const LOOKED_AT: usize = 64 << 10;

impl Language {
    pub const ALL: [Language; 12] = [
        Language::C,
        Language::CSharp,
        Language::Cpp,
        Language::Go,
        Language::Java,
        Language::JavaScript,
        Language::Php,
        Language::Python,
        Language::Ruby,
        Language::Rust,
        Language::Tsx,
        Language::TypeScript,
    ];

    /// The language of a file, by its name. A header counts as C.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        let name = name.rsplit('/').next().unwrap_or_default();
        if matches!(name, "Rakefile" | "Gemfile") {
            return Some(Language::Ruby);
        }
        let (stem, ending) = name.rsplit_once('.')?;
        let ending = ending.to_ascii_lowercase();
        Self::ALL.into_iter().find(|language| !stem.is_empty() && language.endings().contains(&ending.as_str()))
    }

    /// The language of a file, by its name and text.
    #[must_use]
    pub fn of_file(name: &str, text: &[u8]) -> Option<Self> {
        let language = Self::of_name(name)?;
        let is_header = language == Language::C && name.rsplit('.').next().is_some_and(|ending| ending.eq_ignore_ascii_case("h"));
        let start = &text[..text.len().min(LOOKED_AT)];
        let has = |word: &str| memchr::memmem::find(start, word.as_bytes()).is_some();
        let is_cpp = || ["\nclass ", "\nnamespace ", "\ntemplate", "public:", "std::", "\nusing "].into_iter().any(has);
        Some(if is_header && is_cpp() { Language::Cpp } else { language })
    }

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Language::C => "C",
            Language::CSharp => "C#",
            Language::Cpp => "C++",
            Language::Go => "Go",
            Language::Java => "Java",
            Language::JavaScript => "JavaScript",
            Language::Php => "PHP",
            Language::Python => "Python",
            Language::Ruby => "Ruby",
            Language::Rust => "Rust",
            Language::Tsx => "TypeScript with JSX",
            Language::TypeScript => "TypeScript",
        }
    }

    const fn endings(self) -> &'static [&'static str] {
        match self {
            Language::C => &["c", "h"],
            Language::CSharp => &["cs"],
            Language::Cpp => &["cc", "cpp", "cxx", "hh", "hpp", "hxx", "ipp"],
            Language::Go => &["go"],
            Language::Java => &["java"],
            Language::JavaScript => &["js", "jsx", "mjs", "cjs"],
            Language::Php => &["php"],
            Language::Python => &["py", "pyi"],
            Language::Ruby => &["rb", "rake", "gemspec"],
            Language::Rust => &["rs"],
            Language::Tsx => &["tsx"],
            Language::TypeScript => &["ts", "mts", "cts"],
        }
    }

    fn grammar(self) -> tree_sitter::Language {
        match self {
            Language::C => tree_sitter_c::LANGUAGE,
            Language::CSharp => tree_sitter_c_sharp::LANGUAGE,
            Language::Cpp => tree_sitter_cpp::LANGUAGE,
            Language::Go => tree_sitter_go::LANGUAGE,
            Language::Java => tree_sitter_java::LANGUAGE,
            Language::JavaScript => tree_sitter_javascript::LANGUAGE,
            Language::Php => tree_sitter_php::LANGUAGE_PHP,
            Language::Python => tree_sitter_python::LANGUAGE,
            Language::Ruby => tree_sitter_ruby::LANGUAGE,
            Language::Rust => tree_sitter_rust::LANGUAGE,
            Language::Tsx => tree_sitter_typescript::LANGUAGE_TSX,
            Language::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
        }
        .into()
    }

    fn rules(self) -> rules::Rules {
        match self {
            Language::C => rules::C,
            Language::CSharp => rules::C_SHARP,
            Language::Cpp => rules::CPP,
            Language::Go => rules::GO,
            Language::Java => rules::JAVA,
            Language::JavaScript => rules::JAVASCRIPT,
            Language::Php => rules::PHP,
            Language::Python => rules::PYTHON,
            Language::Ruby => rules::RUBY,
            Language::Rust => rules::RUST,
            Language::Tsx | Language::TypeScript => rules::TYPESCRIPT,
        }
    }

    pub(crate) fn compiled(self) -> &'static Compiled {
        static COMPILED: LazyLock<Vec<Compiled>> = LazyLock::new(|| Language::ALL.into_iter().map(Compiled::new).collect());
        &COMPILED[self as usize]
    }
}

/// The meaning of a kind of node.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NodeMeaning {
    Nothing,
    Name,
    Definition(&'static Rule),
}

/// A grammar with its rules, indexed by node kind.
pub(crate) struct Compiled {
    pub grammar: tree_sitter::Language,
    meanings: Vec<NodeMeaning>,
}

impl Compiled {
    fn new(language: Language) -> Self {
        let grammar = language.grammar();
        let rules = language.rules();
        let named = rules.names().map(|node| (node, NodeMeaning::Name));
        let by_node: HashMap<&str, NodeMeaning> =
            named.chain(rules.definitions().map(|rule| (rule.node, NodeMeaning::Definition(rule)))).collect();
        // A grammar has several ids for a node with several names.
        let kinds = 0..u16::try_from(grammar.node_kind_count()).unwrap_or(u16::MAX);
        let role =
            |kind: u16| grammar.node_kind_for_id(kind).filter(|_| grammar.node_kind_is_named(kind)).and_then(|node| by_node.get(node));
        let meanings = kinds.map(|kind| role(kind).copied().unwrap_or(NodeMeaning::Nothing)).collect();
        Self { grammar, meanings }
    }

    pub fn meaning(&self, kind: u16) -> NodeMeaning {
        self.meanings.get(usize::from(kind)).copied().unwrap_or(NodeMeaning::Nothing)
    }
}

/// Whether an outline lists definitions of this kind.
pub(crate) const fn is_outlined(kind: SymbolKind) -> bool {
    !matches!(kind, SymbolKind::Field)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_names_a_node_of_its_grammar() {
        for language in Language::ALL {
            let grammar = language.grammar();
            let rules = language.rules();
            for node in rules.names().chain(rules.definitions().map(|rule| rule.node)) {
                assert_ne!(grammar.id_for_node_kind(node, true), 0, "{}: {node}", language.name());
            }
        }
    }

    #[test]
    fn languages_stand_in_the_order_of_their_numbers() {
        for (number, language) in Language::ALL.into_iter().enumerate() {
            assert_eq!(language as usize, number);
        }
    }

    #[test]
    fn a_file_is_told_by_its_name_and_a_header_by_its_text() {
        assert_eq!(Language::of_name("/src/main.RS"), Some(Language::Rust));
        assert_eq!(Language::of_name("/lib/Rakefile"), Some(Language::Ruby));
        for name in ["/README.md", "/.rs", "/rs", "/Makefile", "/a.rs.orig"] {
            assert_eq!(Language::of_name(name), None, "{name}");
        }
        assert_eq!(Language::of_file("/a.h", b"struct a { int b; };\n"), Some(Language::C));
        assert_eq!(Language::of_file("/a.h", b"#pragma once\nnamespace a {}\n"), Some(Language::Cpp));
        assert_eq!(Language::of_file("/a.c", b"int a;\nclass b;\n"), Some(Language::C));
    }
}
