//! `planwright acp`

use crate::args::AcpArgs;
use crate::data_dir::DataDir;
use crate::models::{ConfiguredModels, Remotes, ask_daemon};
use crate::providers::vendor_names;
use crate::servers::StoredPins;
use crate::signals::Interrupts;
use crate::wiring::ProcessOptions;
use anyhow::anyhow;
use planwright_acp::Front;
use planwright_chat::Sessions;
use planwright_config::Config;
use planwright_mcp::Pool;
use planwright_protocol::{ErrorCode, Problem};
use planwright_store::Store;
use planwright_workspaces::remarks;
use std::sync::Arc;

pub async fn acp(args: AcpArgs) -> anyhow::Result<()> {
    let mut interrupts = Interrupts::new()?;
    let (sessions, pool, store, _data) = match prepare(args).await {
        Ok(prepared) => prepared,
        Err(error) => {
            // Editors show an error response sooner than a log line.
            let problem = error.downcast_ref::<Problem>().cloned();
            planwright_acp::refuse(problem.unwrap_or_else(|| Problem::new(ErrorCode::Internal, format!("{error:#}")))).await;
            return Err(error);
        }
    };
    let front = Front { sessions: sessions.clone(), remarks };
    let served = planwright_acp::serve(front, interrupts.next()).await;
    sessions.park_all().await;
    pool.close().await;
    store.close().await;
    served.map_err(|error| anyhow!("lost the connection to the editor: {error}"))
}

async fn prepare(args: AcpArgs) -> anyhow::Result<(Sessions, Arc<Pool>, Store, DataDir)> {
    let mut config = Config::load(vendor_names())?;
    ask_daemon(&mut config, args.common.model.as_deref()).await;
    let data = DataDir::open(args.common.storage.data_dir)?;
    let store = data.store(args.common.storage.database_url.as_deref()).await?;
    let models = ConfiguredModels::new(&config, args.common.model.clone());
    models.check().await?;
    models.say_choice(None);
    let parts = ProcessOptions {
        config,
        model: args.common.model,
        trusts_all: args.trust,
        commands: data.commands(),
        reserved: data.reserved(),
        team: None,
        roots: Vec::new(),
        pins: Arc::new(StoredPins(store.clone())),
    };
    let (sessions, pool) = parts.chats(store.clone(), Remotes::default())?;
    Ok((sessions, pool, store, data))
}
