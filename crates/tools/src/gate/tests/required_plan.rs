//! The policy `act_requires_plan`.

use super::*;
use crate::effect::Loss;

const MISSING: [MissingPlan; 4] = [MissingPlan::NotApproved, MissingPlan::Revised, MissingPlan::TakenBack, MissingPlan::Done];

fn without_plan(role: Role, missing: MissingPlan) -> Situation {
    Situation { missing_plan: Some(missing), ..by_model(role) }
}

#[test]
fn where_a_plan_is_required_act_mode_changes_nothing_and_runs_nothing_without_one() {
    let call = || RunEffect::Call { server: "notes".to_owned(), tool: "add".to_owned() };
    let runs = || [command(), RunEffect::Network, RunEffect::Unconfined, RunEffect::Inspect, call()].map(Effect::from);
    let lose = || LandingEffect::LoseCommits(Loss { path: path("/.git/refs/heads/main"), commits: None });
    let lands = || [LandingEffect::Keep, lose()].map(Effect::from);
    for missing in MISSING {
        for effect in changes("/src/main.rs").into_iter().map(Effect::from).chain(runs()).chain(lands()) {
            let mut actor = without_plan(Role::Actor, missing);
            assert_eq!(word(&actor, std::slice::from_ref(&effect)), "PLAN_REQUIRED", "{effect:?}");
            actor.consent = Consent::Given;
            actor.approvals = Arc::new(Approvals { delete: Rule::Allow, mcp: Rule::Allow, ..Approvals::default() });
            actor.grants = Arc::new(vec![Grant { tool: "write".to_owned(), folder: WorkspacePath::root() }]);
            assert_eq!(word(&actor, std::slice::from_ref(&effect)), "PLAN_REQUIRED", "whatever the user allowed: {effect:?}");
        }
        let designer = without_plan(Role::Designer, missing);
        assert_eq!(word(&designer, &[FileEffect::Create(path("/src/new.rs"))]), "PLAN_REQUIRED");
        assert_eq!(word(&designer, &[FileEffect::CreateFolder(path("/src/new"))]), "PLAN_REQUIRED");
    }
}

#[test]
fn where_a_plan_is_required_a_command_that_ended_lands_nothing_without_one() {
    let mut after = without_plan(Role::Actor, MissingPlan::Revised);
    COMMAND_CHANGES.clone_into(&mut after.tool);
    after.consent = Consent::Given;
    assert_eq!(word(&after, &[LandingEffect::Keep]), "PLAN_REQUIRED");
    assert_eq!(word(&after, &[FileEffect::Write(path("/src/main.rs"))]), "PLAN_REQUIRED");
}

#[test]
fn where_a_plan_is_required_the_tester_tests_and_everybody_reads_plans_reports_and_hands_on() {
    let consult = RunEffect::Consult { server: "notes".to_owned(), tool: "list".to_owned() };
    for missing in MISSING {
        for role in Role::all() {
            let without = without_plan(role, missing);
            assert_eq!(word(&without, &[FileEffect::Read(path("/src/main.rs"))]), "allow", "{role}");
            assert_eq!(word(&without, std::slice::from_ref(&consult)), "allow", "{role}");
        }
        for effect in [command().into(), Effect::from(LandingEffect::Keep)] {
            assert_eq!(word(&without_plan(Role::Tester, missing), &[effect]), "allow");
        }
        assert_eq!(word(&without_plan(Role::Tester, missing), &[command(), RunEffect::Network]), "ask Major");
        assert_eq!(word(&without_plan(Role::Tester, missing), &[FileEffect::Write(path("/src/main.rs"))]), "TOOL_NOT_PERMITTED");
        for role in [Role::Actor, Role::Commander] {
            let plan = || path("/plans/x.plan");
            for effect in [FileEffect::Create(plan()).into(), FileEffect::Write(plan()).into(), Effect::from(RecordEffect::Progress)] {
                assert_eq!(word(&without_plan(role, missing), std::slice::from_ref(&effect)), "allow", "{role}: {effect:?}");
            }
        }
        assert_eq!(word(&without_plan(Role::Commander, missing), &[RecordEffect::Delegate(Role::Actor)]), "allow");
        assert_eq!(word(&without_plan(Role::Reviewer, missing), &[RecordEffect::Review]), "allow");
        let actor = without_plan(Role::Actor, missing);
        assert_eq!(word(&actor, &[FileEffect::Delete(path("/plans/x.plan"))]), "PLAN_REQUIRED", "only to write it");
        assert_eq!(word(&actor, &[FileEffect::Write(path("/plans/notes.md"))]), "PLAN_REQUIRED", "no other file is a plan");
        for plan in ["/plans/other.plan", "/plans/second.plan"] {
            for effect in [FileEffect::Create(path(plan)), FileEffect::Write(path(plan))] {
                assert_eq!(word(&actor, std::slice::from_ref(&effect)), "PLAN_REQUIRED", "not the chat's own: {effect:?}");
            }
        }
        let mut first = without_plan(Role::Actor, missing);
        first.own_plan = None;
        assert_eq!(word(&first, &[FileEffect::Create(path("/plans/first.plan"))]), "PLAN_REQUIRED", "by another tool");
        first.tool = "write_plan".to_owned();
        assert_eq!(word(&first, &[FileEffect::Create(path("/plans/first.plan"))]), "allow");
        assert_eq!(word(&first, &[FileEffect::Write(path("/plans/first.plan"))]), "PLAN_REQUIRED", "somebody wrote it");
        assert_eq!(word(&first, &[FileEffect::Create(path("/src/first.rs"))]), "PLAN_REQUIRED", "no plan");
    }
}

#[test]
fn a_missing_plan_says_why_and_what_to_do_and_plan_mode_keeps_its_own_words() {
    let mut told = std::collections::HashSet::new();
    for missing in MISSING {
        let Verdict::Deny(problem) = decide(&without_plan(Role::Actor, missing), &[command().into()]) else { panic!("allowed") };
        assert!(problem.message.starts_with("This workspace requires an approved plan before anything changes, and "), "{problem}");
        assert!(told.insert(problem.message) && !problem.retryable);
        for effect in changes("/src/main.rs") {
            assert_eq!(word(&without_plan(Role::Planner, missing), &[effect]), "TOOL_BLOCKED_BY_MODE");
        }
        assert_eq!(word(&without_plan(Role::Planner, missing), &[RunEffect::Inspect]), "allow", "plan mode is as it was");
    }
}
