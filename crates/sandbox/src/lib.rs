//! Commands under the kernel's guard.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`policy`] | what a command may see, change and use |
//! | [`command`] | starting one, reading what it prints, ending it with all it started |
//! | [`host`] | what of the machine is shown inside: programs and toolchains, no homes, no credentials |
//! | [`root`], [`mount`] | the file tree that a command sees, put together by descriptors |
//! | [`bubblewrap`] | the boundary: namespaces |
//! | [`enter`] | our own binary, started again on both sides of the boundary |
//! | [`keeper`] | a command without a sandbox, where the user switched it off |
//! | [`seccomp`], [`landlock`] | what the kernel refuses besides |
//! | [`cgroup`] | limits on a command and all it starts, where there are control groups |
//! | [`disk`], [`reserve`] | how much of the disk a command may take, and room that is set aside for the server |
//! | [`descriptor_pass`], [`spill`] | changes that are staged in memory: handed to the server, and brought to the disk |
//! | [`removal`] | removing folders of any depth |
//! | [`history_reader`] | git on the objects of a repository, without its configuration |
//! | [`repository`] | git on the user's own repository, so that nothing of it is executed |
//! | [`mod@probe`] | whether all this works here, and how to mend it |
//!
//! Two stages, both our own binary run again. The outer one puts an overlay over the workspace, so that changes are
//! staged, puts together the file tree that the command sees, and becomes bubblewrap; the inner one stands behind the boundary, takes away what is left to take, and
//! becomes the shell.
//!
//! Invariants: without the boundary nothing runs; no process of a command outlives it; no environment variable,
//! descriptor, socket or file of the server is visible inside, but for what a policy names.

mod bubblewrap;
mod cgroup;
pub mod command;
mod descriptor_pass;
mod disk;
mod enter;
mod history_reader;
mod host;
mod keeper;
mod landlock;
mod mount;
mod mounts;
pub mod policy;
pub mod probe;
mod removal;
mod repository;
mod reserve;
mod root;
mod seccomp;
mod sight;
mod spill;

pub use command::{Ended, Finished, Pipes, Stop, Unavailable, converse, run};
pub use disk::{Space, size_of};
pub use enter::enter_if_asked;
pub use history_reader::{HistoryReader, ReaderRefs};
pub use host::identity;
pub use policy::{Limits, Network, Policy, View};
pub use probe::{Check, Outcome, git, has_memory_overlay, has_overlay, probe};
pub use removal::{Shut, clear, remove_tree};
pub use repository::{Printed, count_commits, git_on};
pub use reserve::Reserve;
pub use spill::{copy_data, spill};
