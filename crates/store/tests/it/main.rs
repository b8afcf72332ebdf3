//! The store's guarantees, on each database.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod accounts;
mod appends;
mod audit;
mod chats;
mod events;
mod inbox;
mod nodes;
mod opening;
mod proxy;
mod requests;
mod search;
mod turns;
mod unreadable_messages;
mod versions;
mod world;
