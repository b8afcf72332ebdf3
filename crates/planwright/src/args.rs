//! The command line.

mod acp;
mod backup;
mod doctor;
mod environment;
mod mcp;
mod nodes;
mod remote;
mod screen;
mod steps;

pub use acp::AcpArgs;
pub use backup::{BackupArgs, ExportArgs, ExportFormat, ManArgs, RestoreArgs};
pub use doctor::DoctorArgs;
pub use environment::LOG;
pub use mcp::{McpArgs, McpCommand};
pub use nodes::{ClusterArgs, NodesArgs};
pub use remote::RemoteArgs;
pub use screen::ScreenArgs;
pub use steps::StepList;

use crate::schema::SchemaArgs;
use clap::{Arg, Args as ClapArgs, Parser, Subcommand, ValueEnum};
use planwright_protocol::{ChatId, Role, RoleRequest};
use planwright_server::PublicUrl;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use steps::step_list;

/// A coding agent whose plan mode cannot touch your code, and which keeps to the plan you approve.
#[derive(Parser)]
#[command(version, max_term_width = 100, after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    pub command: Option<CliCommand>,
    #[command(flatten)]
    pub screen: ScreenArgs,
}

const EXAMPLES: &str = "Without a command, planwright opens the terminal UI on the current folder.

Examples:
  planwright                                             work in the terminal
  planwright --model demo/demo                           try it without a model
  planwright --server http://127.0.0.1:7420              the same, with the chats of a server
  planwright serve --workspace ~/project                 open the printed address in a browser
  planwright serve --workspace . --model demo/demo       try it without a model
  planwright run \"Add a --quiet flag\"                    write a plan, change nothing else
  planwright run \"Go\" --mode act --plan plans/add-a-quiet-flag.plan
  planwright acp                                         in an editor, by the Agent Client Protocol
  planwright plan lint plans/*.plan";

#[derive(Subcommand)]
pub enum CliCommand {
    Serve(ServeArgs),
    Run(RunArgs),
    Acp(AcpArgs),
    Plan(PlanArgs),
    Roles(RolesArgs),
    Tools(ToolsArgs),
    Doctor(DoctorArgs),
    Nodes(NodesArgs),
    Mcp(McpArgs),
    User(UserArgs),
    Token(TokenArgs),
    Backup(BackupArgs),
    Restore(RestoreArgs),
    Export(ExportArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
    Schema(SchemaArgs),
    /// Print the OpenAPI description of the HTTP API
    Openapi,
}

/// Where data is stored.
#[derive(ClapArgs)]
pub struct StorageArgs {
    /// Folder for chats and other data [default: planwright in the user's data folder]
    #[arg(long, env = "PLANWRIGHT_DATA_DIR", value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Store chats in this PostgreSQL database instead of the data folder
    #[arg(long, env = "PLANWRIGHT_DATABASE_URL", value_name = "URL", hide_env_values = true)]
    pub database_url: Option<String>,
}

/// Storage options also work after a subcommand.
fn anywhere(arg: Arg) -> Arg {
    let is_of_storage = arg.get_long().is_some_and(|long| ["data-dir", "database-url"].contains(&long));
    arg.global(is_of_storage)
}

#[derive(ClapArgs)]
pub struct CommonArgs {
    #[command(flatten)]
    pub storage: StorageArgs,
    /// The model for both modes, as PROVIDER/MODEL; overrides the configuration
    #[arg(long, env = "PLANWRIGHT_MODEL", value_name = "P/M")]
    pub model: Option<String>,
}

/// Serve the API, the events and the web page on one port
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  planwright serve --workspace ~/project
  planwright serve --workspace a --workspace b --listen 127.0.0.1:0
  planwright serve --database-url postgres://ann@db.example/planwright
  planwright serve --database-url postgres://db.example/planwright --nats-url nats://bus.example:4222 --node a
  planwright serve --auth users --listen 0.0.0.0:7420 --public-url http://build.example:7420
  planwright serve --auth users --public-url https://plan.example --trusted-proxy 127.0.0.1")]
pub struct ServeArgs {
    /// A folder to work in; can be given several times [default: the current folder]
    #[arg(long, value_name = "DIR")]
    pub workspace: Vec<PathBuf>,
    /// The address to listen on; port 0 chooses a free port
    #[arg(long, env = "PLANWRIGHT_LISTEN", default_value = "127.0.0.1:7420", value_name = "ADDR", value_parser = address)]
    pub listen: SocketAddr,
    #[command(flatten)]
    pub cluster: ClusterArgs,
    /// Open the web page in your browser ($BROWSER or xdg-open); the browser's command line contains the token
    #[arg(long)]
    pub open: bool,
    /// Who has access: everyone with the token, everyone on this machine, or users with accounts
    #[arg(long, env = "PLANWRIGHT_AUTH", value_enum, default_value_t = Auth::Token)]
    pub auth: Auth,
    /// The public address, if it differs from the listening one: a host name, or a proxy in front
    #[arg(long, env = "PLANWRIGHT_PUBLIC_URL", value_name = "URL")]
    pub public_url: Option<PublicUrl>,
    /// A proxy whose X-Forwarded-For is trusted; can be given several times
    #[arg(long, env = "PLANWRIGHT_TRUSTED_PROXY", value_name = "IP", value_delimiter = ',')]
    pub trusted_proxy: Vec<IpAddr>,
    /// Users with accounts may add workspaces below this folder; can be given several times [default: only admins add folders]
    #[arg(long, env = "PLANWRIGHT_WORKSPACE_ROOT", value_name = "DIR", value_delimiter = ':')]
    pub workspace_root: Vec<PathBuf>,
    /// Maximum requests per user and minute, with --auth users
    #[arg(long, env = "PLANWRIGHT_REQUESTS_PER_MINUTE", default_value_t = 6000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub requests_per_minute: u32,
    /// Format of the log on stderr
    #[arg(long, env = "PLANWRIGHT_LOG_FORMAT", value_enum, default_value_t = LogFormat::Text)]
    pub log_format: LogFormat,
    #[command(flatten)]
    pub common: CommonArgs,
}

fn address(text: &str) -> Result<SocketAddr, String> {
    let numbers = text.replacen("localhost:", "127.0.0.1:", 1);
    numbers.parse().map_err(|_| "an address has an IP address and a port, such as 127.0.0.1:7420, [::1]:7420 or localhost:7420".to_owned())
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    Text,
    Json,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Auth {
    Token,
    Off,
    Users,
}

/// Run one task to completion
///
/// If another planwright has the chats, such as `serve` or an editor, the run happens there. At a terminal, questions are asked
/// there. The model's answer and the plan go to stdout, everything else to stderr.
#[derive(ClapArgs)]
#[command(after_help = "Exit codes: 0 done, 1 failed, 2 bad usage, 3 blocked (a question needs an answer), 130 interrupted.

Examples:
  planwright run \"Add a --quiet flag\"                    write a plan, change nothing else
  planwright run \"Go\" --mode act --plan plans/add-a-quiet-flag.plan
  planwright run \"Go\" --mode act --plan plans/add-a-quiet-flag.plan --steps 1-3,5 --stop-after 3
  planwright run - --yes < task.md                       the task from a file, approvals given
  planwright run \"And now in French\" --chat 01a1e121-e56c-750e-9c54-a1ee26594fe8
  planwright run \"Explain src/lib.rs\" > answer.md        the answer alone, progress on the terminal
  planwright run \"Fix the typo\" --mode act --json | jq -r 'select(.type == \"run_finished\").data.outcome'")]
pub struct RunArgs {
    /// The task; - reads it from stdin
    pub task: String,
    /// The folder to work in
    #[arg(long, default_value = ".", value_name = "DIR")]
    pub workspace: PathBuf,
    /// plan writes a plan and changes nothing else; act executes one [default: plan; with --chat, the chat's mode]
    #[arg(long, value_enum, conflicts_with = "role")]
    pub mode: Option<RunMode>,
    /// A role instead of a mode
    #[arg(long, value_name = "R", value_parser = role)]
    pub role: Option<Role>,
    /// Continue this chat of the folder, also one from the web UI or an editor
    #[arg(long, value_name = "ID", value_parser = chat)]
    pub chat: Option<ChatId>,
    /// The plan to execute; naming it approves its present content
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// Execute only these steps of the plan, such as 1-3,5
    #[arg(long, value_name = "LIST", value_parser = step_list, requires = "plan")]
    pub steps: Option<StepList>,
    /// Stop after this step of the plan; the run ends with exit code 3
    #[arg(long, value_name = "N", requires = "plan")]
    pub stop_after: Option<u32>,
    /// Approve tool calls and accept a question's default; never approves a plan or continues past a stop
    #[arg(long)]
    pub yes: bool,
    /// In this run, trust the workspace's .planwright/config.toml and accept MCP servers as they are
    #[arg(long)]
    pub trust: bool,
    /// Print one event per line, as in the event stream; the last one reports the outcome
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub remote: RemoteArgs,
    #[command(flatten)]
    pub common: CommonArgs,
}

/// A usage error that the argument types can't express; exits with 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BadUsage(pub String);

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RunMode {
    Plan,
    Act,
}

/// Inspect plan files
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  planwright plan lint plans/*.plan
  planwright plan show plans/add-login.plan
  planwright plan json plans/add-login.plan | jq .steps")]
pub struct PlanArgs {
    #[command(subcommand)]
    pub command: PlanCommand,
}

#[derive(Subcommand)]
pub enum PlanCommand {
    /// Check plans and print findings with file, line and column; exits with 1 if there are any
    Lint {
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Print a plan for people
    Show {
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Print a plan as JSON
    Json {
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

/// List the roles and their permissions
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  planwright roles
  planwright roles --json | jq '.[].permissions'")]
pub struct RolesArgs {
    /// Print JSON, in the API's form
    #[arg(long)]
    pub json: bool,
}

/// List the tools, or those of a role, with category, risk and permissions
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  planwright tools
  planwright tools --role planner
  planwright tools --role tester --json")]
pub struct ToolsArgs {
    /// Only the tools of this role
    #[arg(long, value_name = "R", value_parser = role)]
    pub role: Option<Role>,
    /// Print JSON, in the API's form
    #[arg(long)]
    pub json: bool,
}

/// Manage accounts, for `serve --auth users`
///
/// Also works while the server runs.
#[derive(ClapArgs)]
#[command(
    mut_args(anywhere),
    after_help = "Examples:
  planwright user add ann                                asks for the password
  planwright user add ci --password-stdin < password
  planwright user passwd ann                             signs ann out everywhere
  planwright user remove ann"
)]
pub struct UserArgs {
    #[command(subcommand)]
    pub command: UserCommand,
    #[command(flatten)]
    pub storage: StorageArgs,
}

#[derive(Subcommand)]
pub enum UserCommand {
    /// Create an account; the first one is an admin
    Add {
        #[arg(value_name = "NAME")]
        name: String,
        /// Make the account an admin: admins own workspaces without members, and see failed sign-ins
        #[arg(long)]
        admin: bool,
        /// Read the password from stdin, until end of file
        #[arg(long)]
        password_stdin: bool,
    },
    /// Change a password; ends the account's sessions, but not its tokens
    Passwd {
        #[arg(value_name = "NAME")]
        name: String,
        /// Read the password from stdin, until end of file
        #[arg(long)]
        password_stdin: bool,
    },
    /// List the accounts
    List,
    /// Remove an account with its sessions, tokens and memberships
    Remove {
        #[arg(value_name = "NAME")]
        name: String,
    },
}

/// Manage tokens for scripts
#[derive(ClapArgs)]
#[command(
    mut_args(anywhere),
    after_help = "Examples:
  planwright token new --name ci
  planwright token new --user ann --name laptop
  curl -H \"Authorization: Bearer $(planwright token new)\" http://127.0.0.1:7420/api/v1/me"
)]
pub struct TokenArgs {
    #[command(subcommand)]
    pub command: TokenCommand,
    #[command(flatten)]
    pub storage: StorageArgs,
}

#[derive(Subcommand)]
pub enum TokenCommand {
    /// Create a token and print it; it is shown only once
    New {
        /// The token's owner [default: the only user; without accounts, the person who runs the server]
        #[arg(long, value_name = "NAME")]
        user: Option<String>,
        /// The token's purpose
        #[arg(long, value_name = "N", default_value = "command line")]
        name: String,
    },
}

/// Print a completion script for a shell
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  planwright completions bash > /etc/bash_completion.d/planwright
  planwright completions zsh > ~/.zfunc/_planwright")]
pub struct CompletionsArgs {
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// Parses the id of a chat.
fn chat(word: &str) -> Result<ChatId, String> {
    word.parse().map_err(|_| {
        let places = "it is in the address of the chat's page, and is the name of its file in the workspace's folder .planwright/chats";
        format!("a chat's id looks like 01a1e121-e56c-750e-9c54-a1ee26594fe8; {places}")
    })
}

/// Parses any word for a role.
fn role(word: &str) -> Result<Role, String> {
    let role = RoleRequest::role(word).resolve(None).map_err(|problem| problem.message)?;
    role.ok_or_else(|| "name a role".to_owned())
}
