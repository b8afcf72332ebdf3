//! Variables of the environment that stand for options. One that is empty counts as not set.

use super::Args;
use clap::builder::Resettable;
use clap::{Arg, Command, CommandFactory, FromArgMatches};

/// What is logged, in the words of `tracing`.
pub const LOG: &str = "PLANWRIGHT_LOG";

impl Args {
    /// The command line of this process. Ends it, with help or an error, where there is nothing to do.
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
