//! Cases in which the system fails the call: it is killed, its system calls go wrong, the disk is full or read-only.

use crate::child::{Child, Starter, killed, reexecuted};
use crate::subject::{Caller, FileTools};
use planwright_protocol::Role;
use planwright_testkit::guard::case::InjectedFault;
use planwright_testkit::guard::{CallWatch, Case, CaseFinding, FinishedCall, Fixture, Setup, Suite, announce, misfit};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The result of a case whose setup is a fault; `None` for any other case.
pub fn finding(suite: &Suite, case: &Case) -> Option<CaseFinding> {
    case.setup.iter().find_map(|setup| match setup {
        Setup::FaultFs { kind: InjectedFault::ShortWrite } => Some(injected(suite, case, "inject=write:retval=4096:when=1")),
        Setup::FaultFs { kind: InjectedFault::FsyncEio } => Some(injected(suite, case, "inject=fsync:error=EIO:when=1")),
        Setup::KillAtEverySyscall => Some(killed_everywhere(suite, case)),
        Setup::RemountRo => Some(read_only(suite, case)),
        Setup::File { .. } | Setup::FileB64 { .. } | Setup::FileGen { .. } | Setup::Sparse { .. } | Setup::SparseText { .. } => None,
        Setup::Mkdir { .. } | Setup::Rm { .. } | Setup::Symlink { .. } | Setup::Hardlink { .. } => None,
        Setup::Fifo { .. } | Setup::Socket { .. } | Setup::Mknod { .. } | Setup::Elsewhere => None,
    })
}

/// A system call of the tool answers something else than it did.
fn injected(suite: &Suite, case: &Case, injection: &str) -> CaseFinding {
    let fixture = Fixture::new(suite, &std::env::temp_dir());
    let watch = CallWatch::start(&fixture, case);
    match traced(&fixture, case, &["-o", "/dev/null", "-e", injection]) {
        Ok(Some(run)) => judged(&fixture, case, &watch, &run),
        Ok(None) => CaseFinding::Broken("the child died".to_owned()),
        Err(why) => CaseFinding::Unavailable(why),
    }
}

/// The call in a child under `strace`; no run if the child did not live through it.
fn traced(fixture: &Fixture, case: &Case, options: &[&str]) -> Result<Option<FinishedCall>, String> {
    let mut child = Child::start(fixture, case, &[])?;
    let tracer = child.trace(options).inspect_err(|_| child.kill())?;
    child.go();
    let run = child.outcome();
    tracer.finish();
    Ok(run)
}

fn judged(fixture: &Fixture, case: &Case, watch: &CallWatch, run: &FinishedCall) -> CaseFinding {
    let mut wrong: Vec<String> = misfit(case, &run.outcome).into_iter().collect();
    wrong.extend(watch.broken(fixture, case, run));
    if wrong.is_empty() { CaseFinding::Holds } else { CaseFinding::Broken(wrong.join("\n")) }
}

/// The child is killed at each of the system calls that the call makes, one after the other.
fn killed_everywhere(suite: &Suite, case: &Case) -> CaseFinding {
    let moments = match system_calls(suite, case) {
        Ok(moments) => moments,
        Err(why) => return killed_by_chance(suite, case, &why),
    };
    let mut contents = BTreeSet::new();
    for (name, time) in &moments {
        let fixture = Fixture::new(suite, &std::env::temp_dir());
        let watch = CallWatch::start(&fixture, case);
        let injection = format!("inject={name}:signal=KILL:when={time}");
        let run = traced(&fixture, case, &["-o", "/dev/null", "-e", &injection]).unwrap();
        if run.is_some() {
            return CaseFinding::Broken(format!("not killed at {name} {time}"));
        }
        let broken = watch.broken(&fixture, case, &killed());
        if !broken.is_empty() {
            return CaseFinding::Broken(format!("killed at {name} {time}: {}", broken.join("; ")));
        }
        contents.insert(std::fs::read(fixture.path("src/main.rs")).unwrap());
    }
    announce(&format_args!("{}: killed at each of {} system calls", case.id, moments.len()));
    if contents.len() == 2 { CaseFinding::Holds } else { CaseFinding::Broken("the kills did not reach both sides of the write".to_owned()) }
}

/// The system calls of the call in their order, each with how often it has been made by then.
fn system_calls(suite: &Suite, case: &Case) -> Result<Vec<(String, usize)>, String> {
    let fixture = Fixture::new(suite, &std::env::temp_dir());
    let log = tempfile::NamedTempFile::new().unwrap();
    traced(&fixture, case, &["-o", log.path().to_str().unwrap()])?.ok_or("the child died")?;
    let log = std::fs::read_to_string(log.path()).unwrap();
    let mut counts = BTreeMap::new();
    let mut calls = Vec::new();
    // What follows is the child's answer, not the call.
    for line in log.lines().take_while(|line| !line.contains("/answer\"")) {
        let Some((name, _)) = line.split_once('(') else { continue };
        let count = counts.entry(name.to_owned()).or_insert(0);
        *count += 1;
        calls.push((name.to_owned(), *count));
    }
    // The first is the wait for the word to go.
    calls.remove(0);
    Ok(calls)
}

/// Without a tracer the moment of the kill is left to chance.
fn killed_by_chance(suite: &Suite, case: &Case, why: &str) -> CaseFinding {
    const KILLS: u64 = 100;
    announce(&format_args!("{}: {why}; killed at {KILLS} moments by chance instead", case.id));
    for moment in 0..KILLS {
        let fixture = Fixture::new(suite, &std::env::temp_dir());
        let watch = CallWatch::start(&fixture, case);
        let mut child = Child::start(&fixture, case, &[]).unwrap();
        child.go();
        std::thread::sleep(Duration::from_micros(moment * 20));
        child.kill();
        let broken = watch.broken(&fixture, case, &child.outcome().unwrap_or_else(killed));
        if !broken.is_empty() {
            return CaseFinding::Broken(broken.join("; "));
        }
    }
    CaseFinding::Holds
}

/// The workspace is mounted read-only for the child alone.
fn read_only(suite: &Suite, case: &Case) -> CaseFinding {
    let fixture = Fixture::new(suite, &std::env::temp_dir());
    let watch = CallWatch::start(&fixture, case);
    let workspace = fixture.workspace();
    let script = r#"mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@""#;
    let Some(namespace) = own_mounts() else { return CaseFinding::Unavailable("no namespace of mounts to be had".to_owned()) };
    let starter = [namespace, &["sh", "-c", script, workspace.to_str().unwrap()]].concat();
    let mut child = match Child::start(&fixture, case, &starter) {
        Ok(child) => child,
        Err(why) => return CaseFinding::Unavailable(why),
    };
    child.go();
    let Some(run) = child.outcome() else { return CaseFinding::Broken("the child died".to_owned()) };
    judged(&fixture, case, &watch, &run)
}

/// What gives a program mounts that nobody else sees, as root or as an ordinary user.
fn own_mounts() -> Option<Starter<'static>> {
    const STARTERS: [Starter; 2] = [&["unshare", "--mount"], &["unshare", "--mount", "--map-root-user"]];
    STARTERS.into_iter().find(|starter| {
        let mut command = Command::new(starter[0]);
        command.args(&starter[1..]).arg("true").stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    })
}

const SMALL_DISK: &str = "PLANWRIGHT_SMALL_DISK";

#[test]
fn a_write_to_a_full_disk_is_refused_and_the_old_content_stays() {
    if let Some(disk) = std::env::var_os(SMALL_DISK) {
        return write_more_than_fits(Path::new(&disk));
    }
    let disk = tempfile::tempdir().unwrap();
    let script = r#"mount -t tmpfs -o size=256k tmpfs "$0" && exec "$@""#;
    let Some(namespace) = own_mounts() else {
        announce(&format_args!("a full disk was not tried: no namespace of mounts to be had"));
        return;
    };
    let starter = [namespace, &["sh", "-c", script, disk.path().to_str().unwrap()]].concat();
    let own = "faults::a_write_to_a_full_disk_is_refused_and_the_old_content_stays";
    let output = reexecuted(&starter, own, &[]).env(SMALL_DISK, disk.path()).output().unwrap();
    assert!(output.status.success(), "{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
}

fn write_more_than_fits(disk: &Path) {
    let fixture = Fixture::new(&Suite::load(), disk);
    let args = serde_json::json!({"path": "/src/main.rs", "content": "B".repeat(300_000)}).to_string();
    let outcome = FileTools::on(&fixture.workspace()).carry_out(&Caller::new(Role::Actor), "write", &args);
    assert_eq!(outcome.code.as_deref(), Some("STORAGE_FULL"), "{outcome:?}");
    assert_eq!(std::fs::read_to_string(fixture.path("src/main.rs")).unwrap(), "fn main(){}\n");
    let left = std::fs::read_dir(fixture.path("src")).unwrap().count();
    assert_eq!(left, 2, "a temporary file is left");
}
