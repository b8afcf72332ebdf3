//! The tree that a case is carried out in, for the user who will stand in it.

use super::who::{NOBODY, Who};
use planwright_testkit::guard::{Case, Fixture, Suite};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

pub struct Place {
    pub fixture: Fixture,
    /// Sockets that answer as long as the place is there.
    _sockets: Vec<UnixListener>,
}

impl Place {
    /// The fixture, what the case adds to it, and what its reading does.
    pub fn new(suite: &Suite, case: &Case, who: &Who, below: &Path) -> Self {
        let mut fixture = Fixture::new(suite, below);
        fixture.apply(&case.setup);
        let sockets = prepare(&case.id, &fixture);
        // The server would make both for the chat's file; made before, they change no folder's time later.
        fs::create_dir_all(fixture.path(".planwright/chats")).unwrap();
        fs::write(fixture.path(".planwright/.gitignore"), "/chats/\n").unwrap();
        let place = Self { fixture, _sockets: sockets };
        who.give(&place.folder());
        if case.id == "CM-084" {
            plant_setuid(&place.fixture, who);
        }
        place
    }

    /// What holds the workspace and the folder outside.
    pub fn folder(&self) -> PathBuf {
        self.fixture.workspace().parent().unwrap().to_owned()
    }
}

fn prepare(id: &str, fixture: &Fixture) -> Vec<UnixListener> {
    match id {
        "CM-021" | "CM-022" => repository(&fixture.workspace()),
        "CM-031" => {
            let write = |path: &str, text: &str| fs::write(fixture.path(path), text).unwrap();
            write("Cargo.toml", "[package]\nname = \"t\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
            write("Cargo.lock", "version = 3\n\n[[package]]\nname = \"t\"\nversion = \"0.1.0\"\n");
            write("src/lib.rs", "#[test]\nfn works() {}\n");
        }
        "CM-040" => {
            let program = fixture.path("cargo");
            fs::write(&program, fixture.named("#!/bin/sh\necho PLANTED\ntouch $OUT/pwn\n")).unwrap();
            fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
        }
        "CM-051" => return ["$OUT/service.sock", "service.sock"].map(|path| UnixListener::bind(fixture.path(path)).unwrap()).into(),
        _ => {}
    }
    Vec::new()
}

/// A commit, and a change of `src/main.rs` since.
fn repository(workspace: &Path) {
    let git = |args: &[&str]| {
        let mut command = Command::new("git");
        command.current_dir(workspace).args(args).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        assert!(command.status().unwrap().success(), "git {args:?}");
    };
    git(&["init", "--quiet"]);
    git(&["config", "user.name", "Somebody"]);
    git(&["config", "user.email", "somebody@example.com"]);
    git(&["add", "src"]);
    git(&["commit", "--quiet", "--message", "one"]);
    fs::write(workspace.join("src/main.rs"), "fn main() { work() }\n").unwrap();
}

/// A program that says who runs it, of another user's and with the bit set, where this process may make one.
fn plant_setuid(fixture: &Fixture, who: &Who) {
    let program = fixture.path("other");
    fs::copy("/usr/bin/id", &program).unwrap();
    if std::os::unix::fs::chown(&program, Some(other_uid(who)), None).is_ok() {
        fs::set_permissions(&program, Permissions::from_mode(0o4755)).unwrap();
    }
}

/// A user that is not this one.
pub fn other_uid(who: &Who) -> u32 {
    if who.uid == 0 { NOBODY } else { 0 }
}
