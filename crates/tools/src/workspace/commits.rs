//! Reads the commits of a repository in the workspace.
//!
//! Refs are read by descriptors that follow no link, and passed to git in a folder of ours. Git sees only the objects of the
//! repository itself. A `.git` file counts only if the repository that it names belongs to its folder (`repository.rs`).

use super::history::has_no_links;
use super::refs::{Names, Refs, Value, is_ref_name};
use super::repository::Repository;
use super::rules::REPOSITORY;
use super::{Kind, Workspace};
use crate::path::WorkspacePath;
use planwright_protocol::{ErrorCode, Problem};
use planwright_sandbox::{HistoryReader, ReaderRefs};
use std::path::{Path, PathBuf};
use std::time::Duration;

const LONGEST: Duration = Duration::from_secs(10);
/// Maximum size of all refs.
const MOST_BYTES: usize = 16 << 20;

/// A repository's commits.
#[derive(Debug)]
pub struct Commits {
    reader: HistoryReader,
    /// The folder of the workspace that the repository belongs to.
    pub folder: WorkspacePath,
}

/// A repository's folders on the host: that of this working tree, and the whole repository.
struct Place {
    own: PathBuf,
    whole: PathBuf,
}

impl Workspace {
    /// The repository of a path: that of the nearest folder above it with one. `may_show` decides about the repositories of
    /// worktrees and submodules, which are elsewhere.
    ///
    /// # Errors
    /// There is none, it belongs to another folder, or it uses objects from elsewhere.
    pub fn commits(&self, path: &WorkspacePath, may_show: impl Fn(&Path) -> bool) -> Result<Commits, Problem> {
        let (folder, kind) = self.repository_of(path)?;
        let root = self.host_path()?;
        let host = super::rules::host_of(&root, &folder);
        let place = match kind {
            Kind::Folder => Place { own: host.join(REPOSITORY), whole: host.join(REPOSITORY) },
            Kind::File => {
                let inner = Workspace::open_real(&host).map_err(|error| refused(&folder, &error.to_string()))?;
                let found = Repository::of(&inner, &host)
                    .ok_or_else(|| refused(&folder, "its .git file names a repository that is not its own"))?;
                if !found.whole.starts_with(&root) && !may_show(&found.whole) {
                    return Err(refused(&folder, "its repository is in a folder that is hidden here"));
                }
                Place { own: found.folder, whole: found.whole }
            }
            Kind::Link | Kind::Other => return Err(refused(&folder, "its .git is a link")),
        };
        let open = |path: &PathBuf| Workspace::open_real(path).map_err(|error| refused(&folder, &error.to_string()));
        let (own, whole) = (open(&place.own)?, open(&place.whole)?);
        if kind == Kind::Folder && !matches!(whole.entry(&at("commondir")), Ok(None)) {
            return Err(refused(&folder, "its .git says that it is stored elsewhere"));
        }
        check_objects(&whole).map_err(|why| refused(&folder, why))?;
        let refs = read_refs(&own, &whole).map_err(|why| refused(&folder, why))?;
        let reader = HistoryReader::new(&place.whole.join("objects"), &refs).map_err(|error| refused(&folder, &error.to_string()))?;
        Ok(Commits { reader, folder })
    }

    /// The nearest folder above a path with a repository, and the kind of its `.git`.
    ///
    /// # Errors
    /// The workspace has none.
    pub fn repository_of(&self, path: &WorkspacePath) -> Result<(WorkspacePath, Kind), Problem> {
        let mut next = Some(path.clone());
        while let Some(folder) = next {
            // A path from an earlier commit may be missing now, or not be a folder.
            if let Ok(Some(entry)) = self.entry(&folder.join(REPOSITORY)) {
                return Ok((folder, entry.kind));
            }
            next = folder.split().map(|(above, _)| above);
        }
        Err(Problem::new(ErrorCode::PathNotFound, "The workspace is not the root of a git repository, so there is no history to read."))
    }
}

impl Commits {
    /// Runs git on the commits. Returns at most `most` bytes of its output, and whether there was more.
    ///
    /// # Errors
    /// Git's error, with advice for the model.
    pub fn git(&self, args: &[&str], most: usize) -> Result<(Vec<u8>, bool), Problem> {
        let wrong = |why: String| {
            let why = why.strip_prefix("fatal: ").map(str::to_owned).unwrap_or(why);
            Problem::new(ErrorCode::InvalidArguments, format!("Git failed: {why}. Check `revision` and `path`."))
        };
        self.reader.git(args, LONGEST, most).map(|printed| (printed.bytes, printed.is_cut)).map_err(wrong)
    }

    /// A path relative to the repository; `None` for its root.
    #[must_use]
    pub fn inside<'p>(&self, path: &'p WorkspacePath) -> Option<&'p str> {
        if *path == self.folder {
            return None;
        }
        let inside = if self.folder.is_root() { Some(path.relative()) } else { path.relative().strip_prefix(self.folder.relative()) };
        inside.map(|inside| inside.trim_start_matches('/'))
    }

    /// A repository's path as a workspace path; `None` if a call can't contain it.
    #[must_use]
    pub fn outside(&self, name: &str) -> Option<WorkspacePath> {
        WorkspacePath::parse(name).ok().map(|_| self.folder.join(name))
    }
}

fn at(name: &str) -> WorkspacePath {
    WorkspacePath::root().join(name)
}

fn refused(folder: &WorkspacePath, why: &str) -> Problem {
    Problem::new(ErrorCode::PathOutsideWorkspace, format!("Can't read the history of {folder}: {why}."))
}

/// Objects must be in the repository's own folder.
fn check_objects(whole: &Workspace) -> Result<(), &'static str> {
    for name in ["objects/info/alternates", "objects/info/http-alternates"] {
        if !matches!(whole.entry(&at(name)), Ok(None)) {
            return Err("it borrows objects from another repository");
        }
    }
    let objects = whole.folder(&at("objects")).map_err(|_| "its folder of objects is missing or a link")?;
    if has_no_links(&objects) { Ok(()) } else { Err("its objects contain links") }
}

/// Ignores replacement refs, which show other commits.
fn read_refs(own: &Workspace, whole: &Workspace) -> Result<ReaderRefs, &'static str> {
    let head = own.read(&at("HEAD")).map_err(|_| "its HEAD can't be read")?.bytes;
    let mut names = Names::new();
    let mut room = MOST_BYTES;
    gather(whole, &at("refs"), &mut names, &mut room)?;
    gather(whole, &at("packed-refs"), &mut names, &mut room)?;
    names.insert("HEAD".to_owned(), head.clone());
    let shallow = whole.read(&at("shallow")).map(|snapshot| snapshot.bytes).unwrap_or_default();
    let mut refs = ReaderRefs { head: String::from_utf8_lossy(&head).trim().to_owned(), shallow, ..ReaderRefs::default() };
    for (name, value) in Refs::of(&names).values {
        match value {
            Value::Commit(id) if name == "HEAD" => refs.head = id,
            Value::Commit(id) if !name.starts_with("refs/replace/") => refs.refs.push((name, id)),
            Value::Symbolic(_) if name == "HEAD" => {
                let target = refs.head.strip_prefix("ref:").map(str::trim).filter(|target| is_ref_name(target));
                refs.head = format!("ref: {}\n", target.ok_or("its HEAD names no branch")?);
            }
            Value::Broken if name == "HEAD" => return Err("its HEAD names no branch and no commit"),
            Value::Commit(_) | Value::Symbolic(_) | Value::Broken => {}
        }
    }
    Ok(refs)
}

fn gather(whole: &Workspace, path: &WorkspacePath, names: &mut Names, room: &mut usize) -> Result<(), &'static str> {
    match whole.entry(path).ok().flatten().map(|entry| entry.kind) {
        Some(Kind::File) => {
            let bytes = whole.read(path).map_err(|_| "a ref can't be read")?.bytes;
            *room = room.checked_sub(bytes.len() + path.relative().len()).ok_or("it has too many refs")?;
            names.insert(path.relative().to_owned(), bytes);
        }
        Some(Kind::Folder) => {
            for (name, _) in whole.list(path).map_err(|_| "a folder of refs can't be read")? {
                gather(whole, &path.join(&name), names, room)?;
            }
        }
        Some(Kind::Link | Kind::Other) | None => {}
    }
    Ok(())
}
