//! `planwright acp`

use crate::args::{AcpArgs, ClusterArgs};
use crate::host::{HostOptions, LocalServer};
use crate::providers::vendor_names;
use crate::signals::Interrupts;
use anyhow::anyhow;
use planwright_acp::Front;
use planwright_client::{Client, ClientError, ServerTarget};
use planwright_config::Config;
use planwright_protocol::{ErrorCode, Problem};
use planwright_workspaces::remarks;
use std::sync::Arc;

pub async fn acp(args: AcpArgs) -> anyhow::Result<()> {
    let mut interrupts = Interrupts::new()?;
    let (client, local) = match prepare(args).await {
        Ok(prepared) => prepared,
        Err(error) => {
            // Editors show an error response sooner than a log line.
            let problem = error.downcast_ref::<Problem>().cloned();
            planwright_acp::refuse(problem.unwrap_or_else(|| Problem::new(ErrorCode::Internal, format!("{error:#}")))).await;
            return Err(error);
        }
    };
    let served = planwright_acp::serve(Front { server: client, remarks }, interrupts.next()).await;
    if let Some(local) = local {
        local.close().await;
    }
    served.map_err(|error| anyhow!("lost the connection to the editor: {error}"))
}

async fn prepare(args: AcpArgs) -> anyhow::Result<(Client, Option<Arc<LocalServer>>)> {
    if let Some(url) = args.remote.server {
        let client = Client::connect(ServerTarget::Url { url, token: args.remote.token }).await.map_err(ClientError::into_problem)?;
        return Ok((client.leashed(), None));
    }
    let options = HostOptions {
        config: Config::load(vendor_names())?,
        model: args.common.model.clone(),
        trusts_all: args.trust,
        database_url: args.common.storage.database_url,
        cluster: ClusterArgs::default(),
        team: None,
        roots: Vec::new(),
        retries: None,
    };
    let local = LocalServer::new(args.common.storage.data_dir, options, args.remote.token);
    local.open().await?;
    let usable = local.with_folder(async |folder| {
        folder.models.say_choice(None);
        folder.models.check().await
    });
    if let Some(Err(error)) = usable.await {
        return Err(error);
    }
    let client = Client::connect(local.target()).await.map_err(ClientError::into_problem)?;
    Ok((client.leashed(), Some(local)))
}
