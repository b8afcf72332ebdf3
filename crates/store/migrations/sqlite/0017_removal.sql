-- Whether a workspace is being deleted, in steps: then it is in no list, and what is left of it goes after a restart as well.
alter table workspaces add column is_leaving integer not null default 0;
