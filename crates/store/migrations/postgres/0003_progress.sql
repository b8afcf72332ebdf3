-- How far the plan that the chat carries out has come, as JSON; null where none was approved.
alter table chats add column progress text;
