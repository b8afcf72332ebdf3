//! The binary: commands, configuration, wiring.

mod acp;
mod args;
mod backup;
mod browser;
mod data_dir;
mod disk;
mod doctor;
mod export;
mod host;
mod lists;
mod man;
mod mcp;
mod models;
mod nodes;
mod output;
mod password;
mod plan;
mod process_limits;
mod providers;
mod retention;
mod run;
mod sample;
mod schema;
mod serve;
mod servers;
mod sign_in;
mod signals;
mod token;
mod tui;
mod user;
mod wiring;

use args::{Args, CliCommand, LogFormat};
use std::io::IsTerminal;
use std::process::ExitCode;

fn main() -> ExitCode {
    // Commands of the sandbox start in this binary too.
    if let Some(code) = planwright_sandbox::enter_if_asked() {
        return code;
    }
    planwright_providers::install_cryptography();
    let Args { command, screen } = Args::read();
    let Some(command) = command else { return on_a_terminal(screen) };
    init_logs(&command);
    process_limits::forbid_core_dumps();
    let outcome = match command {
        CliCommand::Serve(args) => in_runtime(serve::serve(args)).map(|()| ExitCode::SUCCESS),
        CliCommand::Run(args) => on_one_thread(run::run(args)),
        CliCommand::Acp(args) => in_runtime(acp::acp(args)).map(|()| ExitCode::SUCCESS),
        CliCommand::Plan(args) => plan::plan(args),
        CliCommand::Doctor(args) => in_runtime(doctor::doctor(args)),
        CliCommand::Mcp(args) => in_runtime(mcp::mcp(args)),
        CliCommand::User(args) => in_runtime(user::user(args)),
        CliCommand::Token(args) => in_runtime(token::token(args)),
        CliCommand::Backup(args) => in_runtime(backup::backup(args)),
        CliCommand::Restore(args) => in_runtime(backup::restore(args)),
        CliCommand::Export(args) => in_runtime(export::export(args)),
        CliCommand::Roles(args) => lists::roles(&args),
        CliCommand::Tools(args) => lists::tools(&args),
        CliCommand::Completions(args) => lists::completions(&args),
        CliCommand::Schema(args) => schema::schema(&args),
        CliCommand::Nodes(args) => in_runtime(nodes::nodes(args)),
        CliCommand::Man(args) => man::man(&args),
        CliCommand::Openapi => lists::openapi(),
    };
    output::checked(outcome.unwrap_or_else(|error| output::fail(&error)))
}

/// The terminal UI; without a terminal, the help.
fn on_a_terminal(screen: args::ScreenArgs) -> ExitCode {
    if !tui::has_terminal() {
        return output::checked(lists::help());
    }
    // A log line would end up in the middle of the picture.
    if !std::io::stderr().is_terminal() {
        tracing_subscriber::fmt().with_env_filter(log_filter()).with_ansi(false).with_writer(std::io::stderr).init();
    }
    process_limits::forbid_core_dumps();
    output::checked(in_runtime(tui::tui(screen)).map_or_else(|error| output::fail(&error), |()| ExitCode::SUCCESS))
}

fn log_filter() -> tracing_subscriber::EnvFilter {
    let wanted = std::env::var(args::LOG).ok().filter(|wanted| !wanted.is_empty());
    wanted.and_then(|wanted| tracing_subscriber::EnvFilter::try_new(wanted).ok()).unwrap_or_else(|| "planwright=warn".into())
}

fn in_runtime<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Runtime::new()?.block_on(work)
}

/// One chat has little to do at a time; waking another thread for each delta would cost more than the delta.
fn on_one_thread<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work)
}

/// Logs go to stderr, so that stdout has only the command's output. Library logs are off by default.
fn init_logs(command: &CliCommand) {
    let logs = tracing_subscriber::fmt().with_env_filter(log_filter()).with_ansi(output::has_colour()).with_writer(std::io::stderr);
    if let CliCommand::Serve(args) = command
        && args.log_format == LogFormat::Json
    {
        logs.json().init();
    } else {
        logs.init();
    }
}
