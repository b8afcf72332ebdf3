//! The matches of `grep`, in order and within limits, collected from several threads.

use crate::path::WorkspacePath;
use crate::text_file;
use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkMatch};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum value of `limit`.
pub const MOST_MATCHES: usize = 2000;
/// Longer output is cut, because the model does not need more.
const LONGEST_OUTPUT: usize = 100_000;
/// Maximum length of a displayed line.
const LONGEST_LINE: usize = 500;
/// How much of a long line is displayed before the match.
const BEFORE_MATCH: usize = 100;

#[derive(Clone, Copy, Debug)]
pub struct MatchLimits {
    pub matches: usize,
}

/// The matches of all files. Keeps the first ones by path, so that the same search returns the same result, whichever thread is
/// faster.
pub struct Hits {
    limits: MatchLimits,
    held: Mutex<CollectedHits>,
    /// Whether `beyond` is set.
    full: AtomicBool,
}

#[derive(Default)]
struct CollectedHits {
    files: BTreeMap<WorkspacePath, FileHits>,
    matches: usize,
    bytes: usize,
    /// Files from this path on are not shown, because earlier ones fill the result.
    beyond: Option<WorkspacePath>,
}

pub struct Report {
    pub text: String,
    pub matches: usize,
    pub files: usize,
    pub truncated: bool,
}

impl Hits {
    pub fn new(limits: MatchLimits) -> Self {
        Self { limits, held: Mutex::default(), full: AtomicBool::new(false) }
    }

    pub fn limits(&self) -> MatchLimits {
        self.limits
    }

    /// Whether matches in this file would not be shown anyway.
    pub fn is_beyond(&self, path: &WorkspacePath) -> bool {
        self.full.load(Ordering::Relaxed) && self.lock().beyond.as_ref().is_some_and(|beyond| path >= beyond)
    }

    pub fn add(&self, path: WorkspacePath, hits: FileHits) {
        let mut held = self.lock();
        held.matches += hits.matches;
        held.bytes += hits.bytes;
        held.files.insert(path, hits);
        while let Some((path, last)) = held.files.pop_last() {
            let (matches, bytes) = (held.matches - last.matches, held.bytes - last.bytes);
            if matches <= self.limits.matches && bytes <= LONGEST_OUTPUT {
                held.files.insert(path, last);
                return;
            }
            (held.matches, held.bytes) = (matches, bytes);
            held.beyond = Some(path);
            self.full.store(true, Ordering::Relaxed);
        }
    }

    pub fn into_report(self) -> Report {
        let held = self.held.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut report = Report { text: String::new(), matches: 0, files: 0, truncated: held.beyond.is_some() };
        for (path, hits) in &held.files {
            if !report.add(path, hits, self.limits) {
                break;
            }
        }
        if report.matches == 0 {
            report.text.push_str("[no matches]\n");
        }
        if report.truncated {
            report.text.push_str(&format!(
                "[only the first {} matches are shown: narrow `pattern`, `path` or `glob`, or raise `limit` (up to {MOST_MATCHES})]\n",
                report.matches
            ));
        }
        report
    }

    fn lock(&self) -> MutexGuard<'_, CollectedHits> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Report {
    /// Adds the lines of a file. Returns false if not all of them fit.
    fn add(&mut self, path: &WorkspacePath, hits: &FileHits, limits: MatchLimits) -> bool {
        self.files += 1;
        // With context lines, groups are separated.
        if !self.text.is_empty() && hits.lines.iter().any(|line| line.part != Part::Match) {
            self.text.push_str("--\n");
        }
        for line in &hits.lines {
            if self.text.len() > LONGEST_OUTPUT || (line.part == Part::Match && self.matches == limits.matches) {
                self.truncated = true;
                return false;
            }
            match line.part {
                Part::Match => {
                    self.matches += 1;
                    self.text.push_str(&format!("{path}:{}:{}\n", line.number, line.text));
                }
                Part::Context => self.text.push_str(&format!("{path}-{}-{}\n", line.number, line.text)),
                Part::Break => self.text.push_str("--\n"),
            }
        }
        true
    }
}

/// The matches of one file.
#[derive(Default)]
pub struct FileHits {
    pub matches: usize,
    bytes: usize,
    lines: Vec<Line>,
}

struct Line {
    part: Part,
    number: u64,
    text: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Match,
    Context,
    /// Lines between this and the next are left out.
    Break,
}

/// Receives the matches of one file from the searcher.
pub struct Collector<'s> {
    pub hits: FileHits,
    matcher: &'s RegexMatcher,
    limits: MatchLimits,
}

impl<'s> Collector<'s> {
    pub fn new(matcher: &'s RegexMatcher, limits: MatchLimits) -> Self {
        Self { hits: FileHits::default(), matcher, limits }
    }

    fn push(&mut self, part: Part, number: Option<u64>, text: String) {
        self.hits.bytes += text.len();
        self.hits.lines.push(Line { part, number: number.unwrap_or_default(), text });
    }

    /// Collects one match more than the limit, to know whether there are more.
    fn has_room(&self) -> bool {
        self.hits.matches <= self.limits.matches && self.hits.bytes <= LONGEST_OUTPUT
    }
}

impl Sink for Collector<'_> {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, Self::Error> {
        let line = found.bytes();
        let start = if line.len() > LONGEST_LINE {
            self.matcher.find(line).ok().flatten().map_or(0, |found| found.start().saturating_sub(BEFORE_MATCH))
        } else {
            0
        };
        self.hits.matches += 1;
        self.push(Part::Match, found.line_number(), shown(line, start));
        Ok(self.has_room())
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, Self::Error> {
        self.push(Part::Context, context.line_number(), shown(context.bytes(), 0));
        Ok(self.has_room())
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, Self::Error> {
        self.push(Part::Break, None, String::new());
        Ok(true)
    }
}

/// A line without its line ending, shortened if it is long.
fn shown(line: &[u8], start: usize) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let end = line.len().min(start + LONGEST_LINE);
    let text = text_file::shown(line.get(start..end).unwrap_or_default());
    let before = if start > 0 { format!("[{start} bytes] ") } else { String::new() };
    let after = if end < line.len() { format!(" [{} more bytes]", line.len() - end) } else { String::new() };
    format!("{before}{text}{after}")
}
