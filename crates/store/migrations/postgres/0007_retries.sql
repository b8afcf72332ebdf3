-- What the user set for a workspace, over its file and their own; as JSON.
alter table workspaces add column settings text not null default '{}';

-- Keys with which a client makes it safe to send a message again.
create table message_keys (
    chat_id uuid not null references chats (id) on delete cascade,
    key text not null,
    -- The hash of the body that was sent with the key.
    sha256 text not null,
    message_id uuid not null,
    created_at bigint not null,
    primary key (chat_id, key)
);
