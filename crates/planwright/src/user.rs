//! `planwright user`

use crate::args::{BadUsage, UserArgs, UserCommand};
use crate::data_dir::SharedDatabase;
use crate::output;
use crate::password::{PasswordSource, new_password};
use anyhow::bail;
use planwright_store::{Account, Rank, Removal, Store};
use std::process::ExitCode;

pub async fn user(args: UserArgs) -> anyhow::Result<ExitCode> {
    let accounts = SharedDatabase::open(args.storage.data_dir, args.storage.database_url.as_deref()).await?;
    let store = &accounts.store;
    match args.command {
        UserCommand::Add { name, admin, password_stdin } => {
            let rank = if admin { Rank::Admin } else { Rank::Ordinary };
            add(store, &name, rank, source(password_stdin)).await?;
        }
        UserCommand::Passwd { name, password_stdin } => {
            let account = known(store, &name).await?;
            store.set_password(account.id, &new_password(source(password_stdin)).await?).await?;
            output::note(&format!("{} has a new password, and all sessions of the account ended", account.name));
        }
        UserCommand::List => {
            for user in store.users().await? {
                output::line(&format!("{:20} {}", user.account.name, rank_word(user.account.rank)));
            }
        }
        UserCommand::Remove { name } => {
            let account = known(store, &name).await?;
            if store.remove_user(account.id).await? == Removal::LastAdmin {
                bail!("this is the last admin; create another one first: `planwright user add NAME --admin`");
            }
            output::note(&format!("removed the account {}", account.name));
        }
    }
    store.close().await;
    Ok(ExitCode::SUCCESS)
}

async fn add(store: &Store, name: &str, rank: Rank, source: PasswordSource) -> anyhow::Result<()> {
    if !Account::is_name(name) {
        bail!(BadUsage(format!("{name:?} is not a valid name: a name {}", Account::NAME_RULE)));
    }
    let taken = || anyhow::anyhow!("the account {name} already exists; `planwright user passwd {name}` changes its password");
    if store.user(name).await?.is_some() {
        return Err(taken());
    }
    let account = store.add_user(name, &new_password(source).await?, rank).await?.ok_or_else(taken)?;
    output::note(&format!("created the account {}: {}", account.name, rank_word(account.rank)));
    Ok(())
}

/// The account of this name.
pub async fn known(store: &Store, name: &str) -> anyhow::Result<Account> {
    match store.user(name).await? {
        Some(user) => Ok(user.account),
        None => bail!("there is no account {name}; `planwright user list` lists the accounts, `planwright user add {name}` creates one"),
    }
}

fn source(stdin: bool) -> PasswordSource {
    if stdin { PasswordSource::Stdin } else { PasswordSource::Prompt }
}

fn rank_word(rank: Rank) -> &'static str {
    match rank {
        Rank::Admin => "admin",
        Rank::Ordinary => "user",
    }
}
