//! Any message that the server may write.

use planwright_protocol::message::{
    Answer, AnsweredComment, ApprovalFacts, ApprovalMoment, ApprovalNotice, AssistantText, CallStatus, CallToApprove, Category,
    CommentOutcome, CommitOutcome, CompactionFacts, CompactionNotice, CutMessage, DeletedEntry, DriftedFile, EffectShown, EntryKind,
    FileDrift, LineRange, ModeChange, PlanChanged, PlanFileChange, PlanToApprove, PlanVersion, PlannedFiles, QuestionAnswer, QuestionCard,
    ReadMarker, ReplyPart, RevertConflict, RevertNotice, RevertStatus, RevertStep, Review, ReviewComment, ReviewFinding, Risk,
    ServerNotice, ServerTrouble, ToolCall, ToolOutcome, ToolResult, UserText,
};
use planwright_protocol::plan::{StepChoice, StepProgress};
use planwright_protocol::question::{Button, Variant};
use planwright_protocol::{
    AttachedImage, CallId, ChatId, ErrorCode, Image, Message, MessageBody, MessageId, Notice, Plan, PlanStep, Problem, Progress, Question,
    QuestionId, QuestionKind, Role, Severity, StepStatus, SwitchedBy,
};
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

pub fn any_message() -> BoxedStrategy<Message> {
    (any_body(), words(), of(roles()), of(call_ids()), of(any_object()))
        .prop_map(|(body, content, role, delegation, client)| Message {
            agent_role: role,
            client: client.map(Value::Object),
            ..Message::new(ChatId::generate(), body, content).in_thread(delegation)
        })
        .boxed()
}

pub fn any_json() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        words().prop_map(Value::from),
        Just(json!("running")),
        call_ids().prop_map(|id| json!(id)),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-z_]{1,8}", inner, 0..3).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
    .boxed()
}

fn any_object() -> BoxedStrategy<Map<String, Value>> {
    prop::collection::btree_map("[a-z_]{1,8}", any_json(), 0..4).prop_map(|map| map.into_iter().collect()).boxed()
}

fn words() -> BoxedStrategy<String> {
    prop_oneof![Just(String::new()), "[a-z/ .\"\\\\é\n]{1,20}"].boxed()
}

fn call_ids() -> BoxedStrategy<CallId> {
    any::<()>().prop_map(|()| CallId::generate()).boxed()
}

fn message_ids() -> BoxedStrategy<MessageId> {
    any::<()>().prop_map(|()| MessageId::generate()).boxed()
}

fn question_ids() -> BoxedStrategy<QuestionId> {
    any::<()>().prop_map(|()| QuestionId::generate()).boxed()
}

fn roles() -> BoxedStrategy<Role> {
    select(Role::all().collect::<Vec<_>>()).boxed()
}

fn switches() -> BoxedStrategy<SwitchedBy> {
    select(vec![SwitchedBy::User, SwitchedBy::Intent, SwitchedBy::Approval, SwitchedBy::Auto]).boxed()
}

fn severities() -> BoxedStrategy<Severity> {
    select(vec![Severity::Minor, Severity::Major, Severity::Critical]).boxed()
}

fn problems() -> BoxedStrategy<Problem> {
    (select(ErrorCode::ALL), words(), of(any_object()))
        .prop_map(|(code, message, details)| Problem { details: details.map(Value::Object), ..Problem::new(code, message) })
        .boxed()
}

fn markers() -> BoxedStrategy<ReadMarker> {
    prop_oneof![Just(ReadMarker::Nothing), message_ids().prop_map(ReadMarker::UpTo)].boxed()
}

fn replies() -> BoxedStrategy<ReplyPart> {
    (of(message_ids()), of(words()), of(markers()), of(any_object()), of(words()))
        .prop_map(|(id, model, read_up_to, native, reasoning)| ReplyPart {
            id,
            model,
            read_up_to,
            native: native.map(Value::Object),
            reasoning,
        })
        .boxed()
}

fn images() -> BoxedStrategy<Image> {
    prop_oneof![
        Just(Image::Absent),
        Just(Image::Unknown),
        (of(any::<u32>()), words()).prop_map(|(mode, sha256)| Image::File { mode, sha256 }),
        of(any::<u32>()).prop_map(|mode| Image::Folder { mode }),
        words().prop_map(|target| Image::Link { target }),
    ]
    .boxed()
}

fn plans() -> BoxedStrategy<Plan> {
    let step = (any::<u32>(), words(), of(words()), prop::collection::vec(words(), 0..2))
        .prop_map(|(step_number, action, verify, files)| PlanStep { step_number, action, verify, files, ..PlanStep::default() });
    (words(), prop::collection::vec(step, 0..3), of(words()), prop::collection::vec(words(), 0..2))
        .prop_map(|(goal, steps, estimated_total_time, risks)| Plan {
            goal,
            steps,
            estimated_total_time,
            assumptions: risks.clone(),
            risks,
            ..Plan::default()
        })
        .boxed()
}

fn planned_files() -> BoxedStrategy<PlannedFiles> {
    (prop::collection::btree_map(words(), of(words()), 0..3), any::<bool>())
        .prop_map(|(hashes, is_partial)| PlannedFiles { hashes, is_partial })
        .boxed()
}

fn any_body() -> BoxedStrategy<MessageBody> {
    prop_oneof![
        user_texts().prop_map(MessageBody::from),
        answers().prop_map(MessageBody::from),
        assistant_texts().prop_map(MessageBody::from),
        plan_versions().prop_map(MessageBody::from),
        cards().prop_map(MessageBody::from),
        calls().prop_map(MessageBody::from),
        results().prop_map(MessageBody::from),
        notices().prop_map(MessageBody::from),
        records().prop_map(MessageBody::from),
    ]
    .boxed()
}

fn user_texts() -> BoxedStrategy<UserText> {
    let image = (words(), words(), any::<u64>()).prop_map(|(sha256, mime_type, size)| AttachedImage { sha256, mime_type, size });
    (of(words()), prop::collection::vec(image, 0..3), prop::collection::vec(comments(), 0..3), any::<bool>())
        .prop_map(|(user, images, comments, awaits_plan)| UserText { user, images, comments, awaits_plan })
        .boxed()
}

fn comments() -> BoxedStrategy<ReviewComment> {
    let lines = (1..9_u32, 0..9_u32).prop_map(|(first, more)| LineRange { first, last: first + more });
    (words(), of(any::<u32>()), of(words()), of(lines), words(), words())
        .prop_map(|(id, step, path, lines, quote, text)| ReviewComment { id, step, path, lines, quote, text })
        .boxed()
}

fn answers() -> BoxedStrategy<Answer> {
    (of(words()), question_ids(), any_object(), of(words()))
        .prop_map(|(user, question_id, answers, comment)| Answer {
            user,
            question_answer: QuestionAnswer { question_id, answers },
            comment,
        })
        .boxed()
}

fn assistant_texts() -> BoxedStrategy<AssistantText> {
    let finding = (words(), of(any::<u32>()), severities(), words()).prop_map(|(path, line, severity, comment)| ReviewFinding {
        path,
        line,
        severity,
        comment,
    });
    let review = (words(), prop::collection::vec(finding, 0..3)).prop_map(|(summary, findings)| Review { summary, findings });
    (replies(), of(words()), any::<bool>(), of(review), of(call_ids()))
        .prop_map(|(reply, not_a_plan, is_interrupted, review, call_id)| AssistantText {
            reply,
            not_a_plan,
            is_interrupted,
            review,
            call_id,
        })
        .boxed()
}

fn plan_versions() -> BoxedStrategy<PlanVersion> {
    let facts = (words(), any::<u32>(), words());
    let outcome = of(select(vec![CommentOutcome::Done, CommentOutcome::Declined]));
    let answered = (comments(), outcome, words()).prop_map(|(comment, outcome, note)| AnsweredComment { comment, outcome, note });
    let edit = (any::<bool>(), of(words()), prop::collection::vec(answered, 0..3));
    (plans(), facts, of(planned_files()), edit, of(call_ids()), replies())
        .prop_map(|(plan, (plan_file, revision, sha256), files, (is_edited, user, comments), call_id, reply)| PlanVersion {
            plan,
            plan_file,
            revision,
            sha256,
            files,
            is_edited,
            user,
            comments,
            call_id,
            reply,
        })
        .boxed()
}

/// The parts of a call that show what it would do.
fn shown() -> BoxedStrategy<CallToApprove> {
    let kind = select(vec![EntryKind::File, EntryKind::Folder, EntryKind::Link, EntryKind::Other]);
    let deleted = (words(), kind, of(any::<u64>()), of(any::<u64>()), of(words()))
        .prop_map(|(path, kind, size, lines, beginning)| DeletedEntry { path, kind, size, lines, beginning });
    (of(any::<u32>()), of(words()), prop::collection::vec(deleted, 0..3), any::<u64>(), of(any::<bool>()), call_ids())
        .prop_map(|(step_number, diff, deleted, deleted_count, reversible, call_id)| CallToApprove {
            call_id,
            tool: String::new(),
            args: None,
            effects: Vec::new(),
            reason: String::new(),
            folder: None,
            moment: ApprovalMoment::Before,
            grant: None,
            step_number,
            diff,
            deleted,
            deleted_count,
            reversible,
        })
        .boxed()
}

fn cards() -> BoxedStrategy<QuestionCard> {
    let effect = (words(), of(any_object())).prop_map(|(effect, target)| EffectShown { effect, target: target.map(Value::Object) });
    let moment = select(vec![ApprovalMoment::Before, ApprovalMoment::After]);
    let call =
        (call_ids(), words(), of(any_object()), prop::collection::vec(effect, 0..3), (words(), of(words()), moment, of(words())), shown());
    let call = call.prop_map(|(call_id, tool, args, effects, (reason, folder, moment, grant), shown)| CallToApprove {
        call_id,
        tool,
        args: args.map(Value::Object),
        effects,
        reason,
        folder,
        moment,
        grant,
        ..shown
    });
    let plan = (words(), any::<u32>(), words(), plans())
        .prop_map(|(plan_file, revision, sha256, plan)| PlanToApprove::new(&plan_file, revision, &sha256, plan));
    let kind = select(vec![QuestionKind::User, QuestionKind::PlanApproval, QuestionKind::ToolApproval, QuestionKind::StepStop]);
    let question =
        (words(), words(), any_object(), of(words()), of(any_object())).prop_map(|(name, question, schema, context, default)| {
            let button = Button { label: "Yes".to_owned(), value: json!(true), variant: Some(Variant::Primary), description: None };
            Question { name, question, schema: schema.into(), buttons: vec![button], context, default: default.map(Value::Object) }
        });
    let questions = prop::collection::vec(question, 0..3);
    (question_ids(), questions, kind, severities(), of(plan), of(call), replies())
        .prop_map(|(question_id, questions, kind, severity, plan, call, reply)| QuestionCard {
            question_id,
            questions,
            kind,
            severity,
            plan,
            call,
            reply,
        })
        .boxed()
}

fn calls() -> BoxedStrategy<ToolCall> {
    let status = select(vec![CallStatus::Pending, CallStatus::Running, CallStatus::Done, CallStatus::Failed, CallStatus::Cancelled]);
    let category = select(vec![Category::Read, Category::Search, Category::Write, Category::Execute, Category::Other]);
    let risk = select(vec![Risk::Low, Risk::Medium, Risk::High]);
    let marks = (any::<bool>(), any::<bool>(), of(any_object()));
    (call_ids(), words(), any_json(), status, of(category), of(risk), replies(), marks)
        .prop_map(|(call_id, tool, args, status, category, risk, reply, (runs_command, is_landing, verified))| ToolCall {
            call_id,
            tool,
            args,
            status,
            category,
            risk,
            reply,
            runs_command,
            is_landing,
            verified,
        })
        .boxed()
}

fn results() -> BoxedStrategy<ToolResult> {
    let outcome = prop_oneof![of(any_object()).prop_map(ToolOutcome::Succeeded), problems().prop_map(ToolOutcome::Failed)];
    (call_ids(), words(), outcome, of(question_ids()), of(any::<u64>()))
        .prop_map(|(call_id, tool, outcome, question_id, body_size)| ToolResult { call_id, tool, outcome, question_id, body_size })
        .boxed()
}

/// Notices about roles and plans.
fn notices() -> BoxedStrategy<Notice> {
    let switch = || (roles(), roles(), switches()).prop_map(|(from, to, by)| ModeChange { from, to, by });
    let choice = || {
        let steps = of(prop::collection::vec(any::<u32>(), 0..3));
        (steps, of(any::<u32>())).prop_map(|(steps, stop_after)| StepChoice { steps, stop_after })
    };
    let facts = (words(), any::<u32>(), words(), of(words()), words(), switches(), choice(), of(words())).prop_map(
        |(plan_file, revision, sha256, base_commit, approver, by, choice, comment)| ApprovalFacts {
            plan_file,
            revision,
            sha256,
            base_commit,
            approver,
            by,
            choice,
            comment,
        },
    );
    let step = (any::<u32>(), words(), of(words())).prop_map(|(step_number, action, note)| StepProgress {
        step_number,
        action,
        status: StepStatus::InProgress,
        note,
    });
    let progress = (words(), prop::collection::vec(step, 0..3), of(words()), choice());
    let progress = progress.prop_map(|(plan_file, steps, reported_file, choice)| Progress { plan_file, steps, reported_file, choice });
    let approval = (switch(), facts, of(progress), of(planned_files())).prop_map(|(mode_change, approval, begins_with, files)| {
        Notice::Approval(Box::new(ApprovalNotice { mode_change, approval, begins_with, files }))
    });
    let drift = (words(), select(vec![FileDrift::Changed, FileDrift::Deleted, FileDrift::New]))
        .prop_map(|(path, change)| DriftedFile { path, change });
    let change = select(vec![PlanFileChange::Edited, PlanFileChange::Unreadable, PlanFileChange::Deleted]);
    prop_oneof![
        Just(Notice::Plain),
        switch().prop_map(Notice::ModeChange),
        approval,
        prop::collection::vec(drift, 0..3).prop_map(Notice::Drift),
        (words(), change).prop_map(|(plan_file, change)| Notice::PlanChanged(PlanChanged { plan_file, change })),
        Just(Notice::Answered),
        Just(Notice::ModeUndecided),
    ]
    .boxed()
}

/// The other notices.
fn records() -> BoxedStrategy<Notice> {
    let step = (words(), images(), images()).prop_map(|(path, present, wanted)| RevertStep { path, present, wanted });
    let conflict = (words(), words()).prop_map(|(path, reason)| RevertConflict { path, reason });
    let status = select(vec![RevertStatus::Running, RevertStatus::Done, RevertStatus::Incomplete]);
    let hunks = prop::collection::btree_map(words(), prop::collection::vec(any::<usize>(), 0..3), 0..3);
    let revert = (of(message_ids()), hunks, status, prop::collection::vec(step, 0..3), prop::collection::vec(conflict, 0..3));
    let trouble = select(vec![ServerTrouble::Changed, ServerTrouble::Untrusted, ServerTrouble::Failed]);
    let compaction = (any::<u64>(), any::<bool>(), of(markers())).prop_map(|(tokens_before, by_model, read_up_to)| CompactionNotice {
        facts: CompactionFacts { tokens_before, by_model },
        read_up_to,
    });
    let committed = (words(), words(), message_ids()).prop_map(|(branch, id, through)| CommitOutcome::Committed { branch, id, through });
    prop_oneof![
        revert.prop_map(|(message_id, hunks, status, files, conflicts)| {
            Notice::Revert(RevertNotice { message_id, hunks, status, files, conflicts })
        }),
        compaction.prop_map(Notice::Compaction),
        Just(Notice::Task),
        Just(Notice::Retry),
        committed.prop_map(Notice::Commit),
        words().prop_map(|error| Notice::Commit(CommitOutcome::Failed { error })),
        message_ids().prop_map(|message_id| Notice::Cut(CutMessage { message_id })),
        (words(), of(trouble)).prop_map(|(server, trouble)| Notice::Server(ServerNotice { server, trouble })),
    ]
    .boxed()
}
