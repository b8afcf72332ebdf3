//! Limits on the JSON of a reply, checked before the wire library parses it.
//!
//! For incomplete arguments the library copies the open brackets for every value, so their cost grows with nesting times length.
//! It also allocates as many items as an index says. Both could exhaust the server's memory.

use crate::transport::TransportFault;
use serde_json::{Map, Value};
use std::collections::HashSet;

/// Deeper arguments are unreadable anyway: we parse JSON to a depth of 128.
const MAX_NESTING: usize = 1000;

/// Maximum memory for the arguments of one reply, in bytes.
const MAX_ARGUMENT_COST: usize = 128 * 1024 * 1024;

/// The library's memory per value of arguments, besides the open brackets.
const VALUE_COST: usize = 64;

/// Maximum number of values per event.
const MAX_VALUES_PER_EVENT: usize = 100_000;

/// Maximum number of list elements in a whole reply: the library collects them.
const MAX_ELEMENTS: usize = 1_000_000;

/// Maximum number of field names in a whole reply: the library collects them too.
const MAX_NAMES: usize = 20_000;

/// Maximum index of a part.
const MAX_INDEX: u64 = 10_000;

/// The fields with the arguments of calls, in all wire formats.
const ARGUMENTS: [&str; 4] = ["arguments", "partial_json", "input", "args"];

/// How a body is split into events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    EventStream,
    Lines,
}

/// Passes on the events of one reply that keep the limits.
#[derive(Debug)]
pub(crate) struct ReplyGuard {
    framing: Framing,
    max_event: usize,
    line: Vec<u8>,
    /// The last line ended with a carriage return, whose line feed may follow.
    returned: bool,
    /// The data of the current event; `None` before its first line.
    event: Option<Vec<u8>>,
    limits: Limits,
}

impl ReplyGuard {
    pub(crate) fn new(framing: Framing, max_event: usize) -> Self {
        Self { framing, max_event, line: Vec::new(), returned: false, event: None, limits: Limits::default() }
    }

    /// The events that `piece` completes, written so that they can be split in only one way.
    pub(crate) fn pass(&mut self, piece: &[u8]) -> Result<Vec<u8>, TransportFault> {
        let mut passed = Vec::new();
        let mut rest = piece;
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.line.extend_from_slice(&rest[..end]);
            let follows_return = std::mem::replace(&mut self.returned, rest[end] == b'\r') && rest[end] == b'\n' && self.line.is_empty();
            if !follows_return {
                self.end_line(&mut passed)?;
            }
            rest = &rest[end + 1..];
        }
        if !rest.is_empty() {
            self.returned = false;
            self.line.extend_from_slice(rest);
        }
        let held = self.line.len() + self.event.as_ref().map_or(0, Vec::len);
        if held > self.max_event { Err(TransportFault::LineTooLong(self.max_event)) } else { Ok(passed) }
    }

    /// The rest when the body has ended: a last line needs no end, an event of a stream does.
    pub(crate) fn end(&mut self) -> Result<Vec<u8>, TransportFault> {
        let mut passed = Vec::new();
        if self.framing == Framing::Lines {
            self.end_line(&mut passed)?;
        }
        Ok(passed)
    }

    fn end_line(&mut self, passed: &mut Vec<u8>) -> Result<(), TransportFault> {
        let line = std::mem::take(&mut self.line);
        match self.framing {
            Framing::Lines if line.is_empty() => {}
            Framing::Lines => {
                self.limits.check(&line)?;
                passed.extend_from_slice(&line);
                passed.push(b'\n');
            }
            Framing::EventStream if line.is_empty() => {
                if let Some(event) = self.event.take() {
                    self.limits.check(&event)?;
                    for line in event.split(|byte| *byte == b'\n') {
                        passed.extend_from_slice(b"data: ");
                        passed.extend_from_slice(line);
                        passed.push(b'\n');
                    }
                    passed.push(b'\n');
                }
            }
            Framing::EventStream => {
                let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line);
                if let Some(data) = line.strip_prefix(b"data:").or((line == b"data").then_some(b"")) {
                    let data = data.strip_prefix(b" ").unwrap_or(data);
                    match &mut self.event {
                        Some(event) => {
                            event.push(b'\n');
                            event.extend_from_slice(data);
                        }
                        None => self.event = Some(data.to_vec()),
                    }
                }
            }
        }
        Ok(())
    }
}

/// Checks a body that is one JSON document, such as a list of models.
pub(crate) fn check_document(body: &[u8]) -> Result<(), TransportFault> {
    check_size(body)
}

/// How much of its limits a reply has used.
#[derive(Debug, Default)]
struct Limits {
    arguments: Arguments,
    /// The call of the latest arguments.
    call: Option<CallKey>,
    elements: usize,
    names: HashSet<String>,
}

/// Identifies a call within a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
enum CallKey {
    Index(u64),
    Id(String),
}

/// The position of a value in an event.
#[derive(Clone, Copy)]
struct Place<'v> {
    index: Option<u64>,
    id: Option<&'v Value>,
    /// The event may start a call, also one that replaces another.
    begins: bool,
    /// The event has a `delta` of arguments.
    streams: bool,
}

impl Limits {
    fn check(&mut self, event: &[u8]) -> Result<(), TransportFault> {
        check_size(event)?;
        // The library can't parse more than we can.
        let Ok(value) = serde_json::from_slice::<Value>(event) else { return Ok(()) };
        let kind = value.get("type").and_then(Value::as_str).unwrap_or_default();
        let streams = kind.contains("arguments") || kind.contains("input");
        let place = Place { index: None, id: None, begins: begins_call(&value), streams };
        if place.begins {
            self.arguments.lose_place();
        }
        self.look(&value, place)
    }

    fn look(&mut self, value: &Value, place: Place<'_>) -> Result<(), TransportFault> {
        match value {
            Value::Array(items) => {
                self.elements += items.len();
                if self.elements > MAX_ELEMENTS {
                    return Err(TransportFault::Unreadable("it has more values than any answer needs"));
                }
                // Each element is a part of its own.
                items.iter().try_for_each(|item| self.look(item, Place { index: None, id: None, ..place }))
            }
            Value::Object(fields) => self.look_at_fields(fields, place),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
        }
    }

    fn look_at_fields(&mut self, fields: &Map<String, Value>, outer: Place<'_>) -> Result<(), TransportFault> {
        let number = |name: &str| fields.get(name).and_then(Value::as_u64);
        let index = number("output_index").or_else(|| number("index"));
        if index.is_some_and(|index| index > MAX_INDEX) {
            return Err(TransportFault::Unreadable("it numbers its parts higher than any answer needs"));
        }
        let id = ["id", "item_id", "call_id"].iter().find_map(|name| fields.get(*name).filter(|id| !id.is_null()));
        let place = Place { index: index.or(outer.index), id: id.or(outer.id), ..outer };
        for (name, value) in fields {
            if !self.names.contains(name) {
                self.names.insert(name.clone());
                if self.names.len() > MAX_NAMES {
                    return Err(TransportFault::Unreadable("it has more fields than any answer needs"));
                }
            }
            let streamed = place.streams && name == "delta" && value.is_string();
            if streamed || ARGUMENTS.contains(&name.as_str()) {
                match value {
                    Value::String(text) => self.take_arguments(text, place)?,
                    Value::Array(_) | Value::Object(_) => self.take_arguments(&value.to_string(), place)?,
                    Value::Null | Value::Bool(_) | Value::Number(_) => {}
                }
            } else {
                self.look(value, place)?;
            }
        }
        Ok(())
    }

    fn take_arguments(&mut self, text: &str, place: Place<'_>) -> Result<(), TransportFault> {
        let key = place.index.map(CallKey::Index).or_else(|| place.id.map(|id| CallKey::Id(id.to_string())));
        let switched = key.is_some() && key != self.call;
        if switched || place.begins {
            self.arguments.lose_place();
        }
        if key.is_some() {
            self.call = key;
        }
        self.arguments.read(text)
    }
}

/// Whether an event may start a call: it names a tool, or it opens an item.
fn begins_call(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.iter().any(|(name, value)| match name.as_str() {
            "content_block" | "item" => value.is_object(),
            "name" => value.as_str().is_some_and(|name| !name.is_empty()),
            name => !ARGUMENTS.contains(&name) && begins_call(value),
        }),
        Value::Array(items) => items.iter().any(begins_call),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Streamed arguments, in fragments that end anywhere.
///
/// The library decides which fragment belongs to which call. If that is uncertain, all possibilities are tracked: the deepest
/// nesting outside a string, inside one, and after its backslash.
#[derive(Debug)]
struct Arguments {
    outside: Option<usize>,
    inside: Option<usize>,
    escaped: Option<usize>,
    cost: usize,
}

impl Default for Arguments {
    fn default() -> Self {
        Self { outside: Some(0), inside: None, escaped: None, cost: 0 }
    }
}

impl Arguments {
    fn lose_place(&mut self) {
        let deepest = self.outside.max(self.inside).max(self.escaped);
        (self.outside, self.inside, self.escaped) = (deepest, deepest, deepest);
    }

    fn read(&mut self, text: &str) -> Result<(), TransportFault> {
        for byte in text.bytes() {
            if let Some(depth) = self.outside.filter(|_| !byte.is_ascii_whitespace()) {
                self.cost += VALUE_COST + depth;
            }
            let after_escape = self.escaped.take();
            match byte {
                b'"' => std::mem::swap(&mut self.outside, &mut self.inside),
                b'\\' => self.escaped = self.inside.take(),
                b'[' | b'{' => self.outside = self.outside.map(|depth| depth + 1),
                b']' | b'}' => self.outside = self.outside.map(|depth| depth.saturating_sub(1)),
                _ => {}
            }
            self.inside = self.inside.max(after_escape);
            if self.outside.is_some_and(|depth| depth > MAX_NESTING) {
                return Err(TransportFault::Unreadable("the arguments of a tool call are nested too deeply"));
            }
        }
        if self.cost > MAX_ARGUMENT_COST {
            return Err(TransportFault::Unreadable("the arguments of its tool calls have more values than any call needs"));
        }
        Ok(())
    }
}

/// Whether a JSON text is small enough to hold in memory as values, determined without parsing it.
fn check_size(text: &[u8]) -> Result<(), TransportFault> {
    let (mut in_string, mut escaped, mut values) = (false, false, 0_usize);
    for byte in text {
        match (in_string, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => in_string = !in_string,
            (false, b',' | b'[' | b'{') => values += 1,
            (true | false, _) => {}
        }
    }
    if values > MAX_VALUES_PER_EVENT {
        Err(TransportFault::Unreadable("an event of it has more values than any answer needs"))
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
