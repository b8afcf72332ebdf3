//! Switches of the role against writers: once a switch to plan has been answered, no file changes until the switch back.
//!
//! The switch is the user's own op, put to the chat's actor; a write is a call of the tool `write`, decided by the gate.
//! That the test can fail was seen with the fence broken in two ways: with the comparison of epochs in `Pass::enter`
//! left out, a file changed after the second switch; with the guard let go before the rename in `atomic::replace`, after
//! the 279th.

use async_trait::async_trait;
use planwright_agent::Provider;
use planwright_chat::{Chat, Handle, Models, Sessions};
use planwright_protocol::op::{Confirm, MarkChange, PlanChange};
use planwright_protocol::settings::ModelSettings;
use planwright_protocol::{ErrorCode, Mode, Op, Problem, RoleRequest};
use planwright_store::Store;
use planwright_tools::tool::tool_named;
use planwright_tools::{Consent, Verdict, decide};
use planwright_workspaces::Settings;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

const WRITERS: usize = 8;
/// How often the role goes to plan and back.
const FLIPS: &str = "PLANWRIGHT_MODE_FLIPS";

struct NoModel;

#[async_trait]
impl Models for NoModel {
    async fn model(&self, _: &ModelSettings, _: Mode) -> Result<Arc<dyn Provider>, Problem> {
        Err(Problem::new(ErrorCode::ProviderUnavailable, "No model is asked here."))
    }
}

/// The results of the writers' calls.
#[derive(Default)]
struct Counts {
    written: AtomicU64,
    denied: AtomicU64,
    /// Allowed before a switch, and come to the fence after it.
    fenced: AtomicU64,
    /// The calls that each writer has brought to their end.
    ended: [AtomicU64; WRITERS],
}

/// Writes its own file over and over, as fast as it can.
fn write_on(chat: &Chat, runtime: &tokio::runtime::Handle, writer: usize, counts: &Counts, over: &AtomicBool) {
    let tool = tool_named("write").unwrap();
    for round in 0_u64.. {
        if over.load(Ordering::Relaxed) {
            return;
        }
        let args = json!({ "path": format!("/{writer}.txt"), "content": format!("{round}\n") }).to_string();
        let (cx, situation) = runtime.block_on(async {
            let agent = chat.agent();
            (chat.tool_context(agent, None).await.unwrap(), chat.situation(agent, "write", Consent::Needed).await)
        });
        let prepared = tool.prepare(&args, &cx).unwrap();
        // Switched right after the role was read.
        let Ok(situation) = situation else { continue };
        match decide(&situation, &prepared.effects) {
            Verdict::Allow(permit) => match prepared.commit(&permit) {
                Ok(_) => counts.written.fetch_add(1, Ordering::SeqCst),
                Err(problem) if problem.code == ErrorCode::ModeChanged => counts.fenced.fetch_add(1, Ordering::SeqCst),
                Err(problem) => panic!("{problem:?}"),
            },
            Verdict::Deny(_) => counts.denied.fetch_add(1, Ordering::SeqCst),
            Verdict::Ask(approval) => panic!("{}", approval.reason),
        };
        counts.ended[writer].fetch_add(1, Ordering::SeqCst);
    }
}

async fn switch_to(handle: &Handle, role: &str) {
    let op = Op::Update {
        title: None,
        role: RoleRequest::role(role),
        plan_file: PlanChange::Keep,
        confirm: Confirm::Given,
        marks: MarkChange::default(),
    };
    handle.submit(op).await.unwrap();
}

/// Every file with its content and the time of its last change. Those that are still being written count only when they are in place.
fn files(workspace: &Path) -> BTreeMap<String, (String, SystemTime)> {
    let entries = std::fs::read_dir(workspace).unwrap().map(Result::unwrap);
    // The chat has a file of its own, in a folder of ours.
    let files = entries.filter(|entry| entry.file_type().unwrap().is_file());
    let names = files.map(|entry| entry.file_name().into_string().unwrap()).filter(|name| !name.starts_with(".planwright-"));
    names
        .map(|name| {
            let file = workspace.join(&name);
            (name, (std::fs::read_to_string(&file).unwrap(), file.metadata().unwrap().modified().unwrap()))
        })
        .collect()
}

/// Waits until the writers have got somewhere.
async fn until_more(count: &AtomicU64, than: u64) {
    let begun = Instant::now();
    while count.load(Ordering::SeqCst) <= than {
        assert!(begun.elapsed() < Duration::from_mins(1), "the writers have stopped");
        tokio::time::sleep(Duration::from_micros(200)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_write_lands_after_a_switch_to_plan_was_answered_however_often_it_is_switched() {
    let flips: u64 = std::env::var(FLIPS).ok().and_then(|value| value.parse().ok()).unwrap_or(200);
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().join("workspace");
    std::fs::create_dir(&workspace).unwrap();
    let store = Store::open(&folder.path().join("planwright.db")).await.unwrap();
    let row = store.ensure_workspace("workspace", workspace.to_str().unwrap()).await.unwrap();
    let sessions = Sessions::with_settings(store, Settings::default(), Arc::new(NoModel));
    let handle = sessions.create(row.id, None, Some(Mode::Act.default_role())).await.unwrap();
    let (counts, over) = (Arc::new(Counts::default()), Arc::new(AtomicBool::new(false)));
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let (chat, runtime) = (handle.chat().clone(), tokio::runtime::Handle::current());
            let (counts, over) = (counts.clone(), over.clone());
            std::thread::spawn(move || write_on(&chat, &runtime, writer, &counts, &over))
        })
        .collect();

    for flip in 0..flips {
        until_more(&counts.written, counts.written.load(Ordering::SeqCst)).await;
        switch_to(&handle, "planner").await;
        let before = files(&workspace);
        // Until whatever each writer was at when the switch was answered has come to its end.
        for ended in &counts.ended {
            until_more(ended, ended.load(Ordering::SeqCst)).await;
        }
        assert_eq!(files(&workspace), before, "a file changed after switch {flip} was answered");
        switch_to(&handle, "actor").await;
    }
    over.store(true, Ordering::SeqCst);
    let ended: Result<Vec<()>, _> = writers.into_iter().map(std::thread::JoinHandle::join).collect();
    assert!(ended.is_ok());
    let [written, denied, fenced] = [&counts.written, &counts.denied, &counts.fenced].map(|count| count.load(Ordering::SeqCst));
    println!("{flips} flips: {written} written, {denied} denied, {fenced} stopped at the fence");
    assert!(fenced > 0, "no writer ever came to the fence too late, so nothing was tried");
}
