//! Converts the kernel's errors into messages for the model.

use crate::path::WorkspacePath;
use planwright_protocol::{ErrorCode, Problem};
use rustix::io::Errno;

pub fn problem_of(errno: Errno, path: &WorkspacePath) -> Problem {
    let (code, message) = match errno {
        Errno::NOENT => (ErrorCode::PathNotFound, format!("{path} does not exist. Use `ls` or `glob` to list files.")),
        Errno::NOTDIR => (ErrorCode::PathNotFound, format!("{path} does not exist: one of its parents is not a folder.")),
        Errno::LOOP => (
            ErrorCode::PathSymlinkRefused,
            format!("{path} contains a symbolic link. Name its target instead, if that is in the workspace."),
        ),
        Errno::XDEV => (
            ErrorCode::PathOutsideWorkspace,
            format!("{path} leads out of the workspace, or contains an absolute link. Use only files inside the workspace."),
        ),
        Errno::NAMETOOLONG => (ErrorCode::PathInvalid, format!("{path} is longer than the file system allows. Choose a shorter name.")),
        Errno::ISDIR => (ErrorCode::NotRegularFile, format!("{path} is a folder, not a file.")),
        Errno::NXIO | Errno::NODEV | Errno::OPNOTSUPP => {
            (ErrorCode::NotRegularFile, format!("{path} is a pipe, socket or device, not a file with text."))
        }
        Errno::EXIST => (ErrorCode::PathExists, format!("{path} already exists. Choose another name, or change the existing entry.")),
        Errno::NOTEMPTY => {
            (ErrorCode::PathExists, format!("The folder {path} is not empty. Set `recursive: true` to delete it with its contents."))
        }
        Errno::ACCESS | Errno::PERM => (
            ErrorCode::ToolNotPermitted,
            format!("Planwright has no permission to change or read {path}. Ask the user to fix its permissions."),
        ),
        Errno::OVERFLOW => (
            ErrorCode::ToolNotPermitted,
            format!(
                "{path} belongs to a user or group that this system does not know, so it can't be opened. Ask the user to give it to the server's own user and group."
            ),
        ),
        Errno::AGAIN => (ErrorCode::FileChanged, format!("A part of {path} keeps being renamed. Try again later.")),
        other => (
            ErrorCode::StorageFull,
            format!("The file system refused to access {path}: {other}. Nothing was changed; ask the user to check the disk."),
        ),
    };
    Problem::new(code, message)
}

pub fn problem_of_io(error: &std::io::Error, path: &WorkspacePath) -> Problem {
    problem_of(Errno::from_io_error(error).unwrap_or(Errno::IO), path)
}
