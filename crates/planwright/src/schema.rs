//! `planwright schema`: JSON Schemas for scripts and editors, generated from the types.

use crate::output;
use clap::{Args as ClapArgs, ValueEnum};
use planwright_config::Config;
use planwright_feed::SentEvent;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use std::process::ExitCode;

/// Print a JSON Schema for the lines of `run --json`, or for the configuration file
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  planwright schema events > events.schema.json
  planwright schema config > ~/.config/planwright/config.schema.json")]
pub struct SchemaArgs {
    #[arg(value_enum)]
    of: Form,
}

#[derive(Clone, Copy, ValueEnum)]
enum Form {
    /// One line of `run --json`, which is one event of the event stream
    Events,
    /// config.toml, for editors that validate and complete TOML with a schema
    Config,
}

pub fn schema(args: &SchemaArgs) -> anyhow::Result<ExitCode> {
    let settings = SchemaSettings::draft2020_12();
    let schema = match args.of {
        Form::Events => titled::<SentEvent<'static>>(settings.for_serialize(), "One line of `planwright run --json`"),
        Form::Config => titled::<Config>(settings.for_deserialize(), "The configuration of Planwright: config.toml"),
    };
    output::data(&serde_json::to_string_pretty(&schema)?);
    Ok(ExitCode::SUCCESS)
}

fn titled<T: JsonSchema>(settings: SchemaSettings, title: &str) -> Schema {
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.insert("title".to_owned(), title.into());
    schema
}
