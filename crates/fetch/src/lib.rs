//! Web pages and searches, never this machine or a private network.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`web_url`] | the addresses that may be fetched, in every spelling |
//! | [`address`] | which IP addresses are public |
//! | [`network`] | name resolution and connections: the machine's own, or those of a test |
//! | [`client`] | one fetch: resolve, check, connect, follow redirects |
//! | `exchange` | one HTTP request and its reply, within limits |
//! | [`page`] | a reply as text for a model; `markdown` converts HTML |
//! | [`search`] | web searches with a configured provider |
//!
//! Invariants: a name is resolved once per request, and the connection goes to an address that was checked; no request has
//! credentials or cookies; every size, every count and the whole time are bounded. The program makes its client with
//! [`WebClient::system`] alone.

pub mod address;
pub mod client;
mod exchange;
mod markdown;
pub mod network;
pub mod page;
pub mod search;
pub mod web_url;

pub use client::{Fetched, WebClient};
pub use network::WebNetwork;
pub use page::WebPage;
pub use search::{SearchHit, SearchProvider};
pub use web_url::WebUrl;
