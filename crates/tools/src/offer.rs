//! Which tools an agent has.

use crate::builtin::{BUILTIN, explore, web_search};
use crate::gate::AgentKind;
use crate::tool::{Category, Input, Spec, Tool};
use planwright_protocol::settings::Inspect;
use planwright_protocol::{Mode, Permission, Role};

/// What decides, besides its role, which tools an agent has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    pub inspect: Inspect,
    pub search: SearchOffer,
    pub agent: AgentKind,
}

/// Whether a search service is configured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchOffer {
    #[default]
    Off,
    On,
}

/// The tools that are listed to a role: those whose needs it meets, all of them read-only in plan
/// mode but for the ways to write the plan and to leave.
pub fn tools_of(role: Role, offer: Offer) -> impl Iterator<Item = &'static dyn Tool> {
    BUILTIN.iter().copied().filter(move |tool| is_listed(&tool.spec(), role, offer))
}

/// Whether a tool is listed to a role, wherever it comes from.
#[must_use]
pub fn is_listed(spec: &Spec<'_>, role: Role, offer: Offer) -> bool {
    let is_for_helpers =
        spec.read_only && matches!(spec.category, Category::Read | Category::Search) && spec.name != explore::Explore::SPEC.name;
    if offer.agent == AgentKind::Helper && !is_for_helpers || offer.search == SearchOffer::Off && spec.name == web_search::NAME {
        return false;
    }
    let meets = |needs: &&[Permission]| needs.iter().all(|&need| role.has(need));
    let inspects =
        offer.inspect == Inspect::On && role.mode() == Mode::Plan && role.has(Permission::Read) && spec.category == Category::Execute;
    spec.needs.iter().any(meets) || inspects
}
