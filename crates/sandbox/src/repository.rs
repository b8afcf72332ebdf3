//! Runs git on the user's own repository, outside the sandbox, without executing anything from the repository.
//!
//! We use only plumbing commands. They touch no working tree and no index, and so run no filter, attribute driver or file
//! monitor. Everything else that a repository could make git run is disabled: hooks by an empty hooks folder, remotes by allowing
//! no protocol. Git does not start in the workspace, where a relative search path would find the workspace's programs.

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Timeout: a repository can block git forever with a named pipe in place of a file.
const LONGEST: Duration = Duration::from_mins(1);
/// Output beyond this is cut off.
const MOST_BYTES: usize = 64 << 20;
/// Maximum number of bytes read from git's stderr.
const MOST_COMPLAINTS: u64 = 64 << 10;

/// What git printed.
#[derive(Debug, Default)]
pub struct GitOutput {
    pub bytes: Vec<u8>,
    /// Whether git printed more than the caller asked for.
    pub is_cut: bool,
}

impl GitOutput {
    fn into_text(self) -> String {
        String::from_utf8_lossy(&self.bytes).trim_end().to_owned()
    }
}

/// Runs git on the repository in `folder`, which is a `.git`. Returns its output.
///
/// # Errors
/// Git's error message.
pub fn git_on(folder: &Path, args: &[&str], input: Vec<u8>) -> Result<String, String> {
    run(folder, args, &[], input, LONGEST, MOST_BYTES).map(GitOutput::into_text)
}

/// Counts the commits that `input` names, with the timeout `limit`; `staged` is a second object folder. Ignores grafts,
/// replacements and commit graphs: a command can write them, and they may be false.
///
/// # Errors
/// Git's error message, or a timeout.
pub fn count_commits(folder: &Path, staged: Option<&Path>, input: Vec<u8>, limit: Duration) -> Result<u64, String> {
    // Git reads a list of folders from this variable.
    if staged.is_some_and(|staged| staged.as_os_str().as_encoded_bytes().iter().any(|byte| b":\"\n".contains(byte))) {
        return Err("the path of the new objects contains a colon, a quote or a newline".to_owned());
    }
    let objects = staged.map(Path::as_os_str).unwrap_or_default();
    let environment = [
        ("GIT_NO_REPLACE_OBJECTS", OsStr::new("1")),
        ("GIT_GRAFT_FILE", OsStr::new("/dev/null")),
        ("GIT_ALTERNATE_OBJECT_DIRECTORIES", objects),
    ];
    let args = ["-c", "core.commitGraph=false", "-c", "core.multiPackIndex=false", "rev-list", "--count", "--stdin"];
    let count = run(folder, &args, &environment, input, limit, MOST_BYTES)?.into_text();
    count.parse().map_err(|_| format!("git printed {count:?} instead of a number"))
}

/// The only place that starts git. Reads the output while git runs, because a full pipe would block it.
pub(crate) fn run(
    folder: &Path,
    args: &[&str],
    environment: &[(&str, &OsStr)],
    input: Vec<u8>,
    limit: Duration,
    most: usize,
) -> Result<GitOutput, String> {
    let mut command = Command::new("git");
    for setting in ["core.hooksPath=/dev/null", "core.fsmonitor=false", "protocol.allow=never", "gc.auto=0", "maintenance.auto=false"] {
        command.args(["-c", setting]);
    }
    let mut child = command
        .args(args)
        .current_dir("/")
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("GIT_DIR", folder)
        .envs([
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_ATTR_NOSYSTEM", "1"),
            ("GIT_NO_LAZY_FETCH", "1"),
            ("GIT_ALLOW_PROTOCOL", "none"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("LC_ALL", "C"),
        ])
        .envs(environment.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("can't start git: {error}"))?;
    let given = child.stdin.take();
    // Git may end before it has read all input; its error message says why.
    let writer = std::thread::spawn(move || given.map(|mut given| given.write_all(&input)));
    let output = read_aside(child.stdout.take(), most as u64 + 1);
    let complaints = read_aside(child.stderr.take(), MOST_COMPLAINTS);
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            break status;
        }
        if begun.elapsed() > limit {
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("git did not end within {} s", limit.as_secs()));
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let _ = writer.join();
    let mut bytes = output.join().unwrap_or_default();
    let is_cut = bytes.len() > most;
    bytes.truncate(most);
    // A reader with enough output closes the pipe, which ends git.
    if status.success() || is_cut {
        return Ok(GitOutput { bytes, is_cut });
    }
    let complaints = complaints.join().unwrap_or_default();
    Err(String::from_utf8_lossy(&complaints).lines().next().unwrap_or("git failed without a message").to_owned())
}

/// Reads a pipe on another thread, up to `most` bytes.
fn read_aside(pipe: Option<impl Read + Send + 'static>, most: u64) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(pipe) = pipe {
            let _ = pipe.take(most).read_to_end(&mut bytes);
        }
        bytes
    })
}
