//! `[sandbox]`.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The `[sandbox]` of the configuration.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SandboxSettings {
    /// Whether commands run in the sandbox.
    pub mode: SandboxMode,
    /// Whether commands have network access without asking.
    pub network: bool,
    /// Whether planners may run commands, in a sandbox where nothing can change.
    #[schemars(with = "bool")]
    pub inspect: Inspect,
    /// Additional folders that commands may change.
    pub writable: Vec<PathBuf>,
    /// Megabytes that one command may write to disk; never more than half of the free space when it starts.
    pub disk_mb: u32,
    /// Where a command's writes are staged until the gate has judged them.
    pub staging: Staging,
}

impl Default for SandboxSettings {
    fn default() -> Self {
        Self {
            mode: SandboxMode::default(),
            network: false,
            inspect: Inspect::default(),
            writable: Vec::new(),
            disk_mb: 10_000,
            staging: Staging::default(),
        }
    }
}

const MEGABYTE: u64 = 1_000_000;

impl SandboxSettings {
    /// Bytes that one command may write to disk.
    #[must_use]
    pub fn disk_bytes(&self) -> u64 {
        u64::from(self.disk_mb) * MEGABYTE
    }

    /// Whether everything that commands can do under these settings they can also do under `other`.
    #[must_use]
    pub fn is_as_strict_as(&self, other: &Self) -> bool {
        let Self { mode, network, inspect, writable, disk_mb, staging } = self;
        (*mode == SandboxMode::Enforce || other.mode == SandboxMode::Off)
            && (!network || other.network)
            && (*inspect == Inspect::Off || other.inspect == Inspect::On)
            && writable.iter().all(|folder| other.writable.contains(folder))
            && *disk_mb <= other.disk_mb
            && *staging >= other.staging
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SandboxMode {
    /// Yes. Without a sandbox, commands are refused.
    #[default]
    Enforce,
    /// No isolation at all: only for roles that may change everything anyway, and each command asks.
    Off,
}

// In the order of strictness.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Staging {
    /// In the data folder. The server checks every 20 ms and ends a command that exceeds its limit.
    Disk,
    /// In memory if a command may write at most 4 GB to disk and half of the free memory is enough for that; otherwise on disk.
    #[default]
    Auto,
    /// In memory: the kernel enforces the limit, at most half of the command's memory and 200,000 files. The command's `/scratch` ends with it. Requires Linux 6.6.
    Memory,
}

/// Whether plan-mode roles may run commands, in a sandbox where nothing can change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "bool", into = "bool")]
pub enum Inspect {
    #[default]
    Off,
    On,
}

impl From<bool> for Inspect {
    fn from(on: bool) -> Self {
        if on { Self::On } else { Self::Off }
    }
}

impl From<Inspect> for bool {
    fn from(inspect: Inspect) -> Self {
        inspect == Inspect::On
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sandbox_is_as_strict_as_another_when_it_lets_nothing_more_through() {
        let usual = SandboxSettings::default;
        let wider = [
            SandboxSettings { mode: SandboxMode::Off, ..usual() },
            SandboxSettings { network: true, ..usual() },
            SandboxSettings { inspect: Inspect::On, ..usual() },
            SandboxSettings { writable: vec![PathBuf::from("/tmp")], ..usual() },
            SandboxSettings { disk_mb: usual().disk_mb + 1, ..usual() },
        ];
        assert!(usual().is_as_strict_as(&usual()));
        let staged = |staging| SandboxSettings { staging, ..usual() };
        for pair in [Staging::Disk, Staging::Auto, Staging::Memory].map(staged).windows(2) {
            assert!(pair[1].is_as_strict_as(&pair[0]) && !pair[0].is_as_strict_as(&pair[1]), "{pair:?}");
        }
        for wide in wider {
            assert!(usual().is_as_strict_as(&wide) && wide.is_as_strict_as(&wide) && !wide.is_as_strict_as(&usual()), "{wide:?}");
        }
    }
}
