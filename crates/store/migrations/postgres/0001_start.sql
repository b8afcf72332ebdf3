-- The same tables as for SQLite. Texts that are sorted by go by their bytes, as there.
create table workspaces (
    id uuid primary key,
    name text collate "C" not null,
    path text not null unique,
    created_at bigint not null
);

create table chats (
    id uuid primary key,
    workspace_id uuid not null references workspaces (id),
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
    epoch bigint not null,
    -- No event has got a number above this one; a restart goes on from here.
    seq_ceiling bigint not null,
    usage text not null,
    -- The run that is not finished yet.
    run_id uuid,
    created_at bigint not null,
    updated_at bigint not null
);

create index chats_by_mode on chats (workspace_id, agent_mode, updated_at);
create index chats_by_plan on chats (workspace_id, plan_file) where plan_file is not null;
create index chats_running on chats (run_id) where run_id is not null;

create table messages (
    id uuid primary key,
    chat_id uuid not null references chats (id) on delete cascade,
    -- The order of the history: the number of the event that announced the message.
    seq bigint not null,
    author text not null,
    agent_role text,
    message_type text,
    content text not null,
    metadata text not null,
    created_at bigint not null,
    unique (chat_id, seq)
);

create table events (
    chat_id uuid not null references chats (id) on delete cascade,
    seq bigint not null,
    name text not null,
    envelope text not null,
    primary key (chat_id, seq)
);

create table approvals (
    id bigint generated always as identity primary key,
    chat_id uuid not null references chats (id) on delete cascade,
    plan_file text not null,
    revision bigint not null,
    sha256 text not null,
    -- The plan as it was approved.
    content text not null,
    approver text not null,
    given_by text not null,
    created_at bigint not null
);

create index approvals_by_chat on approvals (chat_id, id);

create table audit (
    id bigint generated always as identity primary key,
    chat_id uuid not null references chats (id) on delete cascade,
    kind text not null,
    model text not null,
    agent_role text not null,
    details text not null,
    created_at bigint not null
);

create index audit_by_time on audit (created_at, kind);
