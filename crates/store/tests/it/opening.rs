//! Opening: migrations, versions, who may, and what a commit means.

use crate::world::{World, append, chat_in, created, on_both};
use planwright_protocol::plan::StepChoice;
use planwright_protocol::{ChatId, MessageId, Role, UserId, WorkspaceId};
use planwright_store::{Append, AuditFilter, ChatRow, Store, StoreError};
use std::collections::BTreeMap;

on_both!(
    a_database_of_a_newer_version_is_left_alone,
    a_database_of_the_first_version_is_brought_up_to_date_with_its_rows,
    a_log_from_before_it_outlived_chats_is_kept_and_shown_to_those_who_saw_it,
);

/// The migrations up to one, in the words of a database.
macro_rules! migrations {
    ($folder:literal: $($name:literal)*) => { concat!($(include_str!(concat!("../../migrations/", $folder, "/", $name, ".sql")), ";\n"),*) };
}

async fn a_database_of_a_newer_version_is_left_alone(world: World) {
    world.open().await.close().await;
    world.tamper(world.either("pragma user_version = 999", "insert into planwright_schema values (999)")).await;
    assert!(matches!(world.try_open().await, Err(StoreError::Newer { found: 999, .. })));
}

async fn a_database_of_the_first_version_is_brought_up_to_date_with_its_rows(world: World) {
    let start =
        world.either(include_str!("../../migrations/sqlite/0001_start.sql"), include_str!("../../migrations/postgres/0001_start.sql"));
    let version = world.either(
        "pragma user_version = 1",
        "create table planwright_schema (version bigint primary key); insert into planwright_schema values (1)",
    );
    let (workspace, chat, message) = (WorkspaceId::generate(), ChatId::generate(), MessageId::generate());
    let id = |id: uuid::Uuid| world.either(format!("x'{}'", id.simple()), format!("'{id}'"));
    let (w, c, m) = (id(workspace.0), id(chat.0), id(message.0));
    let usage = r#"{"input_tokens": 1, "output_tokens": 2, "cached_tokens": 0, "cost": 0.0}"#;
    let grants = r#"[{"tool": "write", "folder": "/src"}]"#;
    world
        .tamper(format!(
            "{start}; {version};
            insert into workspaces values ({w}, 'w', '/w', 1);
            insert into chats values ({c}, {w}, 'Old', null, null, null, 'idle', null, '{grants}', 0, 9, '{usage}', null, 1, 2);
            insert into messages values ({m}, {c}, 1, 'assistant', 'actor', 'tool_call', '', '{{\"model\": \"m/a\"}}', 3);
            insert into approvals (chat_id, plan_file, revision, sha256, content, approver, given_by, created_at)
                values ({c}, '/plans/a.plan', 1, '00', 'x', 'user', 'approval', 4)"
        ))
        .await;

    let store = world.open().await;
    let old = store.chat(chat).await.unwrap().unwrap();
    assert_eq!((old.title.as_str(), old.config.role, old.usage.output_tokens), ("Old", Role::Actor, 2));
    assert_eq!(store.messages(chat).await.unwrap()[0].id, message);
    let approval = store.approval(chat).await.unwrap().unwrap();
    assert_eq!((approval.base_commit, approval.choice), (None, StepChoice::default()), "an approval of early versions covers all steps");
    assert_eq!((old.grants[0].tool.as_str(), old.grants[0].at, old.grants[0].id().len()), ("write", None, 16));
    let counted = store.adherence(AuditFilter::default()).await.unwrap();
    assert_eq!((counted[0].model.as_str(), counted[0].role, counted[0].calls), ("m/a", Role::Actor, 1));
    append(&store, &old, Append { events: &[created(&old, 2, "new")], ..Append::default() }).await.unwrap();
    store.close().await;
    assert_eq!(world.open().await.messages(chat).await.unwrap().len(), 2, "a migration is applied once");
}

async fn a_log_from_before_it_outlived_chats_is_kept_and_shown_to_those_who_saw_it(world: World) {
    let start = world.either(
        migrations!("sqlite": "0001_start" "0002_audit" "0003_progress" "0004_file_changes" "0005_trust" "0006_accounts" "0007_retries"),
        migrations!("postgres": "0001_start" "0002_audit" "0003_progress" "0004_file_changes" "0005_trust" "0006_accounts" "0007_retries"),
    );
    let version = world.either(
        "pragma user_version = 7",
        "create table planwright_schema (version bigint primary key); insert into planwright_schema values (7)",
    );
    let (workspace, chat, admin, member) = (WorkspaceId::generate(), ChatId::generate(), UserId::generate(), UserId::generate());
    let id = |id: uuid::Uuid| world.either(format!("x'{}'", id.simple()), format!("'{id}'"));
    let (w, c, a, b) = (id(workspace.0), id(chat.0), id(admin.0), id(member.0));
    world
        .tamper(format!(
            "{start}; {version};
            insert into workspaces (id, name, path, created_at) values ({w}, 'w', '/w', 1);
            insert into users values ({a}, 'ann', 'x', 1, 1), ({b}, 'bob', 'x', 0, 1);
            insert into members values ({w}, {b}, 'owner', 1);
            insert into chats values ({c}, {w}, 'Old', null, null, null, 'idle', null, '[]', 0, 9, '{{}}', null, 1, 2, null);
            insert into audit (chat_id, kind, model, agent_role, details, created_at) values
                ({c}, 'tool_blocked', 'm/a', 'planner', '{{\"tool\": \"write\"}}', 5),
                (null, 'tool_blocked', '', 'planner', '{{\"args\": \"of somebody\"}}', 6),
                (null, 'login_failed', '', null, '{{}}', 7)"
        ))
        .await;

    let store = world.open().await;
    let seen = async |seen_by: Option<UserId>| -> Vec<i64> {
        let rows = store.audit(AuditFilter { seen_by, ..AuditFilter::default() }, 10).await.unwrap();
        rows.iter().map(|entry| entry.row.at.as_microsecond()).collect()
    };
    assert_eq!(seen(None).await, [7, 6, 5]);
    assert_eq!(seen(Some(member)).await, [5], "their workspace's");
    assert_eq!(seen(Some(admin)).await, [7], "what a call without a chat was about is not known, and so is nobody's");
    let of_workspace = store.audit(AuditFilter { workspace: Some(workspace), ..AuditFilter::default() }, 10).await.unwrap();
    assert_eq!((of_workspace.len(), of_workspace[0].chat_id, of_workspace[0].row.user.clone()), (1, Some(chat), None));
    store.delete_chat(chat).await.unwrap();
    assert_eq!(seen(Some(member)).await, [5]);
    store.log(Some(workspace), std::slice::from_ref(&of_workspace[0].row)).await.unwrap();
    assert_eq!(seen(Some(member)).await, [5, 5], "and it goes on");
}

/// The columns of every table, by name.
async fn columns(world: &World) -> BTreeMap<String, Vec<String>> {
    let tables = world.either(
        "select name from sqlite_master where type = 'table' and name not like 'sqlite_%'",
        "select table_name::text from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE' and table_name not like 'planwright\\_%'",
    );
    let mut found = BTreeMap::new();
    for table in world.look(tables).await {
        let sql = world.either(
            format!("select name from pragma_table_info('{table}')"),
            format!("select column_name::text from information_schema.columns where table_name = '{table}'"),
        );
        let mut columns = world.look(&sql).await;
        columns.sort();
        found.insert(table, columns);
    }
    found
}

#[tokio::test]
async fn both_databases_have_the_same_tables_columns_and_indexes() {
    let (sqlite, postgres) = (World::sqlite(), World::postgres());
    for world in [&sqlite, &postgres] {
        world.open().await.close().await;
    }
    assert_eq!(columns(&sqlite).await, columns(&postgres).await);
    let indexes = sqlite.look("select name from sqlite_master where type = 'index' and name not like 'sqlite_%' order by name").await;
    let ours = "select indexname::text from pg_indexes where schemaname = 'public' and indexname !~ '_(pkey|key)$' order by indexname";
    assert_eq!(indexes, postgres.look(ours).await);
}

#[tokio::test]
async fn a_commit_is_on_the_servers_disk_even_where_its_setting_is_lax() {
    let world = World::postgres();
    world.open().await.close().await;
    world
        .tamper(
            "do $$ begin execute format('alter database %I set synchronous_commit = off', current_database()); end $$;
            create table seen (setting text);
            create function see() returns trigger language plpgsql as
                $$ begin insert into seen values (current_setting('synchronous_commit')); return new; end $$;
            create trigger see before insert on events for each row execute function see()",
        )
        .await;
    let store = world.open().await;
    let chat = chat_in(&store).await;
    append(&store, &chat, Append { events: &[created(&chat, 1, "one")], ..Append::default() }).await.unwrap();
    assert_eq!(world.look("show synchronous_commit").await, ["off"]);
    assert_eq!(world.look("select setting from seen").await, ["on"]);
}

#[tokio::test]
async fn a_second_process_on_the_same_server_database_is_refused() {
    let world = World::postgres();
    let store = world.open().await;
    assert!(matches!(world.try_open().await, Err(StoreError::InUse)));
    store.close().await;
    world.open().await;
}

/// Ends the store's connections, as a restart of the server or a broken network would.
const CUT: &str =
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'planwright' and datname = current_database()";

#[tokio::test]
async fn a_lost_connection_is_made_again_and_nothing_is_lost() {
    let world = World::postgres();
    let store = world.open().await;
    let chat = chat_in(&store).await;
    world.tamper(CUT).await;
    append(&store, &chat, Append { events: &[created(&chat, 1, "one")], ..Append::default() }).await.unwrap();
    world.tamper(CUT).await;
    assert_eq!(store.messages(chat.id).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_process_that_lost_the_database_to_another_writes_nothing_more() {
    let world = World::postgres();
    let stale = world.open().await;
    let chat = chat_in(&stale).await;
    // The first process takes its lock again if it is quicker; then it is cut off once more.
    let fresh = loop {
        world.tamper(CUT).await;
        match world.try_open().await {
            Err(StoreError::InUse) => {}
            opened => break opened.unwrap(),
        }
    };
    append(&fresh, &chat, Append { events: &[created(&chat, 1, "fresh")], ..Append::default() }).await.unwrap();
    // Even if the other one is gone again: what the first one knows is out of date.
    fresh.close().await;
    let refused = append(&stale, &chat, Append { events: &[created(&chat, 2, "stale")], ..Append::default() }).await;
    assert!(matches!(refused, Err(StoreError::TakenOver)), "{refused:?}");
    let another = ChatRow { id: ChatId::generate(), ..chat.clone() };
    assert!(matches!(stale.create_chat(&another).await, Err(StoreError::TakenOver)));
    assert!(matches!(stale.ensure_workspace("x", "/x").await, Err(StoreError::TakenOver)));
    assert_eq!(stale.messages(chat.id).await.unwrap().len(), 1);
    assert_eq!((stale.workspaces().await.unwrap().len(), stale.chat(another.id).await.unwrap()), (1, None));
}

#[tokio::test]
async fn a_lock_that_was_lost_is_taken_again_if_nobody_took_over() {
    let world = World::postgres();
    let store = world.open().await;
    let chat = chat_in(&store).await;
    let holders = "select pid::text from pg_locks where locktype = 'advisory' and granted
        and database = (select oid from pg_database where datname = current_database())";
    let before = world.look(holders).await;
    world.tamper(CUT).await;
    loop {
        let now = world.look(holders).await;
        if now.len() == 1 && now != before {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert!(matches!(world.try_open().await, Err(StoreError::InUse)));
    append(&store, &chat, Append { events: &[created(&chat, 1, "one")], ..Append::default() }).await.unwrap();
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_of_without_the_password() {
    for (url, part) in [
        ("postgres://ann:hunter2@127.0.0.1:1/team", "127.0.0.1:1, database team, as ann"),
        ("postgres://ann:hunter2@127.0.0.1:port/team", "the database URL can't be read"),
        ("mysql://ann:hunter2@127.0.0.1/team", "must begin with postgres://"),
    ] {
        let error = Store::connect(url).await.unwrap_err().to_string();
        assert!(error.contains(part) && !error.contains("hunter2"), "{error}");
    }
}
