//! Random trees, full of links, pipes and plans in unusual places.

use super::random::Random;
use planwright_testkit::guard::{Fixture, FolderTree};
use rustix::fs::{AtFlags, CWD, FileType, Mode, Timespec, Timestamps, XattrFlags};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

const FOLDERS: &[&str] = &["src", "src/deep/er", "docs", "src/plans", "plansX", "plans", "plans/q3", "plans/team", "plans/x.plan.d"];
const FILES: &[&str] = &[
    "src/main.rs",
    "src/lib.rs",
    "src/x.plan",
    "src/plans/x.plan",
    "src/deep/er/y.rs",
    "docs/a.txt",
    "README.md",
    ".env",
    "plansX/x.plan",
    "plans.plan",
    "plans/a.plan",
    "plans/b.plan",
    "plans/notes.md",
    "plans/q3/c.plan",
    "plans/team/d.plan",
    "plans/team/e.rs",
    "plans/.hidden.plan",
    ".git/config",
    ".planwright/config.toml",
    "chats/a.chat",
];
const LINKS: &[&str] =
    &["plans/s.plan", "plans/t.plan", "plans/d", "plans/q3/l.plan", "plans/team/l", "src/l.rs", "src/loop", "docs/l", "l", "plans/e.plan"];
const TARGETS: &[&str] = &[
    "../src/main.rs",
    "../src",
    "../../outside/secret.txt",
    "../../outside",
    "../../../outside",
    "..",
    ".",
    "a.plan",
    "../plans",
    "../src/new.rs",
    "/etc/passwd",
    "/proc/self/cwd",
    "plans",
    "s.plan",
    "t.plan",
];
const HARD_LINKS: &[&str] = &["plans/h.plan", "plans/h.md", "plans/q3/h.plan", "plans/team/h", "src/h.rs"];
const PIPES: &[&str] = &["plans/f.plan", "src/f", "plans/team/f"];

/// Fills the fixture and returns its paths, with some missing ones.
pub fn build(fixture: &Fixture, random: &mut Random) -> Vec<String> {
    for folder in FOLDERS {
        fs::create_dir_all(fixture.path(folder)).unwrap();
    }
    for file in FILES.iter().copied().chain(["$OUT/secret.txt", "$OUT/x.plan", "$OUT/plans/a.plan"]) {
        let path = fixture.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, random.pick(&["", "one\n", "# Plan\n\n- [ ] 1. one\n", "fn main() {}\n"])).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(random.pick(&[0o644, 0o600, 0o755]))).unwrap();
        if random.one_in(4) {
            // Not every file system has them; then there are none to be lost.
            let _ = rustix::fs::setxattr(&path, "user.note", b"kept", XattrFlags::empty());
        }
    }
    for link in LINKS {
        if random.one_in(2) {
            symlink(random.pick(TARGETS), fixture.path(link)).unwrap();
        }
    }
    for link in HARD_LINKS {
        if random.one_in(2) {
            fs::hard_link(fixture.path(random.pick(FILES)), fixture.path(link)).unwrap();
        }
    }
    for pipe in PIPES {
        if random.one_in(2) {
            rustix::fs::mknodat(CWD, fixture.path(pipe), FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
        }
    }
    age(&fixture.workspace());
    age(&fixture.outside());
    let missing = ["plans/new.plan", "plans/new/new.plan", "plans/new", "src/new.rs", "new", "PLANS/x.plan", "plans/x.plan.", "plans/x.md"];
    [FOLDERS, FILES, LINKS, HARD_LINKS, PIPES, &missing].concat().into_iter().map(str::to_owned).collect()
}

/// Sets all times far back: the file system's clock is coarse, and a change right after the making
/// would not show.
fn age(root: &Path) {
    let long_ago = Timespec { tv_sec: 1_000_000_000, tv_nsec: 0 };
    let times = Timestamps { last_access: long_ago, last_modification: long_ago };
    for path in FolderTree::of(root).paths() {
        rustix::fs::utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW).unwrap();
    }
}
