//! `planwright backup`, `planwright restore`

use crate::args::{BackupArgs, RestoreArgs, StorageArgs};
use crate::data_dir::{DataDir, database};
use crate::output;
use anyhow::{Context, bail};
use planwright_protocol::time::now;
use planwright_store::{BackupSummary, Store};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tempfile::NamedTempFile;

pub async fn backup(args: BackupArgs) -> anyhow::Result<ExitCode> {
    refuse_server(&args.storage)?;
    let source = database(args.storage.data_dir)?;
    if !source.exists() {
        bail!("there are no chats in {}; choose another data folder with --data-dir", parent(&source).display());
    }
    let shown = args.file.display();
    check_place(&args.file, parent(&source), args.force)?;
    // Renamed only when it is complete, and private from the beginning.
    let unwritable = || format!("can't write {shown}");
    let new = NamedTempFile::new_in(parent(&args.file)).with_context(unwritable)?;
    let saved = Store::back_up(&source, new.path()).await.with_context(|| format!("can't back up {}", source.display()))?;
    let put = if args.force { new.persist(&args.file) } else { new.persist_noclobber(&args.file) };
    put.map_err(|error| error.error).with_context(unwritable)?;
    sync_folder(parent(&args.file));
    output::note(&format!("{shown}: {}", summary_text(saved)));
    Ok(ExitCode::SUCCESS)
}

/// A backup may only replace a regular file, and never a file of its own source.
fn check_place(file: &Path, data: &Path, force: bool) -> anyhow::Result<()> {
    let shown = file.display();
    let real = |folder: &Path| folder.canonicalize().ok();
    if real(parent(file)).is_some_and(|folder| real(data).is_some_and(|data| folder.starts_with(data))) {
        bail!("{shown} is inside the data folder; choose a place elsewhere, best on another disk");
    }
    match file.symlink_metadata() {
        Err(_) => Ok(()),
        Ok(there) if !there.is_file() => bail!("{shown} is a link, a folder or a device, and was not touched; give the name of a file"),
        Ok(_) if !force => bail!("{shown} already exists; choose another name, or overwrite it with --force"),
        Ok(_) => Ok(()),
    }
}

pub async fn restore(args: RestoreArgs) -> anyhow::Result<ExitCode> {
    refuse_server(&args.storage)?;
    let shown = args.file.display();
    if !args.file.exists() {
        bail!("there is no file {shown}");
    }
    let data = DataDir::open(args.storage.data_dir)?;
    let target = data.database();
    let holds = target.metadata().is_ok_and(|file| file.len() > 0);
    if holds && !args.replace {
        bail!(
            "{} already has chats, and nothing was changed; choose another --data-dir, or replace them with --replace (they are moved to a file next to it)",
            data.path().display()
        );
    }
    let new = NamedTempFile::new_in(data.path()).with_context(|| format!("can't write to the data folder {}", data.path().display()))?;
    let unpacked = Store::unpack(&args.file, new.path()).await;
    let saved = unpacked.with_context(|| format!("can't restore {shown}; nothing was changed"))?;
    if holds {
        let kept = move_aside(&target).await.context("can't set the present chats aside; nothing was changed")?;
        output::note(&format!("the previous chats are in {}", kept.display()));
    }
    new.as_file().sync_all()?;
    new.persist(&target).map_err(|error| error.error).with_context(|| format!("can't write {}", target.display()))?;
    sync_folder(data.path());
    output::note(&format!("{}: {} from {shown}", data.path().display(), summary_text(saved)));
    if saved.runs > 0 {
        output::note(&format!("stopped runs that were in progress: {}; their chats say so", saved.runs));
    }
    Ok(ExitCode::SUCCESS)
}

/// Saves a database of an older version before its migration: the older program could not read it any more.
pub async fn before_upgrade(database: &Path, version: i64) -> anyhow::Result<()> {
    let file = with_ending(database, &format!(".schema-{version}.backup"));
    if file.exists() {
        return Ok(());
    }
    let save = async {
        let new = NamedTempFile::new_in(parent(&file))?;
        let saved = Store::back_up(database, new.path()).await?;
        new.persist(&file).map_err(|error| error.error)?;
        anyhow::Ok(saved)
    };
    let saved = save.await.with_context(|| {
        format!("{} is of an older version and was not migrated, because it could not be saved first", database.display())
    })?;
    output::note(&format!("migrating the chats to this version; the previous state is in {}: {}", file.display(), summary_text(saved)));
    Ok(())
}

/// PostgreSQL has better tools for this, which know what else is in the server.
fn refuse_server(storage: &StorageArgs) -> anyhow::Result<()> {
    if storage.database_url.as_deref().is_some_and(|url| !url.is_empty()) {
        bail!(
            "chats in PostgreSQL are saved by its own tools: `pg_dump --format=custom --file=FILE DATABASE`, also while the server runs, and put back by \
             `pg_restore --clean --if-exists --dbname=DATABASE FILE`, while it does not. Unset PLANWRIGHT_DATABASE_URL to mean the chats in the data folder"
        );
    }
    Ok(())
}

/// Moves a database to another name with all its files, and removes those that must not mix with another database.
#[expect(clippy::disallowed_methods, reason = "the data folder is no workspace")]
async fn move_aside(database: &Path) -> anyhow::Result<PathBuf> {
    let kept = with_ending(database, &format!(".replaced-{}", now().strftime("%Y%m%dT%H%M%SZ")));
    if kept.exists() {
        bail!("{} already exists", kept.display());
    }
    let (log, kept_log) = (with_ending(database, "-wal"), with_ending(&kept, "-wal"));
    if log.exists() {
        std::fs::copy(&log, &kept_log)?;
    }
    let linked = std::fs::hard_link(database, &kept).is_ok();
    if !linked {
        std::fs::copy(database, &kept)?;
    }
    // An unreadable database is a reason to restore a backup, so it must not stop the restore: then its log stays next to it.
    if Store::checkpoint(database).await.is_ok() && linked && kept_log.exists() {
        std::fs::remove_file(&kept_log)?;
    }
    sync_folder(parent(database));
    for ending in ["-wal", "-shm"] {
        match std::fs::remove_file(with_ending(database, ending)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(kept)
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

fn parent(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Syncing the folder makes a new name survive a power cut. If that is unsupported, there is nothing better to do.
fn sync_folder(folder: &Path) {
    let _ = std::fs::OpenOptions::new().read(true).open(folder).and_then(|folder| folder.sync_all());
}

fn summary_text(saved: BackupSummary) -> String {
    format!("{}, {}", count(saved.chats, "chat"), size(saved.bytes))
}

fn count(number: u64, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{} kB", bytes.div_ceil(1000)),
        1_000_000.. => format!("{}.{} MB", bytes / 1_000_000, bytes / 100_000 % 10),
    }
}
