//! The binary: commands, configuration, wiring.

mod acp;
mod args;
mod browser;
mod data_dir;
mod disk;
mod doctor;
mod export;
mod keeping;
mod lists;
mod man;
mod mcp;
mod models;
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
mod user;
mod wiring;

use args::{Args, Command, LogFormat};
use std::process::ExitCode;

fn main() -> ExitCode {
    // Commands begin in this binary too, as a stage of their sandbox.
    if let Some(code) = planwright_sandbox::enter_if_asked() {
        return code;
    }
    planwright_providers::install_cryptography();
    let command = Args::read().command;
    init_logs(&command);
    process_limits::forbid_core_dumps();
    let outcome = match command {
        Command::Serve(args) => in_runtime(serve::serve(args)).map(|()| ExitCode::SUCCESS),
        Command::Run(args) => on_one_thread(run::run(args)),
        Command::Acp(args) => in_runtime(acp::acp(args)).map(|()| ExitCode::SUCCESS),
        Command::Plan(args) => plan::plan(args),
        Command::Doctor(args) => in_runtime(doctor::doctor(args)),
        Command::Mcp(args) => in_runtime(mcp::mcp(args)),
        Command::User(args) => in_runtime(user::user(args)),
        Command::Token(args) => in_runtime(token::token(args)),
        Command::Backup(args) => in_runtime(keeping::backup(args)),
        Command::Restore(args) => in_runtime(keeping::restore(args)),
        Command::Export(args) => in_runtime(export::export(args)),
        Command::Roles(args) => lists::roles(&args),
        Command::Tools(args) => lists::tools(&args),
        Command::Completions(args) => lists::completions(&args),
        Command::Schema(args) => schema::schema(&args),
        Command::Man(args) => man::man(&args),
        Command::Openapi => lists::openapi(),
    };
    output::checked(outcome.unwrap_or_else(|error| output::fail(&error)))
}

fn in_runtime<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Runtime::new()?.block_on(work)
}

/// One chat has little to do at a time, and to wake another thread for each word of an answer costs more than the word.
fn on_one_thread<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work)
}

/// Logs go to stderr, so that what a command prints stays clean. What libraries have to say is for those who ask.
fn init_logs(command: &Command) {
    let wanted = std::env::var(args::LOG).ok().filter(|wanted| !wanted.is_empty());
    let filter = wanted.and_then(|wanted| tracing_subscriber::EnvFilter::try_new(wanted).ok()).unwrap_or_else(|| "planwright=warn".into());
    let logs = tracing_subscriber::fmt().with_env_filter(filter).with_ansi(output::has_colour()).with_writer(std::io::stderr);
    if let Command::Serve(args) = command
        && args.log_format == LogFormat::Json
    {
        logs.json().init();
    } else {
        logs.init();
    }
}
