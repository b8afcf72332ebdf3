//! A small disk for the data folder and the workspace, which outlives the servers on it.

use crate::BINARY;
use planwright_testkit::guard::announce;
use planwright_testkit::server::Home;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Who runs the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum User {
    /// Whoever runs the tests.
    Own,
    /// An ordinary one, where the tests are root's.
    Ordinary,
}

impl User {
    pub fn all() -> Vec<Self> {
        if is_root() { vec![Self::Own, Self::Ordinary] } else { vec![Self::Own] }
    }
}

fn is_root() -> bool {
    std::fs::metadata("/proc/self").unwrap().uid() == 0
}

/// What is free.
#[derive(Clone, Copy, Debug)]
pub struct Free {
    pub bytes: u64,
    pub inodes: u64,
}

impl Free {
    /// Whether no more is gone than a few messages take.
    pub fn is_within(&self, before: &Self) -> bool {
        self.bytes + 6_000_000 > before.bytes && self.inodes + 200 > before.inodes
    }
}

pub struct SmallDisk {
    /// Keeps the name space with the mount.
    holder: Child,
    folder: PathBuf,
    user: User,
    home: PathBuf,
    plain: tokio::process::Command,
}

impl SmallDisk {
    /// `None` where there are no name spaces.
    pub fn new(home: &Home, user: User, size: &str, inodes: u32) -> Option<Self> {
        let top = home.workspace().parent().unwrap().to_owned();
        let folder = top.join("small");
        std::fs::create_dir(&folder).unwrap();
        let uid = if user == User::Ordinary { 65534 } else { 0 };
        if user == User::Ordinary {
            std::fs::copy(BINARY, top.join("planwright")).unwrap();
            assert!(Command::new("chown").args(["-hR", "65534:65534"]).arg(&top).status().unwrap().success());
        }
        let script = format!(
            "mount -t tmpfs -o size={size},nr_inodes={inodes},uid={uid},gid={uid},mode=0755 tmpfs \"$0\" && mkdir \"$0/workspace\" && chown {uid}:{uid} \"$0/workspace\" && echo ready && exec sleep 1000"
        );
        let way = if is_root() { "-m" } else { "-rm" };
        let mut holder = Command::new("unshare")
            .args([way, "sh", "-c", &script])
            .arg(&folder)
            .stdout(Stdio::piped())
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(holder.stdout.take().unwrap()).read_line(&mut line).unwrap();
        if line.trim() != "ready" {
            announce(&format_args!("no name spaces here; not run"));
            let _ = holder.wait();
            return None;
        }
        Some(Self { holder, folder, user, home: top, plain: home.command(&[]) })
    }

    /// A command of the binary, by the user, with its data on the disk.
    pub fn command(&self, args: &[&str], environment: &[(&str, &str)]) -> tokio::process::Command {
        let mut command = tokio::process::Command::new("nsenter");
        command.args(["-t", &self.holder.id().to_string(), "-m"]);
        if !is_root() {
            command.args(["-U", "--preserve-credentials"]);
        }
        command.arg("--");
        if self.user == User::Ordinary {
            command.args(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]).arg(self.home.join("planwright"));
        } else {
            command.arg(self.plain.as_std().get_program());
        }
        command.args(args).env_clear().kill_on_drop(true);
        for (name, value) in self.plain.as_std().get_envs() {
            command.envs(value.map(|value| (name, value)));
        }
        command.env("PLANWRIGHT_DATA_DIR", self.folder.join("data")).envs(environment.iter().copied());
        command
    }

    pub fn serve(&self, environment: &[(&str, &str)]) -> tokio::process::Command {
        let workspace = self.folder.join("workspace");
        self.command(&["serve", "--listen", "127.0.0.1:0", "--workspace", workspace.to_str().unwrap()], environment)
    }

    /// Where the disk is for the test.
    pub fn path(&self, name: &str) -> PathBuf {
        let root = PathBuf::from(format!("/proc/{}/root", self.holder.id()));
        root.join(self.folder.strip_prefix("/").unwrap()).join(name)
    }

    pub fn free(&self) -> Free {
        let stat = rustix::fs::statvfs(self.path(".")).unwrap();
        Free { bytes: stat.f_bavail * stat.f_frsize, inodes: stat.f_favail }
    }

    /// A file of so many bytes, or of as many as there are.
    pub fn fill(&self, name: &str, bytes: u64) {
        let mut file = std::fs::File::create(self.path(name)).unwrap();
        let (block, mut left) = (vec![7; 64 << 10], bytes);
        while left > 0 {
            match file.write(&block[..usize::try_from(left).unwrap_or(usize::MAX).min(block.len())]) {
                Ok(written) => left -= written as u64,
                Err(_) => return,
            }
        }
    }

    /// Files without content, as many as there can be.
    pub fn fill_inodes(&self, name: &str) {
        std::fs::create_dir(self.path(name)).unwrap();
        let mut number = 0;
        while std::fs::File::create(self.path(name).join(number.to_string())).is_ok() {
            number += 1;
        }
    }

    pub fn remove(&self, name: &str) {
        let path = self.path(name);
        if path.is_dir() { std::fs::remove_dir_all(path).unwrap() } else { std::fs::remove_file(path).unwrap() }
    }

    /// The free space once the server has set its own reserve aside.
    pub async fn free_beside_reserve(&self) -> Free {
        let parts = || (0..8).all(|part| self.path(&format!("data/reserve/{part}")).exists());
        until("the reserve is complete", parts).await;
        self.free()
    }

    pub fn list(&self, name: &str) -> Vec<String> {
        let hidden = |name: &String| name == ".planwright";
        let entries = std::fs::read_dir(self.path(name)).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        entries.filter(|name| !hidden(name)).collect()
    }

    /// Everything of this name below a folder.
    pub fn find(&self, folder: &str, name: &str) -> Vec<PathBuf> {
        fn look(folder: &Path, name: &str, found: &mut Vec<PathBuf>) {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                if entry.file_name() == name {
                    found.push(entry.path());
                }
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    look(&entry.path(), name, found);
                }
            }
        }
        let mut found = Vec::new();
        look(&self.path(folder), name, &mut found);
        found
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = self.holder.kill();
        let _ = self.holder.wait();
    }
}

/// Waits for something to be so.
pub async fn until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < planwright_testkit::PATIENCE, "in vain: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
