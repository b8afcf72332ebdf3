//! The attacks without the sandbox, in throw-away copies: what shows that they work at all.

use super::judge::{Demand, Seen, broken};
use super::place::Place;
use super::processes::{end, left};
use super::readings::Control;
use super::world::World;
use planwright_testkit::guard::{CallWatch, Case, CaseDecision, CaseOutcome, Invariant, Suite};
use serde_json::{Map, Value};
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The findings of a control.
pub enum Shown {
    Effect,
    /// The attack does not work outside either.
    Nothing(String),
    None(String),
}

/// Makes the addresses that the cases want out to be this machine's own, with a service on each, in a network of its own.
const NETWORK: &str = "ip addr add 1.1.1.1/32 dev lo; ip addr add 169.254.169.254/32 dev lo
python3 -m http.server 80 > /dev/null 2>&1 &
for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do (: < /dev/tcp/127.0.0.1/80) 2> /dev/null && break; sleep 0.2; done
";

/// Longer than any of these takes.
const LONGEST: Duration = Duration::from_mins(2);
/// What must have ended by then has not, if it still runs.
const RUNS_ON: Duration = Duration::from_secs(3);

/// By then a process that is still running has shown itself.
const APPEARS: Duration = Duration::from_secs(10);

/// A command to run outside.
struct Attack {
    text: String,
    /// Whether only what is there is read, so that no copy is needed.
    reads: bool,
    network: bool,
    limit: Duration,
    /// Whether something of it is to be left running when it has ended.
    outlives: bool,
}

/// Shows what the case's attack does where nothing stands in its way. `case` is the case as it is read.
pub async fn show(world: &World, suite: &Suite, case: &Case, demands: &[Demand], control: Control) -> Shown {
    let written = case.args["command"].as_str().unwrap_or_default();
    let outlives = demands.iter().any(|demand| matches!(demand, Demand::ProcessesLeft { .. }));
    let attack = |text: &str| Attack { text: world.named(text, world.place(case)), reads: false, network: false, limit: LONGEST, outlives };
    let attack = match control {
        Control::None(reason) => return Shown::None(reason.to_owned()),
        Control::Tester => return tester(world, case).await,
        Control::Same => attack(written),
        Control::Other(text) => attack(text),
        Control::Reads(text) => Attack { reads: true, ..attack(text) },
        Control::Network => Attack { network: true, ..attack(&format!("{NETWORK}{written}")) },
        Control::RunsOn => Attack { limit: RUNS_ON, ..attack(written) },
    };
    let copy = Place::new(suite, case, &world.who, &world.folder.join("cases"));
    // These are the server's words, so nothing outside can break them.
    let mut case = case.clone();
    case.expect.invariants.retain(|invariant| !matches!(invariant, Invariant::ResultFlag { .. }));
    let demands = demands.iter().filter(|demand| !matches!(demand, Demand::ResultCode { .. } | Demand::Then { .. }));
    let watch = CallWatch::start(&copy.fixture, &case);
    let Some(seen) = carry_out(world, &attack, &case, &copy) else {
        return if matches!(control, Control::RunsOn) { Shown::Effect } else { Shown::Nothing(format!("it took longer than {LONGEST:?}")) };
    };
    let effect = !matches!(control, Control::RunsOn) && !broken(&case, demands, &copy.fixture, &watch, &seen).is_empty();
    let output = seen.outcome.output.chars().take(500).collect::<String>();
    if effect { Shown::Effect } else { Shown::Nothing(format!("exit code {:?}: {output}", seen.exit_code())) }
}

/// The same call by one who may make it.
async fn tester(world: &World, case: &Case) -> Shown {
    let mut case = case.clone();
    "Tester".clone_into(&mut case.role);
    match world.carry_out(&case, &[]).await {
        Ok(seen) if seen.exit_code() == Some(0) => Shown::Effect,
        Ok(seen) => Shown::Nothing(format!("a tester gets {:?}: {}", seen.outcome.code, seen.outcome.output)),
        Err(why) => Shown::Nothing(why),
    }
}

/// What is seen of the attack; nothing if it had to be cut off.
fn carry_out(world: &World, attack: &Attack, case: &Case, copy: &Place) -> Option<Seen> {
    let place = world.place(case);
    let printed = world.folder.join("printed");
    let output = File::create(&printed).unwrap();
    let mut command = line(world, attack, place, copy);
    command.env_clear().envs(world.environment()).stdin(Stdio::piped()).stdout(output.try_clone().unwrap()).stderr(output);
    let before = world.listener.count();
    let begun = Instant::now();
    let mut child = command.spawn().unwrap();
    let mut status = None;
    // Its standard input stays open and empty until it ends.
    while status.is_none() && begun.elapsed() < attack.limit {
        std::thread::sleep(Duration::from_millis(10));
        status = child.try_wait().unwrap();
    }
    let elapsed = begun.elapsed();
    let mut survivors = if attack.reads { Vec::new() } else { left(None, &place.folder()) };
    // One that is just being started may be seen a moment later.
    while attack.outlives && survivors.is_empty() && begun.elapsed() < elapsed + APPEARS {
        std::thread::sleep(Duration::from_millis(10));
        survivors = left(None, &place.folder());
    }
    // Nothing happens to one that has ended.
    let _ = child.kill();
    child.wait().unwrap();
    end(&survivors);
    let code = status?.code();
    let bytes = fs::read(&printed).unwrap();
    let facts: Map<String, Value> = [("exit_code".to_owned(), Value::from(code))].into_iter().collect();
    let outcome = CaseOutcome {
        decision: CaseDecision::Allow,
        code: None,
        output: String::from_utf8_lossy(&bytes).into_owned(),
        facts,
        mode: String::new(),
    };
    Some(Seen {
        outcome,
        elapsed,
        grown_megabytes: 0,
        disk_megabytes: 0,
        connections: world.listener.count() - before,
        processes: survivors.into_iter().map(|process| process.what).collect(),
        p99: Duration::ZERO,
        then: None,
        utf8: std::str::from_utf8(&bytes).is_ok(),
        ailing: None,
    })
}

/// Bubblewrap with nothing but the copy over the real place; with a network of its own if wanted.
fn line(world: &World, attack: &Attack, place: &Place, copy: &Place) -> Command {
    if attack.reads {
        let mut command = world.who.command("bash");
        command.args(["-c", &attack.text]);
        return command;
    }
    let mut command = world.who.command("bwrap");
    let bind = |command: &mut Command, from: &Path, to: &Path| {
        command.arg("--bind").arg(from).arg(to);
    };
    command.args(["--dev-bind", "/", "/"]);
    bind(&mut command, &copy.fixture.workspace(), &place.fixture.workspace());
    bind(&mut command, &copy.fixture.outside(), &place.fixture.outside());
    if attack.network {
        command.args("--unshare-user --uid 0 --gid 0 --cap-add ALL --unshare-net --unshare-pid --die-with-parent".split(' '));
        bind(&mut command, &world.folder.join("hosts"), Path::new("/etc/hosts"));
    }
    command.arg("--chdir").arg(place.fixture.workspace()).args(["--", "bash", "-c", &attack.text]);
    command
}
