//! The sample workspace: a small project that the demo model knows.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
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

/// Whether nobody has worked in it yet.
#[expect(clippy::disallowed_methods, reason = "the copy is made here, and is no workspace yet")]
fn is_untouched(copy: &Path) -> bool {
    let is_same = |(name, content): &(&str, &str)| std::fs::read_to_string(copy.join(name)).is_ok_and(|found| found == *content);
    let count = |folder: PathBuf| std::fs::read_dir(folder).map_or(0, Iterator::count);
    FILES.iter().all(is_same) && count(copy.to_owned()) + count(copy.join("src")) == FILES.len() + 1
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
}
