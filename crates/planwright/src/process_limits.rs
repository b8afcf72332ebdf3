//! What the system allows this process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// More descriptors than a server needs. Some programs that it starts look at each that they might have.
const DESCRIPTORS: u64 = 65_536;

/// Leaves no image of the memory behind, in which keys would be: not of this process, nor of one that it starts.
pub fn forbid_core_dumps() {
    if let Err(error) = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) }) {
        tracing::debug!(%error, "core dumps could not be forbidden");
    }
}

/// Takes as many descriptors as may be had: the usual limit is for programs that don't serve many.
pub fn raise_descriptors() {
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.unwrap_or(DESCRIPTORS).min(DESCRIPTORS);
    if limit.current.is_none_or(|current| current >= wanted) {
        return;
    }
    if let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), ..limit }) {
        tracing::warn!(%error, "the limit of open files could not be raised");
    }
}
