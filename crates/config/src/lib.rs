//! Configuration files: parsed, merged and validated, with errors that name file, line and key.
//!
//! | module | contents |
//! | --- | --- |
//! | `config` | [`Config`]: the user's file, all sections |
//! | `workspace_file` | a workspace's own file, merged over the user's |
//! | `workspace_settings` | settings of one workspace from the API, merged over both |
//! | `provider`, `mcp` | validates a provider or an MCP server |
//! | `place` | the line and column of a mistake |
//!
//! Flags and environment variables override all of them; the binary applies those.
//!
//! Invariants: no setting of a workspace's file widens `[approvals]`, `[sandbox]` or `[policy]`. No error quotes a value, which may
//! be a secret in the wrong place.

mod config;
mod mcp;
mod place;
mod provider;
mod workspace_file;
mod workspace_settings;

pub use config::{ChatDefaults, Config, DEFAULT_SECRETS, FileSettings, xdg};
pub use planwright_protocol::api::workspace::{Trust, TrustItem};
pub use provider::unfit_address;
pub use workspace_file::{Effective, Obeyed, PATH, lay_over};
pub use workspace_settings::{StricterApprovals, WorkspaceSettings};
