-- Contents of files, each once, whichever call changed them.
create table contents (
    sha256 text primary key,
    bytes blob not null
) strict;

-- What calls changed, one row for each path, written before it happens.
create table file_changes (
    -- Grows in the order in which changes were made.
    id integer primary key,
    chat_id blob not null references chats (id) on delete cascade,
    -- The call, or the message that took something back.
    message_id blob not null,
    path text not null,
    -- The states before and after, as JSON; the contents of files are stored apart.
    before text not null,
    after text not null,
    before_sha256 text,
    after_sha256 text,
    -- The message that took it back.
    reverted_by blob,
    unique (message_id, path)
) strict;

create index file_changes_by_chat on file_changes (chat_id, id);
create index file_changes_by_before on file_changes (before_sha256) where before_sha256 is not null;
create index file_changes_by_after on file_changes (after_sha256) where after_sha256 is not null;
