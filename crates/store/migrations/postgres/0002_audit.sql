-- The commit that the plan was approved on; null where there was none, or it was not asked for.
alter table approvals add column base_commit text;

-- The model that made a tool call; null for all other messages.
alter table messages add column model text;
update messages set model = coalesce(metadata::json ->> 'model', '') where message_type = 'tool_call';

create index messages_by_model on messages (model, agent_role, created_at) where model is not null;
create index audit_by_chat on audit (chat_id, created_at);

-- A chat from before roles has no mode stored and is in act mode.
drop index chats_by_mode;
create index chats_by_mode on chats (workspace_id, coalesce(agent_mode, 'act'), updated_at);
