-- The steps that an approval covers, as a JSON list; null for all of them.
alter table approvals add column steps text;
-- The step after which the agent stops and asks; null for no stop.
alter table approvals add column stop_after bigint;
