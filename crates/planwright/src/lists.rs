//! `planwright roles`, `planwright tools`, `planwright completions`, `planwright openapi`

use crate::args::{Args, CompletionsArgs, RolesArgs, ToolsArgs};
use crate::output;
use clap::CommandFactory;
use planwright_chat::tool_views;
use planwright_protocol::Role;
use planwright_protocol::role::RoleView;
use planwright_tools::{Offer, SearchOffer};
use std::process::ExitCode;

pub fn roles(args: &RolesArgs) -> anyhow::Result<ExitCode> {
    let roles: Vec<RoleView> = Role::all().map(RoleView::from).collect();
    if args.json {
        output::data(&serde_json::to_string_pretty(&roles)?);
        return Ok(ExitCode::SUCCESS);
    }
    let head = ["role", "mode", "read", "write", "create", "delete", "execute", "plans"].map(str::to_owned).to_vec();
    let yes = |right: bool| if right { "yes" } else { "-" }.to_owned();
    let rows = roles.iter().map(|role| {
        let rights = &role.permissions;
        let rights = [
            rights.can_read_files,
            rights.can_write_files,
            rights.can_create_files,
            rights.can_delete_files,
            rights.can_execute_commands,
            rights.can_write_plans,
        ];
        [vec![role.title.to_owned(), word(role.mode)], rights.map(yes).to_vec()].concat()
    });
    table(std::iter::once(head).chain(rows).collect());
    output::line("");
    for role in &roles {
        output::line(&format!("{}: {}", role.title, role.description));
    }
    Ok(ExitCode::SUCCESS)
}

pub fn tools(args: &ToolsArgs) -> anyhow::Result<ExitCode> {
    let config = planwright_config::Config::load(crate::providers::vendor_names())?;
    let search = if config.web.search.is_some() { SearchOffer::On } else { SearchOffer::Off };
    let tools = tool_views(args.role, Offer { inspect: config.sandbox.inspect, search, ..Offer::default() });
    if args.json {
        output::data(&serde_json::to_string_pretty(&tools)?);
        return Ok(ExitCode::SUCCESS);
    }
    let head = ["tool", "category", "risk", "read-only", "needs"].map(str::to_owned).to_vec();
    let rows = tools.iter().map(|tool| {
        let needs = tool.needs.iter().map(|set| set.iter().map(word).collect::<Vec<_>>().join(", ")).collect::<Vec<_>>().join(" or ");
        let read_only = if tool.read_only { "yes" } else { "-" };
        vec![
            tool.name.clone(),
            word(tool.category),
            word(tool.risk),
            read_only.to_owned(),
            if needs.is_empty() { "-".to_owned() } else { needs },
        ]
    });
    table(std::iter::once(head).chain(rows).collect());
    Ok(ExitCode::SUCCESS)
}

pub fn completions(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "planwright", &mut script);
    output::data(String::from_utf8(script)?.trim_end());
    Ok(ExitCode::SUCCESS)
}

/// The help, for who calls the program without a command and without a terminal.
pub fn help() -> ExitCode {
    output::line(&Args::command().render_long_help().to_string());
    ExitCode::SUCCESS
}

/// The document of `GET /openapi.json`, for builds without a server.
pub fn openapi() -> anyhow::Result<ExitCode> {
    output::data(&serde_json::to_string_pretty(planwright_server::openapi())?);
    Ok(ExitCode::SUCCESS)
}

/// Prints rows with aligned columns.
pub fn table(rows: Vec<Vec<String>>) {
    let columns = rows.first().map_or(0, Vec::len);
    let widths: Vec<usize> = (0..columns).map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)).collect();
    for row in rows {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        output::line(cells.join("  ").trim_end());
    }
}

/// The wire name of an enum's variant.
fn word(value: impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}
