//! Authentication and authorization: who may sign in, and what they may do.
//!
//! | module | contents |
//! | --- | --- |
//! | [`access`] | how users sign in, and the server's own names and addresses |
//! | [`accounts`] | user accounts and their passwords |
//! | [`address`] | checks `Host` and `Origin` of every request, against DNS rebinding and forms on foreign pages |
//! | [`caller`] | the credential of every API call, and whom it identifies |
//! | [`rights`] | what a user may do in which workspace |
//! | [`folders`] | which folders of the machine a user may add as workspaces |
//! | [`mod@sign_in`] | exchanges a token, or a name and a password, for a session |
//! | [`streams`] | ends a stream when its reader loses access |
//! | [`limits`] | rate limits |
//! | [`password`], [`secret`] | password hashes; random secrets |
//!
//! Invariants: no handler checks a right. A new route below `/api/v1` is closed until the table of rights opens it. Secrets
//! are compared in constant time.

mod access;
mod accounts;
mod address;
mod caller;
mod folders;
mod limits;
mod password;
mod rights;
mod secret;
mod sign_in;
mod streams;

pub use access::{AccessControl, ExternalAccess, SignInMethod};
pub use accounts::{NewAccount, PasswordChange, add_account, change_password, remove_account, set_password};
pub use address::{Arrival, Peer, PublicUrl, Way, check_address};
pub use caller::{Caller, check_caller};
pub use folders::{Folders, add_folder, add_sample, may_add_folders};
pub use limits::client_group;
pub use password::{LONGEST_PASSWORD, hash_password};
pub use rights::{check_admin, check_rights, check_settings, right};
pub use secret::new_token;
pub use sign_in::{Secret, SignInCredentials, sign_in, sign_out};
pub use streams::VisibleWorkspaces;
