//! What runs on the machine, as `/proc` tells it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// A process that should not be there.
pub struct Left {
    pub pid: u32,
    /// Its number, state and command line.
    pub what: String,
}

/// The processes that descend from `server`, or stand in the folder, or see it among their mounts.
pub fn left(server: Option<u32>, folder: &Path) -> Vec<Left> {
    let parents: BTreeMap<u32, (u32, char)> = numbers().filter_map(|pid| Some((pid, parent(pid)?))).collect();
    let descends = |pid: u32| {
        let chain = std::iter::successors(Some(pid), |pid| parents.get(pid).map(|(parent, _)| *parent));
        server.is_some_and(|server| chain.skip(1).take(parents.len()).any(|pid| pid == server))
    };
    let found = parents.keys().copied().filter(|&pid| Some(pid) != server && pid != std::process::id());
    found
        .filter(|&pid| descends(pid) || stands_in(pid, folder))
        .map(|pid| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ").chars().take(200).collect::<String>();
            Left { pid, what: format!("{pid} ({}) {line}", parents[&pid].1) }
        })
        .collect()
}

/// Ends processes of ours.
pub fn end(processes: &[Left]) {
    for process in processes {
        // One that has ended meanwhile is as good.
        let _ = std::process::Command::new("kill").args(["-KILL", &process.pid.to_string()]).status();
    }
}

/// A number of kilobytes of the process's status.
pub fn kilobytes(pid: u32, key: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or_default()
}

/// Makes the kernel forget the most memory that the process used so far.
pub fn forget_peak(pid: u32) {
    // Where it won't, the measure only gets stricter.
    let _ = fs::write(format!("/proc/{pid}/clear_refs"), "5");
}

fn numbers() -> impl Iterator<Item = u32> {
    fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The parent and the state; nothing of a process that has ended.
fn parent(pid: u32) -> Option<(u32, char)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    let state = fields.next()?.chars().next()?;
    Some((fields.next()?.parse().ok()?, state))
}

fn stands_in(pid: u32, folder: &Path) -> bool {
    let inside = fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(folder));
    let name = folder.to_string_lossy();
    inside || fs::read_to_string(format!("/proc/{pid}/mountinfo")).is_ok_and(|mounts| mounts.contains(name.as_ref()))
}

#[test]
fn a_process_that_stands_in_a_folder_is_found_and_can_be_ended() {
    let folder = std::env::temp_dir().join(format!("planwright-processes-{}", std::process::id()));
    fs::create_dir(&folder).unwrap();
    let mut child = std::process::Command::new("sleep").arg("60").current_dir(&folder).spawn().unwrap();
    let found = left(None, &folder);
    assert_eq!(found.iter().map(|process| process.pid).collect::<Vec<_>>(), [child.id()]);
    assert_eq!(left(Some(std::process::id()), Path::new("/nowhere")).len(), 1);
    end(&found);
    child.wait().unwrap();
    assert!(left(None, &folder).is_empty());
    fs::remove_dir(&folder).unwrap();
}
