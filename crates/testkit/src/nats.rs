//! A real NATS server for tests, ended with its owner.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A server of one test alone, on a free port of this machine.
pub struct NatsServer {
    folder: TempDir,
    child: Child,
    port: u16,
}

impl NatsServer {
    /// # Panics
    /// NATS is not installed or does not start: a test that needs it has then failed.
    #[must_use]
    pub fn start() -> Self {
        let folder = TempDir::new().unwrap();
        // The server chooses a free port and writes it down.
        let child = spawn(&folder, "-1");
        let port = port_of(&folder);
        Self { folder, child, port }
    }

    #[must_use]
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// Ends the server as a crash would.
    ///
    /// # Panics
    /// It can't be killed.
    pub fn stop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Starts it again on the same port.
    pub fn start_again(&mut self) {
        self.child = spawn(&self.folder, &self.port.to_string());
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(folder: &TempDir, port: &str) -> Child {
    let log = std::fs::File::create(folder.path().join("log")).unwrap();
    let mut command = Command::new(program());
    command.args(["-a", "127.0.0.1", "-p", port, "--ports_file_dir"]).arg(folder.path());
    command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap()
}

fn port_of(folder: &TempDir) -> u16 {
    let began = Instant::now();
    loop {
        let files = std::fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.path());
        let ports = files.filter(|file| file.extension().is_some_and(|extension| extension == "ports"));
        let found = ports.filter_map(|file| {
            let text = std::fs::read_to_string(file).ok()?;
            let address = text.split("nats://").nth(1)?;
            address
                .rsplit_once(':')
                .map_or(address, |(_, port)| port)
                .chars()
                .take_while(char::is_ascii_digit)
                .collect::<String>()
                .parse()
                .ok()
        });
        if let Some(port) = found.into_iter().next() {
            return port;
        }
        let log = std::fs::read_to_string(folder.path().join("log")).unwrap_or_default();
        assert!(began.elapsed() < Duration::from_mins(1), "nats-server did not start:\n{log}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Debian keeps it where only root looks.
fn program() -> PathBuf {
    let places = ["/usr/sbin/nats-server", "/usr/bin/nats-server", "/usr/local/bin/nats-server"];
    let found = places.into_iter().map(PathBuf::from).find(|place| place.exists());
    found.unwrap_or_else(|| panic!("nats-server is not installed, and this test needs it: apt-get install nats-server"))
}
