//! Limits on a command and all its descendants together, if this process may create control groups.
//!
//! Otherwise the per-process limits apply, and for ordinary users the limit on the number of processes.

use crate::policy::Limits;
use rustix::process::{Pid, Signal, kill_process};
use std::path::{Path, PathBuf};

const ROOT: &str = "/sys/fs/cgroup";
/// Prefix of the groups' names; the server's process id follows.
pub const NAME: &str = "planwright-";

/// The control groups of one command. Dropping this removes them, after the last process has ended.
#[derive(Debug)]
pub struct Groups {
    folders: Vec<PathBuf>,
}

impl Groups {
    pub fn make(name: &str, limits: &Limits) -> Self {
        let own = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let processes = limits.processes.to_string();
        let memory = limits.memory.to_string();
        let unified: &[(&str, &str)] = &[("pids.max", &processes), ("memory.max", &memory)];
        let mut folders: Vec<PathBuf> = Vec::new();
        for line in own.lines() {
            let Some((controllers, path)) = line.split_once(':').and_then(|(_, rest)| rest.split_once(':')) else { continue };
            let path = path.trim_start_matches('/');
            let made = match controllers {
                "" => make(&unified_root().join(path), name, unified),
                "pids" => make(&Path::new(ROOT).join("pids").join(path), name, &unified[..1]),
                "memory" => make(&Path::new(ROOT).join("memory").join(path), name, &[("memory.limit_in_bytes", &memory)]),
                _ => None,
            };
            folders.extend(made);
        }
        Self { folders }
    }

    pub fn folders(&self) -> &[PathBuf] {
        &self.folders
    }

    /// The names of the limits that the command reached.
    pub fn reached(&self) -> Vec<&'static str> {
        let counted = |file: &str, key: &str| {
            self.folders.iter().any(|folder| {
                let text = std::fs::read_to_string(folder.join(file)).unwrap_or_default();
                text.lines().filter_map(|line| line.split_once(' ')).any(|(name, count)| name == key && count.trim() != "0")
            })
        };
        let mut reached = Vec::new();
        if counted("pids.events", "max") {
            reached.push("processes");
        }
        if counted("memory.events", "oom_kill") || counted("memory.oom_control", "oom_kill") {
            reached.push("memory");
        }
        reached
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        for folder in &self.folders {
            // A leftover group is empty and harmless.
            let _ = std::fs::remove_dir(folder);
        }
    }
}

fn unified_root() -> PathBuf {
    let hybrid = Path::new(ROOT).join("unified");
    if hybrid.is_dir() { hybrid } else { ROOT.into() }
}

/// Creates a group below `parent`, if all its limits can be set there.
fn make(parent: &Path, name: &str, limits: &[(&str, &str)]) -> Option<PathBuf> {
    sweep(parent);
    let folder = parent.join(name);
    std::fs::create_dir(&folder).ok()?;
    // Enables the controllers if they are not enabled yet. If that fails, setting the limits below fails too.
    let _ = std::fs::write(parent.join("cgroup.subtree_control"), "+pids +memory");
    if limits.iter().all(|(file, limit)| std::fs::write(folder.join(file), limit).is_ok()) {
        return Some(folder);
    }
    let _ = std::fs::remove_dir(&folder);
    None
}

/// Removes groups whose server was killed, and kills the processes left in them.
fn sweep(parent: &Path) {
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| name.strip_prefix(NAME)?.split('-').next());
        if owner.is_some_and(|owner| !Path::new("/proc").join(owner).exists()) {
            let left = std::fs::read_to_string(entry.path().join("cgroup.procs")).unwrap_or_default();
            left.lines().filter_map(|number| number.parse().ok()).for_each(kill_waiting_bubblewrap);
            let _ = std::fs::remove_dir(entry.path());
        }
    }
}

/// Kills a bubblewrap whose outer half was killed before it gave the start signal: it would wait for the signal forever. A group
/// can hold no other leftover process, so nothing else is killed.
fn kill_waiting_bubblewrap(number: i32) {
    let name = std::fs::read_to_string(format!("/proc/{number}/comm")).unwrap_or_default();
    if let Some(process) = Pid::from_raw(number).filter(|_| name.trim_end() == "bwrap") {
        let _ = kill_process(process, Signal::KILL);
    }
}

/// Moves this process into the groups. All processes that it starts join them too.
pub fn join(folders: &[PathBuf]) -> std::io::Result<()> {
    folders.iter().try_for_each(|folder| std::fs::write(folder.join("cgroup.procs"), "0"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;
    use std::time::Duration;

    /// Starts a program under another name in the group of a dead server. Returns the signal that ended it, if any.
    fn left_behind(name: &str) -> Option<i32> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::copy("/bin/sleep", folder.path().join(name)).unwrap();
        let mut process = Command::new(folder.path().join(name)).arg("3").spawn().unwrap();
        // No process has this id.
        let gone = Groups::make(&format!("{NAME}999999999-{}", process.id()), &Limits::within(Duration::from_secs(1)));
        for group in gone.folders() {
            std::fs::write(group.join("cgroup.procs"), process.id().to_string()).unwrap();
        }
        drop(Groups::make(&format!("{NAME}{}-sweeping-{name}", std::process::id()), &Limits::within(Duration::from_secs(1))));
        let ended = process.wait().unwrap().signal();
        // Without control groups, no process is left in one.
        if gone.folders().is_empty() { Some(9).filter(|_| name == "bwrap") } else { ended }
    }

    #[test]
    fn a_waiting_bubblewrap_of_a_killed_server_is_ended_and_nothing_else_is() {
        assert_eq!((left_behind("bwrap"), left_behind("sleep")), (Some(9), None));
    }
}
