create table workspaces (
    id blob primary key,
    name text not null,
    path text not null unique,
    created_at integer not null
) strict;

create table chats (
    id blob primary key,
    workspace_id blob not null references workspaces (id),
    title text not null,
    -- Null in data from before roles: such a chat is an Actor's.
    agent_role text,
    agent_mode text,
    plan_file text,
    state text not null,
    -- The question that waits for an answer, as JSON.
    pending text,
    -- What the user allowed for good: tools and folders, as JSON.
    grants text not null,
    -- Counts switches of the role.
    epoch integer not null,
    -- No event has got a number above this one; a restart goes on from here.
    seq_ceiling integer not null,
    usage text not null,
    -- The run that is not finished yet.
    run_id blob,
    created_at integer not null,
    updated_at integer not null
) strict;

create index chats_by_mode on chats (workspace_id, agent_mode, updated_at);
create index chats_by_plan on chats (workspace_id, plan_file) where plan_file is not null;
create index chats_running on chats (run_id) where run_id is not null;

create table messages (
    id blob primary key,
    chat_id blob not null references chats (id) on delete cascade,
    -- The order of the history: the number of the event that announced the message.
    seq integer not null,
    author text not null,
    agent_role text,
    message_type text,
    content text not null,
    metadata text not null,
    created_at integer not null,
    unique (chat_id, seq)
) strict;

create table events (
    chat_id blob not null references chats (id) on delete cascade,
    seq integer not null,
    name text not null,
    envelope text not null,
    primary key (chat_id, seq)
) strict, without rowid;

create table approvals (
    id integer primary key,
    chat_id blob not null references chats (id) on delete cascade,
    plan_file text not null,
    revision integer not null,
    sha256 text not null,
    -- The plan as it was approved.
    content text not null,
    approver text not null,
    given_by text not null,
    created_at integer not null
) strict;

create index approvals_by_chat on approvals (chat_id, id);

create table audit (
    id integer primary key,
    chat_id blob not null references chats (id) on delete cascade,
    kind text not null,
    model text not null,
    agent_role text not null,
    details text not null,
    created_at integer not null
) strict;

create index audit_by_time on audit (created_at, kind);
