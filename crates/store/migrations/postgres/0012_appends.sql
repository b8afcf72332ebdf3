-- Counts the appends to a chat. An append is stored only if it follows the newest one.
alter table chats add column version bigint not null default 0;

-- Ops that changed a chat, by the id that makes it safe to send them again.
create table ops (
    chat_id uuid not null references chats (id) on delete cascade,
    op_id text not null,
    -- The hash of the body that was sent with the key.
    sha256 text not null,
    -- The message that the op created; null for ops that create none.
    message_id uuid,
    created_at bigint not null,
    primary key (chat_id, op_id)
);

insert into ops (chat_id, op_id, sha256, message_id, created_at)
    select chat_id, key, sha256, message_id, created_at from message_keys;
drop table message_keys;
