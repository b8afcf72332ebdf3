-- The servers that share this database. A process that starts under a node's name gets a new incarnation.
create table nodes (
    name text primary key,
    incarnation blob not null unique,
    version text not null,
    -- What the node says about itself, as JSON.
    details text not null,
    started_at integer not null,
    -- By the database's clock. Then others take the node's workspaces.
    expires_at integer not null,
    -- 1 once the node has ended or was late: this incarnation changes nothing any more.
    is_ended integer not null default 0
) strict;

-- Which node a workspace is at.
create table workspace_leases (
    workspace_id blob primary key references workspaces (id) on delete cascade,
    -- The only place that may take it: `node:NAME`, or `shared:ID` for a folder that several nodes have. Empty: unknown.
    home text not null,
    -- The owner; null if there is none.
    incarnation blob,
    -- Counts the owners.
    term integer not null default 0,
    -- The node that takes it next; null for any.
    wanted_by text
) strict;

create index leases_by_owner on workspace_leases (incarnation);

insert into workspace_leases (workspace_id, home) select id, '' from workspaces;

-- Messages between nodes that are too large for the bus.
create table parcels (
    id blob primary key,
    content blob not null,
    created_at integer not null
) strict;

create index parcels_by_time on parcels (created_at);

-- The name of this database's nodes on a bus that others may use as well.
create table cluster (
    id text primary key
) strict;

insert into cluster (id) values (lower(hex(randomblob(16))));
