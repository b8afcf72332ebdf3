//! Speed, as ratios against a reference measured in the same run. Exits with 1 when a bar is missed.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::cast_precision_loss,
    reason = "a benchmark fails by panicking"
)]

use planwright_code::Index;
use planwright_protocol::Role;
use planwright_testkit::bench::report;
use planwright_tools::tool::{Seen, ToolContext, tool_named};
use planwright_tools::{
    AgentKind, CommandContext, Consent, Effect, Epoch, Fence, FileEffect, Situation, ToolConfig, Verdict, Workspace, WorkspacePath, decide,
};
use serde_json::json;
use std::fs::File;
use std::hint::black_box;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn main() -> ExitCode {
    let folder = tempfile::Builder::new().prefix("bench-").tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let results = [gate(), write(folder.path()), grep(folder.path()), names(folder.path())];
    if results.into_iter().all(|within| within) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn situation(role: Role) -> Situation {
    let fence = Fence::new(Epoch(0));
    Situation {
        role,
        tool: "write".to_owned(),
        epoch: fence.epoch(),
        fence,
        own_plan: None,
        foreign_plans: Arc::new((0..100).map(|number| WorkspacePath::parse(&format!("/plans/{number}.plan")).unwrap()).collect()),
        scope: None,
        missing_plan: None,
        approvals: Arc::default(),
        secrets: Arc::default(),
        grants: Arc::default(),
        hosts: Arc::default(),
        agent: AgentKind::default(),
        consent: Consent::Needed,
    }
}

fn context(folder: &Path) -> ToolContext {
    ToolContext {
        workspace: Arc::new(Workspace::open(folder).unwrap()),
        seen: Arc::new(Seen::default()),
        config: ToolConfig::default(),
        command: CommandContext::default(),
    }
}

/// A whole call, as a session makes it.
fn call(cx: &ToolContext, situation: &Situation, tool: &str, args: &serde_json::Value) -> String {
    let prepared = tool_named(tool).unwrap().prepare(&args.to_string(), cx).unwrap();
    let Verdict::Allow(permit) = decide(situation, &prepared.effects) else { unreachable!("the benchmark asks for nothing forbidden") };
    prepared.commit(&permit).unwrap().text
}

fn gate() -> bool {
    const DECISIONS: u32 = 200_000;
    let situation = situation(Role::Actor);
    let effects: [Effect; 2] = [
        FileEffect::Write(WorkspacePath::parse("/src/some/module/file.rs").unwrap()).into(),
        FileEffect::Read(WorkspacePath::parse("/src/some/module/file.rs").unwrap()).into(),
    ];
    let start = Instant::now();
    for _ in 0..DECISIONS {
        black_box(decide(black_box(&situation), black_box(&effects)));
    }
    report("a decision of the gate, 100 plans of other chats", start.elapsed().as_secs_f64() / f64::from(DECISIONS) * 1e6, "µs", 5.0)
}

fn write(folder: &Path) -> bool {
    let cx = context(folder);
    let situation = situation(Role::Actor);
    let content = |round: usize| format!("{round:04}").repeat(1024);
    let (mut ours, mut plain) = (Vec::new(), Vec::new());
    for round in 0..200 {
        let start = Instant::now();
        call(&cx, &situation, "write", &json!({"path": "/ours.txt", "content": content(round)}));
        ours.push(start.elapsed());
        let start = Instant::now();
        plain_write(folder, &content(round));
        plain.push(start.elapsed());
    }
    report("write of 4 KiB, against the same steps in plain Rust", ratio(ours, plain), "", 1.2)
}

/// Before-image, temporary file, flush, rename, flush of the folder.
fn plain_write(folder: &Path, content: &str) {
    let target = folder.join("plain.txt");
    let mut before = Vec::new();
    if let Ok(mut file) = File::open(&target) {
        file.read_to_end(&mut before).unwrap();
    }
    let temporary = folder.join("plain.tmp");
    let mut file = File::create_new(&temporary).unwrap();
    file.write_all(content.as_bytes()).unwrap();
    file.sync_all().unwrap();
    std::fs::rename(temporary, target).unwrap();
    File::open(folder).unwrap().sync_all().unwrap();
    black_box(before);
}

fn grep(folder: &Path) -> bool {
    let tree = folder.join("tree");
    make_tree(&tree);
    let cx = context(&tree);
    let situation = situation(Role::Planner);
    let (mut ours, mut rg) = (Vec::new(), Vec::new());
    for _ in 0..9 {
        let start = Instant::now();
        let found = call(&cx, &situation, "grep", &json!({"pattern": "needle_[0-9]+", "path": "/", "limit": 2000}));
        ours.push(start.elapsed());
        let start = Instant::now();
        let output = Command::new("rg").args(["--line-number", "--no-heading", "--hidden", "needle_[0-9]+"]).arg(&tree).output().unwrap();
        rg.push(start.elapsed());
        assert_eq!(found.matches("needle_").count(), String::from_utf8(output.stdout).unwrap().matches("needle_").count());
    }
    report("grep over 20,000 files, against rg", ratio(ours, rg), "", 1.3)
}

/// 20,000 files of about 2 KiB in 200 folders; one in a hundred has a match.
fn make_tree(tree: &Path) {
    for folder in 0..200 {
        let folder_path = tree.join(format!("folder{folder}"));
        std::fs::create_dir_all(&folder_path).unwrap();
        for file in 0..100 {
            let mut text = "fn ordinary(line: usize) -> usize { line + 1 } // nothing to see here\n".repeat(30);
            if file == 50 {
                text.push_str(&format!("needle_{folder}\n"));
            }
            std::fs::write(folder_path.join(format!("file{file}.rs")), text).unwrap();
        }
    }
}

/// Names in syntax trees: the first search of each of three trees, then the same again.
fn names(folder: &Path) -> bool {
    let situation = situation(Role::Planner);
    let trees: Vec<_> = (0..3).map(|number| folder.join(format!("sources{number}"))).collect();
    for (number, tree) in trees.iter().enumerate() {
        make_sources(tree, number);
    }
    // What changed within the last second is read again each time.
    std::thread::sleep(Duration::from_millis(1_200));
    let mut is_within = true;
    for (tool, args) in
        [("references", json!({"symbol": "needle_call", "limit": 500})), ("symbols", json!({"query": "needle_call", "limit": 500}))]
    {
        let (mut cold, mut warm, mut rg) = (Vec::new(), Vec::new(), Vec::new());
        for tree in &trees {
            let cx = context(tree);
            for round in 0..5 {
                let start = Instant::now();
                let found = call(&cx, &situation, tool, &args);
                if round == 0 { &mut cold } else { &mut warm }.push(start.elapsed());
                assert!(!found.contains("stopped after") && found.matches("needle_call").count() >= 200, "{tool}");
                let start = Instant::now();
                let output =
                    Command::new("rg").args(["--line-number", "--no-heading", "--hidden", "needle_call"]).arg(tree).output().unwrap();
                rg.push(start.elapsed());
                assert!(String::from_utf8(output.stdout).unwrap().matches("needle_call").count() >= 400);
            }
        }
        // The second tool finds what the first one left in the index.
        if tool == "references" {
            is_within &= report("references in 20,000 sources, index cold, against rg", ratio(cold, rg.clone()), "", 20.0);
        }
        is_within &= report(&format!("{tool} in 20,000 sources, index warm, against rg"), ratio(warm, rg), "", 1.0);
    }
    let megabytes = Index::shared().bytes() as f64 / 1e6;
    let sources = trees.len() * 20_000;
    println!("the index has {} of {sources} files, {megabytes:.1} MB", Index::shared().files());
    is_within & report("memory of the index", megabytes, "MB", 67.2)
}

/// 20,000 files of about 2 KiB in 200 folders, no two alike; one in a hundred defines and calls what is looked for.
fn make_sources(tree: &Path, number: usize) {
    for folder in 0..200 {
        let folder_path = tree.join(format!("folder{folder}"));
        std::fs::create_dir_all(&folder_path).unwrap();
        for file in 0..100 {
            let mut text: String = (0..30)
                .map(|line| format!("fn ordinary_{number}_{folder}_{file}_{line}(value: usize) -> usize {{ value + {line} }}\n"))
                .collect::<Vec<_>>()
                .concat();
            if file == 50 {
                text.push_str(&format!("fn needle_call_{folder}() {{ needle_call() }}\nfn needle_call() {{}}\n"));
            }
            std::fs::write(folder_path.join(format!("file{file}.rs")), text).unwrap();
        }
    }
}

/// The ratio of the medians, so that one slow round does not decide.
fn ratio(ours: Vec<Duration>, reference: Vec<Duration>) -> f64 {
    let median = |mut times: Vec<Duration>| {
        times.sort();
        times[times.len() / 2].as_secs_f64()
    };
    median(ours) / median(reference)
}
