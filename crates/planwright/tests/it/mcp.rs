//! MCP servers through the real binary: servers of others, and one that is out to do harm.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`site`] | a home with servers in its configuration |
//! | [`counterparts`] | the filesystem server and the everything server |
//! | [`trust`] | what is started and told to models, and when |
//! | [`requests`] | what models are sent of servers |
//! | [`faults`] | servers that hang, die, babble and lie |
//! | [`confinement`] | what a server's program sees and reaches |
//! | [`address`] | servers that have an address, and their keys |
//! | [`masking`] | keys that a server says again |
//! | [`reports`] | reports about servers, for users |
//! | [`accept`] | accepting them from the command line |

mod accept;
pub mod address;
mod confinement;
mod counterparts;
mod faults;
mod masking;
mod reports;
mod requests;
pub mod site;
mod trust;
