//! The folder that chats are kept in.

use crate::args::BadUsage;
use crate::disk::{self, SetAside};
use crate::output;
use crate::{keeping, sample};
use anyhow::{Context, bail};
use planwright_config::{Config, xdg};
use planwright_protocol::{ErrorCode, Problem};
use planwright_sandbox::Reserve;
use planwright_server::Storage;
use planwright_store::{Store, StoreError};
use planwright_workspaces::{Reserved, SAMPLES};
use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How often the lock is tried again: that of a process which was just killed may be let go a moment late.
const PATIENCE: u32 = 40;

const DATABASE: &str = "planwright.db";

/// Why the database can't be opened. One of a newer version is not opened by trying again.
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

/// The folder, held so that no second process uses it.
pub struct DataDir {
    path: PathBuf,
    #[expect(dead_code, reason = "held for its lock")]
    lock: File,
}

impl DataDir {
    pub fn open(path: Option<PathBuf>) -> anyhow::Result<Self> {
        let path = place(path)?;
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&path).map_err(|error| unusable(&path, error))?;
        let lock = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(path.join("lock"))
            .map_err(|error| unusable(&path, error))?;
        let mut locked = lock.try_lock();
        for _ in 0..PATIENCE {
            if !matches!(locked, Err(TryLockError::WouldBlock)) {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
            locked = lock.try_lock();
        }
        match locked {
            Ok(()) => {
                let folder = Self { path, lock };
                folder.make_room_to_start();
                Ok(folder)
            }
            Err(TryLockError::WouldBlock) => {
                let message = format!("another planwright uses the data folder {}; stop it, or give another --data-dir", path.display());
                bail!(Problem::new(ErrorCode::DataDirLocked, message))
            }
            Err(TryLockError::Error(error)) => Err(error).with_context(|| format!("the data folder {} can't be locked", path.display())),
        }
    }

    /// The database at the URL, or the one in the folder.
    pub async fn store(&self, url: Option<&str>) -> anyhow::Result<Store> {
        if let Some(url) = url.filter(|url| !url.is_empty()) {
            return match Store::connect(url).await {
                Err(error @ StoreError::InUse) => bail!(Problem::new(ErrorCode::DataDirLocked, error.to_string())),
                opened => Ok(opened?),
            };
        }
        let file = self.database();
        let reserve = self.reserve();
        // Made here, so that others on the machine can't read what is in it.
        OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(&file).map_err(|error| unusable(&file, error))?;
        if let Some(version) = Store::outdated(&file).await.map_err(|error| unopened(&file, error))? {
            keeping::before_upgrade(&file, version).await?;
        }
        let store = Store::open(&file).await.map_err(|error| unopened(&file, error))?;
        let keeper = reserve.clone();
        // In its own time: a file system that can't allocate has to be written to.
        std::thread::spawn(move || keeper.refill());
        Ok(store.with_room(Arc::new(SetAside(reserve))))
    }

    /// The room that is set aside on the disk of the folder.
    pub fn reserve(&self) -> Reserve {
        Reserve::of(&self.path)
    }

    /// On a full disk, gives up the caches of commands and what is set aside for this.
    fn make_room_to_start(&self) {
        if self.reserve().is_needed() {
            output::note(&disk::full(&self.path));
            planwright_sandbox::clear(&self.commands().join("scratch"));
            self.reserve().make_room_to_start();
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file of the database in the folder.
    pub fn database(&self) -> PathBuf {
        self.path.join(DATABASE)
    }

    /// Where what commands change is staged, and what they cache is kept.
    pub fn commands(&self) -> PathBuf {
        self.real_path().join("commands")
    }

    /// Where the folder really is, links followed.
    pub fn real_path(&self) -> PathBuf {
        std::fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone())
    }

    /// What can be no workspace: this folder, the user's configuration, and what belongs to the system or to git.
    pub fn reserved(&self) -> Reserved {
        reserve(&self.path)
    }

    /// The token that lets a browser or a script in: `PLANWRIGHT_TOKEN`, or one made once and kept.
    #[expect(clippy::disallowed_methods, reason = "the token is no file of a workspace")]
    pub fn token(&self) -> anyhow::Result<String> {
        if let Some(token) = std::env::var("PLANWRIGHT_TOKEN").ok().filter(|token| !token.is_empty()) {
            if !token.chars().all(|c| c.is_ascii_graphic()) {
                bail!(BadUsage("PLANWRIGHT_TOKEN has characters that a request can't carry; use letters, digits and signs".to_owned()));
            }
            return Ok(token);
        }
        let file = self.path.join("token");
        match std::fs::read_to_string(&file) {
            Ok(token) if !token.trim().is_empty() => {
                // It may have been copied here, or loosened, by hand.
                std::fs::set_permissions(&file, Permissions::from_mode(0o600))
                    .with_context(|| format!("{} can't be closed to others", file.display()))?;
                return Ok(token.trim().to_owned());
            }
            Ok(_) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error).with_context(|| format!("{} can't be read", file.display())),
        }
        let (token, _) = planwright_server::new_token().context("no random token could be made")?;
        // Under its own name only when it is whole: a server that dies here must not leave half of one.
        let new = self.path.join("token.new");
        let written = OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&new).and_then(|mut out| {
            out.write_all(token.as_bytes())?;
            out.sync_all()?;
            std::fs::rename(&new, &file)
        });
        written.with_context(|| format!("{} can't be written", file.display()))?;
        Ok(token)
    }
}

impl Storage for DataDir {
    /// By a file of its own: a database that is held by a writer would keep everyone waiting.
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
pub enum Found {
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
pub fn look(folder: Option<PathBuf>) -> anyhow::Result<(PathBuf, Found)> {
    let path = place(folder)?;
    if !path.try_exists().map_err(|error| unusable(&path, error))? {
        return try_to_make(&path).map(|()| (path.clone(), Found::NotMade)).map_err(|error| unusable(&path, error));
    }
    if !path.is_dir() {
        return Err(unusable(&path, ErrorKind::AlreadyExists.into()));
    }
    // By a lock that others may hold as well, so that a server that starts now is not kept out.
    let lock = File::open(path.join("lock")).ok();
    if lock.is_some_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock))) {
        return Ok((path, Found::InUse));
    }
    try_to_write_in(&path).map_err(|error| unusable(&path, error))?;
    Ok((path, Found::There))
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
pub enum Database {
    There(Store),
    /// The first start makes it.
    NotMade,
    /// The next start brings it up to date.
    Outdated,
}

impl Database {
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
        if Store::outdated(&file).await.map_err(failed)?.is_some() {
            return Ok(Self::Outdated);
        }
        Ok(Store::visit(&file).await.map_err(failed)?.map_or(Self::NotMade, Self::There))
    }
}

/// The database, for a command that works also while a server uses it: about accounts, or reading a chat.
pub struct Accounts {
    pub store: Store,
    #[expect(dead_code, reason = "held while the database is, where no server has it")]
    data: Option<DataDir>,
}

impl Accounts {
    pub async fn open(folder: Option<PathBuf>, url: Option<&str>) -> anyhow::Result<Self> {
        let url = url.filter(|url| !url.is_empty());
        let visited = match url {
            Some(url) => Store::visit_server(url).await?,
            None => Store::visit(&database(folder.clone())?).await?,
        };
        if let Some(store) = visited {
            return Ok(Self { store, data: None });
        }
        // It is to be made, or brought up to date, which is for one process alone.
        let data = DataDir::open(folder)?;
        Ok(Self { store: data.store(url).await?, data: Some(data) })
    }
}

/// Why nothing can be kept at a place. Trying again does not help where it is the wrong one.
fn unusable(path: &Path, error: std::io::Error) -> anyhow::Error {
    // Asked for a folder, the system only says that something is there already.
    let why = if error.kind() == ErrorKind::AlreadyExists { "it is not a folder".to_owned() } else { error.to_string() };
    #[expect(clippy::wildcard_enum_match_arm, reason = "for all others only another folder helps")]
    let remedy = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free some space there, or ",
        ErrorKind::ReadOnlyFilesystem => "make it writable, or ",
        _ => "",
    };
    let text = format!("the data folder can't be written: {}: {why}; {remedy}give another one by --data-dir", path.display());
    #[expect(clippy::wildcard_enum_match_arm, reason = "whatever else may happen is no fault of the folder")]
    let code = match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => ErrorCode::Forbidden,
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory | ErrorKind::IsADirectory | ErrorKind::NotFound => ErrorCode::PathInvalid,
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => ErrorCode::StorageFull,
        _ => return anyhow::Error::new(error).context(text),
    };
    Problem::new(code, text).into()
}

/// What can be no workspace, for a command that does not hold the folder.
pub fn reserved(folder: Option<PathBuf>) -> anyhow::Result<Reserved> {
    Ok(reserve(&place(folder)?))
}

fn reserve(path: &Path) -> Reserved {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    Reserved::new(path, Config::file().as_deref(), home.as_deref())
}

/// Where the file of the database is, or would be.
pub fn database(folder: Option<PathBuf>) -> anyhow::Result<PathBuf> {
    Ok(place(folder)?.join(DATABASE))
}

fn place(path: Option<PathBuf>) -> anyhow::Result<PathBuf> {
    let path = path.or_else(|| xdg("XDG_DATA_HOME", ".local/share").map(|folder| folder.join("planwright")));
    path.context("there is no home folder to keep chats in; give --data-dir")
}
