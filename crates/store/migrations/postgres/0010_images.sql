-- Images that came with what the user said; their bytes are among the contents.
create table images (
    chat_id uuid not null references chats (id) on delete cascade,
    sha256 text not null,
    primary key (chat_id, sha256)
);

create index images_by_content on images (sha256);
