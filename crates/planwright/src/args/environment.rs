//! Environment variables for options. An empty variable counts as unset.

use super::Args;
use clap::builder::Resettable;
use clap::{Arg, Command, CommandFactory, FromArgMatches};

/// The log filter, in the syntax of `tracing`.
pub const LOG: &str = "PLANWRIGHT_LOG";

impl Args {
    /// Parses the command line of this process. Exits with help or an error if there is nothing to do.
    pub fn read() -> Self {
        let matches = without_empty_variables(Args::command()).get_matches();
        Args::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }
}

fn without_empty_variables(command: Command) -> Command {
    command.mut_args(without_empty_variable).mut_subcommands(without_empty_variables)
}

fn without_empty_variable(arg: Arg) -> Arg {
    let is_empty = arg.get_env().and_then(std::env::var_os).is_some_and(|value| value.is_empty());
    if is_empty { arg.env(Resettable::Reset) } else { arg }
}
