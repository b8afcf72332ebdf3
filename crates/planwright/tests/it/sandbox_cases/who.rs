//! Who runs the server.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

/// The user that owns nothing.
pub const NOBODY: u32 = 65534;

#[derive(Clone, Copy)]
pub struct Who {
    pub name: &'static str,
    pub uid: u32,
    /// Whether it is another user than the one who runs the tests.
    pub other: bool,
}

impl Who {
    /// The user who runs the tests; and an ordinary one, if that is root.
    pub fn all() -> Vec<Self> {
        let uid = std::fs::metadata("/proc/self").unwrap().uid();
        if uid == 0 {
            vec![Self { name: "root", uid, other: false }, Self { name: "an ordinary user", uid: NOBODY, other: true }]
        } else {
            vec![Self { name: "the user of the tests", uid, other: false }]
        }
    }

    /// A program run by this user.
    pub fn command(&self, program: &str) -> Command {
        let mut words = self.words();
        words.push(program.to_owned());
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        command
    }

    /// What stands before a command line to run it as this user.
    pub fn words(&self) -> Vec<String> {
        let words: &[&str] = if self.other { &["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] } else { &[] };
        words.iter().map(|&word| word.to_owned()).collect()
    }

    /// Makes this user the owner of a folder and all that is in it.
    pub fn give(&self, folder: &Path) {
        if self.other {
            let owner = format!("{0}:{0}", self.uid);
            assert!(Command::new("chown").args(["-hR", &owner]).arg(folder).status().unwrap().success());
        }
    }
}
