use super::files;
use super::hits::{Collector, Hits, MOST_MATCHES, MatchLimits};
use super::pattern::Pattern;
use crate::gate::Secrets;
use crate::path::WorkspacePath;
use crate::text_file::{LOOKED_AT, encoding_of};
use crate::tool::{Category, Input, Output, Prepared, Spec, ToolContext};
use crate::workspace::{FoundFile, Kind, Walked};
use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder};
use planwright_protocol::{ErrorCode, Problem};
use schemars::JsonSchema;
use serde::Deserialize;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Search lines by a Rust regular expression. Skips ignored files.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Grep {
    pattern: String,
    path: Option<String>,
    /// src/**/*.ts; !*.ts excludes.
    glob: Option<String>,
    case_insensitive: Option<bool>,
    /// Lines around.
    context: Option<usize>,
    limit: Option<usize>,
}

const LONGEST_PATTERN: usize = 64 << 10;
const LARGEST_REGEX: usize = 16 << 20;
const MATCHES: usize = 200;
const MOST_CONTEXT: usize = 20;
const LONGEST_SEARCH: Duration = Duration::from_secs(10);
/// A longer line ends the search of its file, because it must fit into memory.
const LONGEST_LINE: usize = 8 << 20;

impl Input for Grep {
    const SPEC: Spec<'static> = Spec::reading(
        "grep",
        Category::Search,
        &[
            r#"{"pattern": "fn main"}"#,
            r#"{"pattern": "todo|fixme", "path": "/src", "glob": "*.rs", "case_insensitive": true, "context": 2}"#,
        ],
    );

    fn prepare(self, cx: &ToolContext) -> Result<Prepared, Problem> {
        let path = self.path.as_deref().map_or_else(|| Ok(WorkspacePath::root()), WorkspacePath::parse)?;
        let matcher = self.matcher()?;
        cx.workspace.host_path()?;
        let (root, kind) = cx.workspace.resolve(&path)?;
        let glob = self.glob.as_deref().map(|glob| Pattern::parse(glob, &root)).transpose()?;
        let effects = files::read_effects(&path, Some(root.clone()));
        let search = Search {
            matcher,
            glob,
            context: self.context.unwrap_or_default().min(MOST_CONTEXT),
            // The gate has asked about a path that itself looks like a secret.
            secrets: (!cx.config.secrets.contains(&root)).then(|| cx.config.secrets.clone()),
            until: Instant::now(),
            hits: Hits::new(MatchLimits { matches: self.limit.unwrap_or(MATCHES).clamp(1, MOST_MATCHES) }),
            unread: AtomicU64::new(0),
            secret: AtomicU64::new(0),
        };
        let cx = cx.clone();
        Ok(Prepared::new(effects, move |_| {
            let search = Search { until: Instant::now() + LONGEST_SEARCH, ..search };
            let walked = match kind {
                Kind::Folder => cx.workspace.walk(&root, search.until, || search.visitor())?,
                Kind::File | Kind::Link | Kind::Other => {
                    search.file(&mut search.searcher(), &root, cx.workspace.open_file(&root)?);
                    Walked { late: Instant::now() > search.until, passed_over: 0 }
                }
            };
            Ok(search.into_output(&walked))
        }))
    }
}

impl Grep {
    fn matcher(&self) -> Result<RegexMatcher, Problem> {
        let invalid = |why: String| Problem::new(ErrorCode::InvalidArguments, why);
        if self.pattern.len() > LONGEST_PATTERN {
            return Err(invalid(format!(
                "`pattern` has {} bytes; at most {LONGEST_PATTERN} are allowed. Search for a part of it.",
                self.pattern.len()
            )));
        }
        RegexMatcherBuilder::new()
            .line_terminator(Some(b'\n'))
            .crlf(true)
            .multi_line(true)
            .case_insensitive(self.case_insensitive.unwrap_or_default())
            .size_limit(LARGEST_REGEX)
            .dfa_size_limit(LARGEST_REGEX)
            .build(&self.pattern)
            .map_err(|error| invalid(format!("`pattern` is not a valid regular expression: {error}")))
    }
}

struct Search {
    matcher: RegexMatcher,
    glob: Option<Pattern>,
    context: usize,
    /// Files to skip; `None` if the user allowed searching a secret.
    secrets: Option<std::sync::Arc<Secrets>>,
    until: Instant,
    hits: Hits,
    /// Files that could not be read to their end.
    unread: AtomicU64,
    /// Files that were left out because they look like secrets.
    secret: AtomicU64,
}

impl Search {
    fn searcher(&self) -> Searcher {
        SearcherBuilder::new()
            .line_terminator(LineTerminator::crlf())
            .binary_detection(BinaryDetection::none())
            .memory_map(MmapChoice::never())
            .heap_limit(Some(LONGEST_LINE))
            .line_number(true)
            .before_context(self.context)
            .after_context(self.context)
            .build()
    }

    /// One for each thread, with a buffer of its own that all its files share.
    fn visitor(&self) -> impl FnMut(&FoundFile<'_>) {
        let mut searcher = self.searcher();
        move |found| {
            if self.glob.as_ref().is_some_and(|glob| !glob.means(&found.path)) || self.hits.is_beyond(&found.path) {
                return;
            }
            if self.secrets.as_ref().is_some_and(|secrets| secrets.contains(&found.path)) {
                self.secret.fetch_add(1, Ordering::Relaxed);
                return;
            }
            match found.open() {
                Some(file) => self.file(&mut searcher, &found.path, file),
                None => self.count_unread(),
            }
        }
    }

    fn file(&self, searcher: &mut Searcher, path: &WorkspacePath, file: File) {
        let mut start = [0; LOOKED_AT];
        match file.read_at(&mut start, 0) {
            Err(_) => return self.count_unread(),
            Ok(length) if encoding_of(&start[..length]).is_none() => return,
            Ok(_) => {}
        }
        let mut collector = Collector::new(&self.matcher, self.hits.limits());
        let timed = Timed { file, until: self.until };
        if searcher.search_reader(&self.matcher, timed, &mut collector).is_err() {
            self.count_unread();
        }
        if collector.hits.matches > 0 {
            self.hits.add(path.clone(), collector.hits);
        }
    }

    fn count_unread(&self) {
        self.unread.fetch_add(1, Ordering::Relaxed);
    }

    fn into_output(self, walked: &Walked) -> Output {
        let mut report = self.hits.into_report();
        let secret = self.secret.into_inner();
        let unread = self.unread.into_inner() + walked.passed_over;
        let mut note = |text: String| report.text.push_str(&text);
        if secret > 0 {
            note(format!("[{secret} files that look like secrets were not searched; name one as `path` to ask the user for it]\n"));
        }
        if unread > 0 {
            note(format!("[{unread} files or folders could not be read completely]\n"));
        }
        if walked.late {
            note(format!("[stopped after {} seconds, there may be more: narrow `path` or `glob`]\n", LONGEST_SEARCH.as_secs()));
        }
        Output::text(report.text)
            .with("matches", report.matches)
            .with("files", report.files)
            .with("truncated", report.truncated || walked.late)
    }
}

/// A file that reports its end when the time limit is reached.
struct Timed {
    file: File,
    until: Instant,
}

impl Read for Timed {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if Instant::now() > self.until { Ok(0) } else { self.file.read(buffer) }
    }
}

#[cfg(test)]
mod tests;
