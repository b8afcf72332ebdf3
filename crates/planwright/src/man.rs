//! `planwright man`

use crate::args::{Args, ManArgs};
use anyhow::Context;
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

/// The heading of the examples in a command's help.
const EXAMPLES: &str = "Examples:\n";

/// Writes a page for each command, under the names that `man` expects.
pub fn man(args: &ManArgs) -> anyhow::Result<ExitCode> {
    let wrong = || format!("can't write the manual pages into {}", args.folder.display());
    DirBuilder::new().recursive(true).create(&args.folder).with_context(wrong)?;
    let mut command = Args::command().disable_help_subcommand(true);
    command.build();
    pages(command, &args.folder).with_context(wrong)?;
    Ok(ExitCode::SUCCESS)
}

fn pages(command: Command, folder: &Path) -> std::io::Result<()> {
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()).cloned() {
        pages(below, folder)?;
    }
    let page = Man::new(command.clone());
    let mut file = OpenOptions::new().create(true).write(true).truncate(true).open(folder.join(page.get_filename()))?;
    file.write_all(&whole(&command, &page)?)
}

fn whole(command: &Command, page: &Man) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    page.render_title(&mut text)?;
    page.render_name_section(&mut text)?;
    page.render_synopsis_section(&mut text)?;
    page.render_description_section(&mut text)?;
    if command.get_arguments().any(|argument| !argument.is_hide_set()) {
        page.render_options_section(&mut text)?;
    }
    if command.get_subcommands().any(|below| !below.is_hide_set()) {
        page.render_subcommands_section(&mut text)?;
    }
    if let Some(more) = command.get_after_long_help().or_else(|| command.get_after_help()) {
        after_help(&more.to_string()).to_writer(&mut text)?;
    }
    if command.get_version().is_some() {
        page.render_version_section(&mut text)?;
    }
    Ok(text)
}

/// The text below the options in a command's help: notes, and examples verbatim.
fn after_help(text: &str) -> Roff {
    let (remarks, examples) = text.split_once(EXAMPLES).unwrap_or((text, ""));
    let mut roff = Roff::new();
    if !remarks.trim().is_empty() {
        roff.control("SH", ["NOTES"]);
        for line in remarks.trim().lines() {
            roff.text([roman(line)]);
        }
    }
    if !examples.trim().is_empty() {
        roff.control("SH", ["EXAMPLES"]);
        roff.control("nf", []);
        for line in examples.lines() {
            roff.text([roman(line.strip_prefix("  ").unwrap_or(line))]);
        }
        roff.control("fi", []);
    }
    roff
}

#[cfg(test)]
mod tests {
    use super::after_help;

    #[test]
    fn examples_stand_as_they_are_typed_and_remarks_before_them() {
        let page = after_help("Exits with 1\nif it fails.\n\nExamples:\n  planwright a --b        why\n  planwright c").to_roff();
        assert_eq!(page, ".SH NOTES\nExits with 1\nif it fails.\n.SH EXAMPLES\n.nf\nplanwright a \\-\\-b        why\nplanwright c\n.fi\n");
        assert_eq!(after_help("One remark.").to_roff(), ".SH NOTES\nOne remark.\n");
    }
}
