-- What the user accepted of MCP servers: what is run for each, and what it offers.
create table mcp_pins (
    workspace_id blob not null references workspaces (id) on delete cascade,
    server text not null,
    origin text not null,
    pin text not null,
    at integer not null,
    primary key (workspace_id, server)
) strict;
