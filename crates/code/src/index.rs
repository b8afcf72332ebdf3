//! An in-memory cache of parsed files, keyed by a file's stamp and by its content.
//!
//! A file with a known stamp is neither read nor parsed again. A file with a new stamp and known content is read, but not parsed
//! again. If the memory limit is reached, the least recently used entries are evicted.

use crate::needle::Filter;
use crate::source::ParsedSource;
use planwright_protocol::sha256_hex;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, PoisonError, RwLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Memory limit of the shared index.
const MOST_BYTES: usize = 64 << 20;
/// Memory of an entry besides its filter and source, and of a stamp.
const ENTRY: usize = 224;
const STAMP: usize = 160;
/// A file that changed a moment ago may change again without a new stamp, because file system clocks are coarse.
const SETTLED: Duration = Duration::from_secs(1);

/// Identifies one state of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileStamp {
    pub device: u64,
    pub inode: u64,
    pub size: u64,
    /// Seconds and nanoseconds since 1970.
    pub modified: (i64, u64),
    pub changed: (i64, u64),
}

impl FileStamp {
    fn is_settled(&self, now: SystemTime) -> bool {
        let Ok(now) = now.duration_since(UNIX_EPOCH) else { return false };
        [self.modified, self.changed].into_iter().all(|(seconds, nanoseconds)| {
            let at = Duration::from_secs(u64::try_from(seconds).unwrap_or_default()) + Duration::from_nanos(nanoseconds);
            at + SETTLED < now
        })
    }
}

/// A cached file.
#[derive(Clone, Debug)]
pub struct CachedFile {
    pub filter: Arc<Filter>,
    /// Its syntax tree, once it was needed.
    pub source: Option<Arc<ParsedSource>>,
}

#[derive(Debug)]
struct Entry {
    cached: CachedFile,
    used: AtomicU64,
}

impl Entry {
    fn bytes(&self) -> usize {
        ENTRY + self.cached.filter.bytes() + self.cached.source.as_ref().map_or(0, |source| source.bytes())
    }
}

#[derive(Debug)]
pub struct Index {
    most_bytes: usize,
    tick: AtomicU64,
    state: RwLock<State>,
}

#[derive(Debug, Default)]
struct State {
    /// By device and inode: a changed file replaces its earlier state.
    stamps: HashMap<(u64, u64), (FileStamp, ContentKey)>,
    entries: HashMap<ContentKey, Entry>,
    /// The memory of the entries only.
    bytes: usize,
}

/// The hash of a text with its language. The same text in two languages has two keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ContentKey(Arc<str>);

impl ContentKey {
    #[must_use]
    pub fn new(language: &str, text: &[u8]) -> Self {
        Self(format!("{language} {}", sha256_hex(text)).into())
    }
}

impl Index {
    #[must_use]
    pub fn new(most_bytes: usize) -> Self {
        Self { most_bytes, tick: AtomicU64::new(0), state: RwLock::default() }
    }

    /// The index of the process, so that its limit covers all workspaces together. Only a caller that can reach a file can know
    /// its stamp, so no caller learns about other users' files.
    #[must_use]
    pub fn shared() -> &'static Index {
        static SHARED: LazyLock<Index> = LazyLock::new(|| Index::new(MOST_BYTES));
        &SHARED
    }

    /// The cached file for a stamp.
    #[must_use]
    pub fn cached(&self, stamp: &FileStamp) -> Option<CachedFile> {
        let state = self.read();
        let (_, content) = state.stamps.get(&(stamp.device, stamp.inode)).filter(|(cached, _)| cached == stamp)?;
        let entry = state.entries.get(content)?;
        entry.used.store(self.next(), Ordering::Relaxed);
        Some(entry.cached.clone())
    }

    /// The cached file for a content.
    #[must_use]
    pub fn cached_content(&self, content: &ContentKey) -> Option<CachedFile> {
        let state = self.read();
        let entry = state.entries.get(content)?;
        entry.used.store(self.next(), Ordering::Relaxed);
        Some(entry.cached.clone())
    }

    /// Caches a file. `stamp` is its state before it was read.
    pub fn insert(&self, stamp: &FileStamp, content: &ContentKey, cached: CachedFile) {
        let entry = Entry { cached, used: AtomicU64::new(self.next()) };
        let bytes = entry.bytes();
        if bytes > self.most_bytes / 4 {
            return;
        }
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if stamp.is_settled(SystemTime::now()) {
            state.stamps.insert((stamp.device, stamp.inode), (*stamp, content.clone()));
        }
        let before = state.entries.insert(content.clone(), entry).map_or(0, |before| before.bytes());
        state.bytes = state.bytes + bytes - before;
        if state.all_bytes() > self.most_bytes {
            state.shrink(self.most_bytes / 4 * 3);
        }
    }

    /// The memory that it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.read().all_bytes()
    }

    #[must_use]
    pub fn files(&self) -> usize {
        self.read().entries.len()
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self) -> u64 {
        self.tick.fetch_add(1, Ordering::Relaxed)
    }
}

impl State {
    fn all_bytes(&self) -> usize {
        self.bytes + self.stamps.len() * STAMP
    }

    fn shrink(&mut self, most_bytes: usize) {
        let mut oldest: Vec<(u64, ContentKey)> =
            self.entries.iter().map(|(content, entry)| (entry.used.load(Ordering::Relaxed), content.clone())).collect();
        oldest.sort_unstable_by_key(|(used, _)| *used);
        // The stamps of the remaining entries take at most as much as all stamps now.
        let most_of_entries = most_bytes.saturating_sub(self.stamps.len() * STAMP).max(most_bytes / 2);
        for (_, content) in oldest {
            if self.bytes <= most_of_entries {
                break;
            }
            self.bytes -= self.entries.remove(&content).map_or(0, |entry| entry.bytes());
        }
        self.stamps.retain(|_, (_, content)| self.entries.contains_key(content));
        if self.stamps.len() * STAMP > most_bytes / 2 {
            self.stamps.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(inode: u64) -> FileStamp {
        FileStamp { device: 1, inode, size: 1, modified: (1, 0), changed: (1, 0) }
    }

    fn cached(text: &str) -> CachedFile {
        CachedFile { filter: Arc::new(Filter::new(text.as_bytes())), source: None }
    }

    #[test]
    fn memory_stays_within_its_limit_and_what_was_used_last_stays() {
        let index = Index::new(256 << 10);
        for number in 0..10_000 {
            let text = format!("fn function_{number}() {{}}");
            index.insert(&stamp(number), &ContentKey::new("Rust", text.as_bytes()), cached(&text));
            assert!(index.cached(&stamp(0)).is_some(), "asked for each time, gone after {number}");
            assert!(index.bytes() <= 256 << 10);
        }
        assert!(index.cached(&stamp(9_999)).is_some() && index.cached(&stamp(5_000)).is_none());
        assert!(index.files() > 100, "{}", index.files());
        // The same text under many names costs a stamp for each.
        for number in 0..10_000 {
            index.insert(&stamp(number), &ContentKey::new("Rust", b"x"), cached("x"));
            assert!(index.bytes() <= 256 << 10);
        }
    }

    #[test]
    fn a_file_that_changed_is_not_known_by_its_old_stamp_and_one_that_changes_now_by_none() {
        let index = Index::new(1 << 20);
        index.insert(&stamp(1), &ContentKey::new("Rust", b"a"), cached("a"));
        let later = FileStamp { modified: (2, 0), ..stamp(1) };
        assert!(index.cached(&stamp(1)).is_some() && index.cached(&later).is_none());
        index.insert(&later, &ContentKey::new("Rust", b"b"), cached("b"));
        assert!(index.cached(&stamp(1)).is_none() && index.cached(&later).is_some());
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let fresh = FileStamp { changed: (now.as_secs().cast_signed(), 0), ..stamp(2) };
        index.insert(&fresh, &ContentKey::new("Rust", b"a"), cached("a"));
        assert!(index.cached(&fresh).is_none(), "it may change again within the same tick");
        assert!(index.cached_content(&ContentKey::new("Rust", b"a")).is_some());
    }
}
