//! Configuration files: read, merged and checked, with errors that name file, line and key.
//!
//! | module | what it holds |
//! | --- | --- |
//! | `config` | [`Config`]: the user's file, all sections |
//! | `workspace_file` | a workspace's own file, laid over the user's |
//! | `workspace_settings` | what the user set for one workspace by the API, laid over both |
//! | `trust` | what of a workspace's file needs the user's trust |
//! | `provider`, `mcp` | what is wrong with a provider or an MCP server |
//! | `place` | where in a file a mistake is |
//!
//! Flags and environment variables go over all of them; the binary puts them there.
//!
//! Invariants: no setting of a workspace's file widens `[approvals]`, `[sandbox]` or `[policy]`; no error quotes a value,
//! which may be a secret in the wrong place.

mod config;
mod mcp;
mod place;
mod provider;
mod trust;
mod workspace_file;
mod workspace_settings;

pub use config::{ChatDefaults, Config, DEFAULT_SECRETS, FileSettings, xdg};
pub use provider::unfit_address;
pub use trust::{Trust, TrustItem};
pub use workspace_file::{Effective, Obeyed, PATH, lay_over};
pub use workspace_settings::{StricterApprovals, WorkspaceSettings};
