use super::*;
use crate::gate::tests::{allowed, situation};
use crate::gate::tests::{decide_progress, decide_take_back};
use crate::gate::{Consent, Fence};
use crate::workspace::{Depth, Parents, Workspace};
use planwright_protocol::Role;
use std::sync::Arc;

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::parse(text).unwrap()
}

/// A permit of the Actor with the user's consent, and the chat's fence.
fn permit(effects: Vec<Effect>) -> (Permit, Arc<Fence>) {
    let situation = situation(Role::Actor, Consent::Given);
    (allowed(&situation, &effects), situation.fence)
}

fn code<T: std::fmt::Debug>(outcome: Result<T, Problem>) -> ErrorCode {
    outcome.unwrap_err().code
}

const REFUSED: ErrorCode = ErrorCode::ToolNotPermitted;

/// Each kind of permit that a call can derive, if the gate allowed it.
fn of_each_kind(permit: &Permit) -> [Result<(), Problem>; 7] {
    let (a, b, plan) = (path("/a"), path("/b"), path("/plans/x.plan"));
    [
        permit.to_write(&a, Target::New).map(drop),
        permit.to_write(&a, Target::Existing).map(drop),
        permit.to_make_folder(&a).map(drop),
        permit.to_delete(&a).map(drop),
        permit.to_move(&a, &b).map(drop),
        permit.to_record(RecordEffect::Progress).map(drop),
        permit.to_tick(&plan).map(drop),
    ]
}

#[test]
fn a_call_gets_a_permit_of_a_kind_only_for_what_the_gate_allowed_it() {
    let (a, b) = (|| path("/a"), || path("/b"));
    let table: [(Effect, &[usize]); 9] = [
        (FileEffect::Read(a()).into(), &[]),
        (FileEffect::Create(a()).into(), &[0]),
        (FileEffect::Write(a()).into(), &[1]),
        (FileEffect::CreateFolder(a()).into(), &[2]),
        (FileEffect::Delete(a()).into(), &[3]),
        (FileEffect::Move { from: a(), to: b() }.into(), &[4]),
        (FileEffect::Write(b()).into(), &[]),
        (RecordEffect::Progress.into(), &[5, 6]),
        (LandingEffect::Keep.into(), &[]),
    ];
    for (effect, kinds) in table {
        let (permit, _) = permit(vec![effect.clone()]);
        let given: Vec<usize> = of_each_kind(&permit).iter().enumerate().filter(|(_, kind)| kind.is_ok()).map(|(kind, _)| kind).collect();
        assert_eq!(given, kinds, "{effect:?}");
    }
}

#[test]
fn a_permit_opens_the_path_it_names_and_no_other() {
    let (a, b) = (path("/a"), path("/b"));
    let effects = vec![
        FileEffect::Create(a.clone()).into(),
        FileEffect::CreateFolder(a.clone()).into(),
        FileEffect::Delete(a.clone()).into(),
        FileEffect::Move { from: a.clone(), to: b.clone() }.into(),
    ];
    let (permit, _) = permit(effects);
    let (write, folder) = (permit.to_write(&a, Target::New).unwrap(), permit.to_make_folder(&a).unwrap());
    let (delete, moved) = (permit.to_delete(&a).unwrap(), permit.to_move(&a, &b).unwrap());
    assert!(write.enter(&a, Target::New).is_ok() && folder.enter(&a).is_ok() && delete.enter(&a).is_ok());
    assert!(moved.enter(&a, &b, Target::New).is_ok());
    assert_eq!(code(write.enter(&b, Target::New)), REFUSED);
    assert_eq!(code(write.enter(&a, Target::Existing)), REFUSED);
    assert_eq!(code(folder.enter(&b)), REFUSED);
    assert_eq!(code(delete.enter(&b)), REFUSED);
    for (from, to) in [(&b, &a), (&a, &a), (&b, &b)] {
        assert_eq!(code(moved.enter(from, to, Target::New)), REFUSED);
    }
    assert_eq!(code(moved.enter(&a, &b, Target::Existing)), REFUSED, "nobody allowed to lose what is there");
}

#[test]
fn a_move_may_lose_a_file_only_if_that_was_allowed() {
    let (a, b) = (path("/a"), path("/b"));
    let (permit, _) = permit(vec![FileEffect::Move { from: a.clone(), to: b.clone() }.into(), FileEffect::Replace(b.clone()).into()]);
    assert!(permit.to_move(&a, &b).unwrap().enter(&a, &b, Target::Existing).is_ok());
}

#[test]
fn the_workspace_refuses_a_permit_for_another_path_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    let (a, b, plan) = (path("/a"), path("/b"), path("/plans/x.plan"));
    let effects = vec![
        FileEffect::Create(a.clone()).into(),
        FileEffect::Create(b.clone()).into(),
        FileEffect::Write(a.clone()).into(),
        FileEffect::CreateFolder(a.clone()).into(),
        FileEffect::Delete(a.clone()).into(),
        FileEffect::Move { from: a.clone(), to: path("/c") }.into(),
        RecordEffect::Progress.into(),
    ];
    let (permit, _) = permit(effects);
    let stamp = workspace.write(&permit.to_write(&b, Target::New).unwrap(), &b, b"kept", None).unwrap();
    let (new, existing) = (permit.to_write(&a, Target::New).unwrap(), permit.to_write(&a, Target::Existing).unwrap());
    let state = workspace.state(&b).unwrap();
    let refusals = [
        workspace.write(&new, &path("/deep/er"), b"x", None).map(drop),
        workspace.write(&existing, &b, b"x", Some(stamp)).map(drop),
        workspace.write(&new, &b, b"x", Some(stamp)).map(drop),
        workspace.touch(&existing, &b, stamp),
        workspace.make_folder(&permit.to_make_folder(&a).unwrap(), &path("/deep/er"), Parents::Make),
        workspace.remove(&permit.to_delete(&a).unwrap(), &b, Depth::Whole, state),
        workspace.rename(&permit.to_move(&a, &path("/c")).unwrap(), &b, &path("/c"), stamp, None),
        workspace.write_progress(&permit.to_tick(&plan).unwrap(), &b, b"x", stamp).map(drop),
    ];
    for (number, refusal) in refusals.into_iter().enumerate() {
        assert_eq!(code(refusal), REFUSED, "{number}");
    }
    assert_eq!(workspace.read(&b).unwrap().bytes, b"kept");
    assert_eq!(workspace.list(&WorkspacePath::root()).unwrap().len(), 1);
}

#[test]
fn no_permit_of_any_kind_outlives_a_switch_of_the_role() {
    let (a, b, plan) = (path("/a"), path("/b"), path("/plans/x.plan"));
    let run = RunEffect::Execute { command: "make".to_owned(), folder: WorkspacePath::root() };
    let effects = vec![
        FileEffect::Create(a.clone()).into(),
        FileEffect::CreateFolder(a.clone()).into(),
        FileEffect::Delete(a.clone()).into(),
        FileEffect::Move { from: a.clone(), to: b.clone() }.into(),
        RecordEffect::Progress.into(),
        run.clone().into(),
        LandingEffect::Keep.into(),
        LandingEffect::TakeBack(a.clone()).into(),
    ];
    let (permit, fence) = permit(effects);
    let (write, folder) = (permit.to_write(&a, Target::New).unwrap(), permit.to_make_folder(&a).unwrap());
    let (delete, moved) = (permit.to_delete(&a).unwrap(), permit.to_move(&a, &b).unwrap());
    let (record, tick) = (permit.to_record(RecordEffect::Progress).unwrap(), permit.to_tick(&plan).unwrap());
    let (runs, back) = (permit.to_run(), permit.to_take_back());
    let land = permit.to_land(&[LandingEffect::Keep.into()], &[]).unwrap();
    let entered = || {
        [
            write.enter(&a, Target::New).map(drop),
            folder.enter(&a).map(drop),
            delete.enter(&a).map(drop),
            moved.enter(&a, &b, Target::New).map(drop),
            record.enter().map(drop),
            tick.enter(&plan).map(drop),
            runs.enter(std::slice::from_ref(&run)).map(drop),
            land.enter([&a]).map(drop),
            back.enter([&a]).map(drop),
        ]
    };
    assert!(entered().iter().all(Result::is_ok));
    fence.advance();
    for (number, entry) in entered().into_iter().enumerate() {
        assert_eq!(code(entry), ErrorCode::ModeChanged, "{number}");
    }
}

#[test]
fn a_command_runs_as_it_was_announced_or_not_at_all() {
    let run = |command: &str| RunEffect::Execute { command: command.to_owned(), folder: WorkspacePath::root() };
    let (permit, _) = permit(vec![run("make").into()]);
    let runs = permit.to_run();
    assert!(runs.enter(&[run("make")]).is_ok());
    assert_eq!(code(runs.enter(&[run("make install")])), REFUSED);
    assert_eq!(code(runs.enter(&[run("make"), RunEffect::Network])), REFUSED);
}

#[test]
fn what_a_command_did_lands_if_all_of_it_was_decided_on() {
    let keep = || Effect::from(LandingEffect::Keep);
    let write = |name: &str| Effect::from(FileEffect::Write(path(name)));
    let (allowing, _) = permit(vec![keep(), write("/src/a"), write("/b")]);
    let undecided = [keep(), write("/src/a"), write("/c"), write("/b")];
    assert_eq!(code(allowing.to_land(&undecided, &[])), ErrorCode::FileChanged);
    let land = allowing.to_land(&undecided, &[write("/c")]).unwrap();
    let backwards = [write("/b"), write("/c"), write("/src/a"), keep()];
    assert!(allowing.to_land(&backwards, &[write("/c")]).is_ok(), "in whichever order");
    assert!(land.enter(&[path("/src/a"), path("/b"), path("/src"), path("/.git/HEAD")]).is_ok());
    for other in ["/d", "/src/a/b", "/vendor/.git/HEAD", "/.planwright/x"] {
        assert_eq!(code(land.enter(&[path("/b"), path(other)])), REFUSED, "{other}");
    }
    let (without_keep, _) = permit(vec![write("/b")]);
    assert_eq!(code(without_keep.to_land(&[write("/b")], &[])), REFUSED);
}

#[test]
fn boxes_are_ticked_in_the_plan_that_was_decided_on_by_a_role_that_reports_progress() {
    let (plan, other) = (path("/plans/x.plan"), path("/plans/y.plan"));
    let tick = decide_progress(&situation(Role::Commander, Consent::Given), &plan).unwrap();
    assert!(tick.enter(&plan).is_ok());
    assert_eq!(code(tick.enter(&other)), REFUSED);
    assert_eq!(code(decide_progress(&situation(Role::Actor, Consent::Given), &path("/src/a.rs"))), ErrorCode::NotAPlanFile);
    assert_eq!(code(decide_progress(&situation(Role::Planner, Consent::Given), &plan)), ErrorCode::ToolBlockedByMode);
    let mut asks = situation(Role::Actor, Consent::Needed);
    asks.approvals = Arc::new(serde_json::from_str(r#"{"tools": {"write": "ask"}}"#).unwrap());
    assert_eq!(code(decide_progress(&asks, &plan)), ErrorCode::ApprovalDenied, "nobody is left to be asked");
}

#[test]
fn only_the_user_has_changes_taken_back_in_every_role_and_only_those_paths() {
    let paths = [path("/src/a.rs"), path("/plans/x.plan"), path("/.git/refs/heads/main")];
    for role in Role::all() {
        let back = decide_take_back(&situation(role, Consent::Given), &paths).unwrap();
        assert!(back.enter(&paths).is_ok(), "{role}");
        assert_eq!(code(back.enter([&path("/src/b.rs")])), REFUSED, "{role}");
        assert_eq!(code(decide_take_back(&situation(role, Consent::Needed), &paths)), REFUSED, "{role}");
        for own in ["/", "/.planwright/config.toml", "/vendor/.git/config", "/notes/a.chat"] {
            let refused = decide_take_back(&situation(role, Consent::Given), [&path(own)]);
            assert_eq!(code(refused), ErrorCode::ProtectedPath, "{role}: {own}");
        }
    }
}

#[test]
fn what_a_command_changed_is_put_back_entry_by_entry_and_nothing_else() {
    let (odd, other) = (["caf\u{fffd}".to_owned()], ["x".to_owned()]);
    let permit = crate::gate::permit_put_back([&path("/a")], &odd);
    assert!(permit.check([&path("/a")], &odd).is_ok() && permit.check([], &[]).is_ok());
    assert_eq!(code(permit.check([&path("/b")], &[])), REFUSED);
    assert_eq!(code(permit.check([&path("/a")], &other)), REFUSED);
}
