//! What needs the user's approval outside the workspace: programs that run, and requests to the web.

use super::{Concern, Situation};
use crate::effect::{RunEffect, WebEffect};
use crate::path::WorkspacePath;
use planwright_protocol::Severity;
use planwright_protocol::settings::Rule;

pub(super) fn concern_about_run(situation: &Situation, effect: &RunEffect) -> Option<Concern> {
    let granted = |folder: &WorkspacePath| situation.grants.iter().any(|grant| grant.covers(&situation.tool, folder));
    let ask = |rule, severity, reason: &str| Some(Concern { rule, severity, reason: reason.to_owned() });
    let of_server = |server: &str| {
        let reason = format!("the call uses a tool of the MCP server `{server}`, and its effects are unknown");
        ask(situation.approvals.mcp, Severity::Major, &reason)
    };
    match effect {
        RunEffect::Execute { folder, .. } if granted(folder) => None,
        RunEffect::Execute { .. } => ask(situation.approvals.execute, Severity::Minor, "a command would run"),
        // Leaving the sandbox asks each time: allowing one command says nothing about the next.
        RunEffect::Network => ask(Rule::Ask, Severity::Major, "the command would leave the sandbox and reach the network"),
        RunEffect::Unconfined => ask(Rule::Ask, Severity::Major, "the sandbox is switched off, so nothing would confine the command"),
        RunEffect::Inspect => None,
        RunEffect::Call { server, .. } if !granted(&WorkspacePath::root()) => of_server(server),
        // A setting that forbids all server calls outranks a grant and the user's trust in read-only tools.
        RunEffect::Call { server, .. } | RunEffect::Consult { server, .. } if situation.approvals.mcp == Rule::Deny => of_server(server),
        RunEffect::Call { .. } | RunEffect::Consult { .. } => None,
    }
}

/// The rule of `Fetch`: a host asks unless it is allowed, because the address alone can carry what the model knows to a stranger.
/// The search service was chosen by the user.
pub(super) fn concern_about_web(situation: &Situation, effect: &WebEffect) -> Option<Concern> {
    match effect {
        WebEffect::Fetch(url) if situation.hosts.contains(&url.host()) => None,
        WebEffect::Fetch(url) => Some(Concern {
            rule: Rule::Ask,
            severity: Severity::Major,
            reason: format!("the page is fetched from {}, which is not an allowed host", url.host()),
        }),
        WebEffect::Search(_) => None,
    }
}
