//! The sample workspace: a small project that the demo model knows.

use rustix::fs::OFlags;
use std::fs::{DirBuilder, Metadata, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

const NAME: &str = "greeter";
const FILES: &[(&str, &str)] = &[
    ("Cargo.toml", include_str!("../../../samples/greeter/Cargo.toml")),
    ("Cargo.lock", include_str!("../../../samples/greeter/Cargo.lock")),
    ("README.md", include_str!("../../../samples/greeter/README.md")),
    (".gitignore", include_str!("../../../samples/greeter/.gitignore")),
    ("src/lib.rs", include_str!("../../../samples/greeter/src/lib.rs")),
    ("src/main.rs", include_str!("../../../samples/greeter/src/main.rs")),
];
/// Maximum number of copies.
const MAX_COPIES: usize = 1000;

/// Makes a fresh copy below the folder; earlier copies stay.
pub fn copy_into(folder: &Path) -> std::io::Result<PathBuf> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    for number in 1..=MAX_COPIES {
        let name = if number == 1 { NAME.to_owned() } else { format!("{NAME}-{number}") };
        let copy = folder.join(name);
        match DirBuilder::new().mode(0o700).create(&copy) {
            Ok(()) => return fill(&copy).map(|()| copy),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                if is_untouched(&copy) {
                    return Ok(copy);
                }
            }
            Err(error) => return Err(error),
        }
    }
    Err(std::io::Error::other(format!("there are already {MAX_COPIES} copies in {}; delete some", folder.display())))
}

fn fill(copy: &Path) -> std::io::Result<()> {
    for (name, content) in FILES {
        let file = copy.join(name);
        if let Some(folder) = file.parent() {
            DirBuilder::new().recursive(true).create(folder)?;
        }
        OpenOptions::new().create_new(true).write(true).open(&file)?.write_all(content.as_bytes())?;
    }
    Ok(())
}

/// Whether nobody has worked in it yet. Earlier copies are workspaces, where commands can put anything.
fn is_untouched(copy: &Path) -> bool {
    let is_folder = |folder: &Path| std::fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir());
    let count = |folder: &Path| std::fs::read_dir(folder).map_or(0, |entries| entries.take(FILES.len() + 2).count());
    let source = copy.join("src");
    is_folder(copy)
        && is_folder(&source)
        && FILES.iter().all(|(name, content)| has_content(&copy.join(name), content.as_bytes()))
        && count(copy) + count(&source) == FILES.len() + 1
}

/// Whether this is a file with this content. Neither follows a link nor reads more than the content's length.
fn has_content(file: &Path, content: &[u8]) -> bool {
    let is_fit = |found: &Metadata| found.is_file() && usize::try_from(found.len()) == Ok(content.len());
    // Examined before it is opened, because opening a device can have effects; and after, because it may have been replaced.
    if !std::fs::symlink_metadata(file).is_ok_and(|found| is_fit(&found)) {
        return false;
    }
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let opened = OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(file);
    let Some(file) = opened.ok().filter(|file| file.metadata().is_ok_and(|found| is_fit(&found))) else { return false };
    let mut found = Vec::new();
    file.take(content.len() as u64 + 1).read_to_end(&mut found).is_ok() && found == content
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_used_until_somebody_works_in_it_and_then_there_is_another() {
        let folder = tempfile::tempdir().unwrap();
        let first = copy_into(folder.path()).unwrap();
        assert_eq!(copy_into(folder.path()).unwrap(), first);
        OpenOptions::new().create_new(true).write(true).open(first.join("src/farewell.rs")).unwrap();
        let second = copy_into(folder.path()).unwrap();
        assert_ne!(second, first);
        assert!(second.join("src/lib.rs").is_file() && !second.join("src/farewell.rs").exists());
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "files of the test")]
    fn whatever_lies_in_an_earlier_copy_is_not_followed_and_not_read_without_end() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let mut copies = Vec::new();
        for _ in 0..4 {
            let copy = copy_into(folder.path()).unwrap();
            std::fs::remove_file(copy.join("README.md")).unwrap();
            copies.push(copy);
        }
        symlink("/dev/zero", copies[0].join("README.md")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            copies[1].join("README.md"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        )
        .unwrap();
        let endless = OpenOptions::new().create_new(true).write(true).open(copies[2].join("README.md")).unwrap();
        endless.set_len(1 << 42).unwrap();
        let mut same = OpenOptions::new().create_new(true).write(true).open(folder.path().join("README.md")).unwrap();
        same.write_all(include_bytes!("../../../samples/greeter/README.md")).unwrap();
        symlink("../README.md", copies[3].join("README.md")).unwrap();
        let fresh = copy_into(folder.path()).unwrap();
        assert!(!copies.contains(&fresh), "{}", fresh.display());
    }
}
