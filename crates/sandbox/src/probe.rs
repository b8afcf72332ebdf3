//! Checks whether commands can run on this machine, and says how to fix it if not.

use crate::bubblewrap;
use crate::cgroup::{Groups, NAME};
use crate::command::{CommandEnd, Stop, Unavailable, run};
use crate::policy::{Limits, Policy, View};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The result of one check.
#[derive(Clone, Debug)]
pub struct Check {
    pub name: &'static str,
    pub outcome: CheckResult,
    pub detail: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckResult {
    Good,
    /// Works, with a restriction.
    Weaker,
    Missing,
}

/// How to make the sandbox work.
pub const HOW_TO_FIX: &str = "Install bubblewrap (apt-get install bubblewrap). If it is installed: allow user namespaces \
    (sysctl user.max_user_namespaces=15000; on Ubuntu also sysctl kernel.apparmor_restrict_unprivileged_userns=0, \
    or an AppArmor profile for bwrap); in a container allow them too (Docker: --security-opt seccomp=unconfined \
    --security-opt apparmor=unconfined, or --privileged).";

/// Checks everything that a command needs, by running one. The test files are put into `folder`.
#[must_use]
pub fn probe(folder: &Path) -> Vec<Check> {
    let check = |name, outcome, detail: String| Check { name, outcome, detail };
    let Some(program) = bubblewrap::find() else {
        return vec![check("sandbox", CheckResult::Missing, format!("bubblewrap (bwrap) is not installed. {HOW_TO_FIX}"))];
    };
    let mut checks = vec![match attempt(folder, Kind::Direct) {
        Ok(()) => check("sandbox", CheckResult::Good, format!("commands run in {} with seccomp and Landlock", program.display())),
        Err(Unavailable(why)) => check("sandbox", CheckResult::Missing, format!("can't start a command: {}. {HOW_TO_FIX}", why.trim())),
    }];
    checks.push(if has_overlay(folder) {
        check("staging", CheckResult::Good, "a command's changes are staged in an overlay until they are approved".to_owned())
    } else {
        let less = "the kernel allows no overlay here, so files are copied before each command and restored if you refuse its changes";
        check("staging", CheckResult::Weaker, less.to_owned())
    });
    let groups = Groups::make(&format!("{NAME}{}-probe", std::process::id()), &Limits::within(Duration::from_secs(1)));
    checks.push(if groups.folders().is_empty() {
        check(
            "limits",
            CheckResult::Weaker,
            "can't create control groups here; the memory limit applies to each process separately".to_owned(),
        )
    } else {
        check("limits", CheckResult::Good, "a control group limits the processes and memory of a command".to_owned())
    });
    checks
}

/// Whether git, which plans and reviews depend on, is installed.
#[must_use]
pub fn git() -> Check {
    let version = std::process::Command::new("git").arg("--version").env_remove("GIT_DIR").current_dir("/").output();
    match version.ok().filter(|output| output.status.success()) {
        Some(output) => {
            Check { name: "git", outcome: CheckResult::Good, detail: String::from_utf8_lossy(&output.stdout).trim().to_owned() }
        }
        None => Check {
            name: "git",
            outcome: CheckResult::Weaker,
            detail: "git is not installed (apt-get install git); commands that need it fail".to_owned(),
        },
    }
}

/// Whether an overlay can be mounted over the workspace. Checked once per process.
pub fn has_overlay(folder: &Path) -> bool {
    static KNOWN: OnceLock<bool> = OnceLock::new();
    *KNOWN.get_or_init(|| !is_disabled_by_test() && attempt(folder, Kind::Staged).is_ok())
}

/// Whether changes can be staged in memory, where the overlay needs extended attributes. Checked once per process.
pub fn has_memory_overlay(folder: &Path) -> bool {
    static KNOWN: OnceLock<bool> = OnceLock::new();
    *KNOWN.get_or_init(|| !is_disabled_by_test() && attempt(folder, Kind::InMemory).is_ok())
}

/// Whether a test simulates a machine without overlays. Debug builds only.
fn is_disabled_by_test() -> bool {
    cfg!(debug_assertions) && std::env::var_os("PLANWRIGHT_NO_OVERLAY").is_some()
}

#[derive(Clone, Copy)]
enum Kind {
    Direct,
    Staged,
    InMemory,
}

/// Runs a command that writes a file, in its own folder.
fn attempt(folder: &Path, kind: Kind) -> Result<(), Unavailable> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let failed = |error: std::io::Error| Unavailable(format!("can't use {}: {error}", folder.display()));
    std::fs::create_dir_all(folder).map_err(failed)?;
    let real = std::fs::canonicalize(folder).map_err(failed)?;
    let place = Place(real.join(format!("probe-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))));
    let (workspace, scratch) = (place.0.join("workspace"), place.0.join("scratch"));
    for folder in [&workspace, &scratch] {
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    let view = match kind {
        Kind::Direct => View::Direct,
        Kind::Staged | Kind::InMemory => View::staged(place.0.clone()).map_err(failed)?,
    };
    std::fs::create_dir_all(workspace.join("folder/inside")).map_err(failed)?;
    let memory = matches!(kind, Kind::InMemory).then_some(1 << 20);
    let policy = Policy { memory, ..Policy::plain(workspace, view, scratch, Limits::within(Duration::from_secs(10))) };
    let mut printed = Vec::new();
    let finished =
        run(&policy, "echo works > probe; rm -r folder && mkdir folder", &Stop::default(), |bytes| printed.extend_from_slice(bytes))?;
    match finished.ended {
        CommandEnd::Exited(0) => Ok(()),
        CommandEnd::Exited(_)
        | CommandEnd::TimedOut
        | CommandEnd::Stopped
        | CommandEnd::Flooded
        | CommandEnd::DiskFull
        | CommandEnd::DiskQuota => Err(Unavailable(String::from_utf8_lossy(&printed).into_owned())),
    }
}

struct Place(PathBuf);

impl Drop for Place {
    fn drop(&mut self) {
        crate::removal::remove_folder(&self.0);
    }
}
