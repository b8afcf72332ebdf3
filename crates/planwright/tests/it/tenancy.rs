//! Who may do what: what needs a server with an address, its own command line or commands.

mod cases;
mod folders;
mod streams;
mod team;
