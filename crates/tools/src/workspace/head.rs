//! Reads the current commit of a repository from its files, without starting git, so that nothing that a repository configures
//! (hooks, filters, monitors) can run.

use super::Workspace;
use crate::path::WorkspacePath;

/// A ref may name another one; a cycle must end.
const LONGEST_CHAIN: usize = 5;

impl Workspace {
    /// `None` if the workspace is not the root of a repository, has no commit yet, or stores its refs in another format.
    #[must_use]
    pub fn head_commit(&self) -> Option<String> {
        let mut name = "HEAD".to_owned();
        for _ in 0..LONGEST_CHAIN {
            let content = self.git_file(&name).or_else(|| self.packed(&name))?;
            match content.trim().strip_prefix("ref:") {
                Some(target) => target.trim().clone_into(&mut name),
                None => return commit(content.trim()),
            }
        }
        None
    }

    /// The branch that is checked out.
    #[must_use]
    pub fn branch(&self) -> Option<String> {
        let head = self.git_file("HEAD")?;
        let name = head.trim().strip_prefix("ref: refs/heads/")?;
        let plain = name.len() <= 200 && !name.chars().any(char::is_control);
        plain.then(|| name.to_owned())
    }

    fn packed(&self, name: &str) -> Option<String> {
        let refs = self.git_file("packed-refs")?;
        refs.lines().filter_map(|line| line.split_once(' ')).find(|(_, named)| *named == name).map(|(commit, _)| commit.to_owned())
    }

    /// Names from a repository's files are untrusted: the path stays below `.git`, and no link is followed.
    fn git_file(&self, name: &str) -> Option<String> {
        let path = WorkspacePath::parse_file(&format!(".git/{name}")).ok()?;
        String::from_utf8(self.read(&path).ok()?.bytes).ok()
    }
}

fn commit(text: &str) -> Option<String> {
    let is_commit = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_commit.then(|| text.to_owned())
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests make files themselves")]
mod tests {
    use super::*;

    fn head(files: &[(&str, &str)]) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let file = folder.path().join(".git").join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, content).unwrap();
        }
        Workspace::open(folder.path()).unwrap().head_commit()
    }

    #[test]
    fn the_commit_is_found_however_the_ref_is_kept() {
        let (one, two) = ("1".repeat(40), "a".repeat(40));
        let main = ("HEAD", "ref: refs/heads/main\n");
        assert_eq!(head(&[("HEAD", &format!("{one}\n"))]), Some(one.clone()), "detached");
        assert_eq!(head(&[main, ("refs/heads/main", &format!("{one}\n"))]), Some(one.clone()), "a file");
        let packed = format!("# pack-refs with: peeled\n{two} refs/heads/main-2\n{one} refs/heads/main\n^{two}\n");
        assert_eq!(head(&[main, ("packed-refs", &packed)]), Some(one.clone()), "packed");
        assert_eq!(head(&[main, ("refs/heads/main", &one), ("packed-refs", &packed.replace(&one, &two))]), Some(one), "the file wins");
    }

    #[test]
    fn what_is_no_repository_or_no_honest_one_has_no_commit() {
        assert_eq!(head(&[]), None);
        assert_eq!(head(&[("HEAD", "ref: refs/heads/main\n")]), None, "no commit yet");
        assert_eq!(head(&[("HEAD", "ref: HEAD\n")]), None, "a circle");
        for target in ["../../etc/passwd", "/etc/passwd", "", "refs/\0"] {
            assert_eq!(head(&[("HEAD", &format!("ref: {target}\n"))]), None, "{target}");
        }
        assert_eq!(head(&[("HEAD", "not a commit")]), None);
    }
}
