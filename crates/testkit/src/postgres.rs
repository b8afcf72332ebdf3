//! A real PostgreSQL server for tests, removed afterwards.
//!
//! One server serves a whole run of the tests, even if each test is a process. The first test that needs it starts it; a watching
//! shell stops it and removes its folder as soon as the runner is gone, however that ended.

use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A database that nobody else uses. It goes when the server goes.
pub struct Database {
    pub url: String,
}

impl Database {
    /// # Panics
    /// PostgreSQL is not installed or does not start: a test that needs it has then failed.
    #[must_use]
    pub fn fresh() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let server = Server::of_this_run();
        // A long run can meet the same process id twice.
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
        let name = format!("test_{}_{now}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        server.sql(&format!("create database {name}"));
        Self { url: format!("postgres://postgres@localhost/{name}?host={}", server.folder.display()) }
    }
}

/// A server of one test alone, which the test stops and starts.
pub struct OwnServer(Server);

impl OwnServer {
    /// # Panics
    /// PostgreSQL is not installed or does not start: a test that needs it has then failed.
    #[must_use]
    pub fn start() -> Self {
        let process = std::process::id();
        Self(Server::started(&format!("own-{process}"), process))
    }

    #[must_use]
    pub fn database(&self) -> Database {
        self.0.sql("create database own");
        Database { url: format!("postgres://postgres@localhost/own?host={}", self.0.folder.display()) }
    }

    /// Ends the server as a crash would.
    ///
    /// # Panics
    /// It does not end.
    pub fn stop(&self) {
        self.control(&["stop", "-m", "immediate"]);
    }

    /// # Panics
    /// It does not start.
    pub fn start_again(&self) {
        self.control(&["start", "-o", &self.0.options()]);
    }

    fn control(&self, args: &[&str]) {
        let pg_ctl = self.0.programs.join("pg_ctl");
        let mut command = match account().as_str() {
            "" => Command::new(pg_ctl),
            account => {
                let mut command = Command::new("runuser");
                command.args(["-u", account, "--"]).arg(pg_ctl);
                command
            }
        };
        command.args(args).args(["--wait", "--silent", "-D", "data"]).current_dir(&self.0.folder);
        // The server must not hold a pipe of this process open.
        let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        assert!(status.success(), "pg_ctl {args:?} failed");
    }
}

struct Server {
    /// Holds the data and the socket; nothing listens on a port.
    folder: PathBuf,
    programs: PathBuf,
}

impl Server {
    fn of_this_run() -> Self {
        let (run, runner) = run();
        Self::started(&run, runner)
    }

    /// The server of this name, which ends with a process.
    fn started(run: &str, runner: u32) -> Self {
        let server = Self { folder: roomy_folder().join(format!("planwright-postgres-{run}")), programs: programs() };
        let lock = server.folder.with_extension("lock");
        let guard = File::create(&lock).unwrap();
        // Whoever comes first starts it; the others wait here.
        guard.lock().unwrap();
        if !server.folder.join("ready").exists() {
            server.start(runner, &lock, guard);
        }
        server
    }

    #[expect(clippy::zombie_processes, reason = "the watching shell outlives this process")]
    fn start(&self, runner: u32, lock: &Path, guard: File) {
        let _ = std::fs::remove_dir_all(&self.folder);
        std::fs::create_dir(&self.folder).unwrap();
        let log = File::create(self.folder.join("log")).unwrap();
        let mut watch = Command::new("sh");
        watch.args(["-c", WATCH, "watch"]).arg(&self.folder).arg(lock).arg(&self.programs);
        watch.args([runner.to_string(), account(), self.options()]);
        // In a group of its own: what stops a test must not stop the server before its folder is removed.
        // It holds the lock until the server is ready, even if this test is killed before.
        watch.process_group(0).stdin(Stdio::from(guard)).stdout(log.try_clone().unwrap()).stderr(log);
        let mut watch = watch.spawn().unwrap();
        let ready = self.folder.join("ready");
        while !ready.exists() {
            if watch.try_wait().unwrap().is_some() {
                let log = std::fs::read_to_string(self.folder.join("log")).unwrap_or_default();
                let _ = (std::fs::remove_dir_all(&self.folder), std::fs::remove_file(lock));
                panic!("PostgreSQL did not start:\n{log}");
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }

    /// The arguments of the server.
    fn options(&self) -> String {
        format!("-k '{}' -c listen_addresses= -c fsync=off -c max_connections=200", self.folder.display())
    }

    fn sql(&self, sql: &str) {
        let mut psql = Command::new(self.programs.join("psql"));
        let output = psql.args(["-q", "-U", "postgres", "-d", "postgres", "-c", sql, "-h"]).arg(&self.folder).output().unwrap();
        assert!(output.status.success(), "{sql}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// Starts the server in `$1`, then waits for the process `$4` to end and clears everything away.
const WATCH: &str = r#"
folder=$1 lock=$2 programs=$3 runner=$4 account=$5 options=$6
as() { if [ -n "$account" ]; then runuser -u "$account" -- "$@"; else "$@"; fi; }
cd "$folder" || exit 1
if [ -n "$account" ]; then chown "$account" "$folder" || exit 1; fi
as "$programs/initdb" --no-sync --no-instructions --auth=trust --username=postgres --encoding=UTF8 --no-locale data || exit 1
as "$programs/pg_ctl" start --wait --silent -D data -o "$options" || exit 1
touch ready
exec </dev/null
# A process that ended but that nobody has asked about yet has no program any more.
while [ -e "/proc/$runner/exe" ]; do sleep 0.1; done
as "$programs/pg_ctl" stop --silent -D data -m immediate
cd / && rm -rf "$folder" "$lock"
"#;

/// The name of this run of the tests, and the process that it ends with.
fn run() -> (String, u32) {
    match std::env::var("NEXTEST_RUN_ID") {
        // Each test is a process; the run is their parent.
        Ok(run) => (run, std::os::unix::process::parent_id()),
        Err(_) => (std::process::id().to_string(), std::process::id()),
    }
}

/// Memory where there is enough of it: a database on a disk is slow to make.
fn roomy_folder() -> PathBuf {
    const ROOM: u64 = 2 << 30;
    let memory = Path::new("/dev/shm");
    match rustix::fs::statvfs(memory) {
        Ok(room) if room.f_bavail * room.f_frsize > ROOM => memory.to_owned(),
        Ok(_) | Err(_) => PathBuf::from("/tmp"),
    }
}

/// Where the server's programs are: Debian keeps them out of the search path, a folder for each version.
fn programs() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let debian = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut debian: Vec<PathBuf> = debian.map(|version| version.path().join("bin")).collect();
    debian.sort();
    let mut folders = debian.into_iter().rev().chain(std::env::split_paths(&path));
    let found = folders.find(|folder| ["initdb", "pg_ctl", "psql"].iter().all(|program| folder.join(program).exists()));
    found.unwrap_or_else(|| panic!("PostgreSQL is not installed, and this test needs it: apt-get install postgresql"))
}

/// The server refuses to run as root; then it gets the account that the package made for it. Else it is empty.
fn account() -> String {
    if rustix::process::geteuid().is_root() { "postgres".to_owned() } else { String::new() }
}
