//! Who may come in, and what they may do there.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`access`] | what the server was started with: how people sign in, the names it goes by |
//! | [`accounts`] | who has an account, and their passwords |
//! | [`address`] | Host and Origin of every request, against pages that point a foreign name or form at us |
//! | [`caller`] | the credential of every call of the API, and who it stands for |
//! | [`rights`] | what somebody with an account may do in which workspace |
//! | [`folders`] | which folders of the machine they may make a workspace of |
//! | [`mod@sign_in`] | a token, or a name and a password, exchanged for a session |
//! | [`streams`] | an answer that goes on for hours ends when its reader loses the right to it |
//! | [`limits`] | how often somebody may try |
//! | [`password`], [`secret`] | hashes; random words |
//!
//! Invariants: no handler checks a right; a new route below `/api/v1` is closed until it is said who may use it; no secret
//! is compared in a time that tells how much of it was right.

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

pub use access::{Access, AuthMode, Outside, SignIn};
pub use accounts::{NewAccount, PasswordChange, add_account, change_password, remove_account, set_password};
pub use address::{Arrival, Peer, PublicUrl, check_address};
pub use caller::{Caller, check_caller};
pub use folders::{Folders, add_folder, add_sample, may_add_folders};
pub use limits::household;
pub use password::{LONGEST_PASSWORD, hash_password};
pub use rights::{check_admin, check_rights, check_settings, right, sight};
pub use secret::new_token;
pub use sign_in::{Offer, Secret, sign_in, sign_out};
