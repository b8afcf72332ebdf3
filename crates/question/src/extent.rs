//! Measures a schema or an answer before anything expensive is done with it.

use crate::findings::pointer_to;
use crate::{pattern, text};
use serde_json::Value;
use std::collections::HashMap;
use std::io;
use std::ptr;

/// Maximum nesting of a schema, with references expanded, and of an answer.
pub const MAX_DEPTH: usize = 32;
/// Maximum number of nodes of a schema, with references expanded.
pub const MAX_SCHEMA_NODES: u64 = 10_000;
/// Maximum number of patterns, with references expanded.
const MAX_PATTERNS: u64 = 32;
/// Each `unevaluated…` may check its content twice, so nesting them doubles the work each time.
const MAX_UNEVALUATED: u64 = 4;

/// A mistake, and its position in the schema.
#[derive(Debug)]
pub(crate) struct Trouble {
    pub(crate) pointer: String,
    pub(crate) message: String,
}

/// The size of a schema as its validator sees it: with each reference replaced by its target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    pub(crate) nodes: u64,
    pub(crate) patterns: u64,
    unevaluated: u64,
    height: usize,
}

impl Extent {
    const LEAF: Self = Self { nodes: 1, patterns: 0, unevaluated: 0, height: 0 };

    fn take_in(&mut self, child: Self) {
        self.nodes = self.nodes.saturating_add(child.nodes);
        self.patterns = self.patterns.saturating_add(child.patterns);
        self.unevaluated = self.unevaluated.saturating_add(child.unevaluated);
        self.height = self.height.max(child.height + 1);
    }
}

/// Measures a schema and rejects what can't be bounded.
///
/// Every object counts as a schema wherever it occurs: a reference can make a schema of anything.
///
/// # Errors
/// External or circular references, and every exceeded limit.
pub(crate) fn of_schema(schema: &Value) -> Result<Extent, Trouble> {
    Walk { root: schema, path: Vec::new(), seen: HashMap::new() }.visit(schema, 0)
}

/// Counts the nodes of a value; `None` if it is nested too deeply.
pub(crate) fn count_nodes(value: &Value) -> Option<u64> {
    fn count(value: &Value, depth: usize) -> Option<u64> {
        if depth > MAX_DEPTH {
            return None;
        }
        match value {
            Value::Array(items) => items.iter().try_fold(1, |sum: u64, item| Some(sum + count(item, depth + 1)?)),
            Value::Object(members) => members.values().try_fold(1, |sum: u64, item| Some(sum + count(item, depth + 1)?)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Some(1),
        }
    }
    count(value, 0)
}

/// The length of the compact JSON. Call it only on values that [`count_nodes`] or [`of_schema`] accepted.
pub(crate) fn byte_length(value: &Value) -> usize {
    struct Counter(usize);
    impl io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    match serde_json::to_writer(&mut counter, value) {
        Ok(()) => counter.0,
        // A value without a JSON text exceeds every limit.
        Err(_) => usize::MAX,
    }
}

struct Walk<'schema> {
    root: &'schema Value,
    path: Vec<String>,
    seen: HashMap<*const Value, State>,
}

enum State {
    /// Its parts are being visited: meeting it again is a circle.
    Open,
    Measured(Extent),
}

impl<'schema> Walk<'schema> {
    fn visit(&mut self, node: &'schema Value, depth: usize) -> Result<Extent, Trouble> {
        if !node.is_object() && !node.is_array() {
            return Ok(Extent::LEAF);
        }
        let too_deep = || format!("is nested deeper than {MAX_DEPTH} levels, references followed: make it flatter");
        match self.seen.get(&ptr::from_ref(node)) {
            Some(State::Open) => {
                return Err(self.trouble("refers back to a schema that it is part of: spell out the levels that you need"));
            }
            Some(State::Measured(extent)) if depth + extent.height > MAX_DEPTH => return Err(self.trouble(too_deep())),
            Some(State::Measured(extent)) => return Ok(*extent),
            None if depth >= MAX_DEPTH => return Err(self.trouble(too_deep())),
            None => {}
        }
        self.seen.insert(ptr::from_ref(node), State::Open);
        let mut extent = Extent::LEAF;
        match node {
            Value::Object(members) => {
                for (key, member) in members {
                    self.path.push(key.clone());
                    extent.take_in(self.member(key, member, depth)?);
                    self.check_limits(extent)?;
                    self.path.pop();
                }
            }
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.path.push(index.to_string());
                    extent.take_in(self.visit(item, depth + 1)?);
                    self.check_limits(extent)?;
                    self.path.pop();
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        self.seen.insert(ptr::from_ref(node), State::Measured(extent));
        Ok(extent)
    }

    fn member(&mut self, key: &str, member: &'schema Value, depth: usize) -> Result<Extent, Trouble> {
        match (key, member) {
            ("$ref", Value::String(reference)) => self.reference(reference, depth),
            ("$dynamicRef" | "$recursiveRef", Value::String(_)) => {
                Err(self.trouble("is not supported: use a \"$ref\" that begins with \"#/\""))
            }
            ("$id", Value::String(_)) => Err(self.trouble("is not supported: leave it out")),
            ("$schema", Value::String(_)) if depth > 0 => Err(self.trouble("may stand at the top only: leave it out")),
            ("__proto__", _) => Err(self.trouble("is a name that can't be used: choose another")),
            ("enum", Value::Array(values)) if values.is_empty() => {
                Err(self.trouble("is empty, so that no answer could fit: name at least one value"))
            }
            ("pattern", Value::String(text)) => {
                pattern::check(text).map_err(|message| self.trouble(message))?;
                Ok(Extent { patterns: 1, ..Extent::LEAF })
            }
            ("patternProperties", Value::Object(members)) => {
                for text in members.keys() {
                    pattern::check(text).map_err(|message| self.trouble(message))?;
                }
                let inner = self.visit(member, depth + 1)?;
                Ok(Extent { patterns: inner.patterns.saturating_add(members.len() as u64), ..inner })
            }
            ("unevaluatedProperties" | "unevaluatedItems", _) => {
                let inner = self.visit(member, depth + 1)?;
                Ok(Extent { unevaluated: inner.unevaluated.saturating_add(1), ..inner })
            }
            _ => self.visit(member, depth + 1),
        }
    }

    /// Accepts only pointers that every JSON Pointer implementation resolves alike, so that the validator follows exactly what was
    /// measured here.
    fn reference(&mut self, reference: &str, depth: usize) -> Result<Extent, Trouble> {
        let shown = text::one_line(reference, 80);
        let Some(pointer) = reference.strip_prefix('#').filter(|pointer| pointer.is_empty() || pointer.starts_with('/')) else {
            let message =
                format!("refers to {shown:?}; only references inside this schema (\"#/$defs/…\") are allowed, nothing is fetched");
            return Err(self.trouble(message));
        };
        if pointer.contains('%') || pointer.replace("~0", "").replace("~1", "").contains('~') {
            return Err(self.trouble(format!("refers to {shown:?}; write the pointer without % and with no ~ but ~0 and ~1")));
        }
        match self.root.pointer(pointer) {
            Some(target) => self.visit(target, depth + 1),
            None => Err(self.trouble(format!("refers to {shown:?}, which is not in this schema"))),
        }
    }

    fn check_limits(&self, extent: Extent) -> Result<(), Trouble> {
        let limits = [
            (extent.nodes, MAX_SCHEMA_NODES, "parts"),
            (extent.patterns, MAX_PATTERNS, "patterns"),
            (extent.unevaluated, MAX_UNEVALUATED, "unevaluatedProperties and unevaluatedItems"),
        ];
        match limits.iter().find(|(found, allowed, _)| found > allowed) {
            Some((_, allowed, what)) => {
                Err(self.trouble(format!("makes the schema larger than {allowed} {what}, references followed: ask for less at once")))
            }
            None => Ok(()),
        }
    }

    fn trouble(&self, message: impl Into<String>) -> Trouble {
        let pointer = self.path.iter().fold(String::new(), |parent, child| pointer_to(&parent, &text::one_line(child, 80)));
        Trouble { pointer, message: message.into() }
    }
}
