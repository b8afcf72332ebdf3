-- The content of a workspace's own configuration that the user accepted.
create table trust (
    workspace_id uuid primary key references workspaces (id) on delete cascade,
    sha256 text not null,
    at bigint not null
);
