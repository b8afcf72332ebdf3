//! Searches the syntax trees of a whole folder, for `symbols` and `references`.
//!
//! The index excludes most files without opening them. The others are read, and parsed if they contain the name.

use super::files;
use crate::effect::FileEffect;
use crate::gate::Secrets;
use crate::path::WorkspacePath;
use crate::text_file::Text;
use crate::tool::ToolContext;
use crate::workspace::{Kind, LARGEST_FILE, Walked, Workspace, stamp_of};
use planwright_code::index::{CachedFile, ContentKey};
use planwright_code::{FileStamp, Filter, Index, LARGEST_SOURCE, Language, Needle, ParseError, ParsedSource, parse};
use planwright_protocol::{ErrorCode, Problem};
use std::fs::File;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const LONGEST_SEARCH: Duration = Duration::from_secs(10);
const LONGEST_NAME: usize = 200;

/// A search for a name in a folder.
pub struct SourceSearch {
    root: WorkspacePath,
    kind: Kind,
    pub needle: Needle,
    /// The type or module that must contain the name.
    pub container: Option<String>,
    /// Files to skip; `None` if the user allowed searching a secret.
    secrets: Option<Arc<Secrets>>,
    longest: Duration,
}

/// A file that may contain the name.
pub enum Hit<'h> {
    /// Its syntax tree.
    Parsed(&'h ParsedSource),
    /// Its text, if it has no grammar or is too large.
    Text(&'h [u8]),
}

/// The result of a search.
pub struct Searched {
    pub late: bool,
    unread: u64,
    secret: u64,
}

impl SourceSearch {
    /// Parses `name` as `name`, `container::name` or `container.name`. Returns the search and its effects, for the gate.
    ///
    /// # Errors
    /// The name is empty or too long, or the path does not exist.
    pub fn prepare(cx: &ToolContext, name: &str, path: Option<&str>) -> Result<(Self, Vec<FileEffect>), Problem> {
        let invalid = |why: String| Problem::new(ErrorCode::InvalidArguments, why);
        let path = path.map_or_else(|| Ok(WorkspacePath::root()), WorkspacePath::parse)?;
        let name = name.trim().trim_end_matches("()");
        let (container, name) = split(name);
        if name.is_empty() || name.len() > LONGEST_NAME || name.contains(char::is_whitespace) {
            return Err(invalid(format!(
                "{name:?} is not a name. Give one identifier, at most {LONGEST_NAME} bytes; use `grep` for other text."
            )));
        }
        cx.workspace.host_path()?;
        let (root, kind) = cx.workspace.resolve(&path)?;
        let effects = files::read_effects(&path, Some(root.clone()));
        let secrets = (!cx.config.secrets.contains(&root)).then(|| cx.config.secrets.clone());
        Ok((
            Self { root, kind, needle: Needle::new(name), container: container.map(str::to_owned), secrets, longest: LONGEST_SEARCH },
            effects,
        ))
    }

    /// A search of the whole workspace for one name.
    pub fn everywhere(name: &str, secrets: Arc<Secrets>, longest: Duration) -> Self {
        Self {
            root: WorkspacePath::root(),
            kind: Kind::Folder,
            needle: Needle::new(name),
            container: None,
            secrets: Some(secrets),
            longest,
        }
    }

    /// Calls `visit` for every file that may contain the name, on several threads.
    ///
    /// # Errors
    /// The folder is missing or can't be read.
    pub fn run(&self, workspace: &Workspace, visit: impl Fn(&WorkspacePath, Hit<'_>) + Sync) -> Result<Searched, Problem> {
        let until = Instant::now() + self.longest;
        let looking = SearchRun { needle: &self.needle, until, unread: AtomicU64::new(0), visit };
        let secret = AtomicU64::new(0);
        let walked = match self.kind {
            Kind::Folder => workspace.walk(&self.root, until, || {
                |found| {
                    if self.secrets.as_ref().is_some_and(|secrets| secrets.contains(&found.path)) {
                        secret.fetch_add(1, Ordering::Relaxed);
                    } else if let Some(stamp) = found.stamp() {
                        looking.file(&found.path, &stamp, || found.open());
                    }
                }
            })?,
            Kind::File | Kind::Link | Kind::Other => {
                let file = workspace.open_file(&self.root)?;
                if let Some(stamp) = stamp_of(&file) {
                    looking.file(&self.root, &stamp, || Some(file));
                }
                Walked { late: Instant::now() > until, passed_over: 0 }
            }
        };
        let unread = looking.unread.into_inner() + walked.passed_over;
        Ok(Searched { late: walked.late, unread, secret: secret.into_inner() })
    }
}

impl Searched {
    /// Notes for the model about files that were not searched.
    pub fn notes(&self) -> String {
        let mut notes = String::new();
        if self.secret > 0 {
            notes.push_str(&format!(
                "[{} files that look like secrets were not searched; name one as `path` to ask the user for it]\n",
                self.secret
            ));
        }
        if self.unread > 0 {
            notes.push_str(&format!("[{} files or folders could not be read or parsed in time]\n", self.unread));
        }
        if self.late {
            notes.push_str(&format!("[stopped after {} seconds, there may be more: narrow `path`]\n", LONGEST_SEARCH.as_secs()));
        }
        notes
    }
}

/// Splits a name from its container.
pub fn split(name: &str) -> (Option<&str>, &str) {
    ["::", "->", "#", "\\", "."]
        .into_iter()
        .find_map(|mark| name.rsplit_once(mark))
        .map_or((None, name), |(container, name)| (Some(split(container).1).filter(|container| !container.is_empty()), name))
}

struct SearchRun<'l, V> {
    needle: &'l Needle,
    until: Instant,
    unread: AtomicU64,
    visit: V,
}

impl<V: Fn(&WorkspacePath, Hit<'_>)> SearchRun<'_, V> {
    fn file(&self, path: &WorkspacePath, stamp: &FileStamp, open: impl FnOnce() -> Option<File>) {
        let index = Index::shared();
        let cached = index.cached(stamp);
        if let Some(cached) = &cached {
            if !self.needle.may_be_in(&cached.filter) {
                return;
            }
            if let Some(source) = &cached.source {
                return (self.visit)(path, Hit::Parsed(source));
            }
        }
        if stamp.size > LARGEST_FILE {
            return self.count_unread();
        }
        let mut bytes = Vec::with_capacity(usize::try_from(stamp.size).unwrap_or_default());
        let Some(Ok(_)) = open().map(|file| file.take(LARGEST_FILE).read_to_end(&mut bytes)) else { return self.count_unread() };
        // Binary files contain no names, and are not read again.
        let text = Text::of(&bytes).map(|text| text.bytes).unwrap_or_default();
        let language = Language::of_file(path.relative(), &text).filter(|_| text.len() <= LARGEST_SOURCE);
        let content = ContentKey::new(language.map_or("text", Language::name), &text);
        let cached = index.cached_content(&content).or(cached);
        let filter = cached.as_ref().map_or_else(|| Arc::new(Filter::new(&text)), |cached| cached.filter.clone());
        let source = cached.and_then(|cached| cached.source);
        let is_candidate = self.needle.may_be_in(&filter) && self.needle.is_in(&text);
        let source = match (source, language) {
            (None, Some(language)) if is_candidate => match parse(language, &text, self.until) {
                Ok(source) => Some(Arc::new(source)),
                Err(ParseError::OutOfTime | ParseError::TooLarge) => {
                    self.count_unread();
                    None
                }
            },
            (source, _) => source,
        };
        index.insert(stamp, &content, CachedFile { filter, source: source.clone() });
        match source {
            Some(source) if is_candidate => (self.visit)(path, Hit::Parsed(&source)),
            None if is_candidate => (self.visit)(path, Hit::Text(&text)),
            Some(_) | None => {}
        }
    }

    fn count_unread(&self) {
        self.unread.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn a_name_can_say_what_it_is_in() {
        assert_eq!(split("parse"), (None, "parse"));
        for name in ["Plan::parse", "planwright::Plan::parse", "Plan.parse", "a.Plan.parse", "Plan#parse", "Plan->parse", "A\\Plan::parse"]
        {
            assert_eq!(split(name), (Some("Plan"), "parse"), "{name}");
        }
        assert_eq!(split("::parse"), (None, "parse"));
    }
}
