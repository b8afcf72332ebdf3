//! Syntax trees: what a source file defines, and where names are used.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`language`] | the languages, told by a file's name, each with its grammar |
//! | `rules` | per language, as data: which nodes define something, which are names |
//! | [`source`] | one file, parsed: its symbols and the uses of names |
//! | [`symbol`] | what a definition is |
//! | [`outline`] | the symbols of a file as text; for other files, the lines that look like definitions |
//! | [`needle`] | what is searched for, and filters that rule files out |
//! | [`index`] | what is known of files, in memory, within a limit |
//!
//! Invariants: no input or output, no path is opened; no other crate uses tree-sitter; parsing ends at its deadline;
//! names are compared as text, nothing resolves types.

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
pub use source::{LARGEST_SOURCE, ParsedSource, Unparsed, Use, parse};
pub use symbol::{Group, Symbol, SymbolKind};
