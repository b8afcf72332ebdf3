-- The user's acceptances of MCP servers: the command of each, and its tools.
create table mcp_pins (
    workspace_id blob not null references workspaces (id) on delete cascade,
    server text not null,
    origin text not null,
    pin text not null,
    at integer not null,
    primary key (workspace_id, server)
) strict;
