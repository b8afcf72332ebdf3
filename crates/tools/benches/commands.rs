//! What the sandbox and the judging of effects cost, beside the same without them. Reported, without a bar.
#![expect(clippy::unwrap_used, clippy::print_stdout, clippy::disallowed_methods, reason = "a benchmark prints, and fails by panicking")]

use planwright_protocol::settings::SandboxSettings;
use planwright_protocol::{CallId, Role};
use planwright_sandbox::{Limits, Policy, Stop, View};
use planwright_tools::command::{Landed, Reach};
use planwright_tools::tool::{Seen, ToolContext, tool_named};
use planwright_tools::workspace::Mirror;
use planwright_tools::{
    AgentKind, CommandContext, Commands, Consent, Epoch, Fence, Situation, Staged, ToolConfig, Verdict, Workspace, decide,
};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn main() -> ExitCode {
    // The sandbox starts this very program again.
    if let Some(code) = planwright_sandbox::enter_if_asked() {
        return code;
    }
    let folder = tempfile::Builder::new().prefix("bench-").tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    sandbox(folder.path());
    judging(folder.path());
    build_output(folder.path());
    ExitCode::SUCCESS
}

fn report(what: &str, times: &mut [Duration]) -> f64 {
    times.sort();
    let median = times[times.len() / 2].as_secs_f64() * 1e3;
    println!("{what:<66} {median:>9.2} ms");
    median
}

fn policy(folder: &Path, workspace: PathBuf, view: View) -> Policy {
    let scratch = folder.join("scratch");
    std::fs::create_dir_all(&scratch).unwrap();
    Policy::plain(workspace, view, scratch, Limits::within(Duration::from_mins(1)))
}

fn sandbox(folder: &Path) {
    let workspace = folder.join("empty-workspace");
    std::fs::create_dir_all(&workspace).unwrap();
    let (mut bare, mut bubblewrap, mut ours, mut staged) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let timed = |times: &mut Vec<Duration>, work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        times.push(start.elapsed());
    };
    for round in 0..41 {
        timed(&mut bare, &mut || assert!(Command::new("bash").args(["-c", "true"]).status().unwrap().success()));
        let wrap = ["--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "bash", "-c", "true"];
        timed(&mut bubblewrap, &mut || assert!(Command::new("bwrap").args(wrap).status().unwrap().success()));
        timed(&mut ours, &mut || {
            let finished = planwright_sandbox::run(&policy(folder, workspace.clone(), View::Direct), "true", &Stop::default(), |_| {});
            finished.unwrap();
        });
        timed(&mut staged, &mut || {
            let view = View::staged(folder.join(format!("stage{round}"))).unwrap();
            planwright_sandbox::run(&policy(folder, workspace.clone(), view), "true", &Stop::default(), |_| {}).unwrap();
        });
    }
    let bare = report("`true`, bare", &mut bare);
    let bubblewrap = report("`true` in plain bwrap", &mut bubblewrap);
    let ours = report("`true` in the sandbox, the workspace as it is", &mut ours);
    let staged = report("`true` in the sandbox, the workspace staged", &mut staged);
    println!("{:<66} {:>9.2}", "the sandbox, against bare", ours / bare);
    println!("{:<66} {:>9.2}", "the sandbox, against plain bwrap", ours / bubblewrap);
    println!("{:<66} {:>9.2}", "staged, against plain bwrap", staged / bubblewrap);
}

/// A whole call of `run` that changes ten files of a tree of 20,000, with its effects judged and landed.
fn judging(folder: &Path) {
    let tree = folder.join("tree");
    make_tree(&tree, 200);
    let workspace = Arc::new(Workspace::open(&tree).unwrap());
    let commands = commands(folder);
    let mut whole = Vec::new();
    for round in 0..11 {
        let start = Instant::now();
        let output = call(&workspace, &commands, &format!("for i in 0 1 2 3 4 5 6 7 8 9; do echo {round} > folder$i/file1.rs; done")).0;
        assert_eq!(output.report.unwrap().data["changed"].as_array().unwrap().len(), 10);
        whole.push(start.elapsed());
    }
    report("`run` that changes 10 of 20,000 files, staged in an overlay", &mut whole);

    let (copies, stage) = (folder.join("mirror"), folder.join("stages/one"));
    std::fs::create_dir_all(&stage).unwrap();
    let mirror = Mirror { copies: &copies, stage: &stage, baseline: None };
    let start = Instant::now();
    workspace.mirror(&mirror).unwrap();
    println!("{:<66} {:>9.2} ms", "without overlays: the first copy of 20,000 files", start.elapsed().as_secs_f64() * 1e3);
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for round in 0..11 {
        let start = Instant::now();
        workspace.mirror(&mirror).unwrap();
        before.push(start.elapsed());
        std::fs::write(tree.join("folder1/file1.rs"), format!("{round}")).unwrap();
        let _ = std::fs::remove_file(stage.join("after.json"));
        let start = Instant::now();
        assert_eq!(workspace.changes_since(&mirror).unwrap().judged.len(), 1);
        after.push(start.elapsed());
    }
    report("without overlays: before each further command", &mut before);
    report("without overlays: after each command", &mut after);
}

/// Judging and landing of build output whose every file a command replaced, against a copy of the same tree. With four times
/// the files the ratio must stay about the same: the cost grows with their number and not with its square.
fn build_output(folder: &Path) {
    let mut ratios = Vec::new();
    for folders in [50, 200] {
        let root = folder.join(format!("build-output-{folders}"));
        let output = root.join("node_modules");
        make_tree(&output, folders);
        let (workspace, commands) = (Arc::new(Workspace::open(&root).unwrap()), commands(folder));
        let (mut copied, mut landed) = (Vec::new(), Vec::new());
        for round in 0..5 {
            let copy = folder.join(format!("copy-{folders}-{round}"));
            let start = Instant::now();
            assert!(Command::new("cp").arg("-a").args([&output, &copy]).status().unwrap().success());
            copied.push(start.elapsed());
            let replace = format!("find node_modules -type f -exec sh -c 'for file; do echo {round} > \"$file\"; done' sh {{}} +");
            landed.push(call(&workspace, &commands, &replace).1);
        }
        assert_eq!(std::fs::read_to_string(output.join("folder1/file1.rs")).unwrap(), "4\n");
        let files = folders * 100;
        let copied = report(&format!("`cp -a` of {files} files"), &mut copied);
        let landed = report(&format!("judging and landing of {files} replaced files of build output"), &mut landed);
        println!("{:<66} {:>9.2}", "against `cp -a`", landed / copied);
        ratios.push(landed / copied);
    }
    println!("{:<66} {:>9.2}", "growth of that ratio with four times the files", ratios[1] / ratios[0]);
}

fn commands(folder: &Path) -> Arc<Commands> {
    Arc::new(Commands {
        place: folder.join("commands"),
        sandbox: SandboxSettings::default(),
        own: Vec::new(),
        team: None,
        roots: Vec::new(),
    })
}

/// A whole call of `run`, and how long the judging and landing of its changes took.
fn call(workspace: &Arc<Workspace>, commands: &Arc<Commands>, command: &str) -> (Landed, Duration) {
    let context = CommandContext {
        call: Some(CallId::generate()),
        commands: Some(commands.clone()),
        reach: Reach::Source,
        ..CommandContext::default()
    };
    let cx = ToolContext { workspace: workspace.clone(), seen: Arc::new(Seen::default()), config: ToolConfig::default(), command: context };
    let fence = Fence::new(Epoch(0));
    let situation = Situation {
        role: Role::Actor,
        tool: "run".to_owned(),
        epoch: fence.epoch(),
        fence,
        own_plan: None,
        foreign_plans: Arc::default(),
        scope: None,
        missing_plan: None,
        approvals: Arc::default(),
        secrets: Arc::default(),
        grants: Arc::default(),
        hosts: Arc::default(),
        agent: AgentKind::default(),
        consent: Consent::Needed,
    };
    let prepared = tool_named("run").unwrap().prepare(&json!({ "command": command }).to_string(), &cx).unwrap();
    let Verdict::Allow(permit) = decide(&situation, &prepared.effects) else { unreachable!("nothing to ask") };
    prepared.commit(&permit).unwrap();
    let start = Instant::now();
    let staged = Staged::load(&cx).unwrap().unwrap();
    let Verdict::Allow(permit) = decide(&situation, &staged.effects()) else { unreachable!("nothing to ask") };
    let output = staged.keep(&permit, &[]).unwrap();
    (output, start.elapsed())
}

/// Folders with 100 files of about 2 KiB each.
fn make_tree(tree: &Path, folders: usize) {
    for folder in 0..folders {
        let folder = tree.join(format!("folder{folder}"));
        std::fs::create_dir_all(&folder).unwrap();
        for file in 0..100 {
            let text = "fn ordinary(line: usize) -> usize { line + 1 } // nothing to see here\n".repeat(30);
            std::fs::write(folder.join(format!("file{file}.rs")), text).unwrap();
        }
    }
}
