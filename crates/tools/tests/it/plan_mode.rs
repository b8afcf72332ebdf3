//! Whatever is called in plan mode, in whatever order and tree: nothing outside `/plans` changes.

mod calls;
mod random;
mod scenery;

use crate::races::in_memory;
use crate::subject::{Caller, FileTools};
use calls::random_call;
use planwright_protocol::{Mode, Role};
use planwright_testkit::guard::{CaseDecision, Fixture, FolderTree, announce};
use planwright_tools::{Consent, Grant, WorkspacePath};
use random::Random;
use std::time::{Instant, SystemTime};

const CALLS: &str = "PLANWRIGHT_PROPERTY_CALLS";
const SEED: &str = "PLANWRIGHT_PROPERTY_SEED";

/// Calls in one tree; then another tree is made.
const EPISODE: usize = 250;

#[test]
fn no_sequence_of_calls_in_plan_mode_changes_anything_outside_the_plans() {
    let calls: usize = std::env::var(CALLS).map_or(100_000, |calls| calls.parse().unwrap());
    let seed = std::env::var(SEED).map_or_else(|_| seed_of_the_clock(), |seed| seed.parse().unwrap());
    let roles: Vec<Role> = Role::all().filter(|role| role.mode() == Mode::Plan).collect();
    let start = Instant::now();
    let mut total = Tally::default();
    for number in 0..calls.div_ceil(EPISODE) {
        let episode = Episode { seed: seed.wrapping_add(number as u64), role: roles[number % roles.len()] };
        let (tally, changes) = episode.play(125);
        total.add(&tally);
        if !changes.is_empty() {
            // Played again, slower, to find the very call.
            let (_, changes) = episode.play(1);
            panic!("{SEED}={} as the first, as {}:\n{}", episode.seed, episode.role, changes.join("\n"));
        }
    }
    announce(&format_args!("\nplan mode: {total:?} in {:?}, {SEED}={seed}", start.elapsed()));
    // Else the calls were nothing but refused, and the test would show nothing.
    assert!(total.plans_changed > 0 && total.allowed > calls / 20 && total.refused > calls / 20, "{total:?}");
}

#[test]
fn the_same_calls_by_an_actor_do_change_the_workspace_and_still_nothing_outside_it() {
    let seed = seed_of_the_clock();
    let mut trees = 0;
    for number in 0..20 {
        let episode = Episode { seed: seed.wrapping_add(number), role: Role::Actor };
        let (_, changes) = episode.play(EPISODE);
        let outside: Vec<&String> = changes.iter().filter(|change| change.starts_with("outside")).collect();
        assert!(outside.is_empty(), "seed {}: {outside:#?}", episode.seed);
        trees += usize::from(!changes.is_empty());
    }
    assert!(trees > 15, "only {trees} of 20 trees were changed");
}

/// A tree and the calls made in it, all following from the seed.
struct Episode {
    seed: u64,
    role: Role,
}

#[derive(Debug, Default)]
struct Tally {
    calls: usize,
    allowed: usize,
    asked: usize,
    refused: usize,
    /// Episodes in which something below `/plans` changed.
    plans_changed: usize,
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        self.calls += other.calls;
        self.allowed += other.allowed;
        self.asked += other.asked;
        self.refused += other.refused;
        self.plans_changed += other.plans_changed;
    }

    fn count(&mut self, decision: CaseDecision) {
        self.calls += 1;
        match decision {
            CaseDecision::Allow => self.allowed += 1,
            CaseDecision::Ask => self.asked += 1,
            CaseDecision::Deny | CaseDecision::Error => self.refused += 1,
        }
    }
}

impl Episode {
    /// Makes the calls until something is seen to have changed that may not, looking after every `stretch`
    /// of calls; gives the changes, with the call before them.
    fn play(&self, stretch: usize) -> (Tally, Vec<String>) {
        let mut random = Random::new(self.seed);
        let fixture = Fixture::empty(&in_memory());
        let paths = scenery::build(&fixture, &mut random);
        let tools = FileTools::on(&fixture.workspace());
        let plans = fixture.path("plans");
        let look = || [FolderTree::except(&fixture.workspace(), Some(&plans)), FolderTree::of(&fixture.outside())];
        let before = look();
        let plans_before = FolderTree::of(&plans);
        let mut tally = Tally::default();
        for number in 1..=EPISODE {
            let (tool, args) = random_call(&mut random, &paths);
            let caller = self.caller(&mut random, &paths, &tool);
            let outcome = tools.carry_out(&caller, &tool, &args);
            tally.count(outcome.decision);
            if number % stretch != 0 && number != EPISODE {
                continue;
            }
            let after = look();
            let names = ["workspace", "outside"];
            let changes = names.iter().zip(before.iter().zip(&after));
            let changes: Vec<String> = changes
                .flat_map(|(name, (before, after))| before.changes(after).into_iter().map(move |change| format!("{name}: {change}")))
                .collect();
            if !changes.is_empty() {
                let last = format!("call {number}: {tool} {args} gave {outcome:?}");
                return (tally, changes.into_iter().chain([last]).collect());
            }
        }
        tally.plans_changed = usize::from(plans_before != FolderTree::of(&plans));
        (tally, Vec::new())
    }

    /// The role never changes; what the user has allowed does, and must not matter.
    fn caller(&self, random: &mut Random, paths: &[String], tool: &str) -> Caller {
        let path = |random: &mut Random| WorkspacePath::parse(&random.pick(paths)).unwrap();
        let mut caller = Caller::new(self.role);
        if random.one_in(2) {
            caller.consent = Consent::Given;
        }
        if random.one_in(4) {
            caller.grants = vec![Grant { tool: tool.to_owned(), folder: WorkspacePath::root() }];
        }
        if random.one_in(2) {
            caller.own_plan = Some(path(random)).filter(WorkspacePath::is_plan);
        }
        if random.one_in(8) {
            caller.foreign_plans = vec![path(random)];
        }
        caller
    }
}

fn seed_of_the_clock() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs()
}
