//! The user's own versions of the plan, and comments on the model's.

use super::ground::{Ground, PLAN_FILE, done, say};
use planwright_plan::PlanDocument;
use planwright_protocol::message::{CommentOutcome, LineRange, PlanVersion, ReviewComment};
use planwright_protocol::op::{Confirm, MarkChange, PlanChange, PlanContent};
use planwright_protocol::{Author, ErrorCode, Message, Op, Plan, RoleRequest, StepStatus};
use serde_json::json;

async fn with_plan() -> Ground {
    let ground = Ground::new(&[]).await;
    let plan_file = PlanChange::Take(PLAN_FILE.to_owned());
    let (role, marks) = (RoleRequest::default(), MarkChange::default());
    ground.handle.submit(Op::Update { title: None, role, plan_file, confirm: Confirm::NotGiven, marks }).await.unwrap();
    ground
}

fn edit(plan: &Plan, base_sha256: &str) -> Op {
    Op::EditPlan { content: PlanContent::Plan(Box::new(plan.clone())), base_sha256: base_sha256.to_owned() }
}

fn plan_of(ground: &Ground) -> Plan {
    PlanDocument::parse(&ground.text("plans/greet.plan")).unwrap().plan
}

fn version(message: &Message) -> &PlanVersion {
    message.body.plan().unwrap()
}

#[tokio::test]
async fn an_edit_is_a_revision_by_the_user_and_a_second_one_of_the_same_version_is_a_conflict() {
    let ground = with_plan().await;
    let (base, mut plan) = (ground.plan_sha256(), plan_of(&ground));
    plan.steps.swap(0, 2);
    (1..).zip(&mut plan.steps).for_each(|(number, step)| step.step_number = number);
    plan.steps[0].verify = Some("true <script>alert(1)</script>".to_owned());
    let message = ground.handle.submit(edit(&plan, &base)).await.unwrap().message.unwrap();
    assert_eq!((message.author, version(&message).revision, version(&message).is_edited), (Author::System, 2, true));
    assert_eq!((&version(&message).plan, version(&message).sha256.clone()), (&plan, ground.plan_sha256()));
    assert_eq!(plan_of(&ground), plan, "the file says the same");

    let mut other = plan.clone();
    "Another goal".clone_into(&mut other.goal);
    let conflict = ground.handle.submit(edit(&other, &base)).await.map(|_| ()).unwrap_err();
    assert_eq!(conflict.code, ErrorCode::Conflict);
    let again = ground.handle.submit(edit(&plan, &base)).await.unwrap().message.unwrap();
    assert_eq!(again.id, message.id, "the same edit sent again is no further revision");

    let ground = ground.restarted().await;
    let view = ground.handle.chat().plan_view().await.unwrap();
    assert_eq!((view.revision, view.sha256.clone()), (Some(2), version(&message).sha256.clone()));
    ground.handle.submit(edit(&other, &view.sha256)).await.unwrap();
    ground.run(say("What is the goal?", Vec::new())).await;
    assert!(ground.told().contains("The user edited /plans/greet.plan: this is revision 3"), "{}", ground.told());
}

#[tokio::test]
async fn a_plan_that_is_being_executed_can_be_edited_between_runs_and_the_approval_does_not_cover_it() {
    let ground = with_plan().await;
    ground.reply(&[done(1)]);
    ground.run(ground.execute(Some(&[1]), None, None)).await;
    let approved = ground.handle.chat().approval().unwrap().sha256.clone();
    let mut plan = plan_of(&ground);
    assert_eq!(plan.steps[0].status, StepStatus::Done);
    plan.steps[2].files = vec!["d.txt".to_owned()];
    ground.handle.submit(edit(&plan, &approved)).await.unwrap();
    assert_eq!(ground.handle.chat().approval().unwrap().sha256, approved, "the approved version stays in force");
    ground.reply(&[("write", json!({ "path": "/d.txt", "content": "d\n" }))]);
    ground.run(say("Go on.", Vec::new())).await;
    assert!(ground.handle.chat().pending().unwrap().call.unwrap().reason.contains("/d.txt is not one of the approved plan's files"));
}

#[tokio::test]
async fn an_edit_replaces_the_card_that_shows_the_version_before() {
    let ground = with_plan().await;
    ground.reply(&[("exit_plan_mode", json!({ "plan_file_path": PLAN_FILE }))]);
    ground.run(say("Is the plan ready?", Vec::new())).await;
    let card = ground.handle.chat().pending().unwrap();
    let mut plan = plan_of(&ground);
    "Greet all".clone_into(&mut plan.goal);
    ground.handle.submit(edit(&plan, &ground.plan_sha256())).await.unwrap();
    let newer = ground.handle.chat().pending().unwrap();
    assert_ne!(newer.question_id, card.question_id);
    let shown = newer.plan.unwrap();
    assert_eq!((shown.goal.as_str(), shown.revision), ("Greet all", 2));
}

#[tokio::test]
async fn the_next_version_shows_what_became_of_each_comment() {
    let ground = with_plan().await;
    let comment = |id: &str, step, path: Option<&str>, quote: &str| ReviewComment {
        id: id.to_owned(),
        step,
        path: path.map(str::to_owned),
        lines: path.map(|_| LineRange { first: 3, last: 4 }),
        quote: quote.to_owned(),
        text: format!("text of {id}"),
    };
    let comments = vec![
        comment("c1", Some(2), None, "Say more"),
        comment("c2", None, None, "Greet"),
        comment("c3", Some(3), None, "<img src=x onerror=alert(1)>"),
        comment("c4", None, Some("/a.txt"), "code"),
    ];
    let reports = json!([{ "id": "c1", "outcome": "done", "note": "split" }, { "id": "c3", "outcome": "declined", "note": "too early" },
        { "id": "unknown", "outcome": "done" }]);
    let steps = json!([{ "step_number": 1, "action": "Say hello", "files": ["a.txt"] }]);
    ground.reply(&[("write_plan", json!({ "goal": "Greet", "steps": steps, "comments": reports }))]);
    let said = ground.run(say("", comments.clone())).await.message.unwrap();
    assert_eq!(said.body.user_text().unwrap().comments, comments);
    assert!(said.content.starts_with("**Comment `c1` on step 2**\n\n> Say more\n\ntext of c1"), "{}", said.content);
    assert!(said.content.contains("**Comment `c4` on /a.txt:3-4**"), "{}", said.content);
    assert!(ground.told().contains("text of c3"), "the model reads them");

    let ground = ground.restarted().await;
    let history = ground.history().await;
    let version = history.iter().rev().find_map(|message| message.body.plan()).unwrap();
    let outcomes: Vec<_> = version.comments.iter().map(|one| (one.comment.id.as_str(), one.outcome, one.note.as_str())).collect();
    let expected = [("c1", Some(CommentOutcome::Done), "split"), ("c2", None, ""), ("c3", Some(CommentOutcome::Declined), "too early")];
    assert_eq!(outcomes, expected, "a comment on code belongs to the code");

    ground.reply(&[("write_plan", json!({ "goal": "Greet again", "steps": steps }))]);
    ground.run(say("Once more.", Vec::new())).await;
    let history = ground.history().await;
    assert!(history.iter().rev().find_map(|message| message.body.plan()).unwrap().comments.is_empty(), "the model reads each one once");
}
