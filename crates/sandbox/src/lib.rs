//! Runs commands in a sandbox that the kernel enforces.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`policy`] | what a command may see, change and use |
//! | [`command`] | starting a command, reading its output, ending it with all its descendants |
//! | [`host`] | the visible parts of the host: programs and toolchains, no homes, no credentials |
//! | [`root`], [`mount`] | the file tree that a command sees, assembled by descriptors |
//! | [`sight`], [`mounts`] | which paths of the host are visible and which are hidden, under every name that a mount gives them |
//! | [`bubblewrap`] | the boundary: namespaces |
//! | [`enter`] | the two stages: our own binary, started outside and inside the boundary |
//! | [`keeper`] | a command without a sandbox, if the user switched it off |
//! | [`seccomp`], [`landlock`] | system calls and writes that the kernel refuses in addition |
//! | [`cgroup`] | limits on a command and all its descendants together, where control groups are available |
//! | [`disk`], [`reserve`] | a command's disk quota, and the space reserved for the server |
//! | [`descriptor_pass`], [`spill`] | changes staged in memory: passed to the server, and copied to the disk |
//! | [`removal`] | removing folders of any depth |
//! | [`history_reader`] | git on the objects of a repository, without its configuration |
//! | [`repository`] | git on the user's own repository, so that nothing of it is executed
//! | [`mod@probe`] | whether all of this works on this machine, and how to fix it |
//!
//! A command starts in two stages, both our own binary started again. The outer stage mounts an overlay over the workspace, so
//! that changes are staged, assembles the file tree that the command sees, and becomes bubblewrap. The inner stage runs inside
//! the boundary, drops the remaining privileges, and becomes the shell.
//!
//! Invariants: without the boundary nothing runs; no process of a command outlives it; no environment variable, descriptor,
//! socket or file of the server is visible inside, except those that a policy names.

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

pub use command::{CommandEnd, Finished, Pipes, Stop, Unavailable, converse, run};
pub use disk::{Amount, Space, size_of};
pub use enter::enter_if_asked;
pub use history_reader::{HistoryReader, ReaderRefs};
pub use host::identity;
pub use policy::{Limits, Network, Policy, View, available_memory};
pub use probe::{Check, CheckResult, git, has_memory_overlay, has_overlay, probe};
pub use removal::{ClosedFolder, remove_folder, remove_tree};
pub use repository::{GitOutput, count_commits, git_on};
pub use reserve::Reserve;
pub use spill::{copy_data, spill};
