//! Calls while an attacker swaps a part of their path for a link.
//!
//! Each race is run many times over in memory, where renames are fastest. Whether a single try is
//! allowed or refused is up to chance; what must not happen is a change, or a look, outside.

use crate::subject::FileTools;
use planwright_testkit::guard::{
    Case, CaseCall, CaseDecision, CaseFinding, CaseOutcome, CaseReport, Fixture, FolderTree, Harness, Invariant, Setup, Subject, Suite,
    announce,
};
use rustix::fs::{CWD, RenameFlags};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

const TRIES: &str = "PLANWRIGHT_RACE_TRIES";
/// The cases to run, by id (default all).
const CASES: &str = "PLANWRIGHT_RACE_CASES";

#[test]
fn no_race_for_a_path_is_lost() {
    let tries = std::env::var(TRIES).map_or(20_000, |tries| tries.parse().unwrap());
    let wanted = std::env::var(CASES).unwrap_or_default();
    let suite = Suite::load();
    let cases = suite.of(&[Harness::Race]).filter(|case| wanted.is_empty() || wanted.contains(&case.id));
    let findings: Vec<(&Case, CaseFinding)> = cases.map(|case| (case, finding(&suite, case, tries))).collect();
    let report = CaseReport::new(&findings, &[]);
    announce(&format_args!("\n{report}"));
    assert!(report.wrong().is_empty(), "{}", report.wrong().join("\n\n"));
}

/// The plan is swapped for a link to a secret of the workspace. An edit that finds nothing shows what is
/// most like it, so a look through the link would be seen.
#[test]
fn an_edit_does_not_look_through_a_link_that_takes_the_plans_place() {
    let suite = Suite::load();
    let mut case = suite.of(&[Harness::Race]).find(|case| case.id == "RC-002").unwrap().clone();
    case.tool = "edit".to_owned();
    case.args = serde_json::json!({"path": "/plans/f.plan", "old_string": "API_KEY=sk-WRONG", "new_string": "y"});
    case.setup = vec![
        Setup::File { path: "plans/f.plan".to_owned(), content: "x\n".to_owned(), owner: None },
        Setup::Symlink { path: "plans/l.plan".to_owned(), target: "../.env".to_owned() },
    ];
    case.expect.invariants = vec![Invariant::OutputLacks { needles: vec!["sk-WSENV".to_owned()] }];
    let tally = race::<FileTools>(&suite, &case, 20_000);
    assert!(tally.escapes.is_empty() && tally.swaps > 10_000, "{tally:#?}");
}

#[test]
fn a_reader_that_checks_the_path_and_then_opens_it_loses_the_race() {
    let suite = Suite::load();
    let case = suite.of(&[Harness::Race]).find(|case| case.tool == "read").unwrap();
    let tally = race::<CheckThenOpen>(&suite, case, 200_000);
    assert!(!tally.escapes.is_empty(), "the attacker is too slow to show anything: {tally:?}");
}

/// The usual mistake, to show that the attack works.
struct CheckThenOpen(PathBuf);

impl Subject for CheckThenOpen {
    fn open(fixture: &Fixture) -> Self {
        Self(fixture.workspace().canonicalize().unwrap())
    }

    fn call(&self, call: &CaseCall) -> Result<CaseOutcome, String> {
        let args: serde_json::Value = serde_json::from_slice(&call.args).unwrap();
        let path = self.0.join(args["path"].as_str().unwrap().trim_start_matches('/'));
        let inside = path.canonicalize().is_ok_and(|real| real.starts_with(&self.0));
        let output = if inside { fs::read_to_string(&path).unwrap_or_default() } else { String::new() };
        let decision = if inside { CaseDecision::Allow } else { CaseDecision::Deny };
        Ok(CaseOutcome { decision, code: None, output, facts: serde_json::Map::new(), mode: "plan".to_owned() })
    }
}

/// What can be seen of all the tries of a race.
#[derive(Debug, Default)]
struct Tally {
    allowed: u64,
    refused: u64,
    swaps: u64,
    escapes: Vec<String>,
}

fn finding(suite: &Suite, case: &Case, tries: u64) -> CaseFinding {
    let start = Instant::now();
    let tally = race::<FileTools>(suite, case, tries);
    let Tally { allowed, refused, swaps, escapes } = &tally;
    let (id, count, elapsed) = (&case.id, escapes.len(), start.elapsed());
    announce(&format_args!("{id}: {tries} tries, {swaps} swaps, {allowed} allowed, {refused} refused, {count} escapes, {elapsed:?}"));
    if !escapes.is_empty() {
        return CaseFinding::Broken(escapes.join("\n"));
    }
    // A search is never refused; it passes over what it may not look into.
    if *swaps < tries / 2 || *allowed == 0 || *refused == 0 && case.tool != "grep" {
        return CaseFinding::Broken(format!("this was no race: {tally:?}"));
    }
    CaseFinding::Holds
}

fn race<S: Subject>(suite: &Suite, case: &Case, tries: u64) -> Tally {
    let mut fixture = Fixture::new(suite, &in_memory());
    fixture.apply(&case.setup);
    let (first, second) = case.swapped().unwrap();
    let (first, second) = (fixture.path(first), fixture.path(second));
    let attacker = Attacker::default();
    let mut tally = std::thread::scope(|scope| {
        scope.spawn(|| attacker.swap(&first, &second));
        // Stopped also when the attempt panics, or the scope would wait for it forever.
        let _stopping = Stopping(&attacker);
        attempt(&S::open(&fixture), &fixture, case, tries, &attacker)
    });
    tally.swaps = attacker.swaps.load(Ordering::Relaxed);
    tally
}

/// Makes the call again and again, with the scene put right in between.
fn attempt(subject: &impl Subject, fixture: &Fixture, case: &Case, tries: u64, attacker: &Attacker) -> Tally {
    let call = fixture.call(case);
    let scene = Scene::of(fixture, case);
    let before = guarded(fixture, case);
    let mut tally = Tally::default();
    for number in 0..tries {
        // A new scene now and then, for what the call made in the old one.
        if number % 32 == 0 || !(0..4).any(|_| scene.is_set()) {
            attacker.pausing(|| scene.set());
        }
        let outcome = subject.call(&call).unwrap();
        match outcome.decision {
            CaseDecision::Allow => tally.allowed += 1,
            CaseDecision::Deny | CaseDecision::Error | CaseDecision::Ask => tally.refused += 1,
        }
        tally.escapes.extend(leaked(case, &outcome));
        // A change stays visible in the file's time, so not every attempt must be checked separately.
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

/// The files that no attempt may change: everything outside, and those that the case names.
fn guarded(fixture: &Fixture, case: &Case) -> Vec<FolderTree> {
    let named = case.expect.invariants.iter().filter_map(|invariant| {
        let Invariant::Unchanged { paths } = invariant else { return None };
        Some(paths)
    });
    let named = named.flatten().map(|path| FolderTree::entry(&fixture.path(path)));
    std::iter::once(FolderTree::of(&fixture.outside())).chain(named).collect()
}

fn leaked(case: &Case, outcome: &CaseOutcome) -> Option<String> {
    let needles = case.expect.invariants.iter().filter_map(|invariant| {
        let Invariant::OutputLacks { needles } = invariant else { return None };
        Some(needles)
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
        let leads_to = case.setup.iter().find_map(|setup| {
            if let Setup::Symlink { path, target } = setup {
                (path == decoy).then(|| Target::Link(PathBuf::from(target)))
            } else if let Setup::Hardlink { path, target } = setup {
                (path == decoy).then(|| Target::HardLink(fixture.path(target)))
            } else {
                None
            }
        });
        let real_is_folder = case.setup.iter().any(|setup| matches!(setup, Setup::Mkdir { path } if path == real));
        Self { real: fixture.path(real), real_is_folder, decoy: fixture.path(decoy), leads_to: leads_to.unwrap() }
    }

    /// Whether both exist and one of them is the decoy, as far as is visible while they are swapped.
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
