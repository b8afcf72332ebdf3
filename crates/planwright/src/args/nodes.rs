use super::StorageArgs;
use clap::Args as ClapArgs;

/// How a server shares its database.
#[derive(Clone, Default, ClapArgs)]
pub struct ClusterArgs {
    /// Share the database with other nodes, over these NATS servers, separated by commas
    #[arg(long, env = "PLANWRIGHT_NATS_URL", value_name = "URL", hide_env_values = true)]
    pub nats_url: Option<String>,
    /// The name of this node among those that share the database [default: the machine's name]
    #[arg(long, env = "PLANWRIGHT_NODE", value_name = "NAME")]
    pub node: Option<String>,
}

/// Show the nodes that share a database, with their versions, workspaces and leases
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  planwright nodes --database-url postgres://db.example/planwright
  planwright nodes --json | jq '.nodes[] | select(.alive) | .name'")]
pub struct NodesArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub storage: StorageArgs,
}
