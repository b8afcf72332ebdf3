-- The log outlives the chats and workspaces in its rows, so it refers to neither; rows of the log are shown by the rights to the
-- workspace, which is kept here too. Without one are sign-ins that failed.
create table audit_kept (
    id integer primary key,
    workspace_id blob,
    chat_id blob,
    kind text not null,
    model text not null,
    agent_role text,
    -- Who did it, where that was a user with an account.
    user_name text,
    details text not null,
    created_at integer not null
) strict;

insert into audit_kept (id, workspace_id, chat_id, kind, model, agent_role, details, created_at)
    select audit.id, chats.workspace_id, audit.chat_id, audit.kind, audit.model, audit.agent_role, audit.details, audit.created_at
    from audit left join chats on chats.id = audit.chat_id;
drop table audit;
alter table audit_kept rename to audit;
create index audit_by_time on audit (created_at, kind);
create index audit_by_chat on audit (chat_id, created_at);
create index audit_by_workspace on audit (workspace_id, created_at);

-- The tool calls of chats that are gone, to be counted with those of the others.
create table past_calls (
    workspace_id blob not null,
    chat_id blob not null,
    model text not null,
    agent_role text not null,
    created_at integer not null
) strict;

create index past_calls_by_workspace on past_calls (workspace_id, created_at);
