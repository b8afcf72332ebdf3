//! Attacks that the cases do not have.

use super::judge::Seen;
use super::who::Who;
use super::world::World;
use planwright_testkit::guard::{Case, Suite};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Opens settings of the kernel for writing, without writing: what is told the kernel by root holds for all the machine.
const SETTINGS: &str =
    "for file in kernel/core_pattern kernel/sysrq kernel/panic fs/suid_dumpable fs/protected_symlinks vm/overcommit_memory; do
    (: >> /proc/sys/$file) 2> /dev/null && echo OPEN $file
done; true";

async fn command(world: &World, suite: &Suite, role: &str, command: &str) -> Seen {
    let mut case: Case = suite.cases.iter().find(|case| case.id == "CM-093").unwrap().clone();
    role.clone_into(&mut case.role);
    case.args["command"] = command.into();
    let seen = world.carry_out(&case, &[]).await.unwrap();
    assert_eq!(seen.exit_code(), Some(0), "{role}: {command}: {}", seen.outcome.output);
    seen
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_of_a_command_runs_any_more_when_its_result_is_there() {
    let suite = Suite::load();
    for who in Who::all() {
        let world = World::start(&suite, who).await;
        let mut late = Vec::new();
        for role in ["Tester", "Actor"].repeat(10) {
            let seen = command(&world, &suite, role, "for i in $(seq 200); do sleep 300 & done; true").await;
            late.extend(seen.processes.first().map(|first| format!("{role}: {} left, such as {first}", seen.processes.len())));
        }
        assert!(late.is_empty(), "as {}, after {} of 20 commands: {late:#?}", world.who.name, late.len());
        let groups = groups(&format!("planwright-{}-", world.pid));
        assert!(groups.is_empty(), "as {}, control groups are left: {groups:#?}", world.who.name);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_command_can_change_a_setting_of_the_kernel() {
    let suite = Suite::load();
    for who in Who::all() {
        let outside = who.command("bash").args(["-c", SETTINGS]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&outside.stdout).contains("OPEN"), who.uid == 0, "outside root may, and nobody else");
        let world = World::start(&suite, who).await;
        for role in ["Tester", "Actor"] {
            let seen = command(&world, &suite, role, SETTINGS).await;
            assert!(!seen.outcome.output.contains("OPEN"), "as {}, {role}: {}", world.who.name, seen.outcome.output);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_command_leaves_a_program_that_runs_as_its_owner() {
    let suite = Suite::load();
    for who in Who::all() {
        let world = World::start(&suite, who).await;
        command(&world, &suite, "Actor", "cp /usr/bin/id own; chmod 6755 own; ls -l own").await;
        let planted = world.workspace("CM-093").join("own");
        let mode = fs::metadata(planted).map_or(0, |metadata| metadata.permissions().mode());
        assert_eq!(mode & 0o6000, 0, "as {}, the mode is {mode:o}", world.who.name);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_is_shut_to_its_owner_stays_so_whatever_is_run_beside_it() {
    let suite = Suite::load();
    for who in Who::all() {
        let world = World::start(&suite, who).await;
        command(&world, &suite, "Actor", "mkdir shut; chmod 000 shut").await;
        for role in ["Tester", "Actor"] {
            command(&world, &suite, role, "true").await;
            let mode = fs::metadata(world.workspace("CM-093").join("shut")).unwrap().permissions().mode();
            assert_eq!(mode & 0o7777, 0, "as {}, {role}: the mode is {mode:o}", world.who.name);
        }
    }
}

/// The control groups whose names begin so.
fn groups(prefix: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![Path::new("/sys/fs/cgroup").to_owned()];
    while let Some(folder) = left.pop() {
        let entries =
            fs::read_dir(folder).into_iter().flatten().flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        for entry in entries {
            if entry.file_name().to_string_lossy().starts_with(prefix) {
                found.push(entry.path());
            }
            left.push(entry.path());
        }
    }
    found
}
