-- Contents that something stopped referring to. They are looked at in small steps, and those that nothing refers to go.
create table loose_contents (
    sha256 text primary key
) strict, without rowid;

-- Contents from before that nothing refers to are found among all of them, once.
insert into loose_contents (sha256) select sha256 from contents;

-- A workspace's chats in the order in which they are listed, also from a place in it on.
create index chats_by_use on chats (workspace_id, updated_at, id);
drop index chats_by_mode;
create index chats_by_mode on chats (workspace_id, coalesce(agent_mode, 'act'), updated_at, id);
drop index chats_by_plan;
create index chats_by_plan on chats (workspace_id, plan_file, updated_at, id) where plan_file is not null;
-- The inbox of all workspaces.
drop index chats_by_time;
create index chats_by_time on chats (updated_at, id);
create index chats_active on chats (updated_at, id) where pending is not null or run_id is not null;

create index file_changes_by_reverter on file_changes (reverted_by) where reverted_by is not null;
create index past_calls_by_time on past_calls (created_at);
