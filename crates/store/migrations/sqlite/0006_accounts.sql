-- Accounts, for servers that are shared by a team. Of passwords, sessions and tokens only hashes are kept.
create table users (
    id blob primary key,
    name text not null,
    -- Argon2id, with its parameters and salt.
    password text not null,
    -- Admins own the workspaces that nobody was made a member of.
    is_admin integer not null,
    created_at integer not null
) strict;

create unique index users_by_name on users (lower(name));

-- Browsers that are signed in. Without a user: by the server's own token.
create table sessions (
    sha256 blob primary key,
    user_id blob references users (id) on delete cascade,
    created_at integer not null,
    expires_at integer not null
) strict;

create index sessions_by_user on sessions (user_id);
create index sessions_by_expiry on sessions (expires_at);

-- What scripts sign in with. Without a user: beside the server's own token.
create table api_tokens (
    id blob primary key,
    sha256 blob not null unique,
    user_id blob references users (id) on delete cascade,
    name text not null,
    created_at integer not null,
    last_used_at integer
) strict;

create index api_tokens_by_user on api_tokens (user_id);

create table members (
    workspace_id blob not null references workspaces (id) on delete cascade,
    user_id blob not null references users (id) on delete cascade,
    role text not null,
    created_at integer not null,
    primary key (workspace_id, user_id)
) strict;

create index members_by_user on members (user_id);

-- Who may do what where: members, and admins in workspaces that have none.
create view rights as
    select workspace_id, user_id, role from members
    union all
    select workspaces.id, users.id, 'owner' from workspaces join users on users.is_admin = 1
        where not exists (select 1 from members where members.workspace_id = workspaces.id);

-- A sign-in that failed belongs to no chat and to no role.
create table audit_of_all (
    id integer primary key,
    chat_id blob references chats (id) on delete cascade,
    kind text not null,
    model text not null,
    agent_role text,
    details text not null,
    created_at integer not null
) strict;

insert into audit_of_all (id, chat_id, kind, model, agent_role, details, created_at)
    select id, chat_id, kind, model, agent_role, details, created_at from audit;
drop table audit;
alter table audit_of_all rename to audit;
create index audit_by_time on audit (created_at, kind);
create index audit_by_chat on audit (chat_id, created_at);
