//! Chosen steps and stops.

use super::ground::{Ground, PLAN_FILE, done, say, write};
use planwright_protocol::op::ExpectedPlan;
use planwright_protocol::plan::StepChoice;
use planwright_protocol::{ErrorCode, Mode, Op, QuestionKind, Severity};

#[tokio::test]
async fn only_chosen_steps_are_reported_and_a_file_of_an_excluded_step_asks() {
    let ground = Ground::new(&[]).await;
    ground.reply(&[("update_step", serde_json::json!({ "step_number": 1, "status": "in_progress" })), write("/a.txt", "hello\n"), done(3)]);
    ground.reply(&[write("/c.txt", "bye\n")]);
    ground.run(ground.execute(Some(&[1, 2]), None, Some("Be brief."))).await;
    assert!(ground.told().contains("Be brief.") && ground.told().contains("Only these steps are approved: 1, 2."), "{}", ground.told());
    let errors = ground.errors().await;
    assert_eq!(errors.iter().map(|error| error.code).collect::<Vec<_>>(), [ErrorCode::PlanNotApproved]);
    assert!(errors[0].message.contains("did not approve step 3"), "{errors:?}");
    assert_eq!(ground.statuses(), ["in progress", "open", "open"], "the excluded step did not move");

    let pending = ground.handle.chat().pending().unwrap();
    assert_eq!((pending.kind, pending.severity), (QuestionKind::ToolApproval, Severity::Major));
    let call = pending.call.unwrap();
    assert!(call.reason.contains("/c.txt is not one of the approved plan's files"), "{}", call.reason);
    assert_eq!((call.step_number, call.reversible), (Some(1), Some(true)));
    assert!(call.diff.unwrap().contains("+bye\n"));
    ground.run(ground.answer("deny", "Step 3 waits for the release.")).await;
    assert!(!ground.host("c.txt").exists() && ground.text("a.txt") == "hello\n");
    assert!(ground.told().contains("with this reason: Step 3 waits for the release."), "{}", ground.told());
}

#[tokio::test]
async fn at_a_stop_the_run_waits_over_a_restart_and_goes_on_with_the_chosen_steps() {
    let ground = Ground::new(&[]).await;
    ground.reply(&[write("/a.txt", "a\n"), done(1), write("/b.txt", "b\n"), done(2)]);
    ground.run(ground.execute(Some(&[1, 2]), Some(1), None)).await;
    assert_eq!(ground.asked(), Some(QuestionKind::StepStop));
    assert!(ground.host("a.txt").exists() && !ground.host("b.txt").exists(), "nothing behind the stop was done");

    let ground = ground.restarted().await;
    let pending = ground.handle.chat().pending().unwrap();
    assert_eq!(pending.kind, QuestionKind::StepStop);
    assert_eq!(pending.questions[0].schema["enum"], serde_json::json!(["continue", "revise", "end"]));
    let choice = ground.handle.chat().approval().unwrap().choice.clone();
    assert_eq!(choice, StepChoice { steps: Some(vec![1, 2]), stop_after: Some(1) });
    ground.run(ground.answer("continue", "Looks good.")).await;
    assert_eq!((ground.asked(), ground.text("b.txt").as_str()), (None, "b\n"), "the rest of the reply is executed");
    assert_eq!(ground.statuses(), ["done", "done", "open"]);
    assert!(ground.told().contains("Looks good."), "{}", ground.told());
    let choice = ground.handle.chat().approval().unwrap().choice.clone();
    assert_eq!(choice, StepChoice { steps: Some(vec![1, 2]), stop_after: None });

    ground.reply(&[write("/c.txt", "c\n"), done(3)]);
    ground.run(ground.execute(Some(&[3]), None, None)).await;
    assert_eq!(ground.statuses(), ["done", "done", "done"], "executing another step later keeps the progress");
    assert_eq!(ground.errors().await, []);
}

#[tokio::test]
async fn ending_at_a_stop_cancels_the_rest_and_keeps_what_is_done() {
    let ground = Ground::new(&[]).await;
    ground.reply(&[write("/a.txt", "a\n"), done(1), write("/b.txt", "b\n")]);
    ground.run(ground.execute(None, Some(1), None)).await;
    ground.run(ground.answer("end", "")).await;
    assert!(ground.host("a.txt").exists() && !ground.host("b.txt").exists());
    let record = ground.handle.chat().record();
    assert_eq!((record.config.role.mode(), record.run.is_none(), ground.asked()), (Mode::Act, true, None));
    assert_eq!(ground.errors().await.last().unwrap().code, ErrorCode::Cancelled);
}

#[tokio::test]
async fn revising_at_a_stop_goes_back_to_plan_mode_and_tells_the_planner_why() {
    let ground = Ground::new(&[]).await;
    ground.reply(&[write("/a.txt", "a\n"), done(1), write("/b.txt", "b\n")]);
    ground.run(ground.execute(None, Some(1), None)).await;
    ground.run(ground.answer("revise", "Split step 2.")).await;
    assert_eq!(ground.handle.chat().record().config.role.mode(), Mode::Plan);
    assert!(ground.told().contains("Split step 2.") && !ground.host("b.txt").exists(), "{}", ground.told());
}

#[tokio::test]
async fn a_message_instead_of_an_answer_leaves_the_steps_behind_the_stop_closed() {
    let ground = Ground::new(&[]).await;
    ground.reply(&[done(1), write("/b.txt", "b\n")]);
    ground.run(ground.execute(None, Some(1), None)).await;
    ground.reply(&[done(2)]);
    ground.run(say("What did you do?", Vec::new())).await;
    let codes: Vec<ErrorCode> = ground.errors().await.iter().map(|error| error.code).collect();
    assert_eq!(codes, [ErrorCode::Cancelled, ErrorCode::PlanNotApproved]);
    assert!(!ground.host("b.txt").exists());
    assert_eq!(ground.statuses(), ["done", "open", "open"]);
}

#[tokio::test]
async fn a_choice_of_steps_names_the_plan_that_the_user_looked_at() {
    let ground = Ground::new(&[]).await;
    let choice = StepChoice { steps: Some(vec![1]), stop_after: None };
    let op = |sha256: Option<String>| Op::Execute {
        plan_file: Some(PLAN_FILE.to_owned()),
        content: None,
        expected: ExpectedPlan { sha256, choice: choice.clone() },
    };
    let refused = ground.handle.submit(op(None)).await.map(|_| ()).unwrap_err();
    assert_eq!(refused.code, ErrorCode::ValidationFailed);
    assert!(refused.details.unwrap()["fields"]["plan_sha256"].is_string());
    let stale = ground.handle.submit(op(Some("0".repeat(64)))).await.map(|_| ()).unwrap_err();
    assert_eq!(stale.code, ErrorCode::Conflict);
    assert_eq!(ground.handle.chat().record().config.role.mode(), Mode::Plan, "nothing was approved");
}
