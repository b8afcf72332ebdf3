-- The model and the effort that the user chose for a chat; null for the configured ones.
alter table chats add column model_choice text;
alter table chats add column effort_choice text;
