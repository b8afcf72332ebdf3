//! Chats, their histories, and what a session writes.

use crate::world::{World, append, chat_in, chat_of, created, envelopes, moment, on_both};
use planwright_protocol::plan::{StepChoice, StepProgress};
use planwright_protocol::{Envelope, Event, MessageId, MessageType, Mode, Progress, Role, RunId, StepStatus, SwitchedBy};
use planwright_store::{Append, ApprovalRow, ChatCursor, ChatFilter, ChatRow, GrantRow, OpRecord, Store};
use serde_json::json;

on_both!(
    what_was_stored_is_there_after_opening_again,
    every_field_of_a_chat_comes_back,
    an_append_is_stored_whole_or_not_at_all,
    a_chat_and_a_message_from_before_roles_load_and_are_saved_with_the_field_on_the_next_update,
    a_role_that_nobody_knows_gets_the_least_rights,
    any_text_comes_back_as_it_was,
    chats_are_found_by_mode_role_and_plan,
    a_history_is_read_in_pages_and_a_changed_message_keeps_its_place,
    unfinished_runs_and_plans_of_others_are_found,
    a_workspace_is_known_by_its_path_and_listed_by_name,
    the_newest_trust_in_a_workspace_is_kept,
    the_newest_approval_counts_and_knows_its_commit,
    appends_of_many_chats_at_once_all_arrive,
    a_deleted_chat_takes_its_history_with_it_and_leaves_the_others,
    chats_are_paged_in_an_order_that_holds_while_they_change,
    a_workspace_keeps_its_settings_and_goes_with_its_chats,
    a_workspace_whose_removal_was_cut_off_is_out_of_sight_and_gone_after_the_next_start,
    an_op_is_stored_with_its_message_or_not_at_all,
    messages_are_searched_and_single_ones_found_and_taken_back,
);

async fn texts(store: &Store, chat: &ChatRow) -> Vec<String> {
    store.messages(chat.id).await.unwrap().into_iter().map(|message| message.content).collect()
}

async fn what_was_stored_is_there_after_opening_again(world: World) {
    let store = world.open().await;
    let mut chat = chat_in(&store).await;
    let events = [created(&chat, 1, "one"), created(&chat, 2, "two")];
    chat.version = append(&store, &chat, Append { events: &events, ..Append::default() }).await.unwrap();
    store.close().await;

    let store = world.open().await;
    assert_eq!(store.chat(chat.id).await.unwrap(), Some(chat.clone()));
    assert_eq!(texts(&store, &chat).await, ["one", "two"]);
    assert_eq!(envelopes(&store, &chat, 1, 10).await, events[1..]);
}

async fn a_deleted_chat_takes_its_history_with_it_and_leaves_the_others(world: World) {
    let store = world.open().await;
    let (chat, other) = (chat_in(&store).await, chat_in(&store).await);
    for chat in [&chat, &other] {
        append(&store, chat, Append { events: &[created(chat, 1, "one")], ..Append::default() }).await.unwrap();
    }
    store.delete_chat(chat.id).await.unwrap();
    store.delete_chat(chat.id).await.unwrap();
    assert_eq!(store.chat(chat.id).await.unwrap(), None);
    assert!(texts(&store, &chat).await.is_empty() && envelopes(&store, &chat, 0, 10).await.is_empty());
    assert_eq!(texts(&store, &other).await, ["one"]);
}

async fn the_newest_trust_in_a_workspace_is_kept(world: World) {
    let store = world.open().await;
    let (one, other) = (store.ensure_workspace("one", "/one").await.unwrap(), store.ensure_workspace("other", "/other").await.unwrap());
    assert_eq!(store.trusted(one.id).await.unwrap(), None);
    store.trust(one.id, "first").await.unwrap();
    store.trust(one.id, "second").await.unwrap();
    store.close().await;
    let store = world.open().await;
    assert_eq!(store.trusted(one.id).await.unwrap().as_deref(), Some("second"));
    assert_eq!(store.trusted(other.id).await.unwrap(), None);
}

async fn every_field_of_a_chat_comes_back(world: World) {
    let store = world.open().await;
    let mut chat = chat_in(&store).await;
    chat.title = "Another".into();
    chat.config.role = Role::Tester;
    chat.config.plan_file = Some("/plans/a.plan".into());
    chat.pending = Some(json!({ "question_id": "1", "text": "nul \0 and 你好" }));
    chat.grants = vec![GrantRow { tool: "write".into(), folder: "/src".into(), at: None, by: Some("ann".into()) }];
    let step = StepProgress { step_number: 1, action: "Go".into(), status: StepStatus::InProgress, note: None };
    chat.progress =
        Some(Progress { plan_file: "/plans/a.plan".into(), steps: vec![step], reported_file: None, choice: StepChoice::default() });
    chat.epoch = 3;
    chat.seq_ceiling = u64::from(u32::MAX) + 7;
    chat.usage.input_tokens = 7;
    chat.run = Some(RunId::generate());
    chat.updated_at = moment(9);
    chat.version = append(&store, &chat, Append::default()).await.unwrap();
    assert_eq!(store.chat(chat.id).await.unwrap(), Some(chat));
}

async fn an_append_is_stored_whole_or_not_at_all(world: World) {
    let store = world.open().await;
    let mut chat = chat_in(&store).await;
    let first = [created(&chat, 1, "one")];
    append(&store, &chat, Append { events: &first, ..Append::default() }).await.unwrap();
    chat.title = "changed".into();
    // The second event has a number that is taken, so the first one must not be stored either.
    let clash = [created(&chat, 2, "two"), created(&chat, 1, "again")];
    assert!(append(&store, &chat, Append { events: &clash, ..Append::default() }).await.is_err());
    assert_eq!(texts(&store, &chat).await, ["one"]);
    assert_eq!(store.chat(chat.id).await.unwrap().unwrap().title, "T");
    // And the next one goes through.
    append(&store, &chat, Append { events: &clash[..1], ..Append::default() }).await.unwrap();
    assert_eq!(texts(&store, &chat).await, ["one", "two"]);
}

async fn a_chat_and_a_message_from_before_roles_load_and_are_saved_with_the_field_on_the_next_update(world: World) {
    let store = world.open().await;
    let chat = chat_in(&store).await;
    append(&store, &chat, Append { events: &[created(&chat, 1, "one")], ..Append::default() }).await.unwrap();
    world.tamper("update chats set agent_role = null, agent_mode = null; update messages set message_type = null").await;

    let old = store.chat(chat.id).await.unwrap().unwrap();
    assert_eq!(old.config.role, Role::Actor);
    assert_eq!(store.messages(chat.id).await.unwrap()[0].message_type(), MessageType::Text);
    let acting = ChatFilter { mode: Some(Mode::Act), role: Some(Role::Actor), ..ChatFilter::default() };
    assert_eq!(store.chats(chat.workspace_id, acting).await.unwrap().len(), 1);
    let untouched = "select title from chats where agent_role is null and agent_mode is null";
    assert_eq!(world.look(untouched).await, ["T"], "reading changes nothing");
    assert_eq!(world.look("select content from messages where message_type is null").await, ["one"]);

    append(&store, &old, Append::default()).await.unwrap();
    assert_eq!(world.look("select title from chats where agent_role = 'actor' and agent_mode = 'act'").await, ["T"]);
}

async fn a_role_that_nobody_knows_gets_the_least_rights(world: World) {
    let store = world.open().await;
    let chat = chat_in(&store).await;
    world.tamper("update chats set agent_role = 'superuser'").await;
    assert_eq!(store.chat(chat.id).await.unwrap().unwrap().config.role, Role::Planner);
}

async fn any_text_comes_back_as_it_was(world: World) {
    let store = world.open().await;
    let mut chat = chat_in(&store).await;
    let odd = ["", "'; drop table chats; --", "a\0b\u{10FFFF}0", "计划 🙂", "$1 ? \\ \" \r\n\t", &"long ".repeat(100_000)];
    let events: Vec<_> = odd.iter().zip(1..).map(|(text, seq)| created(&chat, seq, text)).collect();
    append(&store, &chat, Append { events: &events, ..Append::default() }).await.unwrap();
    assert_eq!(texts(&store, &chat).await, odd);
    assert_eq!(envelopes(&store, &chat, 0, 100).await, events);
    chat.config.plan_file = Some("/plans/nul\0.plan".into());
    chat.version = append(&store, &chat, Append::default()).await.unwrap();
    let filter = ChatFilter { plan_file: chat.config.plan_file.clone(), ..ChatFilter::default() };
    assert_eq!(store.chats(chat.workspace_id, filter).await.unwrap(), [chat]);
}

async fn chats_are_found_by_mode_role_and_plan(world: World) {
    let store = world.open().await;
    let mut chats = Vec::new();
    for (role, plan, at) in [(Role::Planner, None, 1), (Role::Reviewer, Some("/plans/a.plan"), 3), (Role::Actor, Some("/plans/a.plan"), 2)]
    {
        let mut chat = chat_in(&store).await;
        chat.config.role = role;
        chat.config.plan_file = plan.map(str::to_owned);
        chat.updated_at = moment(at);
        append(&store, &chat, Append::default()).await.unwrap();
        chats.push(chat.id);
    }
    let elsewhere = chat_of(&store, "/elsewhere").await;
    let plan_file = Some("/plans/a.plan".to_owned());
    for (filter, expected) in [
        (ChatFilter::default(), vec![chats[1], chats[2], chats[0]]),
        (ChatFilter { mode: Some(Mode::Plan), ..ChatFilter::default() }, vec![chats[1], chats[0]]),
        (ChatFilter { role: Some(Role::Planner), ..ChatFilter::default() }, vec![chats[0]]),
        (ChatFilter { plan_file: plan_file.clone(), ..ChatFilter::default() }, vec![chats[1], chats[2]]),
        (ChatFilter { plan_file: plan_file.clone(), mode: Some(Mode::Act), ..ChatFilter::default() }, vec![chats[2]]),
        (ChatFilter { plan_file, mode: Some(Mode::Act), role: Some(Role::Tester), ..ChatFilter::default() }, vec![]),
    ] {
        let found = store.chats(store.ensure_workspace("w", "/w").await.unwrap().id, filter.clone()).await.unwrap();
        assert_eq!(found.iter().map(|chat| chat.id).collect::<Vec<_>>(), expected, "{filter:?}");
    }
    assert_eq!(store.chats(elsewhere.workspace_id, ChatFilter::default()).await.unwrap(), [elsewhere]);
}

async fn a_history_is_read_in_pages_and_a_changed_message_keeps_its_place(world: World) {
    let store = world.open().await;
    let (chat, other) = (chat_in(&store).await, chat_in(&store).await);
    let mut events: Vec<_> = (1..=5).map(|seq| created(&chat, seq, &format!("m{seq}"))).collect();
    let Event::MessageCreated { message } = &events[1].event else { unreachable!() };
    let mut message = message.clone();
    message.content = "changed".into();
    events.push(planwright_protocol::Envelope { event: Event::MessageUpdated { message }, seq: 6, at: chat.created_at });
    append(&store, &chat, Append { events: &events, ..Append::default() }).await.unwrap();

    let page = async |before: Option<MessageId>| store.messages_before(chat.id, before, 2).await.unwrap();
    let (mut read, mut before) = (Vec::new(), None);
    loop {
        let messages = page(before).await;
        let Some(last) = messages.last() else { break };
        before = Some(last.id);
        read.extend(messages.into_iter().map(|message| message.content));
    }
    assert_eq!(read, ["m5", "m4", "m3", "changed", "m1"]);
    append(&store, &other, Append { events: &[created(&other, 1, "other")], ..Append::default() }).await.unwrap();
    let foreign = store.messages(other.id).await.unwrap()[0].id;
    // A message of another chat is like one that was taken back: it stands for when it was written.
    assert_eq!(page(Some(foreign)).await.len(), 2);
}

async fn unfinished_runs_and_plans_of_others_are_found(world: World) {
    let store = world.open().await;
    let (mut running, mut resting) = (chat_in(&store).await, chat_in(&store).await);
    running.run = Some(RunId::generate());
    running.config.plan_file = Some("/plans/running.plan".into());
    resting.config.plan_file = Some("/plans/resting.plan".into());
    for chat in [&running, &resting] {
        append(&store, chat, Append::default()).await.unwrap();
    }
    assert_eq!(store.unfinished().await.unwrap(), [running.id]);
    assert_eq!(store.foreign_plans(running.workspace_id, running.id).await.unwrap(), ["/plans/resting.plan"]);
    let mut sharing = chat_in(&store).await;
    sharing.config.plan_file = running.config.plan_file.clone();
    append(&store, &sharing, Append::default()).await.unwrap();
    assert_eq!(store.foreign_plans(running.workspace_id, running.id).await.unwrap(), ["/plans/resting.plan"], "its own stays its own");
    let elsewhere = store.ensure_workspace("e", "/e").await.unwrap();
    assert_eq!(store.foreign_plans(elsewhere.id, running.id).await.unwrap(), Vec::<String>::new());
}

async fn a_workspace_is_known_by_its_path_and_listed_by_name(world: World) {
    let store = world.open().await;
    let first = store.ensure_workspace("b", "/b").await.unwrap();
    assert_eq!(store.ensure_workspace("other name", "/b").await.unwrap(), first);
    for name in ["a", "Z", "é"] {
        store.ensure_workspace(name, &format!("/{name}")).await.unwrap();
    }
    let names: Vec<String> = store.workspaces().await.unwrap().into_iter().map(|workspace| workspace.name).collect();
    assert_eq!(names, ["Z", "a", "b", "é"], "by their bytes, on every database");
    assert_eq!(store.workspace(first.id).await.unwrap(), Some(first));
    assert_eq!(store.workspace(planwright_protocol::WorkspaceId::generate()).await.unwrap(), None);
}

async fn the_newest_approval_counts_and_knows_its_commit(world: World) {
    let store = world.open().await;
    let chat = chat_in(&store).await;
    assert_eq!(store.approval(chat.id).await.unwrap(), None);
    let some = StepChoice { steps: Some(vec![1, 3]), stop_after: Some(3) };
    for (revision, base_commit, choice) in [(1, None, StepChoice::default()), (2, Some("0123abc".to_owned()), some)] {
        let approval = ApprovalRow {
            plan_file: "/plans/a.plan".into(),
            revision,
            sha256: "ab".repeat(32),
            content: "# Plan\n".into(),
            approver: "user".into(),
            given_by: SwitchedBy::Approval,
            base_commit,
            choice,
            at: moment(0),
        };
        append(&store, &chat, Append { approval: Some(&approval), ..Append::default() }).await.unwrap();
        assert_eq!(store.approval(chat.id).await.unwrap(), Some(approval));
    }
}

async fn appends_of_many_chats_at_once_all_arrive(world: World) {
    let store = world.open().await;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let store = store.clone();
        tasks.spawn(async move {
            let chat = chat_in(&store).await;
            for seq in 1..=10 {
                append(&store, &chat, Append { events: &[created(&chat, seq, "x")], ..Append::default() }).await.unwrap();
                assert_eq!(store.messages(chat.id).await.unwrap().len() as u64, seq, "what was acknowledged is there for every reader");
            }
        });
    }
    assert_eq!(tasks.join_all().await.len(), 8);
}

async fn chats_are_paged_in_an_order_that_holds_while_they_change(world: World) {
    let store = world.open().await;
    let mut chats = Vec::new();
    for at in [30, 20, 20, 10] {
        let mut chat = chat_in(&store).await;
        chat.updated_at = moment(at);
        chat.version = append(&store, &chat, Append::default()).await.unwrap();
        chats.push(chat);
    }
    chats.sort_by_key(|chat| std::cmp::Reverse((chat.updated_at, chat.id)));
    let page = async |after: Option<&ChatRow>| {
        let after = after.map(|chat| ChatCursor { updated_at: chat.updated_at, id: chat.id });
        store.chats(chats[0].workspace_id, ChatFilter { after, limit: Some(2), ..ChatFilter::default() }).await.unwrap()
    };
    let first = page(None).await;
    assert_eq!(first, chats[..2]);
    // The chat that the page ended with is used meanwhile, and moves to the top.
    append(&store, &ChatRow { updated_at: moment(99), ..first[1].clone() }, Append::default()).await.unwrap();
    assert_eq!(page(Some(&first[1])).await, chats[2..]);
    assert!(page(Some(&chats[3])).await.is_empty());
}

async fn a_workspace_keeps_its_settings_and_goes_with_its_chats(world: World) {
    let store = world.open().await;
    let (chat, other) = (chat_of(&store, "/w").await, chat_of(&store, "/other").await);
    let mut workspace = store.workspace(chat.workspace_id).await.unwrap().unwrap();
    assert!(workspace.settings.is_empty());
    workspace.name = "named".into();
    workspace.settings.insert("default_mode".into(), "act".into());
    store.update_workspace(&workspace).await.unwrap();
    assert_eq!(store.workspace(chat.workspace_id).await.unwrap(), Some(workspace.clone()));
    assert_eq!(store.ensure_workspace("w", "/w").await.unwrap(), workspace, "what is known is not made anew");
    assert_eq!(store.chats_in(workspace.id).await.unwrap(), [chat.id]);
    store.delete_workspace(workspace.id).await.unwrap();
    assert_eq!((store.workspace(workspace.id).await.unwrap(), store.chat(chat.id).await.unwrap()), (None, None));
    assert!(store.chat(other.id).await.unwrap().is_some());
}

async fn a_workspace_whose_removal_was_cut_off_is_out_of_sight_and_gone_after_the_next_start(world: World) {
    let store = world.open().await;
    let mut chat = chat_of(&store, "/w").await;
    let events: Vec<_> = (1..5000).map(|seq| created(&chat, seq, "hello")).collect();
    chat.run = Some(RunId::generate());
    append(&store, &chat, Append { events: &events, ..Append::default() }).await.unwrap();
    store.hide_workspace(chat.workspace_id).await.unwrap();
    assert_eq!(store.workspace(chat.workspace_id).await.unwrap(), None);
    assert!(store.workspaces().await.unwrap().is_empty() && store.unfinished().await.unwrap().is_empty());
    let again = store.ensure_workspace("w", "/w").await.unwrap();
    assert_ne!(again.id, chat.workspace_id, "the folder can be added again at once");
    store.close().await;
    let store = world.open().await;
    while store.chat(chat.id).await.unwrap().is_some() || !store.chats_in(chat.workspace_id).await.unwrap().is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert_eq!(store.workspaces().await.unwrap(), [again]);
    assert_eq!(envelopes(&store, &chat, 0, 1).await, []);
}

async fn an_op_is_stored_with_its_message_or_not_at_all(world: World) {
    let store = world.open().await;
    let chat = chat_in(&store).await;
    let said = |seq| created(&chat, seq, "hello");
    let op = |sha256: &str| OpRecord {
        id: "k".into(),
        sha256: sha256.into(),
        message_id: Some(MessageId::generate()),
        result: Some(json!({ "title": "it's \u{0}" })),
    };
    let first = op("one");
    assert_eq!(store.op(chat.id, "k").await.unwrap(), None);
    append(&store, &chat, Append { events: &[said(1)], op: Some(&first), ..Append::default() }).await.unwrap();
    let second = append(&store, &chat, Append { events: &[said(2)], op: Some(&op("two")), ..Append::default() }).await;
    assert!(second.is_err());
    store.close().await;
    let store = world.open().await;
    assert_eq!(store.op(chat.id, "k").await.unwrap(), Some(first));
    assert_eq!(texts(&store, &chat).await, ["hello"]);
    assert_eq!(store.op(chat_in(&store).await.id, "k").await.unwrap(), None, "an op is of one chat");
}

async fn messages_are_searched_and_single_ones_found_and_taken_back(world: World) {
    let store = world.open().await;
    let chat = chat_in(&store).await;
    let said = ["An apple", "100% of apples_", "a pear", "APPLE\\"];
    let events: Vec<_> = said.iter().zip(1..).map(|(text, seq)| created(&chat, seq, text)).collect();
    append(&store, &chat, Append { events: &events, ..Append::default() }).await.unwrap();
    let found = async |text: &str, before, limit| {
        let hits = store.search(chat.id, text, before, limit).await.unwrap();
        hits.into_iter().map(|message| message.content).collect::<Vec<_>>()
    };
    assert_eq!(found("apple", None, 10).await, [said[3], said[1], said[0]]);
    let middle = store.messages(chat.id).await.unwrap()[1].id;
    assert_eq!(found("apple", Some(middle), 10).await, [said[0]]);
    assert_eq!(found("apple", None, 1).await, [said[3]]);
    assert_eq!(
        (found("%", None, 10).await, found("_", None, 10).await, found("\\", None, 10).await),
        (vec![said[1].into()], vec![said[1].into()], vec![said[3].into()])
    );
    assert_eq!(store.message(chat.id, middle).await.unwrap().unwrap().content, said[1]);
    assert_eq!(store.message(chat_in(&store).await.id, middle).await.unwrap(), None);
    let gone = Envelope { event: Event::MessageDeleted { message_id: middle }, seq: 9, at: chat.created_at };
    append(&store, &chat, Append { events: &[gone], ..Append::default() }).await.unwrap();
    assert_eq!(store.message(chat.id, middle).await.unwrap(), None);
}
