//! One parsed file: its symbols, and the uses of names.

use crate::language::{Compiled, Language, NodeMeaning};
use crate::rules::{Rule, When};
use crate::symbol::{Symbol, SymbolKind};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hasher};
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tree_sitter::{Node, ParseOptions, ParseState, Parser};

/// Maximum file size in bytes. A syntax tree takes many times the memory of its text.
pub const LARGEST_SOURCE: usize = 2 << 20;
/// Larger files are parsed one at a time.
const LARGE: usize = 256 << 10;
const LONGEST_PARSE: Duration = Duration::from_secs(2);
const LONGEST_SIGNATURE: usize = 160;
/// If a definition follows more text than this on its line, the signature omits that text.
const LONGEST_LEAD: usize = 80;
/// Maximum depth of a name within its declarator.
const DEEPEST_NAME: usize = 32;
/// Maximum bytes of a name. Each symbol repeats the name around it, so a long name would cost memory for every symbol inside.
const LONGEST_NAME: usize = 256;
/// The reader checks the deadline once per this number of nodes.
const NODES_PER_CHECK: u32 = 4096;

/// The symbols and uses of a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedSource {
    /// In text order; a symbol precedes the symbols inside it.
    pub symbols: Box<[Symbol]>,
    /// Sorted by name, then by line.
    uses: Box<[Use]>,
    /// The first line that the grammar can't parse.
    pub first_error: Option<u32>,
}

/// A name on a line that does not define it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Use {
    name: u64,
    pub line: u32,
    /// The innermost symbol around it: an index into [`ParsedSource::symbols`].
    pub within: Option<u32>,
}

/// Why there is no syntax tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParseError {
    TooLarge,
    OutOfTime,
}

/// Parses a file. A file with syntax errors yields the symbols that can be recognised.
///
/// # Errors
/// The file is larger than [`LARGEST_SOURCE`], or the deadline has passed.
pub fn parse(language: Language, text: &[u8], deadline: Instant) -> Result<ParsedSource, ParseError> {
    static LARGE_ONES: Mutex<()> = Mutex::new(());
    if text.len() > LARGEST_SOURCE {
        return Err(ParseError::TooLarge);
    }
    let _turn = (text.len() > LARGE).then(|| LARGE_ONES.lock().unwrap_or_else(PoisonError::into_inner));
    let deadline = deadline.min(Instant::now() + LONGEST_PARSE);
    let compiled = language.compiled();
    let mut parser = Parser::new();
    // Fails only if the grammar needs another version of tree-sitter, which a test would detect.
    parser.set_language(&compiled.grammar).map_err(|_| ParseError::OutOfTime)?;
    let mut watch = |_: &ParseState| if Instant::now() > deadline { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let options = ParseOptions::new().progress_callback(&mut watch);
    let mut rest = |offset: usize, _| text.get(offset..).unwrap_or_default();
    let tree = parser.parse_with_options(&mut rest, None, Some(options)).ok_or(ParseError::OutOfTime)?;
    let mut reader = Reader::new(compiled, text);
    reader.read(tree.root_node(), deadline)?;
    Ok(reader.into_source())
}

impl ParsedSource {
    /// The uses of this name.
    pub fn uses_of(&self, name: &str) -> impl Iterator<Item = &Use> {
        let name = hash_of(name.as_bytes());
        let first = self.uses.partition_point(|one| one.name < name);
        self.uses[first..].iter().take_while(move |one| one.name == name)
    }

    /// The symbols that define this name. An `impl` block does not define its type.
    pub fn definitions_of(&self, name: &str) -> impl Iterator<Item = &Symbol> {
        self.symbols.iter().filter(move |symbol| symbol.kind != SymbolKind::Implementation && *symbol.name == *name)
    }

    /// The symbol around a use.
    #[must_use]
    pub fn around(&self, one: &Use) -> Option<&Symbol> {
        self.symbols.get(one.within? as usize)
    }

    /// The memory that it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.symbols.iter().map(Symbol::bytes).sum::<usize>() + size_of_val(&*self.uses)
    }
}

/// Removes a language's marker from a name, such as `$` or `@`.
pub(crate) fn bare(name: &str) -> &str {
    name.trim_start_matches(['#', ':', '$', '@'])
}

fn hash_of(name: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(name);
    hasher.finish()
}

/// A symbol that contains the current position.
struct Scope {
    symbol: u32,
    end: usize,
    /// Whether this symbol, or one around it, has local names.
    has_locals: bool,
}

struct Reader<'t> {
    compiled: &'static Compiled,
    text: &'t [u8],
    symbols: Vec<Symbol>,
    uses: Vec<Use>,
    scopes: Vec<Scope>,
    /// Start positions of the names in definitions.
    defined: HashSet<usize>,
    first_error: Option<u32>,
}

/// The name that a node declares.
struct Declared<'n> {
    name: Node<'n>,
    container: Option<Box<str>>,
    is_function: bool,
}

impl<'t> Reader<'t> {
    fn new(compiled: &'static Compiled, text: &'t [u8]) -> Self {
        Self { compiled, text, symbols: Vec::new(), uses: Vec::new(), scopes: Vec::new(), defined: HashSet::new(), first_error: None }
    }

    /// Visits all nodes. Files can be nested without end, so there is no recursion.
    fn read(&mut self, root: Node<'_>, deadline: Instant) -> Result<(), ParseError> {
        let mut cursor = root.walk();
        let mut visited = 0_u32;
        loop {
            visited = visited.wrapping_add(1);
            if visited.is_multiple_of(NODES_PER_CHECK) && Instant::now() > deadline {
                return Err(ParseError::OutOfTime);
            }
            self.visit(cursor.node());
            if cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return Ok(());
                }
            }
        }
    }

    fn into_source(mut self) -> ParsedSource {
        self.uses.sort_unstable();
        self.uses.dedup_by_key(|one| (one.name, one.line));
        ParsedSource { symbols: self.symbols.into(), uses: self.uses.into(), first_error: self.first_error }
    }

    fn visit(&mut self, node: Node<'_>) {
        while self.scopes.pop_if(|scope| scope.end <= node.start_byte()).is_some() {}
        if self.first_error.is_none() && (node.is_error() || node.is_missing()) {
            self.first_error = Some(line_of(node));
        }
        match self.compiled.meaning(node.kind_id()) {
            NodeMeaning::Nothing => {}
            NodeMeaning::Name if self.defined.contains(&node.start_byte()) => {}
            NodeMeaning::Name => {
                let name = self.text_of(node);
                let name = hash_of(bare(&name).as_bytes());
                self.uses.push(Use { name, line: line_of(node), within: self.scopes.last().map(|scope| scope.symbol) });
            }
            NodeMeaning::Definition(rule) => self.define(node, rule),
        }
    }

    fn define(&mut self, node: Node<'_>, rule: &Rule) {
        let mut cursor = node.walk();
        let named: Vec<Node<'_>> = if rule.field.is_empty() {
            node.named_children(&mut cursor).take(1).collect()
        } else {
            node.children_by_field_name(rule.field, &mut cursor).filter(Node::is_named).collect()
        };
        // Very many names can be declared together, with one signature.
        let mut signature: Option<Box<str>> = None;
        for declarator in named {
            let Some(declared) = self.declared(declarator) else { continue };
            let Some(kind) = self.kind(node, declarator, rule, &declared) else { continue };
            let signature = signature.get_or_insert_with(|| self.signature(node).into()).clone();
            self.add(node, kind, declared, signature);
        }
    }

    /// Follows a declarator to the name in it.
    fn declared<'n>(&self, declarator: Node<'n>) -> Option<Declared<'n>> {
        let mut declared = Declared { name: declarator, container: None, is_function: false };
        for _ in 0..DEEPEST_NAME {
            let node = declared.name;
            match node.kind() {
                "destructor_name" | "operator_name" | "operator_cast" => return Some(declared),
                "function_declarator" => declared.is_function = true,
                // A pointer to a function is a variable.
                "pointer_declarator" => declared.is_function = false,
                _ => {}
            }
            if node.named_child_count() == 0 || matches!(self.compiled.meaning(node.kind_id()), NodeMeaning::Name) {
                return (!node.is_missing()).then_some(declared);
            }
            if let Some(scope) = node.child_by_field_name("scope") {
                declared.container = Some(self.name_of(scope));
            }
            let by_field = ["name", "declarator", "property", "type"].into_iter().find_map(|field| node.child_by_field_name(field));
            let last = u32::try_from(node.named_child_count()).ok().and_then(|count| node.named_child(count - 1));
            declared.name = by_field.or(last)?;
        }
        None
    }

    /// The kind of symbol that is declared; `None` if it is not a symbol.
    fn kind(&self, node: Node<'_>, declarator: Node<'_>, rule: &Rule, declared: &Declared<'_>) -> Option<SymbolKind> {
        let value = node.child_by_field_name("value").or_else(|| node.child_by_field_name("right")).map_or("", |value| value.kind());
        let holds_function = matches!(value, "arrow_function" | "function_expression" | "generator_function");
        let is_outside = !self.scopes.last().is_some_and(|scope| scope.has_locals);
        let is_plain = rule.field == "declarator" || matches!(self.compiled.meaning(declarator.kind_id()), NodeMeaning::Name);
        let is_symbol = match rule.when {
            When::Always => true,
            When::OutsideFunctions => is_outside && is_plain,
            When::HasBody => node.child_by_field_name("body").is_some(),
            When::HoldsFunction => holds_function,
            When::HoldsFunctionOrOutside => is_plain && (holds_function || is_outside),
            When::NameIsConstant => declarator.kind() == "constant",
        };
        if !is_symbol {
            return None;
        }
        let is_member = self.scopes.last().is_some_and(|scope| self.symbols[scope.symbol as usize].kind.has_members());
        let is_function = holds_function || declared.is_function;
        Some(match rule.kind {
            SymbolKind::Variable | SymbolKind::Field if is_function && (is_member || rule.kind == SymbolKind::Field) => SymbolKind::Method,
            SymbolKind::Variable if is_function => SymbolKind::Function,
            SymbolKind::Variable if is_member => SymbolKind::Field,
            SymbolKind::Variable if is_upper(&self.text_of(declared.name)) => SymbolKind::Constant,
            SymbolKind::Function if is_member || declared.container.is_some() => SymbolKind::Method,
            SymbolKind::Type => match node.child_by_field_name("type").map_or("", |defined| defined.kind()) {
                "struct_type" => SymbolKind::Struct,
                "interface_type" => SymbolKind::Interface,
                _ => SymbolKind::Type,
            },
            SymbolKind::Function
            | SymbolKind::Method
            | SymbolKind::Class
            | SymbolKind::Struct
            | SymbolKind::Enum
            | SymbolKind::Interface
            | SymbolKind::Trait
            | SymbolKind::Module
            | SymbolKind::Macro
            | SymbolKind::Constant
            | SymbolKind::Variable
            | SymbolKind::Field
            | SymbolKind::Implementation => rule.kind,
        })
    }

    fn add(&mut self, node: Node<'_>, kind: SymbolKind, declared: Declared<'_>, signature: Box<str>) {
        let name = self.text_of(declared.name);
        let name = bare(&name);
        if name.is_empty() || name.len() > LONGEST_NAME {
            return;
        }
        let parent = self.scopes.last().map(|scope| scope.symbol);
        let container = declared
            .container
            .or_else(|| self.receiver(node))
            .or_else(|| parent.and_then(|parent| self.symbols.get(parent as usize)).map(|parent| parent.name.clone()));
        let place = u32::try_from(self.symbols.len()).unwrap_or(u32::MAX);
        self.symbols.push(Symbol {
            name: name.into(),
            kind,
            // The name of a `typedef` is at its end.
            line: if node.kind() == "type_definition" { line_of(node) } else { line_of(declared.name) },
            end_line: last_line_of(node),
            parent,
            container,
            signature,
        });
        // An implementation names a type that is defined elsewhere.
        if kind != SymbolKind::Implementation {
            self.defined.insert(declared.name.start_byte());
        }
        // A `typedef` can contain another definition, which is not part of it.
        if kind.is_scope() && node.kind() != "type_definition" {
            let has_locals = kind.has_locals() || self.scopes.last().is_some_and(|scope| scope.has_locals);
            self.scopes.push(Scope { symbol: place, end: node.end_byte(), has_locals });
        }
    }

    /// The receiver type of a Go method.
    fn receiver(&self, node: Node<'_>) -> Option<Box<str>> {
        let receiver = node.child_by_field_name("receiver")?;
        let declared = self.declared(receiver.named_child(0)?.child_by_field_name("type")?)?;
        Some(self.name_of(declared.name))
    }

    fn signature(&self, node: Node<'_>) -> String {
        let start = node.start_byte();
        // No further than needed: a whole file can be one line with very many definitions.
        let near = start.saturating_sub(LONGEST_LEAD + 1);
        let line = memchr::memrchr(b'\n', &self.text[near..start]).map_or(near, |end| near + end + 1);
        let lead = &self.text[line..start];
        let start = if lead.len() > LONGEST_LEAD || lead.iter().any(|byte| b"{};".contains(byte)) { start } else { line };
        // A few times what is shown, because indentation is left out.
        let far = self.text.len().min(start + 8 * LONGEST_SIGNATURE);
        let end = match node.child_by_field_name("body") {
            Some(body) => body.start_byte(),
            None => memchr::memchr(b'\n', &self.text[start..far]).map_or(far, |length| start + length).min(node.end_byte()),
        };
        let text = String::from_utf8_lossy(&self.text[start..end.max(start).min(far)]);
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ").replace("( ", "(").replace(", )", ")");
        let words = words.trim_end_matches(['{', ':', '=', '(', ' ']);
        if words.len() <= LONGEST_SIGNATURE {
            return words.to_owned();
        }
        format!("{}…", &words[..words.floor_char_boundary(LONGEST_SIGNATURE)])
    }

    /// The text of a node that names something around a symbol.
    fn name_of(&self, node: Node<'_>) -> Box<str> {
        let mut name = self.text_of(node);
        name.truncate(name.floor_char_boundary(LONGEST_NAME));
        name.into()
    }

    fn text_of(&self, node: Node<'_>) -> String {
        String::from_utf8_lossy(self.text.get(node.byte_range()).unwrap_or_default()).into_owned()
    }
}

fn is_upper(name: &str) -> bool {
    name.len() > 1 && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

/// A node that ends with a line break ends on the line before it.
fn last_line_of(node: Node<'_>) -> u32 {
    let end = node.end_position();
    let row = if end.column == 0 { end.row.saturating_sub(1) } else { end.row };
    u32::try_from(row).unwrap_or(u32::MAX).saturating_add(1).max(line_of(node))
}

fn line_of(node: Node<'_>) -> u32 {
    u32::try_from(node.start_position().row).unwrap_or(u32::MAX).saturating_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reading_a_tree_ends_at_the_deadline_too() {
        let compiled = Language::Rust.compiled();
        let mut parser = Parser::new();
        parser.set_language(&compiled.grammar).unwrap();
        let text = "fn f() {}\n".repeat(2_000);
        let tree = parser.parse(&text, None).unwrap();
        let read = |deadline| Reader::new(compiled, text.as_bytes()).read(tree.root_node(), deadline);
        let now = Instant::now();
        assert_eq!(read(now.checked_sub(Duration::from_secs(1)).unwrap()), Err(ParseError::OutOfTime));
        assert_eq!(read(now + Duration::from_hours(1)), Ok(()));
    }
}
