//! Commits an agent's work to a separate branch, without touching the user's index, working tree and HEAD.

use super::change::Sorter;
use super::rules::REPOSITORY;
use super::{Kind, Workspace};
use crate::path::WorkspacePath;
use crate::version::Version;
use planwright_protocol::Image;
use planwright_sandbox::git_on;
use std::path::PathBuf;

/// The commit to make.
#[derive(Clone, Debug)]
pub struct Commit {
    /// The branch, which is created from HEAD if it is missing.
    pub branch: String,
    pub message: String,
    /// A word that occurs only in this commit's message. A branch tip with it is this commit.
    pub mark: String,
    /// Seconds since 1970.
    pub at: i64,
    /// The wanted state of each path.
    pub files: Vec<(WorkspacePath, Version)>,
}

impl Workspace {
    /// Commits files and returns the commit's id. Repeating it returns the same commit.
    ///
    /// # Errors
    /// The reason, as text for the user.
    pub fn commit(&self, commit: &Commit) -> Result<String, String> {
        let folder = self.repository()?;
        let git = |args: &[&str]| git_on(&folder, args, Vec::new());
        let name = format!("refs/heads/{}", commit.branch);
        git(&["check-ref-format", &name]).map_err(|_| format!("{} is not a valid branch name", commit.branch))?;
        if git(&["symbolic-ref", "-q", "HEAD"]).is_ok_and(|head| head == name) {
            return Err(format!("{} is checked out; choose another branch", commit.branch));
        }
        let id = |name: &str| git(&["rev-parse", "-q", "--verify", &format!("{name}^{{commit}}")]).ok().filter(|id| !id.is_empty());
        let tip = id(&name);
        if let Some(tip) = &tip
            && git(&["cat-file", "commit", tip])?.contains(&commit.mark)
        {
            return Ok(tip.clone());
        }
        let parent = tip.or_else(|| id("HEAD"));
        git_on(&folder, &["fast-import", "--quiet", "--date-format=raw"], commit.stream(&name, parent.as_deref()))?;
        id(&name).ok_or_else(|| "git made no commit and printed no error".to_owned())
    }

    /// Whether git ignores a path, or a folder that contains it.
    #[must_use]
    pub fn is_ignored(&self, path: &WorkspacePath) -> bool {
        let Ok(host) = self.host_path() else { return false };
        let sorter = Sorter::new(self, host);
        let (mut path, mut kind) = (path.clone(), Kind::File);
        while let Some((parent, _)) = path.split() {
            if sorter.is_ignored(&parent, &path, kind) {
                return true;
            }
            (path, kind) = (parent, Kind::Folder);
        }
        false
    }

    /// Whether the workspace is the root of a repository.
    #[must_use]
    pub fn is_repository(&self) -> bool {
        matches!(self.entry(&WorkspacePath::root().join(REPOSITORY)), Ok(Some(_)))
    }

    /// The repository whose root is the workspace. We don't write to repositories elsewhere.
    fn repository(&self) -> Result<PathBuf, String> {
        let folder = WorkspacePath::root().join(REPOSITORY);
        let is_here = matches!(self.entry(&folder), Ok(Some(entry)) if entry.kind == Kind::Folder);
        if !is_here || !matches!(self.entry(&folder.join("commondir")), Ok(None)) {
            return Err("the repository is outside the workspace".to_owned());
        }
        Ok(self.host_path().map_err(|problem| problem.message)?.join(REPOSITORY))
    }
}

impl Commit {
    /// The input of `git fast-import`: contents without filters.
    fn stream(&self, branch: &str, parent: Option<&str>) -> Vec<u8> {
        let message = format!("{}\n\n{}\n", self.message, self.mark);
        let mut stream = format!("commit {branch}\ncommitter Planwright <planwright@localhost> {} +0000\n", self.at).into_bytes();
        push_data(&mut stream, message.as_bytes());
        stream.extend(parent.map(|parent| format!("from {parent}\n")).unwrap_or_default().into_bytes());
        for (path, version) in &self.files {
            let name = quoted(path.relative());
            let entry = match &version.image {
                Image::Absent => {
                    stream.extend_from_slice(format!("D {name}\n").as_bytes());
                    continue;
                }
                // Git does not track folders, and would take this for the folder's content.
                Image::Folder { .. } | Image::Unknown => continue,
                Image::Link { target } => Some(("120000", target.as_bytes())),
                Image::File { mode, .. } => {
                    let mode = if mode.is_some_and(|mode| mode & 0o100 != 0) { "100755" } else { "100644" };
                    version.bytes.as_deref().map(|bytes| (mode, bytes))
                }
            };
            if let Some((mode, bytes)) = entry {
                stream.extend_from_slice(format!("M {mode} inline {name}\n").as_bytes());
                push_data(&mut stream, bytes);
            }
        }
        stream.extend_from_slice(b"done\n");
        stream
    }
}

fn push_data(stream: &mut Vec<u8>, bytes: &[u8]) {
    stream.extend_from_slice(format!("data {}\n", bytes.len()).as_bytes());
    stream.extend_from_slice(bytes);
    stream.push(b'\n');
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
