//! The `.plan` file: YAML frontmatter and Markdown with checkboxes.
//!
//! A parsed file is written back byte for byte, except for what changed since: a ticked box changes one line, a new text its
//! item, a new goal its heading. So the user's own sections, comments and line ends stay.

use crate::frontmatter::Header;
use crate::outline::Outline;
use crate::read::Reading;
use crate::rewrite;
use planwright_protocol::api::plan::Finding;
use planwright_protocol::{ErrorCode, Plan, PlanFileStatus, Problem, StepStatus, sha256_hex};

/// Maximum size of a plan file: no plan that a person can review comes near it.
pub const MAX_PLAN_BYTES: usize = 1024 * 1024;

/// A plan file, whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanDocument {
    pub plan: Plan,
    pub status: PlanFileStatus,
    pub chat: Option<String>,
    pub revision: u32,
    source: Option<Source>,
}

/// The file as it was parsed, and the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) text: String,
    pub(crate) plan: Plan,
    /// The frontmatter; its goal is `None` if only the heading has one.
    pub(crate) header: Header,
}

impl PlanDocument {
    /// A new file for a plan.
    #[must_use]
    pub fn new(plan: Plan, chat: Option<String>, revision: u32) -> PlanDocument {
        PlanDocument { plan, status: PlanFileStatus::Draft, chat, revision, source: None }
    }

    /// Parses a plan file, written by us or by hand. Steps are numbered by their order.
    ///
    /// # Errors
    /// Why the text is not a plan, with positions. [`lint`](mod@super::lint) finds more.
    pub fn parse(text: &str) -> Result<PlanDocument, Vec<Finding>> {
        let reading = Reading::of(text);
        if !reading.errors.is_empty() {
            return Err(reading.errors);
        }
        let (plan, header) = (reading.plan, reading.header);
        Ok(PlanDocument {
            plan: plan.clone(),
            status: header.status,
            chat: header.chat.clone(),
            revision: header.revision,
            source: Some(Source { text: text.to_owned(), plan, header }),
        })
    }

    /// The text of the file. A plan that passes [`crate::check`] parses back to itself.
    #[must_use]
    pub fn render(&self) -> String {
        match &self.source {
            Some(source) => rewrite::rewrite(source, self),
            None => rewrite::write(self),
        }
    }

    /// Whether the file has a status to update. A file without one stays without.
    #[must_use]
    pub fn has_status(&self) -> bool {
        let is_status = |line: &str| line.strip_prefix("status").is_some_and(|rest| rest.trim_start().starts_with(':'));
        let frontmatter = self.source.as_ref().and_then(|source| Outline::of(&source.text).frontmatter);
        self.source.is_none() || frontmatter.is_some_and(|raw| raw.yaml.lines().any(is_status))
    }

    /// Changes the status of a step. The next [`render`](Self::render) differs only in that step's line.
    ///
    /// # Errors
    /// `INVALID_ARGUMENTS` when the plan has no such step.
    pub fn set_step(&mut self, step_number: u32, status: StepStatus) -> Result<(), Problem> {
        let count = self.plan.steps.len();
        let Some(step) = self.plan.steps.iter_mut().find(|step| step.step_number == step_number) else {
            return Err(Problem::new(
                ErrorCode::InvalidArguments,
                format!("The plan has no step {step_number}. Its steps are 1 to {count}."),
            ));
        };
        step.status = status;
        Ok(())
    }

    /// The hash that an approval is bound to: the sha256, in hexadecimal digits, of the file without its progress. For a draft with
    /// nothing ticked it is the file's own hash.
    #[must_use]
    pub fn sha256(&self) -> String {
        // Rendered twice, so that every box and the status exist and can be reset, as in a file that was ticked.
        let ticked = self.at(StepStatus::Done, PlanFileStatus::Done);
        let open = PlanDocument::parse(&ticked.render()).map(|ticked| ticked.at(StepStatus::Pending, PlanFileStatus::Draft));
        sha256_hex(open.as_ref().unwrap_or(self).render().as_bytes())
    }

    /// The same plan with another progress.
    fn at(&self, step_status: StepStatus, status: PlanFileStatus) -> PlanDocument {
        let mut document = PlanDocument { status, ..self.clone() };
        for step in &mut document.plan.steps {
            step.status = step_status;
        }
        document
    }

    /// The present frontmatter.
    pub(crate) fn header(&self) -> Header {
        Header {
            goal: Some(self.plan.goal.clone()),
            status: self.status,
            chat: self.chat.clone(),
            revision: self.revision,
            estimated_total_time: self.plan.estimated_total_time.clone(),
        }
    }
}
