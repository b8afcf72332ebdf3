//! The audit log, and the counts computed from it.

use crate::world::{World, append, chat_in, chat_of, moment, on_both};
use planwright_protocol::message::{AssistantText, CallStatus, ReplyPart, ToolCall};
use planwright_protocol::{CallId, Envelope, Event, Message, Role};
use planwright_store::{Adherence, Append, AuditFilter, AuditKind, AuditRow, ChatRow, Store, UtcOffset};
use serde_json::json;

on_both!(
    the_log_is_read_newest_first_and_by_every_filter,
    the_log_is_read_page_by_page_also_where_rows_are_of_one_moment,
    the_log_is_counted_by_the_days_of_whoever_asks,
    the_log_is_read_page_by_page_and_misses_and_repeats_nothing_meanwhile,
    adherence_is_counted_by_model_and_role,
    the_log_and_what_is_counted_outlive_a_chat_and_a_workspace,
);

fn row(kind: AuditKind, model: &str, role: Role, at: i64) -> AuditRow {
    AuditRow { kind, model: model.into(), role: Some(role), user: None, details: json!({ "tool": "write", "at": at }), at: moment(at) }
}

async fn log(store: &Store, chat: &ChatRow, audit: &[AuditRow]) {
    append(store, chat, Append { audit, ..Append::default() }).await.unwrap();
}

async fn the_log_is_read_newest_first_and_by_every_filter(world: World) {
    use AuditKind::{ModeEntered, PlanWritten, ToolBlocked};
    let store = world.open().await;
    let (here, there) = (chat_in(&store).await, chat_of(&store, "/there").await);
    let rows = [
        row(ModeEntered, "", Role::Planner, 1),
        row(ToolBlocked, "m/a", Role::Planner, 2),
        // Two entries with the same time: the later one comes first.
        row(PlanWritten, "m/a", Role::Planner, 2),
    ];
    log(&store, &here, &rows).await;
    log(&store, &there, &[row(ToolBlocked, "m/b", Role::Actor, 4)]).await;
    let times = async |filter: AuditFilter, limit: u32| -> Vec<(i64, AuditKind)> {
        let found = store.audit(filter, limit).await.unwrap();
        found.iter().map(|entry| (entry.row.at.as_second() - moment(0).as_second(), entry.row.kind)).collect()
    };
    let all = [(4, ToolBlocked), (2, PlanWritten), (2, ToolBlocked), (1, ModeEntered)];
    let any = AuditFilter::default;
    assert_eq!(times(any(), 10).await, all);
    assert_eq!(times(any(), 2).await, all[..2]);
    assert_eq!(times(AuditFilter { from: Some(moment(2)), to: Some(moment(4)), ..any() }, 10).await, all[1..3]);
    assert_eq!(times(AuditFilter { kind: Some(ToolBlocked), ..any() }, 10).await, [all[0], all[2]]);
    assert_eq!(times(AuditFilter { model: Some("m/a".into()), ..any() }, 10).await, all[1..3]);
    assert_eq!(times(AuditFilter { role: Some(Role::Actor), ..any() }, 10).await, all[..1]);
    assert_eq!(times(AuditFilter { chat: Some(here.id), ..any() }, 10).await, all[1..]);
    assert_eq!(times(AuditFilter { workspace: Some(there.workspace_id), ..any() }, 10).await, all[..1]);
    assert_eq!(times(AuditFilter { workspace: Some(there.workspace_id), chat: Some(here.id), ..any() }, 10).await, []);

    let entry = store.audit(AuditFilter { chat: Some(there.id), ..any() }, 1).await.unwrap().remove(0);
    assert_eq!(
        serde_json::to_value(&entry).unwrap(),
        json!({
            "id": entry.id, "workspace_id": there.workspace_id, "chat_id": there.id, "kind": "tool_blocked", "model": "m/b", "agent_role": "actor",
            "user": null, "details": { "tool": "write", "at": 4 }, "at": moment(4),
        })
    );
}

async fn the_log_is_read_page_by_page_also_where_rows_are_of_one_moment(world: World) {
    let store = world.open().await;
    let chat = chat_in(&store).await;
    // Five entries with the same time, one before and one after them.
    let rows: Vec<AuditRow> = [1, 2, 2, 2, 2, 2, 3].into_iter().map(|at| row(AuditKind::ToolBlocked, "m/a", Role::Planner, at)).collect();
    log(&store, &chat, &rows).await;
    let all: Vec<i64> = store.audit(AuditFilter::default(), 10).await.unwrap().iter().map(|entry| entry.id).collect();
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = store.audit(AuditFilter { after, ..AuditFilter::default() }, 2).await.unwrap();
        seen.extend(page.iter().map(|entry| entry.id));
        let Some(last) = page.last() else { break };
        after = Some(last.cursor());
    }
    assert_eq!(seen, all);
    assert_eq!(seen.len(), 7);
}

async fn the_log_is_counted_by_the_days_of_whoever_asks(world: World) {
    use AuditKind::{ModeEntered, QuestionAsked, ToolBlocked};
    let store = world.open().await;
    let (here, there) = (chat_in(&store).await, chat_of(&store, "/there").await);
    let told = |kind, at: i64, details| AuditRow { details, ..row(kind, "m/a", Role::Planner, at) };
    // Half an hour before midnight, and half an hour after it.
    let midnight = 86_400 - moment(0).as_second().rem_euclid(86_400);
    let (before, after) = (midnight - 1_800, midnight + 1_800);
    log(
        &store,
        &here,
        &[
            row(ToolBlocked, "m/a", Role::Planner, before),
            row(ToolBlocked, "m/a", Role::Planner, after),
            row(ToolBlocked, "m/a", Role::Planner, after),
            told(QuestionAsked, after, json!({ "severity": "major" })),
            told(ModeEntered, after, json!({ "mode": "act", "by": "intent" })),
            told(ModeEntered, after, json!({ "mode": "plan" })),
        ],
    )
    .await;
    log(&store, &there, &[row(ToolBlocked, "m/b", Role::Actor, after)]).await;
    let counts = async |filter: AuditFilter, minutes: i16| -> Vec<(String, AuditKind, u64)> {
        let found = store.audit_counts(filter, UtcOffset { minutes }).await.unwrap();
        found.into_iter().map(|one| (one.what.day, one.what.kind, one.count)).collect()
    };
    let day = |seconds: i64| moment(seconds).strftime("%Y-%m-%d").to_string();
    let blocked = || AuditFilter { kind: Some(ToolBlocked), model: Some("m/a".into()), ..AuditFilter::default() };
    assert_eq!(counts(blocked(), 0).await, [(day(before), ToolBlocked, 1), (day(after), ToolBlocked, 2)]);
    assert_eq!(counts(blocked(), 60).await, [(day(after), ToolBlocked, 3)], "an hour to the east it is one day");
    assert_eq!(counts(blocked(), -60).await, [(day(before), ToolBlocked, 3)]);

    let all = store
        .audit_counts(AuditFilter { chat: Some(here.id), from: Some(moment(after)), ..AuditFilter::default() }, UtcOffset::default())
        .await
        .unwrap();
    let told: Vec<_> = all
        .iter()
        .map(|one| {
            (
                one.what.kind,
                one.what.tool.as_deref(),
                one.what.severity.as_deref(),
                one.what.mode.as_deref(),
                one.what.by.as_deref(),
                one.count,
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            (ModeEntered, None, None, Some("act"), Some("intent"), 1),
            (ModeEntered, None, None, Some("plan"), None, 1),
            (ToolBlocked, Some("write"), None, None, None, 2),
            (QuestionAsked, None, Some("major"), None, None, 1),
        ]
    );
}

fn part_of(model: &str) -> ReplyPart {
    ReplyPart { model: Some(model.to_owned()), ..ReplyPart::default() }
}

/// Calls of one model in one role, numbered from `first`.
fn calls(chat: &ChatRow, first: u64, count: u64, model: &str, role: Role) -> Vec<Envelope> {
    let call = |seq: u64| {
        let call = ToolCall { reply: part_of(model), ..ToolCall::new(CallId::generate(), "ls", json!({})) };
        let mut message = Message::new(chat.id, call, "").with_role(role);
        message.created_at = moment(i64::try_from(seq).unwrap());
        Envelope { event: Event::MessageCreated { message }, seq, at: moment(0) }
    };
    (first..first + count).map(call).collect()
}

async fn adherence_is_counted_by_model_and_role(world: World) {
    use AuditKind::{ApprovalRequested, DisallowedToolAttemptInPlanning, ModeEntered, QuestionAsked, ToolBlocked};
    let store = world.open().await;
    let (here, there) = (chat_in(&store).await, chat_of(&store, "/there").await);
    let mut events = calls(&here, 1, 4, "m/a", Role::Planner);
    events.extend(calls(&here, 5, 2, "m/a", Role::Actor));
    events.extend(calls(&here, 7, 1, "m/b", Role::Planner));
    // A message that is no call does not count, whoever wrote it.
    let text = Message::new(here.id, AssistantText { reply: part_of("m/a"), ..AssistantText::default() }, "hi").with_role(Role::Planner);
    events.push(Envelope { event: Event::MessageCreated { message: text }, seq: 8, at: moment(0) });
    let audit = [
        row(ModeEntered, "m/a", Role::Planner, 1),
        row(ToolBlocked, "m/a", Role::Planner, 2),
        row(DisallowedToolAttemptInPlanning, "m/a", Role::Planner, 2),
        row(ToolBlocked, "m/a", Role::Actor, 5),
        row(QuestionAsked, "m/b", Role::Planner, 7),
        AuditRow { details: json!({ "tool": "rm" }), ..row(ApprovalRequested, "m/a", Role::Actor, 6) },
        // A plan card is no deviation from the plan; entries without a model count for no model.
        AuditRow { details: json!({ "plan_file": "/plans/a.plan" }), ..row(ApprovalRequested, "m/a", Role::Planner, 4) },
        AuditRow { details: json!({ "tool": "rm" }), ..row(ApprovalRequested, "", Role::Actor, 6) },
    ];
    append(&store, &here, Append { events: &events, audit: &audit, ..Append::default() }).await.unwrap();
    let events = calls(&there, 1, 3, "m/a", Role::Planner);
    append(&store, &there, Append { events: &events, ..Append::default() }).await.unwrap();
    // A call whose status changes is still one call.
    let Event::MessageCreated { message } = events[0].event.clone() else { unreachable!() };
    let message = message.to_call().unwrap().with_status(CallStatus::Done).into();
    let update = [Envelope { event: Event::MessageUpdated { message }, seq: 9, at: moment(0) }];
    append(&store, &there, Append { events: &update, ..Append::default() }).await.unwrap();

    let line = |model: &str, role, calls, blocked, disallowed_in_planning| Adherence {
        model: model.into(),
        role,
        calls,
        blocked,
        disallowed_in_planning,
        questions: 0,
        deviations: 0,
    };
    let any = AuditFilter::default;
    assert_eq!(
        store.adherence(any()).await.unwrap(),
        [
            line("m/a", Role::Planner, 7, 1, 1),
            Adherence { deviations: 1, ..line("m/a", Role::Actor, 2, 1, 0) },
            Adherence { questions: 1, ..line("m/b", Role::Planner, 1, 0, 0) },
        ]
    );
    assert_eq!(
        store.adherence(AuditFilter { workspace: Some(there.workspace_id), ..any() }).await.unwrap(),
        [line("m/a", Role::Planner, 3, 0, 0)]
    );
    let filter = AuditFilter { model: Some("m/a".into()), role: Some(Role::Planner), chat: Some(here.id), ..any() };
    assert_eq!(
        store.adherence(AuditFilter { from: Some(moment(2)), to: Some(moment(4)), ..filter }).await.unwrap(),
        [line("m/a", Role::Planner, 2, 1, 1)]
    );
}

async fn the_log_is_read_page_by_page_and_misses_and_repeats_nothing_meanwhile(world: World) {
    let store = world.open().await;
    let chat = chat_in(&store).await;
    // Several entries with the same time, so that the time alone is not a position.
    let rows: Vec<AuditRow> = (0..7).map(|at| row(AuditKind::ToolBlocked, "m/a", Role::Planner, at / 3)).collect();
    log(&store, &chat, &rows).await;
    let all: Vec<i64> = store.audit(AuditFilter::default(), 10).await.unwrap().iter().map(|entry| entry.id).collect();
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = store.audit(AuditFilter { after, ..AuditFilter::default() }, 2).await.unwrap();
        let Some(last) = page.last() else { break };
        after = Some(last.cursor());
        seen.extend(page.iter().map(|entry| entry.id));
        log(&store, &chat, &[row(AuditKind::ToolBlocked, "m/a", Role::Planner, 100)]).await;
        store.delete_chat(chat.id).await.unwrap();
        store.create_chat(&chat).await.unwrap();
    }
    assert_eq!(seen, all);
}

async fn the_log_and_what_is_counted_outlive_a_chat_and_a_workspace(world: World) {
    let store = world.open().await;
    let here = chat_in(&store).await;
    let events = calls(&here, 1, 4, "m/a", Role::Planner);
    let audit = [row(AuditKind::ToolBlocked, "m/a", Role::Planner, 2)];
    append(&store, &here, Append { events: &events, audit: &audit, ..Append::default() }).await.unwrap();
    let of_user = AuditRow { user: Some("ann".into()), ..row(AuditKind::ToolBlocked, "", Role::Planner, 3) };
    store.log(Some(here.workspace_id), std::slice::from_ref(&of_user)).await.unwrap();
    let any = AuditFilter::default;
    let filters = || {
        let time = AuditFilter { from: Some(moment(2)), to: Some(moment(4)), ..any() };
        [any(), AuditFilter { workspace: Some(here.workspace_id), ..any() }, AuditFilter { chat: Some(here.id), ..any() }, time]
    };
    let look = async || {
        let mut seen = Vec::new();
        for filter in filters() {
            seen.push((store.audit(filter.clone(), 10).await.unwrap(), store.adherence(filter).await.unwrap()));
        }
        seen
    };
    let before = look().await;
    assert_eq!(before[0].0.len(), 2);
    assert_eq!((&before[0].0[0].row, before[0].0[0].workspace_id), (&of_user, Some(here.workspace_id)));
    assert_eq!((before[0].1[0].calls, before[3].1[0].calls), (4, 2));
    store.delete_chat(here.id).await.unwrap();
    assert_eq!(look().await, before);

    // The same for entries that are deleted with their workspace.
    let there = chat_of(&store, "/there").await;
    let events = calls(&there, 1, 3, "m/b", Role::Actor);
    append(&store, &there, Append { events: &events, audit: &audit, ..Append::default() }).await.unwrap();
    let before = look().await;
    store.delete_workspace(there.workspace_id).await.unwrap();
    assert_eq!(look().await, before);
}
