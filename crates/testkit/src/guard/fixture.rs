//! The temporary tree that a case is carried out in.

use super::arguments::base64;
use super::{Case, CaseCall, Setup, Suite};
use rustix::fs::{CWD, FileType, Mode};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A workspace, the folder `outside` next to it, and another tenant's workspace. Gone when dropped.
#[derive(Debug)]
pub struct Fixture {
    folder: TempDir,
    foreign_plans: Vec<String>,
}

/// Who owns the plans that are not the acting chat's.
const OTHER_CHAT: &str = "chat-B";
const OWN_PLAN: &str = "/plans/roadmap.plan";

impl Fixture {
    /// The tree that every case begins with, below `place`.
    ///
    /// # Panics
    /// When the tree can't be made: then no test of it means anything.
    #[must_use]
    pub fn new(suite: &Suite, place: &Path) -> Self {
        let mut fixture = Self::empty(place);
        fixture.apply(&suite.fixture);
        fixture
    }

    /// The three folders with nothing in them.
    ///
    /// # Panics
    /// When they can't be made.
    #[must_use]
    pub fn empty(place: &Path) -> Self {
        let folder =
            TempDir::with_prefix_in("guard-", place).unwrap_or_else(|error| panic!("no folder below {}: {error}", place.display()));
        let fixture = Self { folder, foreign_plans: Vec::new() };
        for name in ["$WS", "$OUT", "$WS2"] {
            let path = fixture.path(name);
            fs::create_dir(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
        fixture
    }

    #[must_use]
    pub fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    #[must_use]
    pub fn outside(&self) -> PathBuf {
        self.folder.path().join("outside")
    }

    /// The host path of a path as the cases write it: below the workspace unless it begins with a variable.
    #[must_use]
    pub fn path(&self, text: &str) -> PathBuf {
        if text.starts_with('$') { PathBuf::from(self.named(text)) } else { self.workspace().join(text) }
    }

    /// The text with its variables replaced.
    #[must_use]
    pub fn named(&self, text: &str) -> String {
        // The longer name first, as the shorter begins it.
        [("$WS2", "workspace2"), ("$WS", "workspace"), ("$OUT", "outside")]
            .iter()
            .fold(text.to_owned(), |text, (variable, name)| text.replace(variable, &self.folder.path().join(name).to_string_lossy()))
    }

    #[must_use]
    pub fn call(&self, case: &Case) -> CaseCall {
        CaseCall {
            role: case.role.clone(),
            tool: case.tool.clone(),
            args: case.arguments(self),
            foreign_plans: self.foreign_plans.clone(),
            own_plan: OWN_PLAN.to_owned(),
        }
    }

    /// # Panics
    /// When a step can't be done: then the case would test something else.
    pub fn apply(&mut self, setup: &[Setup]) {
        for step in setup {
            self.step(step).unwrap_or_else(|error| panic!("{step:?}: {error}"));
        }
    }

    fn step(&mut self, step: &Setup) -> io::Result<()> {
        match step {
            Setup::File { path, content, owner } => {
                if owner.as_deref() == Some(OTHER_CHAT) {
                    self.foreign_plans.push(format!("/{path}"));
                }
                self.file(path)?.write_all(content.as_bytes())
            }
            Setup::FileB64 { path, b64, mode } => {
                let mut file = self.file(path)?;
                file.write_all(&base64(b64))?;
                let bits = mode.as_deref().map(|mode| u32::from_str_radix(mode, 8).map_err(io::Error::other)).transpose()?;
                bits.map_or(Ok(()), |bits| file.set_permissions(fs::Permissions::from_mode(bits)))
            }
            Setup::FileGen { path, size } => {
                io::copy(&mut io::Read::take(io::repeat(b'a'), *size), &mut io::BufWriter::with_capacity(1 << 20, self.file(path)?))
                    .map(|_| ())
            }
            Setup::Sparse { path, size } => self.file(path)?.set_len(*size),
            Setup::SparseText { path, size } => {
                let mut file = self.file(path)?;
                file.write_all("a line of text\n".repeat(10_000).as_bytes())?;
                file.set_len(*size)
            }
            Setup::Mkdir { path } => fs::create_dir_all(self.path(path)),
            Setup::Rm { path } => remove(&self.path(path)),
            Setup::Symlink { path, target } => std::os::unix::fs::symlink(self.named(target), self.made(path)?),
            Setup::Hardlink { path, target } => fs::hard_link(self.path(target), self.made(path)?),
            Setup::Fifo { path } => node(&self.made(path)?, FileType::Fifo, 0),
            // Kept bound by nobody: only the name of the socket matters.
            Setup::Socket { path } => std::os::unix::net::UnixListener::bind(self.made(path)?).map(drop),
            // An endless device, as the cases have it.
            Setup::Mknod { path } => node(&self.made(path)?, FileType::CharacterDevice, rustix::fs::makedev(1, 5)),
            Setup::FaultFs { .. } | Setup::KillAtEverySyscall | Setup::RemountRo => Ok(()),
            Setup::Elsewhere => Err(io::Error::other("a step of another harness")),
        }
    }

    fn file(&self, path: &str) -> io::Result<File> {
        File::create(self.made(path)?)
    }

    /// The host path, with the folder that holds it made.
    fn made(&self, path: &str) -> io::Result<PathBuf> {
        let path = self.path(path);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        Ok(path)
    }
}

fn remove(path: &Path) -> io::Result<()> {
    if path.symlink_metadata()?.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

fn node(path: &Path, kind: FileType, device: u64) -> io::Result<()> {
    Ok(rustix::fs::mknodat(CWD, path, kind, Mode::from_raw_mode(0o666), device)?)
}
