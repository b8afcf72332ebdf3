-- The message that an event announces. Such an event's envelope has no message in it: it is put together when it is read.
-- Null for other events, and for those stored before, whose envelopes are whole.
alter table events add column message_id blob;
