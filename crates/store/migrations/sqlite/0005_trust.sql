-- The content of a workspace's own configuration that the user accepted.
create table trust (
    workspace_id blob primary key references workspaces (id) on delete cascade,
    sha256 text not null,
    at integer not null
) strict;
