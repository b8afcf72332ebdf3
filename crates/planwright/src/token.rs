//! `planwright token`

use crate::args::{BadUsage, TokenArgs, TokenCommand};
use crate::data_dir::SharedDatabase;
use crate::output;
use crate::user::known;
use anyhow::bail;
use planwright_store::{Account, Store};
use std::process::ExitCode;

pub async fn token(args: TokenArgs) -> anyhow::Result<ExitCode> {
    let accounts = SharedDatabase::open(args.storage.data_dir, args.storage.database_url.as_deref()).await?;
    let store = &accounts.store;
    let TokenCommand::New { user, name } = args.command;
    let owner = owner(store, user.as_deref()).await?;
    let (token, digest) = planwright_server::new_token()?;
    store.add_token(digest, owner.as_ref().map(|account| account.id), &name).await?;
    store.close().await;
    output::note(&match owner {
        Some(account) => format!("a token of {}, for servers with --auth users; it is shown only once", account.name),
        None => "a token for servers with --auth token; it is shown only once".to_owned(),
    });
    output::data(&token);
    Ok(ExitCode::SUCCESS)
}

/// The owner of the new token: the named account, the only account, or nobody if there are no accounts.
async fn owner(store: &Store, name: Option<&str>) -> anyhow::Result<Option<Account>> {
    if let Some(name) = name {
        return Ok(Some(known(store, name).await?));
    }
    let mut users = store.users().await?;
    if users.len() > 1 {
        let names = users.iter().map(|user| user.account.name.as_str()).collect::<Vec<_>>().join(", ");
        bail!(BadUsage(format!("name the token's owner with --user: {names}")));
    }
    Ok(users.pop().map(|user| user.account))
}
