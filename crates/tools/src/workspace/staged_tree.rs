//! Checks whether a command's staged changes can be handled: not nested without end, and without hard links whose copies would
//! fill the disk.
//!
//! This check comes first, because the later code is recursive.

use super::overlay::{entries, open_shut_folder, open_upper, unreadable};
use super::{Kind, kind_of};
use planwright_protocol::Problem;
use rustix::fs::{Mode, Stat};
use rustix::io::Errno;
use std::ffi::CString;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::vec::IntoIter;

/// Maximum nesting depth of folders. Calls name at most 128.
pub const DEEPEST: usize = 200;

/// Why none of it can be kept.
pub const TOO_DEEP: &str = "The command nested more than 200 folders. Nest them less deep.";
const TOO_MANY_LINKS: &str = "The command created hard links. In the workspace each becomes a copy, and there is no disk space for that many. Create fewer hard links, or copy the files that you need.";

/// A folder that is being visited, and its mode if it was closed.
struct Level {
    folder: OwnedFd,
    left: IntoIter<(CString, Stat)>,
    shut: Option<Mode>,
}

/// Why nothing in an upper folder can be kept, if so. Copies of hard links may take `room` bytes.
pub fn refusal(upper: &Path, room: u64) -> Result<Option<&'static str>, Problem> {
    look(open_upper(upper).map_err(unreadable)?, room).map_err(unreadable)
}

fn look(top: OwnedFd, room: u64) -> Result<Option<&'static str>, Errno> {
    let mut copied = 0_u64;
    let mut levels = vec![Level { left: entries(&top)?.into_iter(), folder: top, shut: None }];
    loop {
        let depth = levels.len();
        let Some(level) = levels.last_mut() else { break };
        let Some((name, stat)) = level.left.next() else {
            if let Some(Level { folder, shut: Some(mode), .. }) = levels.pop() {
                rustix::fs::fchmod(&folder, mode)?;
            }
            continue;
        };
        match kind_of(&stat) {
            Kind::Folder => {
                if depth > DEEPEST {
                    return Ok(Some(TOO_DEEP));
                }
                let folder = open_shut_folder(&level.folder, &name)?;
                let shut = (stat.st_mode & 0o700 != 0o700).then(|| Mode::from_raw_mode(stat.st_mode));
                levels.push(Level { left: entries(&folder)?.into_iter(), folder, shut });
            }
            Kind::File if stat.st_nlink > 1 => copied = copied.saturating_add(u64::try_from(stat.st_blocks).unwrap_or(u64::MAX) * 512),
            Kind::File | Kind::Link | Kind::Other => {}
        }
    }
    Ok((copied > room).then_some(TOO_MANY_LINKS))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make files themselves")]
mod tests {
    use super::*;

    #[test]
    fn folders_in_one_another_and_copies_of_hard_links_are_limited() {
        let folder = tempfile::tempdir().unwrap();
        let found = |room| refusal(folder.path(), room).unwrap();
        let nested = |depth| folder.path().join("d/".repeat(depth));
        std::fs::create_dir_all(nested(DEEPEST)).unwrap();
        std::fs::write(folder.path().join("one"), vec![1; 1 << 20]).unwrap();
        assert_eq!(found(0), None);
        std::fs::hard_link(folder.path().join("one"), folder.path().join("two")).unwrap();
        assert_eq!((found(1 << 20), found(3 << 20)), (Some(TOO_MANY_LINKS), None), "each name counts");
        std::fs::create_dir_all(nested(DEEPEST + 1)).unwrap();
        assert_eq!(found(3 << 20), Some(TOO_DEEP));
    }
}
