-- What an op was answered with, as JSON, so that it is answered alike when it is sent again.
alter table ops add column result text;

-- Requests that change something outside a chat, by the key that makes it safe to send them again.
create table requests (
    -- Who asks for what: account, method and path.
    scope text not null,
    request_key text not null,
    -- The hash of the body that was sent with the key.
    sha256 text not null,
    -- Status and body of the answer; null while the request is under way, and for ever if the process ended meanwhile.
    status integer,
    body text,
    created_at integer not null,
    primary key (scope, request_key)
) strict, without rowid;

create index requests_by_time on requests (created_at);
