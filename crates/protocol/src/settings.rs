//! The sections of the configuration, as data. The crate `config` reads and merges them.

mod approvals;
mod chat;
mod mcp;
mod models;
mod provider;
mod sandbox;
mod web;

pub use approvals::{Approvals, PlanPolicy, Rule};
pub use chat::{ClusterSettings, DefaultMode, GitSettings, IntentClassifier, IntentSwitch, Retention, RunLimits};
pub use mcp::{McpSettings, ServerConfig, is_loopback_host};
pub use models::{ModelChoice, ModelSettings};
pub use provider::{ProviderKind, ProviderSettings, ReasoningEffort, ToolCalls};
pub use sandbox::{Inspect, SandboxMode, SandboxSettings, Staging};
pub use web::{SearchKind, SearchSettings, WebSettings};
