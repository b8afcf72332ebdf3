//! Disk space for commands: caches have a size limit, and are removed if the disk is full.

use super::{Commands, make_folder};
use planwright_protocol::{CallId, ErrorCode, Problem};
use planwright_sandbox::{Space, remove_folder, size_of};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

/// Caches that were unused for this long are removed.
const OLDEST: Duration = Duration::from_hours(30 * 24);
/// Staged changes that nobody waits for are removed after this time.
const UNLANDED: Duration = Duration::from_hours(7 * 24);

/// The cache folders that commands are using.
static IN_USE: Mutex<BTreeMap<PathBuf, Use>> = Mutex::new(BTreeMap::new());

#[derive(Default)]
struct Use {
    commands: usize,
    /// Whether a command filled the disk with it. It is then removed with the last command that uses it.
    is_spoilt: bool,
}

fn in_use() -> MutexGuard<'static, BTreeMap<PathBuf, Use>> {
    IN_USE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A folder for caches and build output, held while a command uses it.
pub struct Scratch {
    folder: PathBuf,
}

impl Scratch {
    pub fn hold(folder: &Path) -> std::io::Result<Self> {
        let mut in_use = in_use();
        make_folder(folder)?;
        mark_used(folder);
        in_use.entry(folder.to_owned()).or_default().commands += 1;
        Ok(Self { folder: folder.to_owned() })
    }

    /// Marks it for removal when the last command that uses it has ended.
    pub fn spoil(&self) {
        in_use().entry(self.folder.clone()).or_default().is_spoilt = true;
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let mut in_use = in_use();
        let Some(usage) = in_use.get_mut(&self.folder) else { return };
        usage.commands -= 1;
        if usage.commands > 0 {
            return;
        }
        let gone = if usage.is_spoilt { put_aside(&self.folder) } else { None };
        in_use.remove(&self.folder);
        drop(in_use);
        gone.as_deref().into_iter().for_each(remove_folder);
    }
}

impl Commands {
    /// Ensures that the disk has space for a command, by removing caches.
    pub(super) fn find_room(&self) -> Result<(), Problem> {
        let space = || Space::of(&self.place).ok().filter(Space::is_nearly_full);
        if space().is_none() {
            return Ok(());
        }
        for scratch in self.scratches() {
            drop_scratch(&scratch);
        }
        let Some(space) = space() else { return Ok(()) };
        let text = format!(
            "The disk is nearly full ({space} free), so no command was started. Tell the user to free space on the disk of {}.",
            self.place.display()
        );
        Err(Problem::new(ErrorCode::StorageFull, text))
    }

    /// Removes caches that were unused for a month, and the least recently used ones while all together exceed twice a command's
    /// disk limit or a quarter of the disk.
    pub fn tidy(&self) {
        let quarter = Space::of(&self.place).map_or(u64::MAX, |space| space.total.bytes / 4);
        let most = (self.sandbox.disk_bytes() * 2).min(quarter);
        let now = SystemTime::now();
        let used = |folder: &Path| folder.metadata().and_then(|metadata| metadata.modified()).map_or(now, |used| used.min(now));
        let mut scratches: Vec<(SystemTime, PathBuf)> = self.scratches().into_iter().map(|folder| (used(&folder), folder)).collect();
        // The newest first.
        scratches.sort_by(|one, other| other.cmp(one));
        let mut total = 0_u64;
        for (used, folder) in scratches {
            total = total.saturating_add(size_of(&folder));
            if total > most || now.duration_since(used).is_ok_and(|unused| unused > OLDEST) {
                drop_scratch(&folder);
            }
        }
    }

    /// The calls whose changes have been staged for a week. The result of a command names the place of changes that
    /// could not land; users have that long to copy them.
    #[must_use]
    pub fn old_stages(&self) -> Vec<CallId> {
        self.stages_before(SystemTime::now() - UNLANDED)
    }

    fn stages_before(&self, moment: SystemTime) -> Vec<CallId> {
        let entries = std::fs::read_dir(self.place.join("stage")).into_iter().flatten().flatten();
        let is_old = |entry: &std::fs::DirEntry| entry.metadata().and_then(|metadata| metadata.modified()).is_ok_and(|made| made < moment);
        entries.filter(is_old).filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
    }

    /// Removes staged changes that nobody waits for: their server was killed, and their chat was deleted or is older.
    pub fn forget_stages(&self, calls: &[CallId]) {
        for &call in calls {
            remove_folder(&self.stage(call));
        }
    }

    /// All cache folders. Also removes folders that a killed server had set aside.
    fn scratches(&self) -> Vec<PathBuf> {
        let entries =
            |folder: &Path| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect::<Vec<_>>();
        let mut found = Vec::new();
        for workspace in entries(&self.place.join("scratch")) {
            for folder in entries(&workspace) {
                match folder.file_name().and_then(|name| name.to_str()) {
                    Some("servers") => found.extend(entries(&folder)),
                    Some("source" | "scratch") => found.push(folder),
                    // An empty mount point for memory.
                    Some("inspection") => {}
                    _ => remove_folder(&folder),
                }
            }
        }
        found
    }
}

/// Removes a cache folder that no command uses.
fn drop_scratch(folder: &Path) {
    let in_use = in_use();
    if in_use.contains_key(folder) {
        return;
    }
    let gone = put_aside(folder);
    drop(in_use);
    gone.as_deref().into_iter().for_each(remove_folder);
}

/// Renames a folder in one step, so that no command finds half of it.
#[expect(clippy::disallowed_methods, reason = "a folder of our own, in the data folder")]
fn put_aside(folder: &Path) -> Option<PathBuf> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let name = format!(".gone-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let aside = folder.with_file_name(name);
    std::fs::rename(folder, &aside).ok().map(|()| aside)
}

#[expect(clippy::disallowed_methods, reason = "a folder of our own, in the data folder")]
fn mark_used(folder: &Path) {
    // Only the order of removal depends on it.
    let _ = std::fs::File::open(folder).and_then(|folder| folder.set_modified(SystemTime::now()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_protocol::settings::SandboxSettings;

    fn commands(place: &Path, megabytes: u32) -> Commands {
        Commands {
            place: place.to_owned(),
            sandbox: SandboxSettings { disk_mb: megabytes, ..SandboxSettings::default() },
            own: Vec::new(),
            team: None,
            roots: Vec::new(),
        }
    }

    #[expect(clippy::disallowed_methods, reason = "a test")]
    fn fill(folder: &Path, bytes: usize, days_ago: u64) {
        make_folder(folder).unwrap();
        std::fs::write(folder.join("cache"), vec![1; bytes]).unwrap();
        let then = SystemTime::now() - Duration::from_hours(24 * days_ago);
        std::fs::File::open(folder).unwrap().set_modified(then).unwrap();
    }

    #[test]
    fn caches_that_are_old_or_too_many_go_and_those_in_use_stay() {
        let place = tempfile::tempdir().unwrap();
        let scratch = |name: &str| place.path().join("scratch").join(name);
        fill(&scratch("a/scratch"), 900_000, 1);
        fill(&scratch("b/source"), 900_000, 2);
        fill(&scratch("c/servers/notes"), 900_000, 3);
        fill(&scratch("d/source"), 10, 40);
        fill(&scratch("e/.gone-1-1"), 10, 0);
        let held = Scratch::hold(&scratch("f/scratch")).unwrap();
        fill(&scratch("f/scratch"), 10, 50);
        commands(place.path(), 1).tidy();
        let left = ["a/scratch", "b/source", "c/servers/notes", "d/source", "e/.gone-1-1", "f/scratch"].map(|name| scratch(name).exists());
        assert_eq!(left, [true, true, false, false, false, true]);
        drop(held);
    }

    #[test]
    fn a_cache_that_filled_the_disk_goes_with_the_last_command_that_uses_it() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("scratch/a/scratch");
        let (one, other) = (Scratch::hold(&folder).unwrap(), Scratch::hold(&folder).unwrap());
        fill(&folder, 10, 0);
        one.spoil();
        drop(one);
        assert!(folder.join("cache").exists());
        drop(other);
        assert!(!folder.exists() && std::fs::read_dir(folder.parent().unwrap()).unwrap().next().is_none());
    }

    #[test]
    fn stages_are_found_by_their_calls_and_forgotten_one_by_one() {
        let place = tempfile::tempdir().unwrap();
        let (awaited, forgotten) = (CallId::generate(), CallId::generate());
        let commands = commands(place.path(), 1);
        for call in [awaited, forgotten] {
            make_folder(&commands.stage(call).join("upper")).unwrap();
        }
        make_folder(&place.path().join("stage/something else")).unwrap();
        let mut staged = commands.stages_before(SystemTime::now() + Duration::from_hours(1));
        staged.sort();
        assert_eq!(staged, [awaited, forgotten]);
        assert_eq!(commands.old_stages(), []);
        commands.forget_stages(&[forgotten]);
        assert!(commands.stage(awaited).exists() && !commands.stage(forgotten).exists());
    }
}
