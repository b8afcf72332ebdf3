//! Where a command's writes are staged: in memory, where the kernel enforces the limit, or on disk, where the server does.

use super::{Commands, unavailable, unwritable};
use planwright_protocol::Problem;
use planwright_protocol::settings::Staging;
use planwright_sandbox::{Amount, Limits, Space, available_memory, has_memory_overlay};

/// With at most this share of the disk, a command is fast enough to fill all the rest between two checks of the server. A larger
/// share leaves as much free.
const TIGHT: u64 = 4_000_000_000;
/// In memory a command can create this many files; a smaller share of the disk's inodes is tight.
const FILES_IN_MEMORY: u64 = 200_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StagePlace {
    Memory {
        bytes: u64,
    },
    /// With a share of the disk.
    Disk {
        bytes: u64,
    },
}

impl StagePlace {
    pub fn is_memory(self) -> bool {
        matches!(self, Self::Memory { .. })
    }

    /// The size of the memory.
    pub fn memory(self) -> Option<u64> {
        match self {
            Self::Memory { bytes } => Some(bytes),
            Self::Disk { .. } => None,
        }
    }

    /// The limits of a command that may write `disk` bytes. It may have further folders, on other disks.
    pub fn limits(self, limits: Limits, disk: u64) -> Limits {
        match self {
            Self::Memory { .. } => Limits { disk, ..limits },
            Self::Disk { bytes } => Limits { disk, ..limits.with_share(bytes) },
        }
    }

    /// `share` is what a command may take of the disk, `available` the memory that programs can take.
    fn automatic(share: Amount, most: u64, available: u64) -> Option<Self> {
        let is_tight = share.bytes <= TIGHT || share.inodes < FILES_IN_MEMORY;
        let bytes = share.bytes.min(TIGHT);
        (is_tight && bytes <= most && bytes <= available / 2).then_some(Self::Memory { bytes })
    }
}

impl Commands {
    /// # Errors
    /// The configuration requires memory, and the kernel can't overlay it; or the disk can't be examined.
    pub(super) fn stage_place(&self, limits: &Limits) -> Result<StagePlace, Problem> {
        let most = self.sandbox.disk_bytes().min(limits.memory / 2);
        let share = || -> Result<Amount, Problem> {
            let space = self.make_folder(&self.place).and_then(|()| Space::of(&self.place));
            let space = space.map_err(|error| unwritable(&self.place, &error))?;
            Ok(space.share(&Limits { disk: self.sandbox.disk_bytes(), ..*limits }))
        };
        match self.sandbox.staging {
            Staging::Disk => Ok(StagePlace::Disk { bytes: share()?.bytes }),
            Staging::Memory if has_memory_overlay(&self.place) => Ok(StagePlace::Memory { bytes: most }),
            Staging::Memory => {
                Err(unavailable("`staging = \"memory\"` in [sandbox] requires overlays on memory, which need Linux 6.6 or newer"))
            }
            Staging::Auto => {
                let share = share()?;
                let place = StagePlace::automatic(share, most, available_memory()).filter(|_| has_memory_overlay(&self.place));
                Ok(place.unwrap_or(StagePlace::Disk { bytes: share.bytes }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIGABYTE: u64 = 1_000_000_000;

    #[test]
    fn a_tight_disk_has_commands_write_to_memory_if_there_is_enough_of_it() {
        let place = |bytes, inodes, most, available| StagePlace::automatic(Amount { bytes, inodes }, most, available);
        let (many, memory) = (1_000_000, 16 * GIGABYTE);
        assert_eq!(place(3 * GIGABYTE, many, 8 * GIGABYTE, memory), Some(StagePlace::Memory { bytes: 3 * GIGABYTE }));
        assert_eq!(place(10 * GIGABYTE, many, 8 * GIGABYTE, memory), None, "the rest of the disk is as large");
        assert_eq!(place(10 * GIGABYTE, 5_000, 8 * GIGABYTE, memory), Some(StagePlace::Memory { bytes: TIGHT }), "few inodes");
        assert_eq!(place(3 * GIGABYTE, many, 2 * GIGABYTE, memory), None, "less than the disk has");
        assert_eq!(place(3 * GIGABYTE, many, 8 * GIGABYTE, 5 * GIGABYTE), None, "others need the memory");
    }

    #[test]
    fn no_single_file_outgrows_the_share_of_the_disk() {
        let limits = Limits::within(std::time::Duration::from_secs(1));
        let largest = |place: StagePlace| place.limits(limits, 10 * GIGABYTE).file_size;
        assert_eq!(largest(StagePlace::Disk { bytes: 50_000_000 }), 50_000_000 + (1 << 20));
        assert_eq!(largest(StagePlace::Disk { bytes: 10 * GIGABYTE }), limits.file_size);
        assert_eq!(largest(StagePlace::Memory { bytes: GIGABYTE }), limits.file_size, "the kernel limits all files together");
    }
}
