//! Syntax trees: the symbols that a source file defines, and the uses of names.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`language`] | the languages, recognised by file name, each with its grammar |
//! | `rules` | for each language: which nodes are definitions, and which are names |
//! | [`source`] | one parsed file: its symbols and the uses of names |
//! | [`symbol`] | one definition |
//! | [`outline`] | the symbols of a file as text; for other files, lines that look like definitions |
//! | [`needle`] | the name that is searched for, and filters that exclude files |
//! | [`index`] | an in-memory cache of parsed files, with a size limit |
//!
//! Invariants: no input or output; no other crate uses tree-sitter; parsing ends at its deadline; names are compared as text, and
//! nothing resolves types.

pub mod index;
pub mod language;
pub mod needle;
pub mod outline;
mod rules;
pub mod source;
pub mod symbol;

pub use index::{FileStamp, Index};
pub use language::Language;
pub use needle::{Filter, Needle};
pub use outline::{OutlineText, outline, text_outline};
pub use source::{LARGEST_SOURCE, ParseError, ParsedSource, Use, parse};
pub use symbol::{Symbol, SymbolGroup, SymbolKind};
