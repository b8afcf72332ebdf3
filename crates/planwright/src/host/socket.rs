//! The socket in the data folder: only its owner reaches it.
//!
//! The path of a socket has at most 108 bytes, so it is named through a descriptor of the folder.

use planwright_server::YIELD_PATH;
use rustix::fs::{Mode, OFlags};
use std::fs::Permissions;
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};

const NAME: &str = "planwright.sock";
/// A host answers at once, unless it hangs.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// A short path of the socket, valid as long as the descriptor.
fn short_path(folder: &Path) -> io::Result<(OwnedFd, PathBuf)> {
    let descriptor = rustix::fs::open(folder, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let path = PathBuf::from(format!("/proc/self/fd/{}", descriptor.as_raw_fd())).join(NAME);
    Ok((descriptor, path))
}

/// Listens on the socket of a folder whose lock the caller has; one of an earlier process is replaced.
pub fn bind(folder: &Path) -> io::Result<UnixListener> {
    remove(folder);
    let (_folder, path) = short_path(folder)?;
    let listener = UnixListener::bind(&path)?;
    std::fs::set_permissions(&path, Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Removes the socket of an earlier process.
#[expect(clippy::disallowed_methods, reason = "the data folder is no workspace")]
pub fn remove(folder: &Path) {
    match std::fs::remove_file(folder.join(NAME)) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => tracing::warn!(%error, "can't remove the socket of an earlier process"),
    }
}

/// Connects to the host of a folder.
pub async fn connect(folder: &Path) -> io::Result<UnixStream> {
    let (_folder, path) = short_path(folder)?;
    UnixStream::connect(&path).await
}

/// What the host of a folder says to a starting `serve`.
pub enum Yielding {
    Yields,
    /// It is a server that was started to stay.
    Stays,
    /// Nobody answers on the socket.
    Silent,
}

/// Asks the host of a folder to hand it over.
pub async fn ask_to_yield(folder: &Path) -> Yielding {
    let ask = async {
        let mut stream = connect(folder).await?;
        let request = format!("POST {YIELD_PATH} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await?;
        io::Result::Ok(answer)
    };
    match tokio::time::timeout(ANSWER_TIMEOUT, ask).await {
        Ok(Ok(answer)) if answer.starts_with(b"HTTP/1.1 204") => Yielding::Yields,
        Ok(Ok(answer)) if !answer.is_empty() => Yielding::Stays,
        Ok(_) | Err(_) => Yielding::Silent,
    }
}
