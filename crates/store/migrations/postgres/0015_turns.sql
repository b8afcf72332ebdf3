-- Where the model's conversation begins, as JSON; null for the beginning of the history.
alter table chats add column turn_start text;

-- Plan versions, questions and notices are looked up in long histories.
create index messages_landmarks on messages (chat_id, seq) where author = 'system' or message_type in ('plan', 'question');
create index messages_of_users on messages (chat_id, seq) where author = 'user';
