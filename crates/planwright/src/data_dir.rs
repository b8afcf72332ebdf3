//! The data folder: chats, the database, the lock.

use crate::args::BadUsage;
use crate::disk::{self, DiskReserve};
use crate::output;
use crate::{backup, sample};
use anyhow::{Context, bail};
use planwright_config::{Config, xdg};
use planwright_protocol::{ErrorCode, Problem};
use planwright_sandbox::Reserve;
use planwright_server::Storage;
use planwright_store::{Store, StoreError};
use planwright_workspaces::{ReservedFolders, SAMPLES};
use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Number of attempts to lock: the kernel may release the lock of a killed process a moment late.
const LOCK_ATTEMPTS: u32 = 40;
const LOCK_PAUSE: Duration = Duration::from_millis(50);

const DATABASE: &str = "planwright.db";

/// The error for a database that can't be opened. A database of a newer version stays closed however often one retries.
fn unopened(file: &Path, error: StoreError) -> anyhow::Error {
    let text = format!("the database {} can't be opened", file.display());
    if matches!(error, StoreError::Newer { .. }) {
        return Problem::new(ErrorCode::Conflict, format!("{text}: {error}")).into();
    }
    let folder = file.parent().unwrap_or(file);
    if error.is_full() || Reserve::of(folder).is_needed() {
        return Problem::new(ErrorCode::StorageFull, format!("{text}: {error}; {}", disk::full(folder))).into();
    }
    anyhow::Error::new(error).context(text)
}

/// The data folder, locked against a second process.
pub struct DataDir {
    path: PathBuf,
    lock: File,
}

impl DataDir {
    /// Locks the folder, which is made if it is missing.
    ///
    /// # Errors
    /// It can't be used, or `DATA_DIR_LOCKED`.
    pub fn open(path: Option<PathBuf>) -> anyhow::Result<Self> {
        for _ in 0..LOCK_ATTEMPTS {
            if let Some(folder) = Self::try_open(path.clone())? {
                return Ok(folder);
            }
            std::thread::sleep(LOCK_PAUSE);
        }
        Err(Self::locked(&place(path)?))
    }

    /// The same, at once; `None` if another process has the lock.
    ///
    /// # Errors
    /// It can't be used.
    pub fn try_open(path: Option<PathBuf>) -> anyhow::Result<Option<Self>> {
        let path = place(path)?;
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&path).map_err(|error| unusable(&path, error))?;
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(path.join("lock"))
            .map_err(|error| unusable(&path, error))?;
        match lock.try_lock() {
            Ok(()) => {
                let folder = Self { path, lock };
                folder.make_room_to_start();
                Ok(Some(folder))
            }
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error).with_context(|| format!("can't lock the data folder {}", path.display())),
        }
    }

    /// The error for a folder that another process keeps.
    pub fn locked(path: &Path) -> anyhow::Error {
        let message = format!("another planwright is using the data folder {}; stop it, or choose another --data-dir", path.display());
        Problem::new(ErrorCode::DataDirLocked, message).into()
    }

    /// Where the folder is, whether or not it exists.
    pub fn path_of(path: Option<PathBuf>) -> anyhow::Result<PathBuf> {
        place(path)
    }

    /// Lets another process have the folder, while parts of this one still know it.
    pub fn unlock(&self) {
        if let Err(error) = self.lock.unlock() {
            tracing::warn!(%error, "can't unlock the data folder");
        }
    }

    /// Opens the database at the URL, or the one in the folder.
    pub async fn store(&self, url: Option<&str>) -> anyhow::Result<Store> {
        if let Some(url) = url.filter(|url| !url.is_empty()) {
            return match Store::connect(url).await {
                Err(error @ (StoreError::InUse | StoreError::NodesRun(_))) => {
                    bail!(Problem::new(ErrorCode::DataDirLocked, error.to_string()))
                }
                opened => Ok(opened?),
            };
        }
        let file = self.database();
        let reserve = self.reserve();
        // Created here with private permissions, so that other users of the machine can't read it.
        OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&file).map_err(|error| unusable(&file, error))?;
        if let Some(version) = Store::outdated_version(&file).await.map_err(|error| unopened(&file, error))? {
            backup::before_upgrade(&file, version).await?;
        }
        let store = Store::open(&file).await.map_err(|error| unopened(&file, error))?;
        let keeper = reserve.clone();
        // In the background: on a file system that can't allocate, the reserve has to be written.
        std::thread::spawn(move || keeper.refill());
        Ok(store.with_room(Arc::new(DiskReserve(reserve))))
    }

    /// The disk reserve of the folder.
    pub fn reserve(&self) -> Reserve {
        Reserve::of(&self.path)
    }

    /// On a full disk, deletes the caches of commands and the reserve.
    fn make_room_to_start(&self) {
        if self.reserve().is_needed() {
            output::note(&disk::full(&self.path));
            planwright_sandbox::remove_folder(&self.commands().join("scratch"));
            self.reserve().make_room_to_start();
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The database file in the folder.
    pub fn database(&self) -> PathBuf {
        self.path.join(DATABASE)
    }

    /// The folder for staged changes and caches of commands.
    pub fn commands(&self) -> PathBuf {
        self.real_path().join("commands")
    }

    /// The folder's path with links resolved.
    pub fn real_path(&self) -> PathBuf {
        std::fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone())
    }

    /// The folders that can't be workspaces: this one, the user's configuration, and folders of the system or of git.
    pub fn reserved(&self) -> ReservedFolders {
        reserve(&self.path)
    }

    /// The token for browsers and scripts: `PLANWRIGHT_TOKEN`, or one that is generated once and stored.
    #[expect(clippy::disallowed_methods, reason = "the token is no file of a workspace")]
    pub fn token(&self) -> anyhow::Result<String> {
        if let Some(token) = std::env::var("PLANWRIGHT_TOKEN").ok().filter(|token| !token.is_empty()) {
            if !token.chars().all(|c| c.is_ascii_graphic()) {
                bail!(BadUsage(
                    "PLANWRIGHT_TOKEN contains characters that a request can't carry; use letters, digits and punctuation".to_owned()
                ));
            }
            return Ok(token);
        }
        let file = self.path.join("token");
        match std::fs::read_to_string(&file) {
            Ok(token) if !token.trim().is_empty() => {
                // Its permissions may be too open after a manual copy.
                std::fs::set_permissions(&file, Permissions::from_mode(0o600))
                    .with_context(|| format!("can't restrict the permissions of {}", file.display()))?;
                return Ok(token.trim().to_owned());
            }
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).with_context(|| format!("can't read {}", file.display())),
        }
        let (token, _) = planwright_server::new_token().context("can't generate a random token")?;
        // Renamed only when it is complete: a server that dies here must not leave half a token.
        let new = self.path.join("token.new");
        let written = OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&new).and_then(|mut out| {
            out.write_all(token.as_bytes())?;
            out.sync_all()?;
            std::fs::rename(&new, &file)
        });
        written.with_context(|| format!("can't write {}", file.display()))?;
        Ok(token)
    }
}

impl Storage for DataDir {
    /// Uses a file of its own: a database that a writer holds would block everyone.
    #[expect(clippy::disallowed_methods, reason = "the data folder is no workspace")]
    fn try_to_write(&self) -> std::io::Result<()> {
        if self.reserve().is_in_use() {
            return Err(ErrorKind::StorageFull.into());
        }
        let file = self.path.join("writable");
        let written = File::create(&file).and_then(|mut file| file.write_all(&[0; 4096]).and_then(|()| file.sync_all()));
        written.and_then(|()| std::fs::remove_file(&file))
    }

    fn make_sample(&self, whose: &str) -> std::io::Result<PathBuf> {
        sample::copy_into(&self.real_path().join(SAMPLES).join(whose))
    }
}

/// What a look at a data folder found.
pub enum DataDirState {
    /// A running Planwright holds it.
    InUse,
    /// The first start makes it.
    NotMade,
    There,
}

/// Looks at a data folder without leaving a trace in it.
///
/// # Errors
/// It can't be written, or not be made.
#[expect(clippy::disallowed_methods, reason = "the data folder is no workspace")]
pub fn look(folder: Option<PathBuf>) -> anyhow::Result<(PathBuf, DataDirState)> {
    let path = place(folder)?;
    if !path.try_exists().map_err(|error| unusable(&path, error))? {
        return try_to_make(&path).map(|()| (path.clone(), DataDirState::NotMade)).map_err(|error| unusable(&path, error));
    }
    if !path.is_dir() {
        return Err(unusable(&path, ErrorKind::AlreadyExists.into()));
    }
    // By a lock that others may hold as well, so that a server that starts now is not kept out.
    let lock = File::open(path.join("lock")).ok();
    if lock.is_some_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock))) {
        return Ok((path, DataDirState::InUse));
    }
    try_to_write_in(&path).map_err(|error| unusable(&path, error))?;
    Ok((path, DataDirState::There))
}

/// Makes the outermost folder that is missing, and removes it.
fn try_to_make(path: &Path) -> std::io::Result<()> {
    let missing = path.ancestors().take_while(|folder| !folder.exists()).last().unwrap_or(path);
    std::fs::DirBuilder::new().mode(0o700).create(missing)?;
    std::fs::remove_dir(missing)
}

#[expect(clippy::disallowed_methods, reason = "the data folder is no workspace")]
fn try_to_write_in(folder: &Path) -> std::io::Result<()> {
    let file = folder.join(format!("doctor-{}", std::process::id()));
    let written = OpenOptions::new().create_new(true).write(true).mode(0o600).open(&file);
    written.and_then(|_| std::fs::remove_file(&file))
}

/// What a look at the database found.
pub enum DatabaseState {
    There(Store),
    /// The first start makes it.
    NotMade,
    /// The next start brings it up to date.
    Outdated,
}

impl DatabaseState {
    /// Looks at the database without making or changing tables.
    ///
    /// # Errors
    /// It can't be opened, or is newer than this program.
    pub async fn look(folder: Option<PathBuf>, url: Option<&str>) -> anyhow::Result<Self> {
        if let Some(url) = url.filter(|url| !url.is_empty()) {
            return Ok(Store::visit_server(url).await?.map_or(Self::Outdated, Self::There));
        }
        let file = database(folder)?;
        if !file.exists() {
            return Ok(Self::NotMade);
        }
        let failed = |error| unopened(&file, error);
        if Store::outdated_version(&file).await.map_err(failed)?.is_some() {
            return Ok(Self::Outdated);
        }
        Ok(Store::visit(&file).await.map_err(failed)?.map_or(Self::NotMade, Self::There))
    }
}

/// The database for a command that also works while a server uses it: managing accounts, or reading a chat.
pub struct SharedDatabase {
    pub store: Store,
    #[expect(dead_code, reason = "held while the database is, where no server has it")]
    data: Option<DataDir>,
}

impl SharedDatabase {
    pub async fn open(folder: Option<PathBuf>, url: Option<&str>) -> anyhow::Result<Self> {
        let url = url.filter(|url| !url.is_empty());
        let visited = match url {
            Some(url) => Store::visit_server(url).await?,
            None => Store::visit(&database(folder.clone())?).await?,
        };
        if let Some(store) = visited {
            return Ok(Self { store, data: None });
        }
        // Creating or migrating the database requires the lock.
        let data = DataDir::open(folder)?;
        Ok(Self { store: data.store(url).await?, data: Some(data) })
    }
}

/// The error for an unusable data folder. Retrying does not help if the folder is the wrong one.
fn unusable(path: &Path, error: std::io::Error) -> anyhow::Error {
    // For an existing file, the system only reports that something exists already.
    let why = if error.kind() == ErrorKind::AlreadyExists { "it is not a folder".to_owned() } else { error.to_string() };
    #[expect(clippy::wildcard_enum_match_arm, reason = "for all others only another folder helps")]
    let remedy = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free some space there, or ",
        ErrorKind::ReadOnlyFilesystem => "make it writable, or ",
        _ => "",
    };
    let text = format!("the data folder can't be written: {}: {why}; {remedy}choose another one with --data-dir", path.display());
    #[expect(clippy::wildcard_enum_match_arm, reason = "whatever else may happen is no fault of the folder")]
    let code = match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => ErrorCode::Forbidden,
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory | ErrorKind::IsADirectory | ErrorKind::NotFound => ErrorCode::PathInvalid,
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => ErrorCode::StorageFull,
        _ => return anyhow::Error::new(error).context(text),
    };
    Problem::new(code, text).into()
}

/// The folders that can't be workspaces, for a command that does not lock the data folder.
pub fn reserved(folder: Option<PathBuf>) -> anyhow::Result<ReservedFolders> {
    Ok(reserve(&place(folder)?))
}

fn reserve(path: &Path) -> ReservedFolders {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    ReservedFolders::new(path, Config::file().as_deref(), home.as_deref())
}

/// The path of the database file, whether or not it exists.
pub fn database(folder: Option<PathBuf>) -> anyhow::Result<PathBuf> {
    Ok(place(folder)?.join(DATABASE))
}

fn place(path: Option<PathBuf>) -> anyhow::Result<PathBuf> {
    let path = path.or_else(|| xdg("XDG_DATA_HOME", ".local/share").map(|folder| folder.join("planwright")));
    path.context("there is no home folder for the data; give --data-dir")
}
