//! What the kernel's refusals mean for the model.

use crate::path::WorkspacePath;
use planwright_protocol::{ErrorCode, Problem};
use rustix::io::Errno;

pub fn problem_of(errno: Errno, path: &WorkspacePath) -> Problem {
    let (code, message) = match errno {
        Errno::NOENT => (ErrorCode::PathNotFound, format!("There is no {path}. Use `ls` or `glob` to see what there is.")),
        Errno::NOTDIR => (ErrorCode::PathNotFound, format!("There is no {path}: something on the way to it is not a folder.")),
        Errno::LOOP => (
            ErrorCode::PathSymlinkRefused,
            format!("{path} leads over a symbolic link. Name the file it points to instead, if that is in the workspace."),
        ),
        Errno::XDEV => (
            ErrorCode::PathOutsideWorkspace,
            format!("{path} leads out of the workspace, or over an absolute link. Only files inside the workspace can be used."),
        ),
        Errno::NAMETOOLONG => (ErrorCode::PathInvalid, format!("{path} is longer than the file system allows. Choose a shorter name.")),
        Errno::ISDIR => (ErrorCode::NotRegularFile, format!("{path} is a folder, not a file.")),
        Errno::NXIO | Errno::NODEV | Errno::OPNOTSUPP => {
            (ErrorCode::NotRegularFile, format!("{path} is a pipe, socket or device, not a file with text."))
        }
        Errno::EXIST => (ErrorCode::PathExists, format!("{path} exists already. Choose another name, or change what is there.")),
        Errno::NOTEMPTY => {
            (ErrorCode::PathExists, format!("The folder {path} is not empty. Say `recursive: true` to delete it with all that is in it."))
        }
        Errno::ACCESS | Errno::PERM => (
            ErrorCode::ToolNotPermitted,
            format!("The file system does not let Planwright change or read {path}. Ask the user to mend its permissions."),
        ),
        Errno::OVERFLOW => (
            ErrorCode::ToolNotPermitted,
            format!(
                "{path} belongs to a user or group that this system does not know, so it can't be opened. Ask the user to give it to the server's own user and group."
            ),
        ),
        Errno::AGAIN => (ErrorCode::FileChanged, format!("Something on the way to {path} is being renamed all the time. Try again later.")),
        other => (
            ErrorCode::StorageFull,
            format!("The file system refused to handle {path}: {other}. Nothing was changed; ask the user to look at the disk."),
        ),
    };
    Problem::new(code, message)
}

pub fn problem_of_io(error: &std::io::Error, path: &WorkspacePath) -> Problem {
    problem_of(Errno::from_io_error(error).unwrap_or(Errno::IO), path)
}
