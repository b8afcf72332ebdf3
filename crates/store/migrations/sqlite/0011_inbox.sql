-- Chats kept on top, and chats put away.
alter table chats add column pinned integer not null default 0;
alter table chats add column archived integer not null default 0;
-- The account that began the chat; null for the person who runs the server.
alter table chats add column person text;

create index chats_waiting on chats (updated_at) where pending is not null;
create index chats_by_time on chats (updated_at);

-- The changed files that somebody has looked at, each in the content it had then.
create table viewed_files (
    chat_id blob not null references chats (id) on delete cascade,
    -- The account; all zeros for the person who runs the server.
    viewer blob not null,
    path text not null,
    -- Empty if the file was deleted.
    after_sha256 text not null,
    viewed_at integer not null,
    primary key (chat_id, viewer, path)
) strict, without rowid;
