//! Backups of a database file: copied while it is in use, and verified before a restore.
//!
//! A backup is a SQLite database followed by one line: the format number, the time, and the SHA-256 of everything before it.
//! SQLite ignores the line, so a backup can be opened as a database. The checksum detects any missing or changed byte.

use crate::append::Append;
use crate::arg::args;
use crate::error::StoreError;
use crate::store::{Store, check_version, newest_version};
use planwright_protocol::event::{ChatState, RunOutcome};
use planwright_protocol::time::now;
use planwright_protocol::{Envelope, Event, Message, Notice, Timestamp};
use sha2::{Digest as _, Sha256};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, SqliteConnection};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The content of a backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackupSummary {
    pub chats: u64,
    /// Runs that were in progress at the time of the backup.
    pub runs: u64,
    pub bytes: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error("there is no database yet")]
    Empty,
    #[error("it is not a backup made by `planwright backup`")]
    Foreign,
    #[error("it is incomplete: its end is missing, or it is another database. Copy it again, or use another backup")]
    CutOff,
    #[error("it is damaged: its checksum does not match. Copy it again, or use another backup")]
    Damaged,
    #[error("it was made by a newer version of Planwright; use that version")]
    Newer,
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    File(#[from] io::Error),
}

impl From<sqlx::Error> for BackupError {
    fn from(error: sqlx::Error) -> Self {
        BackupError::Store(error.into())
    }
}

const SEAL: &str = "\nplanwright backup ";
const FORMAT: &str = "1 ";
const TIME: &str = "%Y-%m-%dT%H:%M:%SZ";
const SUM: &str = " sha256 ";
const SEAL_LENGTH: usize = SEAL.len() + FORMAT.len() + "2026-11-15T12:00:00Z".len() + SUM.len() + 64 + 1;
/// The first bytes of every SQLite database.
const MAGIC: &[u8] = b"SQLite format 3\0";
/// How long to wait while a writer holds the database.
const TIMEOUT: Duration = Duration::from_secs(30);

const COUNTS: &str = "select count(*) as chats, count(run_id) as runs from chats";

impl Store {
    /// Copies a database file into `target`, which exists and is empty. The database can be in use.
    ///
    /// # Errors
    /// The database can't be read, or a newer version wrote it; or the copy can't be written.
    pub async fn back_up(database: &Path, target: &Path) -> Result<BackupSummary, BackupError> {
        let mut connection = connect(database).await?;
        if !check_version(version(&mut connection).await?)? {
            return Err(BackupError::Empty);
        }
        let name = target.to_str().ok_or_else(|| io::Error::other("its path is not UTF-8"))?;
        sqlx::query("vacuum into $1").bind(name).execute(&mut connection).await?;
        connection.close().await?;
        let mut copy = connect(target).await?;
        let (chats, runs): (i64, i64) = sqlx::query_as(COUNTS).fetch_one(&mut copy).await?;
        copy.close().await?;
        let file = target.to_owned();
        let bytes = blocking(move || seal(&file)).await?;
        Ok(BackupSummary { chats: chats.cast_unsigned(), runs: runs.cast_unsigned(), bytes })
    }

    /// Copies the database in a backup into `target`, which exists and is empty, verifies it and migrates it. Stops runs that
    /// were in progress, because nothing is known about what they did after the backup.
    ///
    /// # Errors
    /// The file is no backup, is incomplete or damaged, or a newer version wrote it; or the copy can't be written.
    pub async fn unpack(backup: &Path, target: &Path) -> Result<BackupSummary, BackupError> {
        let (from, to): (PathBuf, PathBuf) = (backup.to_owned(), target.to_owned());
        let (bytes, taken) = blocking(move || unseal(&from, &to)).await?;
        let mut connection = connect(target).await?;
        if !check_version(version(&mut connection).await?)? {
            return Err(BackupError::Foreign);
        }
        let found: String = sqlx::query_scalar("pragma integrity_check(1)").fetch_one(&mut connection).await?;
        if found != "ok" {
            return Err(BackupError::Damaged);
        }
        connection.close().await?;
        let store = Store::open(target).await?;
        let runs = store.stop_runs(taken).await?;
        let row = store.db.row(COUNTS, args![]).await?;
        let chats = row.map_or(Ok(0), |row| row.number("chats"))?;
        store.close().await;
        Self::checkpoint(target).await?;
        Ok(BackupSummary { chats, runs, bytes })
    }

    /// The schema version of a database file, if opening it would migrate it.
    ///
    /// # Errors
    /// The file can't be read, or a newer version wrote it.
    pub async fn outdated_version(database: &Path) -> Result<Option<i64>, StoreError> {
        let mut connection = connect(database).await?;
        let found = version(&mut connection).await?;
        connection.close().await?;
        Ok((check_version(found)? && found < newest_version()).then_some(found))
    }

    /// Writes the database's write-ahead log into its file, so that the file alone is complete.
    ///
    /// # Errors
    /// The file can't be read, or a process uses it.
    pub async fn checkpoint(database: &Path) -> Result<(), StoreError> {
        let mut connection = connect(database).await?;
        sqlx::query("pragma wal_checkpoint(truncate)").execute(&mut connection).await?;
        Ok(connection.close().await?)
    }

    /// The number of chats.
    ///
    /// # Errors
    /// The database failed.
    pub async fn count_chats(&self) -> Result<u64, StoreError> {
        self.db.row(COUNTS, args![]).await?.map_or(Ok(0), |row| row.number("chats"))
    }

    /// Ends the runs of a restored database, and adds a notice to their chats. Chats that wait for an answer still wait.
    async fn stop_runs(&self, taken: Timestamp) -> Result<u64, StoreError> {
        let mut stopped = 0;
        for id in self.unfinished().await? {
            let Some(mut chat) = self.chat(id).await?.filter(|chat| chat.pending.is_none()) else { continue };
            let text = format!(
                "This chat comes from a backup of {}, when a run was in progress. The run was stopped, because nothing is known about what it did after the backup. Send a message to continue.",
                taken.strftime("%Y-%m-%d %H:%M UTC")
            );
            let message = Message::notice(id, Notice::Plain, text);
            let events = [
                Event::MessageCreated { message },
                Event::RunFinished { outcome: RunOutcome::Stopped, error: None, open_steps: Vec::new() },
                Event::StateChanged { state: ChatState::Idle },
            ];
            let first = chat.seq_ceiling + 1;
            let events: Vec<Envelope> = events.into_iter().zip(first..).map(|(event, seq)| Envelope { event, seq, at: now() }).collect();
            (chat.run, chat.state, chat.seq_ceiling) = (None, ChatState::Idle, first + 2);
            self.append(&chat, Append { events: &events, ..Append::default() }).await?;
            stopped += 1;
        }
        Ok(stopped)
    }
}

/// Opens for writing: the last process to close a database then removes its log.
async fn connect(file: &Path) -> Result<SqliteConnection, StoreError> {
    Ok(SqliteConnectOptions::new().filename(file).busy_timeout(TIMEOUT).connect().await?)
}

async fn version(connection: &mut SqliteConnection) -> Result<i64, StoreError> {
    Ok(sqlx::query_scalar("pragma user_version").fetch_one(connection).await?)
}

/// Adds the last line. Returns the total length.
fn seal(file: &Path) -> Result<u64, BackupError> {
    let mut file = OpenOptions::new().read(true).append(true).open(file)?;
    let mut hash = Hashed { file: io::sink(), hash: Sha256::new() };
    io::copy(&mut file, &mut hash)?;
    file.write_all(format!("{SEAL}{FORMAT}{}{SUM}{}\n", now().strftime(TIME), hash.hex()).as_bytes())?;
    file.sync_all()?;
    Ok(file.metadata()?.len())
}

/// Copies everything except the last line, after verifying it. Returns the length of the backup and its time.
fn unseal(backup: &Path, target: &Path) -> Result<(u64, Timestamp), BackupError> {
    let mut file = OpenOptions::new().read(true).open(backup)?;
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(BackupError::Foreign);
    }
    let (taken, sum) = read_seal(&mut file, about.len())?;
    file.rewind()?;
    let out = OpenOptions::new().write(true).truncate(true).open(target)?;
    let mut out = Hashed { file: out, hash: Sha256::new() };
    io::copy(&mut file.take(about.len() - SEAL_LENGTH as u64), &mut out)?;
    out.file.sync_all()?;
    if out.hex() != sum {
        return Err(BackupError::Damaged);
    }
    Ok((about.len(), taken))
}

/// Parses the time and the checksum in the last line.
fn read_seal(file: &mut File, length: u64) -> Result<(Timestamp, String), BackupError> {
    let mut start = [0; MAGIC.len()];
    let is_database = file.read_exact(&mut start).is_ok() && start == MAGIC;
    let missing = || if is_database { BackupError::CutOff } else { BackupError::Foreign };
    let place = length.checked_sub(SEAL_LENGTH as u64).ok_or_else(missing)?;
    file.seek(SeekFrom::Start(place))?;
    let mut end = Vec::new();
    file.read_to_end(&mut end)?;
    let line = std::str::from_utf8(&end).ok().and_then(|end| end.strip_prefix(SEAL)?.strip_suffix('\n')).ok_or_else(missing)?;
    let (time, sum) = line.strip_prefix(FORMAT).and_then(|line| line.split_once(SUM)).ok_or(BackupError::Newer)?;
    Ok((time.parse().map_err(|_| BackupError::Damaged)?, sum.to_owned()))
}

/// Hashes the bytes that pass through.
struct Hashed<W> {
    file: W,
    hash: Sha256,
}

impl<W> Hashed<W> {
    fn hex(&self) -> String {
        self.hash.clone().finalize().iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
    }
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hash.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, BackupError> + Send + 'static) -> Result<T, BackupError> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
}
