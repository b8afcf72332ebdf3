//! The command line.

mod environment;
mod keeping;
mod mcp;

pub use environment::LOG;
pub use keeping::{BackupArgs, ExportArgs, ExportFormat, ManArgs, RestoreArgs};
pub use mcp::{McpArgs, McpCommand};

use crate::schema::SchemaArgs;
use clap::{Arg, Args as ClapArgs, Parser, Subcommand, ValueEnum};
use planwright_protocol::{ChatId, Role, RoleRequest};
use planwright_server::PublicUrl;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

/// A coding agent whose plan mode cannot touch your code, and which keeps to the plan you approve.
#[derive(Parser)]
#[command(version, max_term_width = 100, after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "Examples:
  planwright serve --workspace ~/project                 open the printed address in a browser
  planwright serve --workspace . --model demo/demo       try it without a model
  planwright run \"Add a --quiet flag\"                    write a plan, change nothing else
  planwright run \"Go\" --mode act --plan plans/add-a-quiet-flag.plan
  planwright acp                                         in an editor, by the Agent Client Protocol
  planwright plan lint plans/*.plan";

#[derive(Subcommand)]
pub enum Command {
    Serve(ServeArgs),
    Run(RunArgs),
    Acp(AcpArgs),
    Plan(PlanArgs),
    Roles(RolesArgs),
    Tools(ToolsArgs),
    Doctor(DoctorArgs),
    Mcp(McpArgs),
    User(UserArgs),
    Token(TokenArgs),
    Backup(BackupArgs),
    Restore(RestoreArgs),
    Export(ExportArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
    Schema(SchemaArgs),
    /// Print the description of the HTTP API, as OpenAPI
    Openapi,
}

/// Where everything is kept.
#[derive(ClapArgs)]
pub struct StorageArgs {
    /// Where chats are kept [default: planwright in the user's data folder]
    #[arg(long, env = "PLANWRIGHT_DATA_DIR", value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Keep chats in this PostgreSQL database, not in the data folder
    #[arg(long, env = "PLANWRIGHT_DATABASE_URL", value_name = "URL", hide_env_values = true)]
    pub database_url: Option<String>,
}

/// Where things are kept can be said after a command's own command, too.
fn anywhere(arg: Arg) -> Arg {
    let is_of_storage = arg.get_long().is_some_and(|long| ["data-dir", "database-url"].contains(&long));
    arg.global(is_of_storage)
}

#[derive(ClapArgs)]
pub struct CommonArgs {
    #[command(flatten)]
    pub storage: StorageArgs,
    /// The model, as PROVIDER/MODEL, for both modes; over what the configuration says
    #[arg(long, env = "PLANWRIGHT_MODEL", value_name = "P/M")]
    pub model: Option<String>,
}

/// Serve the API, the events and the web page on one port
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  planwright serve --workspace ~/project
  planwright serve --workspace a --workspace b --listen 127.0.0.1:0
  planwright serve --database-url postgres://ann@db.example/planwright
  planwright serve --auth users --listen 0.0.0.0:7420 --public-url http://build.example:7420
  planwright serve --auth users --public-url https://plan.example --trusted-proxy 127.0.0.1")]
pub struct ServeArgs {
    /// A folder to work in; may be given several times [default: the current folder]
    #[arg(long, value_name = "DIR")]
    pub workspace: Vec<PathBuf>,
    /// The address to listen on; port 0 takes a free one
    #[arg(long, env = "PLANWRIGHT_LISTEN", default_value = "127.0.0.1:7420", value_name = "ADDR", value_parser = address)]
    pub listen: SocketAddr,
    /// Open the web page in your browser: $BROWSER, or xdg-open. Its command line holds the token
    #[arg(long)]
    pub open: bool,
    /// Who may come in: whoever has the token, everyone on this machine, or people with accounts
    #[arg(long, env = "PLANWRIGHT_AUTH", value_enum, default_value_t = Auth::Token)]
    pub auth: Auth,
    /// The address that people use, if it is another than the one listened on: by a name, or behind a proxy
    #[arg(long, env = "PLANWRIGHT_PUBLIC_URL", value_name = "URL")]
    pub public_url: Option<PublicUrl>,
    /// A proxy that says in X-Forwarded-For whom it passes on; may be given several times
    #[arg(long, env = "PLANWRIGHT_TRUSTED_PROXY", value_name = "IP", value_delimiter = ',')]
    pub trusted_proxy: Vec<IpAddr>,
    /// People with accounts may have workspaces below this folder; may be given several times [default: only admins add folders]
    #[arg(long, env = "PLANWRIGHT_WORKSPACE_ROOT", value_name = "DIR", value_delimiter = ':')]
    pub workspace_root: Vec<PathBuf>,
    /// How many requests one user may make in a minute, with --auth users
    #[arg(long, env = "PLANWRIGHT_REQUESTS_PER_MINUTE", default_value_t = 6000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub requests_per_minute: u32,
    /// How the log on stderr is written
    #[arg(long, env = "PLANWRIGHT_LOG_FORMAT", value_enum, default_value_t = LogFormat::Text)]
    pub log_format: LogFormat,
    #[command(flatten)]
    pub common: CommonArgs,
}

fn address(text: &str) -> Result<SocketAddr, String> {
    let numbers = text.replacen("localhost:", "127.0.0.1:", 1);
    numbers.parse().map_err(|_| "an address has a number and a port, such as 127.0.0.1:7420, [::1]:7420 or localhost:7420".to_owned())
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

/// Run one task to its end, without a server
///
/// The model's answer and the plan go to stdout, everything else to stderr.
#[derive(ClapArgs)]
#[command(
    after_help = "Exit codes: 0 done, 1 failed, 2 bad usage, 3 blocked (needs an answer that nobody is there to give), 130 interrupted.

Examples:
  planwright run \"Add a --quiet flag\"                    write a plan, change nothing else
  planwright run \"Go\" --mode act --plan plans/add-a-quiet-flag.plan
  planwright run - --yes < task.md                       the task from a file, approvals given
  planwright run \"And now in French\" --chat 01a1e121-e56c-750e-9c54-a1ee26594fe8
  planwright run \"Explain src/lib.rs\" > answer.md        the answer alone, progress on the terminal
  planwright run \"Fix the typo\" --mode act --json | jq -r 'select(.type == \"run_finished\").data.outcome'"
)]
pub struct RunArgs {
    /// What to do; - reads it from stdin
    pub task: String,
    /// The folder to work in
    #[arg(long, default_value = ".", value_name = "DIR")]
    pub workspace: PathBuf,
    /// plan writes a plan and changes nothing else; act carries one out [default: plan; of a chat, its own]
    #[arg(long, value_enum, conflicts_with = "role")]
    pub mode: Option<RunMode>,
    /// A role instead of a mode
    #[arg(long, value_name = "R", value_parser = role)]
    pub role: Option<Role>,
    /// Go on with this chat of the folder, also one that was begun in the web UI or in an editor
    #[arg(long, value_name = "ID", value_parser = chat)]
    pub chat: Option<ChatId>,
    /// The plan to carry out: naming it approves its present content
    #[arg(long, value_name = "FILE")]
    pub plan: Option<PathBuf>,
    /// Approve tool calls and take a question's default. Never approves a plan
    #[arg(long)]
    pub yes: bool,
    /// Obey all of the workspace's own .planwright/config.toml, and take MCP servers as they are, in this run
    #[arg(long)]
    pub trust: bool,
    /// Print one event per line, as the event stream has them; the last tells how it ended
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub common: CommonArgs,
}

/// Serve one editor, by the Agent Client Protocol on stdin and stdout
///
/// Editors start this themselves. The folder to work in is the one that is open in the editor. Logs go to stderr.
#[derive(ClapArgs)]
#[command(after_help = "docs/editors.md has the settings of Zed, Neovim and JetBrains. No other planwright may use the same data
folder meanwhile: stop `planwright serve`, or give the editor a --data-dir of its own.

Examples:
  planwright acp                                         what an editor's settings name
  planwright acp --model demo/demo                       try it without a model
  planwright acp --data-dir ~/.local/share/planwright-editor
  npx acpx --agent 'planwright acp' exec \"Explain src/lib.rs\"")]
pub struct AcpArgs {
    /// Obey all of a workspace's own .planwright/config.toml
    #[arg(long)]
    pub trust: bool,
    #[command(flatten)]
    pub common: CommonArgs,
}

/// What the types of the arguments can't say; exits with 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BadUsage(pub String);

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RunMode {
    Plan,
    Act,
}

/// Look at plan files
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
    /// Say what should be better, with file, line and column; exits with 1 if there is anything
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

/// List the roles and what each may do
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  planwright roles
  planwright roles --json | jq '.[].permissions'")]
pub struct RolesArgs {
    /// Print JSON, as the API has it
    #[arg(long)]
    pub json: bool,
}

/// List the tools, or those a role has, with category, risk and permissions
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  planwright tools
  planwright tools --role planner
  planwright tools --role tester --json")]
pub struct ToolsArgs {
    /// Only the tools this role has
    #[arg(long, value_name = "R", value_parser = role)]
    pub role: Option<Role>,
    /// Print JSON, as the API has it
    #[arg(long)]
    pub json: bool,
}

/// Check the set-up, models and MCP servers too, and say how to mend what is wrong
#[derive(ClapArgs)]
#[command(after_help = "Exits with 1 if something does not work.

Examples:
  planwright doctor --workspace ~/project
  planwright doctor --json | jq '.[] | select(.status != \"ok\")'")]
pub struct DoctorArgs {
    /// Look at this folder's own configuration as well; MCP servers named there are not started
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub common: CommonArgs,
}

/// Accounts, for `serve --auth users`
///
/// Works also while the server runs.
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
    /// Make an account. The first one is an admin's
    Add {
        #[arg(value_name = "NAME")]
        name: String,
        /// Own the workspaces that nobody was made a member of, and see who failed to sign in
        #[arg(long)]
        admin: bool,
        /// Read the password from stdin, up to its end
        #[arg(long)]
        password_stdin: bool,
    },
    /// Change a password. Whoever is signed in by the old one is signed out; tokens go on working
    Passwd {
        #[arg(value_name = "NAME")]
        name: String,
        /// Read the password from stdin, up to its end
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

/// Tokens that scripts sign in with
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
    /// Make a token and print it; it is not shown again
    New {
        /// Whose it is [default: the only user; without accounts, whoever runs the server]
        #[arg(long, value_name = "NAME")]
        user: Option<String>,
        /// What it is for
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

/// The id of a chat.
fn chat(word: &str) -> Result<ChatId, String> {
    word.parse().map_err(|_| {
        let places = "it is in the address of its page, and the name of its file in the workspace's folder .planwright/chats";
        format!("a chat goes by its id, such as 01a1e121-e56c-750e-9c54-a1ee26594fe8; {places}")
    })
}

/// Any word that a role goes by.
fn role(word: &str) -> Result<Role, String> {
    let role = RoleRequest::role(word).resolve(None).map_err(|problem| problem.message)?;
    role.ok_or_else(|| "name a role".to_owned())
}
