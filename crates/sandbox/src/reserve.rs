//! Disk space reserved for the server: filler files that are deleted when the disk is full.
//!
//! The files take real blocks and inodes, so no command can use them, however fast it writes. The last part is reserved for the
//! next start, because opening a database needs a little space.

use crate::disk::{Space, is_written_to};
use std::fs::DirBuilder;
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The reserve is released in parts.
const PARTS: u64 = 8;
/// Size of a part in bytes: a 256th of the disk, within these bounds.
const LEAST: u64 = 64 << 10;
const MOST: u64 = 8 << 20;
/// The part that only a start may release.
const OF_START: u64 = 0;
/// Additional inodes in each part, besides the filler file's own.
const INODES: u64 = 4;
/// How long to wait for commands to be ended on a full disk.
const PATIENCE: Duration = Duration::from_secs(2);

/// The space reserved on the disk of a data folder.
#[derive(Clone, Debug)]
pub struct Reserve {
    folder: PathBuf,
}

impl Reserve {
    #[must_use]
    pub fn of(data: &Path) -> Self {
        Self { folder: data.join("reserve") }
    }

    /// Whether the disk has almost no space left.
    #[must_use]
    pub fn is_needed(&self) -> bool {
        self.space().is_some_and(|space| space.free.bytes < part_of(&space) || space.free.inodes < INODES)
    }

    /// Whether the disk is so full that the server uses its reserve.
    #[must_use]
    pub fn is_in_use(&self) -> bool {
        let is_whole = || (0..PARTS).all(|part| self.file(part).exists());
        self.is_needed() || (!is_whole() && self.space().is_some_and(|space| !has_plenty(&space)))
    }

    fn space(&self) -> Option<Space> {
        Space::of(self.folder.parent().unwrap_or(&self.folder)).ok()
    }

    /// Frees space on a full disk for the server's writes, except the part for the next start.
    pub fn make_room(&self) {
        let begun = Instant::now();
        // Every command on a full disk is being ended. Until it has ended, it would take the freed space.
        while is_written_to() && begun.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(5));
        }
        if let Some(part) = (OF_START + 1..PARTS).find(|&part| self.file(part).exists()) {
            self.give_up(part);
        }
    }

    /// Frees space to open the database, if the disk is full.
    pub fn make_room_to_start(&self) {
        if self.is_needed() {
            self.give_up(OF_START);
        }
    }

    /// Restores missing parts if the disk has plenty of space. Ignores errors: the next call retries.
    pub fn refill(&self) {
        static FILLING: Mutex<()> = Mutex::new(());
        let _alone = FILLING.lock().unwrap_or_else(PoisonError::into_inner);
        for part in (0..PARTS).filter(|&part| !self.file(part).exists()) {
            let Some(space) = self.space() else { return };
            if !has_plenty(&space) || self.set_aside(part, part_of(&space)).is_err() {
                self.give_up(part);
                return;
            }
        }
    }

    /// Restores the part for the next start, however little space is left.
    pub fn keep_for_next_start(&self) {
        let Some(space) = self.space().filter(|_| !self.file(OF_START).exists()) else { return };
        let size = part_of(&space).min(space.free.bytes / 4 * 3);
        if size < LEAST || self.set_aside(OF_START, size).is_err() {
            self.give_up(OF_START);
        }
    }

    fn set_aside(&self, part: u64, size: u64) -> std::io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        for number in 0..INODES {
            std::fs::File::create(self.inode(part, number))?;
        }
        // Renamed only when complete.
        let new = self.folder.join("new");
        allocate(&mut std::fs::File::create(&new)?, size)?;
        std::fs::rename(new, self.file(part))
    }

    fn give_up(&self, part: u64) {
        let inodes = (0..INODES).map(|number| self.inode(part, number));
        for file in [self.file(part), self.folder.join("new")].into_iter().chain(inodes) {
            let _ = std::fs::remove_file(file);
        }
    }

    fn file(&self, part: u64) -> PathBuf {
        self.folder.join(part.to_string())
    }

    fn inode(&self, part: u64, number: u64) -> PathBuf {
        self.folder.join(format!("{part}.{number}"))
    }
}

fn part_of(space: &Space) -> u64 {
    (space.total.bytes / 256).clamp(LEAST, MOST)
}

/// Whether the disk has space for another part without affecting others.
fn has_plenty(space: &Space) -> bool {
    space.free.bytes >= part_of(space).saturating_mul(4) && space.free.inodes >= (INODES + 1) * 4
}

/// Allocates this many bytes for the file; its content is irrelevant.
fn allocate(file: &mut std::fs::File, size: u64) -> std::io::Result<()> {
    if rustix::fs::fallocate(&*file, rustix::fs::FallocateFlags::empty(), 0, size).is_ok() {
        return Ok(());
    }
    fill(file, size)
}

fn fill(file: &mut std::fs::File, size: u64) -> std::io::Result<()> {
    // Zeros would take no space on a file system that compresses.
    let (mut block, mut state) = ([0; 8 << 10], 0x9E37_79B9_7F4A_7C15_u64);
    let mut left = size;
    while left > 0 {
        for bytes in block.chunks_exact_mut(8) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            bytes.copy_from_slice(&state.to_ne_bytes());
        }
        let length = left.min(block.len() as u64);
        file.write_all(&block[..usize::try_from(length).unwrap_or(block.len())])?;
        left -= length;
    }
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn room_is_really_taken_and_given_up_part_by_part_but_for_that_of_the_next_start() {
        let data = tempfile::tempdir().unwrap();
        let reserve = Reserve::of(data.path());
        reserve.refill();
        let parts = || (0..PARTS).filter(|&part| reserve.file(part).exists()).collect::<Vec<_>>();
        assert_eq!(parts(), (0..PARTS).collect::<Vec<_>>());
        let taken: u64 = (0..PARTS).map(|part| reserve.file(part).metadata().unwrap().blocks() * 512).sum();
        assert!(taken >= part_of(&Space::of(data.path()).unwrap()) * PARTS, "{taken}");
        for _ in 0..20 {
            reserve.make_room();
        }
        assert_eq!(parts(), [OF_START]);
        assert_eq!(std::fs::read_dir(&reserve.folder).unwrap().count() as u64, 1 + INODES);
        reserve.refill();
        assert_eq!(parts().len() as u64, PARTS);
    }

    #[test]
    fn a_file_system_that_allocates_nothing_in_advance_is_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fill(&mut std::fs::File::create(&path).unwrap(), 1_000_001).unwrap();
        let metadata = path.metadata().unwrap();
        assert!(metadata.len() == 1_000_001 && metadata.blocks() * 512 >= 1_000_001);
    }
}
