//! Attacks that the cases do not have.

use super::ground::Ground;
use super::judge::Seen;
use super::who::Who;
use super::world::World;
use planwright_testkit::guard::{Case, Suite};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Opens settings of the kernel for writing, without writing: root's settings would apply to the whole machine.
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

/// Makes files with the bits, by every call that can.
#[cfg(target_arch = "x86_64")]
const MAKE_OWNED: &str = r#"umask 0; my $at = -100; my @names = map { "by-$_" } 0..9;
syscall(2, $names[0], 0101, 04755);
syscall(2, $names[1], 0101, 02755);
syscall(257, $at, $names[2], 0101, 06755);
syscall(133, $names[3], 0104755, 0);
syscall(259, $at, $names[4], 0106755, 0);
syscall(85, $names[5], 06755);
my $how = pack("QQQ", 0101, 06755, 0); syscall(437, $at, $names[6], $how, 24);
my $here = "."; my $made = syscall(257, $at, $here, 020200002, 06755);
my $path = "/proc/self/fd/$made"; syscall(265, $at, $path, $at, $names[7], 0x400) if $made >= 0;
my $plain = "plain"; syscall(2, $plain, 0101, 0755);"#;

#[cfg(target_arch = "x86_64")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_call_that_makes_a_file_gives_it_the_rights_of_its_owner() {
    let suite = Suite::load();
    for who in Who::all() {
        let world = World::start(&suite, who).await;
        command(&world, &suite, "Actor", &format!("perl -e '{MAKE_OWNED}'; true")).await;
        let workspace = world.workspace("CM-093");
        assert!(workspace.join("plain").exists(), "the script ran");
        for entry in fs::read_dir(workspace).unwrap().flatten() {
            let mode = fs::symlink_metadata(entry.path()).unwrap().permissions().mode();
            assert_eq!(mode & 0o6000, 0, "as {}, the mode of {:?} is {mode:o}", world.who.name, entry.file_name());
        }
        let seen = command(&world, &suite, "Actor", &format!("cd /tmp && perl -e '{MAKE_OWNED}'; find /tmp -perm /6000")).await;
        assert!(!seen.outcome.output.contains("by-"), "as {}: {}", world.who.name, seen.outcome.output);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_commands_leave_with_the_server_is_closed_to_others_whatever_the_umask() {
    let ground = Ground::new(Who::all().remove(0));
    fs::create_dir_all(ground.path("data/commands")).unwrap();
    for folder in ["", "data", "data/commands"] {
        fs::set_permissions(ground.path(folder), fs::Permissions::from_mode(0o777)).unwrap();
    }
    let served = ground.serve_by("umask 000; exec \"$@\"").await;
    for role in ["actor", "tester", "planner"] {
        let answer = served.run(role, "mkdir -p $XDG_CACHE_HOME/x; echo y > z; echo it ran").await;
        assert!(answer.to_string().contains("it ran"), "{answer}");
    }
    let commands = ground.path("data/commands");
    let mut open: Vec<PathBuf> = vec![commands.clone()];
    open.extend(["stage", "scratch", "baselines", "mirror"].map(|name| commands.join(name)));
    open.retain(|folder| fs::metadata(folder).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0));
    assert!(open.is_empty(), "open to others: {open:?}");
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn half_of_a_repository_in_a_shut_folder_is_not_completed_by_the_command_that_opens_it() {
    for who in Who::all() {
        for environment in super::ground::BOTH_WAYS {
            for place in ["h", "node_modules/h"] {
                let ground = Ground::new(who);
                ground.put("workspace/a.txt", "a\n");
                let served = ground.serve(environment).await;
                let half = format!("mkdir -p {place}/refs; echo ref: refs/heads/main > {place}/HEAD; chmod 000 {place}");
                served.run("actor", &half).await;
                let answer = served.run("actor", &format!("chmod 755 {place}; mkdir {place}/objects; true")).await;
                let folder = ground.path("workspace").join(place);
                let mode = fs::metadata(&folder).unwrap().permissions().mode() & 0o777;
                let is_whole = ["HEAD", "objects", "refs"].iter().all(|name| folder.join(name).exists());
                let told = format!("as {}, {environment:?}, {place}, mode {mode:o}: {answer}", ground.who.name);
                assert!(!is_whole || mode == 0, "{told}");
                // An ordinary user's server can't look into it either: outside of build output commands may not see it at all.
                let is_dropped = answer.to_string().contains("not kept");
                let is_unseen = ground.who.uid != 0 && answer.to_string().contains("commands can't open this");
                assert!(is_dropped || is_unseen, "{told}");
            }
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
