-- The log outlives the chats and workspaces in its rows, so it refers to neither; rows of the log are shown by the rights to the
-- workspace, which is kept here too. Without one are sign-ins that failed.
alter table audit drop constraint audit_chat_id_fkey;
alter table audit add column workspace_id uuid;
-- Who did it, where that was a user with an account.
alter table audit add column user_name text;
update audit set workspace_id = chats.workspace_id from chats where chats.id = audit.chat_id;
create index audit_by_workspace on audit (workspace_id, created_at);

-- The tool calls of chats that are gone, to be counted with those of the others.
create table past_calls (
    workspace_id uuid not null,
    chat_id uuid not null,
    model text not null,
    agent_role text not null,
    created_at bigint not null
);

create index past_calls_by_workspace on past_calls (workspace_id, created_at);
