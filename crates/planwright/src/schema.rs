//! `planwright schema`: the forms that scripts and editors rely on, from the types themselves.

use crate::output;
use clap::{Args as ClapArgs, ValueEnum};
use planwright_session::SentEvent;
use schemars::Schema;
use schemars::generate::SchemaSettings;
use std::process::ExitCode;

/// Print a JSON Schema: of the lines of `run --json`
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  planwright schema events > events.schema.json")]
pub struct SchemaArgs {
    #[arg(value_enum)]
    of: Form,
}

#[derive(Clone, Copy, ValueEnum)]
enum Form {
    /// One line of `run --json`, which is one event of the event stream
    Events,
}

pub fn schema(args: &SchemaArgs) -> anyhow::Result<ExitCode> {
    let schema = match args.of {
        Form::Events => events(),
    };
    output::data(&serde_json::to_string_pretty(&schema)?);
    Ok(ExitCode::SUCCESS)
}

fn events() -> Schema {
    let mut schema = SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<SentEvent<'static>>();
    schema.insert("title".to_owned(), "One line of `planwright run --json`".into());
    schema
}
