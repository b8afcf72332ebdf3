//! Restores entries to an earlier state, each only if its current state is the expected one.
//!
//! Removals come first, then new entries, and folder modes last: a closed folder must stay open while something changes in it. If
//! it is interrupted, repeating it continues.

use super::entries::{Depth, remove_entry};
use super::refs::ref_at;
use super::{Kind, Links, Stamp, Workspace, atomic};
use crate::gate::TakeBackPermit;
use crate::path::WorkspacePath;
use crate::version::Version;
use planwright_protocol::{Image, Problem};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::{AsRawFd, OwnedFd};

/// One entry to restore.
#[derive(Clone, Debug)]
pub struct Restore {
    pub path: WorkspacePath,
    pub present: Image,
    pub wanted: Version,
}

/// Why entries are not restored.
pub const CHANGED: &str = "it was changed by somebody else since";
pub const NOT_EMPTY: &str = "it contains something that this chat did not create";
pub const REPOSITORY: &str = "it would create or change a git repository that is not named .git";
pub const NO_COPY: &str = "there is no copy of it: it was too large, or not a regular file";

/// An entry with the state in which it was compared.
struct ComparedEntry<'e> {
    entry: &'e Restore,
    stamp: Option<Stamp>,
    /// Whether it is removed before the wanted state is created.
    goes: bool,
}

/// An entry that was not restored, and why.
pub type LeftAlone = (WorkspacePath, String);

impl Workspace {
    /// Restores entries. Returns those that were not restored, because they are not as expected or could not be written.
    ///
    /// # Errors
    /// The permit does not cover it. Nothing was changed.
    pub fn restore(&self, permit: &TakeBackPermit, wanted: &[Restore]) -> Result<Vec<LeftAlone>, Problem> {
        let _guard = permit.enter(wanted.iter().map(|entry| &entry.path))?;
        let _lock = self.lock();
        let mut entries: BTreeMap<&WorkspacePath, ComparedEntry<'_>> = BTreeMap::new();
        let mut left = Vec::new();
        for entry in wanted {
            // Read before the content, so that later changes are noticed.
            let stamp = self.entry(&entry.path).ok().flatten().map(|found| found.stamp);
            let now = self.image(&entry.path);
            if !entry.fits(&now) {
                left.push((entry.path.clone(), CHANGED.to_owned()));
            } else if !now.matches(&entry.wanted.image) || is_folder(&now) {
                entries.insert(&entry.path, ComparedEntry { entry, stamp, goes: differs(&now, &entry.wanted.image) });
            }
        }
        let mut shut = self.opened(entries.values().map(|known| known.entry));
        // The deepest first, so that a folder is empty when it is removed.
        for known in entries.values_mut().rev().filter(|known| known.goes) {
            match self.remove_compared(known) {
                Ok(()) => known.stamp = None,
                Err(why) => left.push((known.entry.path.clone(), why)),
            }
        }
        // Parents first, so that a folder exists before its entries are created.
        let stuck: BTreeSet<WorkspacePath> = left.iter().map(|(path, _)| path.clone()).collect();
        for known in entries.values().filter(|known| !stuck.contains(&known.entry.path)) {
            left.extend(self.make(known).err().map(|why| (known.entry.path.clone(), why)));
        }
        shut.extend(entries.values().filter_map(|known| match known.entry.wanted.image {
            Image::Folder { mode: Some(mode) } => Some((known.entry.path.clone(), mode)),
            Image::Folder { mode: None } | Image::Absent | Image::File { .. } | Image::Link { .. } | Image::Unknown => None,
        }));
        for (path, mode) in shut.iter().rev() {
            // A folder that is missing by now needs no mode.
            let _ = self.set_mode(path, *mode);
        }
        Ok(left)
    }

    /// Gives the owner access to the folders to work in. Returns those that were closed, with their modes.
    fn opened<'e>(&self, entries: impl Iterator<Item = &'e Restore>) -> BTreeMap<WorkspacePath, u32> {
        let mut shut = BTreeMap::new();
        for entry in entries {
            let parent = entry.path.split().map(|(folder, _)| folder);
            for path in parent.into_iter().chain([entry.path.clone()]) {
                if let Ok(Some(found)) = self.entry(&path)
                    && found.kind == Kind::Folder
                    && found.mode & 0o700 != 0o700
                    && self.set_mode(&path, found.mode & 0o7777 | 0o700).is_ok()
                {
                    shut.insert(path, found.mode & 0o7777);
                }
            }
        }
        shut
    }

    fn set_mode(&self, path: &WorkspacePath, mode: u32) -> Result<(), Errno> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW;
        let held = self.open_at(path, flags, Links::Refused).map_err(|_| Errno::NOTDIR)?;
        // By descriptor, so that another file that takes this name meanwhile is not touched.
        rustix::fs::chmod(format!("/proc/self/fd/{}", held.as_raw_fd()), Mode::from_raw_mode(mode))
    }

    fn remove_compared(&self, known: &ComparedEntry<'_>) -> Result<(), String> {
        let path = &known.entry.path;
        if let Some(name) = ref_at(path).filter(|_| matches!(known.entry.present, Image::File { .. })) {
            self.remove_packed(name)?;
        }
        match self.entry(path).map_err(|problem| problem.message)? {
            None => return Ok(()),
            Some(found) if found.kind != Kind::Folder && Some(found.stamp) != known.stamp => return Err(CHANGED.to_owned()),
            Some(_) => {}
        }
        let (folder, name) = self.place(path)?;
        match remove_entry(&folder, name, Depth::EmptyOnly).and_then(|()| rustix::fs::fsync(&folder)) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(Errno::NOTEMPTY) => Err(NOT_EMPTY.to_owned()),
            Err(errno) => Err(errno.to_string()),
        }
    }

    fn make(&self, known: &ComparedEntry<'_>) -> Result<(), String> {
        let path = &known.entry.path;
        let refused = |errno: Errno| errno.to_string();
        if !matches!(known.entry.wanted.image, Image::Absent | Image::Unknown) && self.repository_at(path).is_some() {
            return Err(REPOSITORY.to_owned());
        }
        match &known.entry.wanted.image {
            Image::Absent => Ok(()),
            Image::Unknown => Err(NO_COPY.to_owned()),
            Image::Folder { .. } => {
                let (folder, name) = self.place(path)?;
                match rustix::fs::mkdirat(&folder, name, Mode::RWXU) {
                    Ok(()) => rustix::fs::fsync(&folder).map_err(refused),
                    Err(Errno::EXIST) if matches!(self.image(path), Image::Folder { .. }) => Ok(()),
                    Err(errno) => Err(refused(errno)),
                }
            }
            Image::Link { target } => {
                let (folder, name) = self.place(path)?;
                if matches!(self.image(path), Image::Link { .. }) {
                    rustix::fs::unlinkat(&folder, name, AtFlags::empty()).map_err(refused)?;
                }
                rustix::fs::symlinkat(target.as_str(), &folder, name).and_then(|()| rustix::fs::fsync(&folder)).map_err(refused)
            }
            Image::File { mode, .. } => {
                let bytes = known.entry.wanted.bytes.as_deref().ok_or(NO_COPY)?;
                let (folder, name) = self.place(path)?;
                let mode = mode.map(Mode::from_raw_mode);
                atomic::replace_with_mode(&folder, name, bytes, known.stamp, path, mode).map_err(|problem| problem.message)
            }
        }
    }

    fn place<'p>(&self, path: &'p WorkspacePath) -> Result<(OwnedFd, &'p str), String> {
        let (folder, name) = path.split().ok_or_else(|| "the workspace itself can't be restored".to_owned())?;
        self.folder(&folder).map(|folder| (folder, name)).map_err(|problem| problem.message)
    }
}

fn is_folder(image: &Image) -> bool {
    matches!(image, Image::Folder { .. })
}

impl Restore {
    /// Whether this is the expected state, the wanted one, or anything between them that a crash can leave.
    fn fits(&self, now: &Image) -> bool {
        let (present, wanted) = (&self.present, &self.wanted.image);
        let is_either = now.matches(present) || now.matches(wanted);
        // Folder modes are set last, and closed folders are opened before.
        let is_opened = is_folder(now) && (is_folder(present) || is_folder(wanted));
        let is_cleared =
            *now == Image::Absent && *wanted != Image::Absent && (differs(present, wanted) || matches!(wanted, Image::Link { .. }));
        is_either || is_opened || is_cleared
    }
}

/// Whether the existing entry can't be changed into the wanted one in place.
fn differs(there: &Image, wanted: &Image) -> bool {
    *there != Image::Absent && std::mem::discriminant(there) != std::mem::discriminant(wanted)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make files themselves")]
mod tests {
    use super::*;
    use crate::gate::Consent;
    use crate::gate::tests::decide_take_back;
    use crate::gate::tests::situation;
    use planwright_protocol::ErrorCode;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;

    fn entry(path: &str, present: Image, wanted: impl Into<Version>) -> Restore {
        Restore { path: WorkspacePath::parse(path).unwrap(), present, wanted: wanted.into() }
    }

    fn folder(mode: u32) -> Image {
        Image::Folder { mode: Some(mode) }
    }

    fn link(target: &str) -> Image {
        Image::Link { target: target.into() }
    }

    fn wanted() -> Vec<Restore> {
        vec![
            entry("/d", link("elsewhere"), folder(0o755)),
            entry("/d/a", Image::Absent, Version::file(*b"a", Some(0o600))),
            entry("/l", link("new"), link("old")),
            entry("/made", folder(0o755), Image::Absent),
        ]
    }

    fn permit() -> TakeBackPermit {
        decide_take_back(
            &situation(planwright_protocol::Mode::Plan.default_role(), Consent::Given),
            wanted().iter().map(|entry| &entry.path),
        )
        .unwrap()
    }

    fn restore(root: &Path) -> Vec<LeftAlone> {
        let left = Workspace::open(root).unwrap().restore(&permit(), &wanted()).unwrap();
        let mode = |path: &str| std::fs::symlink_metadata(root.join(path)).unwrap().permissions().mode() & 0o7777;
        assert_eq!((mode("d"), mode("d/a"), root.join("made").exists()), (0o755, 0o600, false));
        assert_eq!(std::fs::read_link(root.join("l")).unwrap(), Path::new("old"));
        left
    }

    #[test]
    fn wherever_it_was_cut_off_it_is_gone_on_with() {
        let whole = |root: &Path| {
            symlink("elsewhere", root.join("d")).unwrap();
            symlink("new", root.join("l")).unwrap();
            std::fs::create_dir_all(root.join("made")).unwrap();
        };
        let cleared = |root: &Path| drop(Workspace::open(root));
        let half = |root: &Path| {
            std::fs::create_dir_all(root.join("d")).unwrap();
            std::fs::set_permissions(root.join("d"), std::fs::Permissions::from_mode(0o700)).unwrap();
        };
        for begun in [&whole as &dyn Fn(&Path), &cleared, &half] {
            let root = tempfile::tempdir().unwrap();
            begun(root.path());
            assert_eq!(restore(root.path()), []);
            assert_eq!(restore(root.path()), [], "done again, it changes nothing");
        }
    }

    #[test]
    fn what_somebody_else_made_of_it_is_left_alone() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("d"), "theirs").unwrap();
        let workspace = Workspace::open(root.path()).unwrap();
        let left = workspace.restore(&permit(), &wanted()).unwrap();
        let paths: Vec<String> = left.iter().map(|(path, _)| path.to_string()).collect();
        assert_eq!(paths, ["/d", "/d/a"]);
        assert_eq!(std::fs::read(root.path().join("d")).unwrap(), b"theirs");
    }

    #[test]
    fn nothing_is_put_back_but_what_the_permit_names() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("a"), "now").unwrap();
        let present = Version::file(*b"now", None).image;
        let other = [entry("/a", present, Image::Absent)];
        let refused = Workspace::open(root.path()).unwrap().restore(&permit(), &other).unwrap_err();
        assert_eq!(refused.code, ErrorCode::ToolNotPermitted);
        assert!(root.path().join("a").exists());
    }
}
