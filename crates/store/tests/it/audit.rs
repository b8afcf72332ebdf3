//! The log, and what can be counted from it.

use crate::world::{World, chat_in, chat_of, moment, on_both};
use planwright_protocol::{Author, Envelope, Event, Message, MessageType, Role};
use planwright_store::{Adherence, Append, AuditFilter, AuditKind, AuditRow, ChatRow, Store};
use serde_json::json;

on_both!(the_log_is_read_newest_first_and_by_every_filter, adherence_is_counted_by_model_and_role);

fn row(kind: AuditKind, model: &str, role: Role, at: i64) -> AuditRow {
    AuditRow { kind, model: model.into(), role: Some(role), details: json!({ "tool": "write", "at": at }), at: moment(at) }
}

async fn log(store: &Store, chat: &ChatRow, audit: &[AuditRow]) {
    store.append(chat, Append { audit, ..Append::default() }).await.unwrap();
}

async fn the_log_is_read_newest_first_and_by_every_filter(world: World) {
    use AuditKind::{ModeEntered, PlanWritten, ToolBlocked};
    let store = world.open().await;
    let (here, there) = (chat_in(&store).await, chat_of(&store, "/there").await);
    let rows = [
        row(ModeEntered, "", Role::Planner, 1),
        row(ToolBlocked, "m/a", Role::Planner, 2),
        // Two of one moment: the later one comes first.
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
            "details": { "tool": "write", "at": 4 }, "at": moment(4),
        })
    );
}

/// Calls of one model in one role, from the first number on.
fn calls(chat: &ChatRow, first: u64, count: u64, model: &str, role: Role) -> Vec<Envelope> {
    let call = |seq: u64| {
        let mut message = Message::new(chat.id, Author::Assistant, MessageType::ToolCall, "").by(role).with("model", model);
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
    // A message that is no call counts for nothing, whoever wrote it.
    let text = Message::new(here.id, Author::Assistant, MessageType::Text, "hi").by(Role::Planner).with("model", "m/a");
    events.push(Envelope { event: Event::MessageCreated { message: text }, seq: 8, at: moment(0) });
    let audit = [
        row(ModeEntered, "m/a", Role::Planner, 1),
        row(ToolBlocked, "m/a", Role::Planner, 2),
        row(DisallowedToolAttemptInPlanning, "m/a", Role::Planner, 2),
        row(ToolBlocked, "m/a", Role::Actor, 5),
        row(QuestionAsked, "m/b", Role::Planner, 7),
        AuditRow { details: json!({ "tool": "rm" }), ..row(ApprovalRequested, "m/a", Role::Actor, 6) },
        // The card of a plan is no deviation from it, and what nobody's model did counts for none.
        AuditRow { details: json!({ "plan_file": "/plans/a.plan" }), ..row(ApprovalRequested, "m/a", Role::Planner, 4) },
        AuditRow { details: json!({ "tool": "rm" }), ..row(ApprovalRequested, "", Role::Actor, 6) },
    ];
    store.append(&here, Append { events: &events, audit: &audit, ..Append::default() }).await.unwrap();
    let events = calls(&there, 1, 3, "m/a", Role::Planner);
    store.append(&there, Append { events: &events, ..Append::default() }).await.unwrap();
    // A call whose status changes is still one call.
    let Event::MessageCreated { message } = events[0].event.clone() else { unreachable!() };
    let update = [Envelope { event: Event::MessageUpdated { message: message.with("status", "done") }, seq: 9, at: moment(0) }];
    store.append(&there, Append { events: &update, ..Append::default() }).await.unwrap();

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
