//! The built-in tools: one file each, and this list, from which prompt, documentation, API and UI are generated.

mod ask_user;
pub mod delegate;
mod edit;
mod exit_plan_mode;
pub mod explore;
mod files;
mod glob;
mod grep;
mod history;
mod hits;
mod ls;
mod mkdir;
mod mv;
mod nearest;
mod outline;
mod pattern;
mod read;
mod references;
mod rm;
mod run;
pub(crate) mod source_search;
mod submit_review;
mod symbols;
mod touch;
#[cfg(test)]
pub(crate) mod trial;
pub mod update_step;
pub(crate) mod web_fetch;
pub(crate) mod web_search;
mod write;
mod write_plan;

use crate::tool::{Builtin, Tool};

/// Every built-in tool, in the order that models and people see.
pub const BUILTIN: &[&dyn Tool] = &[
    &Builtin::<read::Read>::TOOL,
    &Builtin::<ls::Ls>::TOOL,
    &Builtin::<history::History>::TOOL,
    &Builtin::<web_fetch::WebFetch>::TOOL,
    &Builtin::<glob::Glob>::TOOL,
    &Builtin::<grep::Grep>::TOOL,
    &Builtin::<outline::Outline>::TOOL,
    &Builtin::<symbols::Symbols>::TOOL,
    &Builtin::<references::References>::TOOL,
    &Builtin::<explore::Explore>::TOOL,
    &Builtin::<web_search::WebSearch>::TOOL,
    &Builtin::<write::Write>::TOOL,
    &Builtin::<edit::Edit>::TOOL,
    &Builtin::<touch::Touch>::TOOL,
    &Builtin::<mkdir::Mkdir>::TOOL,
    &Builtin::<mv::Mv>::TOOL,
    &Builtin::<rm::Rm>::TOOL,
    &Builtin::<run::RunCommand>::TOOL,
    &Builtin::<ask_user::AskUser>::TOOL,
    &Builtin::<write_plan::WritePlan>::TOOL,
    &Builtin::<exit_plan_mode::ExitPlanMode>::TOOL,
    &Builtin::<update_step::UpdateStep>::TOOL,
    &Builtin::<delegate::Delegate>::TOOL,
    &Builtin::<submit_review::SubmitReview>::TOOL,
];

#[cfg(test)]
mod tests {
    use super::BUILTIN;

    /// Files without a tool of their own, which several tools or a long one use.
    const SHARED: &[&str] = &["files.rs", "grep", "history", "hits.rs", "nearest.rs", "pattern.rs", "source_search.rs", "trial.rs"];

    #[test]
    fn every_tool_file_is_in_the_list_and_named_after_its_tool() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/builtin");
        let mut files: Vec<String> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        files.retain(|file| !SHARED.contains(&file.as_str()));
        files.sort();
        let mut listed: Vec<String> = BUILTIN.iter().map(|tool| format!("{}.rs", tool.spec().name)).collect();
        listed.sort();
        assert_eq!(files, listed);
    }

    #[test]
    fn every_tool_says_what_it_does_and_refuses_unknown_arguments() {
        for tool in BUILTIN {
            let name = tool.spec().name;
            assert!(tool.description().len() > 40, "{name} needs a doc comment on its input type");
            assert_eq!(tool.schema()["additionalProperties"], false, "{name}");
            assert!(!tool.spec().examples.is_empty(), "{name}");
            assert!(!tool.schema().to_string().contains("null"), "{name}: what may be left out is not null, which some wires refuse");
        }
    }
}
