//! Resource limits of this process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// More descriptors than a server needs. Some programs that it starts check every possible one.
const DESCRIPTORS: u64 = 65_536;

/// Prevents core dumps, which would contain keys, for this process and its children.
pub fn forbid_core_dumps() {
    if let Err(error) = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) }) {
        tracing::debug!(%error, "can't disable core dumps");
    }
}

/// Raises the limit of descriptors as far as allowed: the default is too low for a server.
pub fn raise_descriptors() {
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.unwrap_or(DESCRIPTORS).min(DESCRIPTORS);
    if limit.current.is_none_or(|current| current >= wanted) {
        return;
    }
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), ..limit }) {
        tracing::warn!(%error, "can't raise the limit of open files");
    }
}
