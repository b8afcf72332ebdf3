//! The kernel's mount table, and the additional paths under which it shows a folder.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Every mount of this process, in the kernel's order.
pub struct MountTable(Vec<Mount>);

struct Mount {
    /// The device number of the mounted file system.
    device: Vec<u8>,
    /// The folder of that file system that is mounted.
    root: PathBuf,
    at: PathBuf,
}

impl MountTable {
    /// # Errors
    /// The table can't be read or parsed.
    pub fn read() -> Result<Self, String> {
        let list = std::fs::read("/proc/self/mountinfo").map_err(|error| format!("can't tell what is mounted: {error}"))?;
        Self::parse(&list)
    }

    fn parse(list: &[u8]) -> Result<Self, String> {
        let lines = list.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let mounts = lines.map(|line| {
            let mut fields = line.split(|&byte| byte == b' ').skip(2);
            let mut field = || fields.next().filter(|field| !field.is_empty());
            let mut mount = || Some(Mount { device: field()?.to_vec(), root: unescaped(field()?), at: unescaped(field()?) });
            mount().filter(|mount| mount.at.is_absolute()).ok_or_else(|| {
                format!("can't tell what is mounted: {:?} in /proc/self/mountinfo has another form", String::from_utf8_lossy(line))
            })
        });
        Ok(Self(mounts.collect::<Result<_, _>>()?))
    }

    /// The mounts that show a file or folder at, below or above one of these folders.
    pub fn around<'t>(&'t self, folders: &[PathBuf]) -> MountsAround<'t> {
        let is_near = |mount: &&Mount| folders.iter().any(|folder| folder.starts_with(&mount.at) || mount.at.starts_with(folder));
        MountsAround { all: &self.0, near: self.0.iter().filter(is_near).collect() }
    }
}

/// Whether a mount that shows only part of a folder counts as a name of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Parts {
    Counted,
    Ignored,
}

pub struct MountsAround<'t> {
    all: &'t [Mount],
    near: Vec<&'t Mount>,
}

impl MountsAround<'_> {
    /// Every path under which a mount shows this file or folder, a part of it, or a folder above it, including its own path.
    ///
    /// # Errors
    /// No mount contains the path.
    pub fn names_of(&self, path: &Path, parts: Parts) -> Result<Vec<PathBuf>, String> {
        // The last of the longest matches: a later mount hides an earlier one at the same place.
        let holder = self.all.iter().filter(|mount| path.starts_with(&mount.at)).max_by_key(|mount| mount.at.as_os_str().len());
        let holder = holder.ok_or_else(|| format!("can't tell by which mount {} is shown", path.display()))?;
        let inside = joined(&holder.root, path.strip_prefix(&holder.at).unwrap_or(path));
        let same = self.near.iter().filter(|mount| mount.device == holder.device);
        let mut names: Vec<PathBuf> = same
            .filter_map(|mount| match inside.strip_prefix(&mount.root) {
                Ok(below) => Some(joined(&mount.at, below)),
                Err(_) => (parts == Parts::Counted && mount.root.starts_with(&inside)).then(|| mount.at.clone()),
            })
            .collect();
        names.push(path.to_owned());
        names.sort();
        names.dedup();
        Ok(names)
    }
}

/// Joins without the trailing slash that joining with an empty path leaves.
fn joined(folder: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() { folder.to_owned() } else { folder.join(below) }
}

/// Decodes a path of the mount table, where blanks, newlines and backslashes are three octal digits.
fn unescaped(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&byte, after)) = rest.split_first() {
        let octal = after.get(..3).filter(|digits| byte == b'\\' && digits.iter().all(|digit| (b'0'..=b'7').contains(digit)));
        if let Some(digits) = octal {
            let value = digits.iter().fold(0_u32, |value, digit| value * 8 + u32::from(digit - b'0'));
            bytes.push(u8::try_from(value).unwrap_or(b'?'));
            rest = &after[3..];
        } else {
            bytes.push(byte);
            rest = after;
        }
    }
    OsString::from_vec(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "21 1 8:1 / / rw - ext4 /dev/sda1 rw
22 21 8:2 / /srv rw - ext4 /dev/sdb1 rw
23 21 8:2 /data /opt/bound\\040here rw - ext4 /dev/sdb1 rw
24 21 8:2 /data/deep/er /opt/part rw - ext4 /dev/sdb1 rw
25 21 8:2 / /opt/second rw shared:1 - ext4 /dev/sdb1 rw
26 21 8:3 /data /opt/other rw - ext4 /dev/sdc1 rw
27 21 8:2 /data /home/far rw - ext4 /dev/sdb1 rw
";

    #[test]
    fn a_folder_has_a_name_for_every_mount_that_shows_it_or_a_part_of_it() {
        let table = MountTable::parse(LIST.as_bytes()).unwrap();
        let names = |path: &str| table.around(&["/opt".into(), "/usr".into()]).names_of(Path::new(path), Parts::Counted).unwrap();
        let expected = ["/opt/bound here", "/opt/part", "/opt/second/data", "/srv/data"].map(PathBuf::from);
        assert_eq!(names("/srv/data"), expected);
        assert_eq!(names("/srv/data/x"), ["/opt/bound here/x", "/opt/second/data/x", "/srv/data/x"].map(PathBuf::from));
        assert_eq!(names("/opt/bound here"), ["/opt/bound here", "/opt/part", "/opt/second/data"].map(PathBuf::from));
        let whole = table.around(&["/opt".into()]).names_of(Path::new("/srv/data"), Parts::Ignored).unwrap();
        assert_eq!(whole, ["/opt/bound here", "/opt/second/data", "/srv/data"].map(PathBuf::from));
        assert_eq!(names("/home/me"), ["/home/me"].map(PathBuf::from));
    }

    #[test]
    fn a_list_that_is_not_understood_is_an_error() {
        for list in ["21 1 8:1 /", "garbage", "21 1 8:1 / relative rw - ext4 x rw"] {
            assert!(MountTable::parse(list.as_bytes()).is_err(), "{list}");
        }
    }
}
