//! The state of files before and after a call, for diffs and reverts.

use crate::path::WorkspacePath;
use planwright_protocol::Image;
use sha2::{Digest, Sha256};
use std::io::Read;
use std::sync::Arc;

/// One path that a call changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    pub path: WorkspacePath,
    pub before: Version,
    pub after: Version,
}

/// The state of a path, with a file's content if it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    pub image: Image,
    pub bytes: Option<Arc<[u8]>>,
}

impl Version {
    #[must_use]
    pub fn absent() -> Self {
        Image::Absent.into()
    }

    /// A file with known content; `mode` is `None` if it does not exist yet.
    pub fn file(bytes: impl Into<Arc<[u8]>>, mode: Option<u32>) -> Self {
        let bytes = bytes.into();
        // Reading from a slice can't fail.
        let sha256 = sha256_of(&*bytes).unwrap_or_default();
        Self { image: Image::File { mode, sha256 }, bytes: Some(bytes) }
    }

    #[must_use]
    pub fn is_absent(&self) -> bool {
        self.image == Image::Absent
    }
}

impl From<Image> for Version {
    fn from(image: Image) -> Self {
        Self { image, bytes: None }
    }
}

/// The SHA-256 of a reader's content, in hexadecimal.
pub(crate) fn sha256_of(mut content: impl Read) -> std::io::Result<String> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match content.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => hasher.update(&buffer[..length]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let digits = b"0123456789abcdef";
    Ok(hasher.finalize().iter().flat_map(|byte| [byte >> 4, byte & 15]).map(|half| char::from(digits[usize::from(half)])).collect())
}
