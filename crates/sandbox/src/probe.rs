//! Whether commands can be run here, and how to mend it.

use crate::bubblewrap;
use crate::cgroup::{Groups, NAME};
use crate::command::{Ended, Stop, Unavailable, run};
use crate::policy::{Limits, Policy, View};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// One thing that was looked at.
#[derive(Clone, Debug)]
pub struct Check {
    pub name: &'static str,
    pub outcome: Outcome,
    pub detail: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Good,
    /// Works, with something less.
    Weaker,
    Missing,
}

/// How to get a sandbox where there is none.
pub const MEND: &str = "Install bubblewrap (apt-get install bubblewrap). If it is there: allow user namespaces \
    (sysctl user.max_user_namespaces=15000; on Ubuntu also sysctl kernel.apparmor_restrict_unprivileged_userns=0, \
    or an AppArmor profile for bwrap); in a container allow them too (Docker: --security-opt seccomp=unconfined \
    --security-opt apparmor=unconfined, or --privileged).";

/// Looks at everything a command needs, by running one. `folder` is where it may put things.
#[must_use]
pub fn probe(folder: &Path) -> Vec<Check> {
    let check = |name, outcome, detail: String| Check { name, outcome, detail };
    let Some(program) = bubblewrap::find() else {
        return vec![check("sandbox", Outcome::Missing, format!("bubblewrap (bwrap) is not installed. {MEND}"))];
    };
    let mut checks = vec![match attempt(folder, Kind::Direct) {
        Ok(()) => check("sandbox", Outcome::Good, format!("commands run in {} with seccomp and Landlock", program.display())),
        Err(Unavailable(why)) => check("sandbox", Outcome::Missing, format!("a command could not be started: {}. {MEND}", why.trim())),
    }];
    checks.push(if has_overlay(folder) {
        check("staging", Outcome::Good, "what a command changes is staged in an overlay until it has been judged".to_owned())
    } else {
        let less = "the kernel allows no overlay here, so files are copied before each command and put back if you say so";
        check("staging", Outcome::Weaker, less.to_owned())
    });
    let groups = Groups::make(&format!("{NAME}{}-probe", std::process::id()), &Limits::within(Duration::from_secs(1)));
    checks.push(if groups.folders().is_empty() {
        check("limits", Outcome::Weaker, "no control groups can be made here; memory is limited for each process alone".to_owned())
    } else {
        check("limits", Outcome::Good, "processes and memory of a command are limited by a control group".to_owned())
    });
    checks
}

/// Whether git is there, which plans and reviews lean on.
#[must_use]
pub fn git() -> Check {
    let version = std::process::Command::new("git").arg("--version").env_remove("GIT_DIR").current_dir("/").output();
    match version.ok().filter(|output| output.status.success()) {
        Some(output) => Check { name: "git", outcome: Outcome::Good, detail: String::from_utf8_lossy(&output.stdout).trim().to_owned() },
        None => Check {
            name: "git",
            outcome: Outcome::Weaker,
            detail: "git is not installed (apt-get install git); everything works, but commands that need it don't".to_owned(),
        },
    }
}

/// Whether the workspace can be seen through an overlay. Asked once per process.
pub fn has_overlay(folder: &Path) -> bool {
    static KNOWN: OnceLock<bool> = OnceLock::new();
    *KNOWN.get_or_init(|| !is_kept_away() && attempt(folder, Kind::Staged).is_ok())
}

/// Whether changes can be staged in memory: the overlay needs extended attributes there. Asked once per process.
pub fn has_memory_overlay(folder: &Path) -> bool {
    static KNOWN: OnceLock<bool> = OnceLock::new();
    *KNOWN.get_or_init(|| !is_kept_away() && attempt(folder, Kind::InMemory).is_ok())
}

/// Whether a test wants this machine to be like one without overlays. Not in release builds.
fn is_kept_away() -> bool {
    cfg!(debug_assertions) && std::env::var_os("PLANWRIGHT_NO_OVERLAY").is_some()
}

#[derive(Clone, Copy)]
enum Kind {
    Direct,
    Staged,
    InMemory,
}

/// Runs a command that writes a file, in a folder of its own.
fn attempt(folder: &Path, kind: Kind) -> Result<(), Unavailable> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let failed = |error: std::io::Error| Unavailable(format!("{} can't be used: {error}", folder.display()));
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
        Ended::Exited(0) => Ok(()),
        Ended::Exited(_) | Ended::TimedOut | Ended::Stopped | Ended::Flooded | Ended::DiskFull | Ended::DiskQuota => {
            Err(Unavailable(String::from_utf8_lossy(&printed).into_owned()))
        }
    }
}

struct Place(PathBuf);

impl Drop for Place {
    fn drop(&mut self) {
        crate::removal::clear(&self.0);
    }
}
