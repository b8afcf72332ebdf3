-- Accounts, for servers that are shared by a team. Of passwords, sessions and tokens only hashes are kept.
create table users (
    id uuid primary key,
    name text not null,
    -- Argon2id, with its parameters and salt.
    password text not null,
    -- Admins own the workspaces that nobody was made a member of.
    is_admin bigint not null,
    created_at bigint not null
);

create unique index users_by_name on users (lower(name));

-- Browsers that are signed in. Without a user: by the server's own token.
create table sessions (
    sha256 bytea primary key,
    user_id uuid references users (id) on delete cascade,
    created_at bigint not null,
    expires_at bigint not null
);

create index sessions_by_user on sessions (user_id);
create index sessions_by_expiry on sessions (expires_at);

-- What scripts sign in with. Without a user: beside the server's own token.
create table api_tokens (
    id uuid primary key,
    sha256 bytea not null unique,
    user_id uuid references users (id) on delete cascade,
    name text not null,
    created_at bigint not null,
    last_used_at bigint
);

create index api_tokens_by_user on api_tokens (user_id);

create table members (
    workspace_id uuid not null references workspaces (id) on delete cascade,
    user_id uuid not null references users (id) on delete cascade,
    role text not null,
    created_at bigint not null,
    primary key (workspace_id, user_id)
);

create index members_by_user on members (user_id);

-- Who may do what where: members, and admins in workspaces that have none.
create view rights as
    select workspace_id, user_id, role from members
    union all
    select workspaces.id, users.id, 'owner' from workspaces join users on users.is_admin = 1
        where not exists (select 1 from members where members.workspace_id = workspaces.id);

-- A sign-in that failed belongs to no chat and to no role.
alter table audit alter column chat_id drop not null;
alter table audit alter column agent_role drop not null;
