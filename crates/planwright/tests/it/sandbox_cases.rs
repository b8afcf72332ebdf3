//! The guard cases of commands, each through the real server, by root and by an ordinary user.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`readings`] | how some cases are read, and what shows that an attack works |
//! | [`who`], [`place`], [`world`] | the user, the tree of a case, the server with its secrets |
//! | [`follow`] | the events of a chat |
//! | [`judge`], [`measure`], [`processes`], [`listener`] | what must hold, and how it is found out |
//! | [`beyond`] | attacks that the cases do not have |
//! | [`ground`], [`sight`], [`names`], [`hidden`], [`worktrees`] | what of the machine and of the workspace's secrets a command sees, in layouts of their own |
//! | [`outside`] | the controls: the attacks without the sandbox |
//!
//! A case counts only if its control shows the effect that the sandbox is to prevent. Where that is impossible or
//! dangerous the control is none, with the reason.

mod beyond;
mod follow;
mod ground;
mod hidden;
mod judge;
mod listener;
mod measure;
mod names;
mod outside;
mod place;
mod processes;
mod readings;
mod sight;
mod who;
mod worktrees;
mod world;

use judge::{broken, broken_in_any_case, demands};
use outside::Shown;
use planwright_testkit::guard::{CallWatch, Case, CaseFinding, CaseReport, Harness, Suite, announce, misfit};
use readings::READINGS;
use who::Who;
use world::World;

/// Cases that can't hold, with the reason. A case that does hold may not stand here.
const LISTED: &[(&str, &str)] = &[];

/// The cases to run, by their ids (default all).
const CASES: &str = "PLANWRIGHT_SANDBOX_CASES";

/// The controls of the cases that hold.
#[derive(Default)]
struct Controls {
    shown: usize,
    none: Vec<String>,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_guard_case_of_commands_holds_for_root_and_for_an_ordinary_user() {
    let suite = Suite::load();
    let wanted = std::env::var(CASES).unwrap_or_default();
    let mut wrong = Vec::new();
    for reading in READINGS {
        announce(&format_args!("{} is read so: {}", reading.id, reading.reason));
    }
    for who in Who::all() {
        let name = who.name;
        let world = World::start(&suite, who).await;
        let (mut findings, mut controls) = (Vec::new(), Controls::default());
        for case in suite.of(&[Harness::Sandbox]).filter(|case| wanted.is_empty() || wanted.contains(&case.id)) {
            findings.push((case, finding(&world, &suite, case, &mut controls).await));
        }
        let report = CaseReport::new(&findings, LISTED);
        let held = findings.iter().filter(|(_, finding)| *finding == CaseFinding::Holds).count();
        let none = controls.none.len();
        announce(&format_args!(
            "\nas {name}: {report}held {held}, listed {}, with control {}, control none {none}",
            LISTED.len(),
            controls.shown
        ));
        controls.none.iter().for_each(announce);
        wrong.extend(report.wrong().iter().map(|what| format!("as {name}: {what}")));
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n\n"));
}

async fn finding(world: &World, suite: &Suite, written: &Case, controls: &mut Controls) -> CaseFinding {
    if let Some(why) = unavailable(world, written) {
        return CaseFinding::Unavailable(why);
    }
    let demands = demands(written);
    let case = readings::read(written);
    let fixture = &world.place(&case).fixture;
    let watch = CallWatch::start(fixture, &case);
    let seen = match world.carry_out(&case, &demands).await {
        Ok(seen) => seen,
        Err(why) => return CaseFinding::Broken(why),
    };
    let mut wrong: Vec<String> = misfit(&case, &seen.outcome).into_iter().collect();
    wrong.extend(broken(&case, &demands, fixture, &watch, &seen));
    wrong.extend(broken_in_any_case(&case, fixture, &watch, &seen));
    if !wrong.is_empty() {
        wrong.sort();
        wrong.dedup();
        return CaseFinding::Broken(wrong.join("\n"));
    }
    let (control, lacking) = readings::control(&case);
    match (outside::show(world, suite, &case, &demands, control).await, lacking) {
        (Shown::Effect, _) => controls.shown += 1,
        (Shown::None(reason), _) => controls.none.push(format!("{}: control none: {reason}", case.id)),
        (Shown::Nothing(_), Some(lacking)) => controls.none.push(format!("{}: control none: {lacking}", case.id)),
        (Shown::Nothing(what), None) => return CaseFinding::Broken(format!("it holds, but its control shows no effect: {what}")),
    }
    CaseFinding::Holds
}

/// Why a case can't be carried out by this user on this machine.
fn unavailable(world: &World, case: &Case) -> Option<String> {
    if case.id != "CM-031" || !world.who.other {
        return None;
    }
    let mut command = world.who.command("cargo");
    command.arg("--version").env_clear().envs(world.environment()).current_dir("/");
    let reached = command.output().is_ok_and(|output| output.status.success());
    (!reached).then(|| "an ordinary user can't reach the cargo of this machine, which is in another's home".to_owned())
}
