-- The messages of all chats, in the order of searches.
create index messages_said on messages (created_at, id)
    where author in ('user', 'assistant') and (message_type is null or message_type in ('text', 'plan', 'question'));
