//! The state of a path at one moment, for later comparison.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An entry of a workspace without its content. `mode` is `None` while it is unknown, for example for a file that is yet to be created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Image {
    Absent,
    File {
        mode: Option<u32>,
        sha256: String,
    },
    Folder {
        mode: Option<u32>,
    },
    Link {
        target: String,
    },
    /// A pipe, socket or device, or a file that is too large or unreadable.
    Unknown,
}

impl Image {
    /// Whether both describe the same entry. Unknown entries never match.
    #[must_use]
    pub fn matches(&self, other: &Image) -> bool {
        let same_mode = |one: Option<u32>, other: Option<u32>| one.zip(other).is_none_or(|(one, other)| one == other);
        match (self, other) {
            (Image::Absent, Image::Absent) => true,
            (Image::File { mode, sha256 }, Image::File { mode: other_mode, sha256: other }) => {
                sha256 == other && same_mode(*mode, *other_mode)
            }
            (Image::Folder { mode }, Image::Folder { mode: other_mode }) => same_mode(*mode, *other_mode),
            (Image::Link { target }, Image::Link { target: other }) => target == other,
            (Image::Absent | Image::File { .. } | Image::Folder { .. } | Image::Link { .. } | Image::Unknown, _) => false,
        }
    }

    /// The hash of the entry's content.
    #[must_use]
    pub fn content(&self) -> Option<&str> {
        match self {
            Image::File { sha256, .. } => Some(sha256),
            Image::Absent | Image::Folder { .. } | Image::Link { .. } | Image::Unknown => None,
        }
    }

    #[must_use]
    pub fn mode(&self) -> Option<u32> {
        match self {
            Image::File { mode, .. } | Image::Folder { mode } => *mode,
            Image::Absent | Image::Link { .. } | Image::Unknown => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Image;

    #[test]
    fn a_mode_that_is_not_known_fits_any_and_what_is_unknown_fits_nothing() {
        let file = |mode: Option<u32>| Image::File { mode, sha256: "a".into() };
        assert!(file(None).matches(&file(Some(0o644))) && file(Some(0o644)).matches(&file(None)));
        assert!(!file(Some(0o644)).matches(&file(Some(0o755))));
        assert!(!Image::Unknown.matches(&Image::Unknown) && Image::Absent.matches(&Image::Absent));
    }
}
