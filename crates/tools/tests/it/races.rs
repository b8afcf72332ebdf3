//! Calls while an attacker swaps a part of their path for a link.
//!
//! Each race is run many times over in memory, where renames are fastest. Whether a single try is
//! allowed or refused is up to chance; what must not happen is a change, or a look, outside.

use crate::subject::FileTools;
use planwright_testkit::guard::{Case, Decision, Finding, Fixture, Harness, Invariant, Outcome, Report, Setup, Subject, Suite, Tree};
use rustix::fs::{CWD, RenameFlags};
use std::fs;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

const TRIES: &str = "PLANWRIGHT_RACE_TRIES";

#[test]
fn no_race_for_a_path_is_lost() {
    let tries = std::env::var(TRIES).map_or(20_000, |tries| tries.parse().unwrap());
    let suite = Suite::load();
    let findings: Vec<(&Case, Finding)> = suite.of(&[Harness::Race]).map(|case| (case, race(&suite, case, tries))).collect();
    let report = Report::new(&findings, &[]);
    write!(std::io::stderr(), "\n{report}").unwrap();
    assert!(report.wrong().is_empty(), "{}", report.wrong().join("\n\n"));
}

/// What can be seen of all the tries of a race.
#[derive(Debug, Default)]
struct Tally {
    allowed: u64,
    refused: u64,
    swaps: u64,
    escapes: Vec<String>,
}

fn race(suite: &Suite, case: &Case, tries: u64) -> Finding {
    let start = Instant::now();
    let mut fixture = Fixture::new(suite, &in_memory());
    fixture.apply(&case.setup);
    let (first, second) = case.swapped().unwrap();
    let (first, second) = (fixture.path(first), fixture.path(second));
    let attacker = Attacker::default();
    let mut tally = std::thread::scope(|scope| {
        scope.spawn(|| attacker.swap(&first, &second));
        // Stopped also when the attempt panics, or the scope would wait for it forever.
        let _stopping = Stopping(&attacker);
        attempt(&fixture, case, tries, &attacker)
    });
    tally.swaps = attacker.swaps.load(Ordering::Relaxed);
    let Tally { allowed, refused, swaps, escapes } = &tally;
    let id = &case.id;
    writeln!(
        std::io::stderr(),
        "{id}: {tries} tries, {swaps} swaps, {allowed} allowed, {refused} refused, {} escapes, {:?}",
        escapes.len(),
        start.elapsed()
    )
    .unwrap();
    if !escapes.is_empty() {
        return Finding::Broken(escapes.join("\n"));
    }
    if *swaps < tries / 2 || *allowed == 0 || *refused == 0 && case.role == "Planner" {
        return Finding::Broken(format!("this was no race: {tally:?}"));
    }
    Finding::Holds
}

/// Makes the call again and again, with the scene put right in between.
fn attempt(fixture: &Fixture, case: &Case, tries: u64, attacker: &Attacker) -> Tally {
    let tools = FileTools::open(fixture);
    let call = fixture.call(case);
    let scene = Scene::of(fixture, case);
    let before = guarded(fixture, case);
    let mut tally = Tally::default();
    for number in 0..tries {
        // A new scene now and then, for what the call made in the old one.
        if number % 32 == 0 || !(0..4).any(|_| scene.is_set()) {
            attacker.pausing(|| scene.set());
        }
        let outcome = tools.call(&call).unwrap();
        match outcome.decision {
            Decision::Allow => tally.allowed += 1,
            Decision::Deny | Decision::Error | Decision::Ask => tally.refused += 1,
        }
        tally.escapes.extend(leaked(case, &outcome));
        // What has once changed stays so in its time; not every try need be looked at by itself.
        if number % 50 == 0 || number + 1 == tries {
            let after = guarded(fixture, case);
            tally.escapes.extend(before.iter().zip(&after).flat_map(|(before, after)| before.changes(after)));
        }
        if tally.escapes.len() > 10 {
            break;
        }
    }
    tally
}

/// What no try may change: all that is outside, and what the case names.
fn guarded(fixture: &Fixture, case: &Case) -> Vec<Tree> {
    let named = case.expect.invariants.iter().filter_map(|invariant| match invariant {
        Invariant::Unchanged { paths } => Some(paths),
        _ => None,
    });
    let named = named.flatten().map(|path| Tree::entry(&fixture.path(path)));
    std::iter::once(Tree::of(&fixture.outside())).chain(named).collect()
}

fn leaked(case: &Case, outcome: &Outcome) -> Option<String> {
    let needles = case.expect.invariants.iter().filter_map(|invariant| match invariant {
        Invariant::OutputLacks { needles } => Some(needles),
        _ => None,
    });
    let leaves = format!("{} {:?}", outcome.output, outcome.facts);
    needles.flatten().find(|needle| leaves.contains(needle.as_str())).map(|needle| format!("{needle} leaked: {}", outcome.output))
}

/// Swaps two names again and again.
#[derive(Default)]
struct Attacker {
    stop: AtomicBool,
    swaps: AtomicU64,
    /// Held over each swap.
    swapping: Mutex<()>,
}

impl Attacker {
    fn swap(&self, first: &Path, second: &Path) {
        let mut breath = 0;
        while !self.stop.load(Ordering::Acquire) {
            let swapping = self.swapping.lock().unwrap();
            // Fails while the call has taken one of the two away.
            let swapped = rustix::fs::renameat_with(CWD, first, CWD, second, RenameFlags::EXCHANGE);
            drop(swapping);
            self.swaps.fetch_add(u64::from(swapped.is_ok()), Ordering::Relaxed);
            // A breath of changing length, or the folder would be locked nearly always and the call hardly get on.
            breath = (breath + 1) % 32;
            (0..breath * 8).for_each(|_| std::hint::spin_loop());
        }
    }

    /// Does something with nobody swapping.
    fn pausing(&self, work: impl FnOnce()) {
        // Tried again and again: who waits in line is outrun by the attacker every time.
        let _swapping = loop {
            if let Ok(swapping) = self.swapping.try_lock() {
                break swapping;
            }
            std::hint::spin_loop();
        };
        work();
    }
}

struct Stopping<'a>(&'a Attacker);

impl Drop for Stopping<'_> {
    fn drop(&mut self) {
        self.0.stop.store(true, Ordering::Release);
    }
}

/// What is swapped for what. A try may rightly take a part of it away, and then there is nothing left to race for.
struct Scene {
    real: PathBuf,
    real_is_folder: bool,
    decoy: PathBuf,
    leads_to: Target,
}

enum Target {
    Link(PathBuf),
    HardLink(PathBuf),
}

impl Scene {
    fn of(fixture: &Fixture, case: &Case) -> Self {
        let (real, decoy) = case.swapped().unwrap();
        let leads_to = case.setup.iter().find_map(|setup| match setup {
            Setup::Symlink { path, target } if path == decoy => Some(Target::Link(PathBuf::from(target))),
            Setup::Hardlink { path, target } if path == decoy => Some(Target::HardLink(fixture.path(target))),
            _ => None,
        });
        let real_is_folder = case.setup.iter().any(|setup| matches!(setup, Setup::Mkdir { path } if path == real));
        Self { real: fixture.path(real), real_is_folder, decoy: fixture.path(decoy), leads_to: leads_to.unwrap() }
    }

    /// Whether both are there and one of them is the decoy, as far as can be told while they are swapped.
    fn is_set(&self) -> bool {
        let [real, decoy] = [&self.real, &self.decoy].map(|path| fs::symlink_metadata(path).ok());
        let (Some(real), Some(decoy)) = (real, decoy) else { return false };
        match &self.leads_to {
            Target::Link(_) => real.is_symlink() != decoy.is_symlink(),
            Target::HardLink(_) => (real.nlink() > 1) != (decoy.nlink() > 1),
        }
    }

    fn set(&self) {
        for path in [&self.real, &self.decoy] {
            let removed = if path.is_dir() && !path.is_symlink() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
            removed.or_else(|error| if error.kind() == ErrorKind::NotFound { Ok(()) } else { Err(error) }).unwrap();
        }
        if self.real_is_folder {
            fs::create_dir_all(&self.real).unwrap();
            fs::write(self.real.join("x.plan"), "x\n").unwrap();
        } else {
            fs::write(&self.real, "x\n").unwrap();
        }
        match &self.leads_to {
            Target::Link(target) => std::os::unix::fs::symlink(target, &self.decoy).unwrap(),
            Target::HardLink(target) => fs::hard_link(target, &self.decoy).unwrap(),
        }
    }
}

/// A folder on a file system in memory where there is one.
pub fn in_memory() -> PathBuf {
    let shared_memory = Path::new("/dev/shm");
    let is_memory = fs::read_to_string("/proc/mounts").unwrap_or_default().lines().any(|line| line.starts_with("tmpfs /dev/shm "));
    if is_memory { shared_memory.to_owned() } else { std::env::temp_dir() }
}
