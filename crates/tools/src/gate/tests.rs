use super::*;
use planwright_protocol::plan::StepChoice;
use planwright_protocol::{Plan, PlanStep};

mod required_plan;

fn path(text: &str) -> WorkspacePath {
    WorkspacePath::parse(text).unwrap()
}

fn by_model(role: Role) -> Situation {
    situation(role, Consent::Needed)
}

pub(crate) fn situation(role: Role, consent: Consent) -> Situation {
    let fence = Fence::new(Epoch(1));
    Situation {
        role,
        tool: "write".to_owned(),
        epoch: fence.epoch(),
        fence,
        own_plan: Some(path("/plans/x.plan")),
        foreign_plans: Arc::new([path("/plans/other.plan"), path("/plans/team/b.plan")].into()),
        scope: None,
        missing_plan: None,
        approvals: Arc::default(),
        secrets: Arc::default(),
        grants: Arc::default(),
        consent,
    }
}

impl Verdict {
    /// The permit, where nobody is left to be asked.
    fn permit(self) -> Result<Permit, Problem> {
        match self {
            Verdict::Allow(permit) => Ok(permit),
            Verdict::Ask(approval) => Err(Problem::new(ErrorCode::ApprovalDenied, approval.reason)),
            Verdict::Deny(problem) => Err(problem),
        }
    }
}

pub(crate) fn decide_progress(situation: &Situation, plan: &WorkspacePath) -> Result<ProgressPermit, Problem> {
    decide(situation, &[RecordEffect::Progress.into()]).permit()?.to_tick(plan)
}

pub(crate) fn decide_take_back<'p>(
    situation: &Situation,
    paths: impl IntoIterator<Item = &'p WorkspacePath>,
) -> Result<TakeBackPermit, Problem> {
    let effects: Vec<Effect> = paths.into_iter().map(|path| LandingEffect::TakeBack(path.clone()).into()).collect();
    Ok(decide(situation, &effects).permit()?.to_take_back())
}

pub(crate) fn allowed(situation: &Situation, effects: &[Effect]) -> Permit {
    decide(situation, effects).permit().unwrap()
}

fn word<E: Clone + Into<Effect>>(situation: &Situation, effects: &[E]) -> String {
    let effects: Vec<Effect> = effects.iter().cloned().map(Into::into).collect();
    match decide(situation, &effects) {
        Verdict::Allow(_) => "allow".to_owned(),
        Verdict::Ask(approval) => format!("ask {:?}", approval.severity),
        Verdict::Deny(problem) => problem.code.to_string(),
    }
}

fn changes(target: &str) -> Vec<FileEffect> {
    let target = path(target);
    vec![
        FileEffect::Create(target.clone()),
        FileEffect::CreateFolder(target.clone()),
        FileEffect::Write(target.clone()),
        FileEffect::Delete(target.clone()),
        FileEffect::Replace(target.clone()),
        FileEffect::Move { from: target.clone(), to: path("/elsewhere") },
        FileEffect::Move { from: path("/elsewhere"), to: target },
    ]
}

#[test]
fn in_plan_mode_nothing_outside_plans_can_change() {
    for role in Role::all().filter(|role| role.mode() == Mode::Plan) {
        for target in ["/src/main.rs", "/plans", "/", "/src/x.plan", "/plansX/a.plan", "/.git/x.plan", "/PLANS/x.plan"] {
            for effect in changes(target) {
                assert_eq!(word(&by_model(role), std::slice::from_ref(&effect)), "TOOL_BLOCKED_BY_MODE", "{role}: {effect:?}");
            }
        }
    }
}

#[test]
fn a_planner_may_write_its_own_plan_and_a_reviewer_may_not() {
    for effect in [FileEffect::Create(path("/plans/x.plan")), FileEffect::Write(path("/plans/x.plan"))] {
        assert_eq!(word(&by_model(Role::Planner), std::slice::from_ref(&effect)), "allow", "{effect:?}");
        assert_eq!(word(&by_model(Role::Reviewer), std::slice::from_ref(&effect)), "TOOL_BLOCKED_BY_MODE", "{effect:?}");
    }
    assert_eq!(word(&by_model(Role::Planner), &[FileEffect::Write(path("/plans/notes.md"))]), "TOOL_BLOCKED_BY_MODE");
}

#[test]
fn below_plans_the_model_can_touch_nothing_but_its_plan_and_the_user_can() {
    let moved = FileEffect::Move { from: path("/plans/x.plan"), to: path("/plans/y.plan") };
    for effect in [
        FileEffect::Delete(path("/plans/x.plan")),
        FileEffect::Delete(path("/plans/notes")),
        FileEffect::CreateFolder(path("/plans/q3")),
        moved,
    ] {
        let mut planner = by_model(Role::Planner);
        assert_eq!(word(&planner, std::slice::from_ref(&effect)), "TOOL_BLOCKED_BY_MODE", "{effect:?}");
        planner.consent = Consent::Given;
        assert_eq!(word(&planner, std::slice::from_ref(&effect)), "allow", "{effect:?}");
    }
    let mut planner = by_model(Role::Planner);
    assert_eq!(word(&planner, &[FileEffect::Write(path("/plans/by-hand.plan"))]), "PLAN_NOT_OWNED");
    assert_eq!(word(&planner, &[FileEffect::Create(path("/plans/second.plan"))]), "PLAN_NOT_OWNED");
    planner.own_plan = None;
    assert_eq!(word(&planner, &[FileEffect::Create(path("/plans/first.plan"))]), "allow");
    assert_eq!(word(&planner, &[FileEffect::Write(path("/plans/by-hand.plan"))]), "PLAN_NOT_OWNED", "somebody wrote it");
    planner.consent = Consent::Given;
    assert_eq!(word(&planner, &[FileEffect::Write(path("/plans/by-hand.plan"))]), "allow", "the user takes it up");
    planner.own_plan = Some(path("/plans/x.plan"));
    assert_eq!(word(&planner, &[FileEffect::Write(path("/plans/by-hand.plan"))]), "PLAN_NOT_OWNED", "there is one");
    assert_eq!(word(&planner, &[FileEffect::Replace(path("/plans/x.plan"))]), "PATH_EXISTS");
    for (from, to) in [("/plans/x.plan", "/src/x.plan"), ("/src/x.plan", "/plans/y.plan")] {
        let moved = FileEffect::Move { from: path(from), to: path(to) };
        assert_eq!(word(&planner, &[moved]), "TOOL_BLOCKED_BY_MODE", "no plan goes out and nothing comes in: {from}");
    }
}

#[test]
fn the_refusal_in_plan_mode_says_so_in_the_agreed_words() {
    let words = "System is in Plan Mode. You can only modify the plan. Switch to Build Mode to apply changes.";
    let refused = |situation: &Situation| {
        let Verdict::Deny(problem) = decide(situation, &[FileEffect::Write(path("/src/main.rs")).into()]) else { panic!("allowed") };
        assert!(!problem.retryable);
        problem.message
    };
    let mut planner = by_model(Role::Planner);
    assert!(refused(&planner).starts_with(&format!("{words} Put what you meant to do into the plan")));
    planner.consent = Consent::Given;
    assert_eq!(refused(&planner), words, "the user needs no advice for models");
}

#[test]
fn one_forbidden_effect_denies_the_whole_call() {
    let effects = [FileEffect::Read(path("/a")), FileEffect::Write(path("/plans/x.plan")), FileEffect::Write(path("/src/main.rs"))];
    assert_eq!(word(&by_model(Role::Planner), &effects), "TOOL_BLOCKED_BY_MODE");
}

#[test]
fn each_acting_role_has_its_own_rights() {
    let source = || path("/src/main.rs");
    let new_plan = || path("/plans/new.plan");
    let table: &[(Role, Effect, &str)] = &[
        (Role::Actor, FileEffect::Write(source()).into(), "allow"),
        (Role::Actor, FileEffect::Create(source()).into(), "allow"),
        (Role::Actor, FileEffect::Delete(source()).into(), "ask Critical"),
        (Role::Actor, FileEffect::Replace(source()).into(), "ask Critical"),
        (Role::Actor, FileEffect::Move { from: source(), to: path("/src/b.rs") }.into(), "allow"),
        (Role::Actor, FileEffect::Create(new_plan()).into(), "allow"),
        (Role::Designer, FileEffect::Create(source()).into(), "allow"),
        (Role::Designer, FileEffect::CreateFolder(source()).into(), "allow"),
        (Role::Designer, FileEffect::Write(source()).into(), "TOOL_NOT_PERMITTED"),
        (Role::Designer, FileEffect::Delete(source()).into(), "TOOL_NOT_PERMITTED"),
        (Role::Designer, FileEffect::Move { from: source(), to: path("/src/b.rs") }.into(), "TOOL_NOT_PERMITTED"),
        (Role::Designer, FileEffect::Create(new_plan()).into(), "allow"),
        (Role::Designer, FileEffect::Write(new_plan()).into(), "TOOL_NOT_PERMITTED"),
        (Role::Tester, FileEffect::Write(source()).into(), "TOOL_NOT_PERMITTED"),
        (Role::Tester, FileEffect::Create(new_plan()).into(), "TOOL_NOT_PERMITTED"),
        (Role::Commander, FileEffect::Write(source()).into(), "TOOL_NOT_PERMITTED"),
        (Role::Commander, FileEffect::Create(new_plan()).into(), "allow"),
        (Role::Commander, RecordEffect::Delegate(Role::Actor).into(), "allow"),
        (Role::Commander, RecordEffect::Delegate(Role::Tester).into(), "TOOL_NOT_PERMITTED"),
        (Role::Actor, RecordEffect::Delegate(Role::Actor).into(), "TOOL_NOT_PERMITTED"),
        (Role::Reviewer, RecordEffect::Review.into(), "allow"),
        (Role::Actor, RecordEffect::Review.into(), "TOOL_NOT_PERMITTED"),
        (Role::Planner, RecordEffect::Review.into(), "TOOL_NOT_PERMITTED"),
        (Role::Planner, RecordEffect::Progress.into(), "TOOL_BLOCKED_BY_MODE"),
        (Role::Actor, RecordEffect::Progress.into(), "allow"),
    ];
    for (role, effect, expected) in table {
        assert_eq!(word(&by_model(*role), std::slice::from_ref(effect)), *expected, "{role}: {effect:?}");
    }
}

#[test]
fn protected_paths_are_refused_whatever_the_role() {
    for target in ["/.git/config", "/vendor/sub/.git", "/.planwright/config.toml", "/sub/.planwright/config.toml", "/chats/a.chat"] {
        let mut given = by_model(Role::Actor);
        given.consent = Consent::Given;
        for effect in changes(target) {
            assert_eq!(word(&given, std::slice::from_ref(&effect)), "PROTECTED_PATH", "{effect:?}");
        }
        assert_eq!(word(&given, &[FileEffect::Read(path(target))]), "allow");
    }
}

#[test]
fn the_plan_of_another_chat_is_refused_also_as_part_of_a_folder() {
    for role in [Role::Planner, Role::Actor] {
        let mut by_user = by_model(role);
        by_user.consent = Consent::Given;
        assert_eq!(word(&by_model(role), &[FileEffect::Write(path("/plans/other.plan"))]), "PLAN_NOT_OWNED");
        assert_eq!(word(&by_user, &[FileEffect::Write(path("/plans/other.plan"))]), "PLAN_NOT_OWNED");
        assert_eq!(word(&by_user, &[FileEffect::Delete(path("/plans/team"))]), "PLAN_NOT_OWNED");
    }
    assert_eq!(word(&by_model(Role::Actor), &[FileEffect::Delete(path("/plans"))]), "PLAN_NOT_OWNED");
}

#[test]
fn the_workspace_itself_cannot_be_deleted_or_moved_into_itself() {
    let mut actor = by_model(Role::Actor);
    actor.foreign_plans = Arc::default();
    assert_eq!(word(&actor, &[FileEffect::Delete(WorkspacePath::root())]), "PATH_INVALID");
    assert_eq!(word(&actor, &[FileEffect::Move { from: path("/src"), to: path("/src/sub") }]), "PATH_INVALID");
}

#[test]
fn changes_outside_the_approved_plan_ask() {
    let plan = Plan { steps: vec![PlanStep { files: vec!["src/lib.rs".into()], ..PlanStep::default() }], ..Plan::default() };
    let mut actor = by_model(Role::Actor);
    actor.scope = Scope::of(&plan, &StepChoice::default()).map(Arc::new);
    assert_eq!(word(&actor, &[FileEffect::Write(path("/src/lib.rs"))]), "allow");
    assert_eq!(word(&actor, &[FileEffect::Write(path("/src/main.rs"))]), "ask Major");
    assert_eq!(word(&actor, &[FileEffect::Move { from: path("/src/lib.rs"), to: path("/b.rs") }]), "ask Major");
    assert_eq!(word(&actor, &[FileEffect::Delete(path("/src/lib.rs"))]), "ask Critical");
    assert_eq!(word(&actor, &[FileEffect::Create(path("/plans/new.plan"))]), "allow");
    assert_eq!(word(&actor, &[FileEffect::Write(path("/plans/x.plan"))]), "allow", "its own");
    assert_eq!(word(&actor, &[FileEffect::Write(path("/plans/of-nobody.plan"))]), "ask Major");
    actor.consent = Consent::Given;
    assert_eq!(word(&actor, &[FileEffect::Write(path("/src/main.rs"))]), "allow");
}

#[test]
fn reading_a_secret_asks_in_every_role() {
    for role in Role::all() {
        assert_eq!(word(&by_model(role), &[FileEffect::Read(path("/.env"))]), "ask Critical");
    }
    assert_eq!(word(&by_model(Role::Actor), &[FileEffect::Move { from: path("/.env"), to: path("/a.txt") }]), "ask Critical");
}

#[test]
fn settings_tighten_and_never_widen() {
    let approvals = |text: &str| Arc::new(serde_json::from_str::<Approvals>(text).unwrap());
    let mut actor = by_model(Role::Actor);
    actor.approvals = approvals(r#"{"tools": {"write": "ask"}}"#);
    assert_eq!(word(&actor, &[FileEffect::Write(path("/src/main.rs"))]), "ask Minor");
    actor.approvals = approvals(r#"{"tools": {"write": "deny"}}"#);
    actor.consent = Consent::Given;
    assert_eq!(word(&actor, &[FileEffect::Write(path("/src/main.rs"))]), "TOOL_NOT_PERMITTED");
    let mut planner = by_model(Role::Planner);
    planner.approvals = approvals(r#"{"delete": "allow", "outside_plan": "allow", "tools": {"write": "allow"}}"#);
    planner.consent = Consent::Given;
    assert_eq!(word(&planner, &[FileEffect::Write(path("/src/main.rs"))]), "TOOL_BLOCKED_BY_MODE");
}

#[test]
fn a_command_that_changed_the_chats_own_plan_asks_and_one_that_changed_another_file_does_not() {
    let mut after = by_model(Role::Actor);
    assert_eq!(word(&after, &[FileEffect::Write(path("/plans/x.plan"))]), "allow", "by a tool that writes files");
    KEEPING.clone_into(&mut after.tool);
    after.approvals = Arc::new(Approvals { outside_plan: Rule::Allow, ..Approvals::default() });
    assert_eq!(word(&after, &[FileEffect::Write(path("/plans/x.plan"))]), "ask Major");
    assert_eq!(word(&after, &[FileEffect::Write(path("/src/main.rs"))]), "allow");
}

#[test]
fn approve_always_holds_for_this_tool_and_this_folder() {
    let mut actor = by_model(Role::Actor);
    actor.tool = "rm".to_owned();
    actor.grants = Arc::new(vec![Grant { tool: "rm".to_owned(), folder: path("/tmp") }]);
    assert_eq!(word(&actor, &[FileEffect::Delete(path("/tmp/a"))]), "allow");
    assert_eq!(word(&actor, &[FileEffect::Delete(path("/src/a"))]), "ask Critical");
    actor.tool = "mv".to_owned();
    assert_eq!(word(&actor, &[FileEffect::Delete(path("/tmp/a"))]), "ask Critical");
}

#[test]
fn the_right_to_plans_is_no_right_to_anything_else() {
    // The Commander has it, and none of the rights to files.
    for effect in changes("/src/main.rs") {
        assert_eq!(word(&by_model(Role::Commander), std::slice::from_ref(&effect)), "TOOL_NOT_PERMITTED", "{effect:?}");
    }
}

fn command() -> RunEffect {
    RunEffect::Execute { command: "make".to_owned(), folder: WorkspacePath::root() }
}

#[test]
fn commands_are_for_the_roles_that_have_the_right() {
    for role in Role::all() {
        let expected = match (role.has(Permission::Execute), role.mode()) {
            (true, _) => "allow",
            (false, Mode::Plan) => "TOOL_BLOCKED_BY_MODE",
            (false, Mode::Act) => "TOOL_NOT_PERMITTED",
        };
        for effect in [command().into(), Effect::from(LandingEffect::Keep)] {
            assert_eq!(word(&by_model(role), &[effect]), expected, "{role}");
        }
        assert_eq!(word(&by_model(role), &[RunEffect::Inspect]), "allow", "{role}");
    }
    assert_eq!(word(&by_model(Role::Tester), &[command(), RunEffect::Unconfined]), "TOOL_NOT_PERMITTED");
}

#[test]
fn leaving_the_sandbox_asks_each_time_whatever_was_granted() {
    for effect in [RunEffect::Network, RunEffect::Unconfined] {
        let mut situation = by_model(Role::Actor);
        "run".clone_into(&mut situation.tool);
        situation.grants = Arc::new(vec![Grant { tool: "run".to_owned(), folder: WorkspacePath::root() }]);
        assert_eq!(word(&situation, &[command(), effect.clone()]), "ask Major", "{effect:?}");
        situation.consent = Consent::Given;
        assert_eq!(word(&situation, &[command(), effect]), "allow");
    }
}

#[test]
fn a_command_can_be_set_to_ask_and_what_it_changed_is_judged_apart_from_that() {
    let mut situation = by_model(Role::Actor);
    "run".clone_into(&mut situation.tool);
    situation.approvals = Arc::new(Approvals { execute: Rule::Ask, tools: [("run".to_owned(), Rule::Ask)].into(), ..Approvals::default() });
    assert_eq!(word(&situation, &[command()]), "ask Minor");
    let mut after = situation.clone();
    KEEPING.clone_into(&mut after.tool);
    after.grants = Arc::new(vec![Grant { tool: KEEPING.to_owned(), folder: WorkspacePath::root() }]);
    assert_eq!(word(&after, &[LandingEffect::Keep.into(), Effect::from(FileEffect::Write(path("/a")))]), "allow");
    assert_eq!(
        word(&after, &[LandingEffect::Keep.into(), Effect::from(FileEffect::Delete(path("/a")))]),
        "ask Critical",
        "whatever was granted"
    );
    situation.approvals = Arc::new(Approvals { execute: Rule::Ask, ..Approvals::default() });
    situation.grants = Arc::new(vec![Grant { tool: "run".to_owned(), folder: path("/web") }]);
    assert_eq!(word(&situation, &[command()]), "ask Minor", "a grant is for its own folder");
    situation.grants = Arc::new(vec![Grant { tool: "run".to_owned(), folder: WorkspacePath::root() }]);
    assert_eq!(word(&situation, &[command()]), "allow");
}

#[test]
fn a_tool_of_a_server_asks_unless_the_user_trusts_that_it_reads_and_plan_mode_has_no_other() {
    let call = || RunEffect::Call { server: "notes".to_owned(), tool: "add".to_owned() };
    let consult = || RunEffect::Consult { server: "notes".to_owned(), tool: "list".to_owned() };
    for role in Role::all() {
        assert_eq!(word(&by_model(role), &[consult()]), "allow", "{role}");
        let expected = match (role, role.mode()) {
            (Role::Actor, _) => "ask Major",
            (_, Mode::Plan) => "TOOL_BLOCKED_BY_MODE",
            (_, Mode::Act) => "TOOL_NOT_PERMITTED",
        };
        assert_eq!(word(&by_model(role), &[call()]), expected, "{role}");
        let mut by_user = by_model(role);
        by_user.consent = Consent::Given;
        by_user.approvals = Arc::new(Approvals { mcp: Rule::Allow, ..Approvals::default() });
        assert_eq!(word(&by_user, &[call()]) == "allow", role == Role::Actor, "{role}");
    }
    let mut actor = by_model(Role::Actor);
    actor.tool = "notes__add".to_owned();
    actor.grants = Arc::new(vec![Grant { tool: "notes__add".to_owned(), folder: WorkspacePath::root() }]);
    assert_eq!(word(&actor, &[call()]), "allow", "for good");
    actor.tool = "notes__remove".to_owned();
    assert_eq!(word(&actor, &[call()]), "ask Major", "for another tool nothing was said");
    actor.tool = "notes__add".to_owned();
    actor.approvals = Arc::new(Approvals { mcp: Rule::Deny, ..Approvals::default() });
    assert_eq!(word(&actor, &[call()]), "TOOL_NOT_PERMITTED");
    assert_eq!(word(&actor, &[consult()]), "TOOL_NOT_PERMITTED");
}
