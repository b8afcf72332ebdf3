//! The binary: commands, configuration, wiring.

mod args;
mod config;
mod data_dir;
mod models;
mod output;
mod run;
mod serve;

use args::{Args, Command};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = Args::parse();
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return output::fail(&anyhow::anyhow!("could not start: {error}")),
    };
    init_logs();
    let outcome = runtime.block_on(async {
        match args.command {
            Command::Serve(serve) => serve::serve(serve).await.map(|()| ExitCode::SUCCESS),
            Command::Run(run) => run::run(run).await,
        }
    });
    outcome.unwrap_or_else(|error| output::fail(&error))
}

/// Logs go to stderr, so that what a command prints stays clean.
fn init_logs() {
    let filter = tracing_subscriber::EnvFilter::try_from_env("PLANWRIGHT_LOG").unwrap_or_else(|_| "warn".into());
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
}
