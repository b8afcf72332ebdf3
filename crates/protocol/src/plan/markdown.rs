//! The `.plan` file: YAML frontmatter and Markdown with checkboxes.
//!
//! A file that was read is written back byte for byte, except for what changed since: a ticked box changes
//! one line, a new text its item, a new goal its heading. So a user's own sections, comments and line ends stay.

use super::frontmatter::Header;
use super::lint::Finding;
use super::outline::Outline;
use super::read::Reading;
use super::{Plan, StepStatus, weave};
use crate::error::{ErrorCode, Problem};
use sha2::{Digest, Sha256};

/// A plan file that is longer is not read: no plan a person can review comes near it.
pub const MAX_PLAN_BYTES: usize = 1024 * 1024;

/// How far a plan has come, as its file says it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanFileStatus {
    #[default]
    Draft,
    Approved,
    InProgress,
    Done,
}

impl PlanFileStatus {
    pub const ALL: [PlanFileStatus; 4] =
        [PlanFileStatus::Draft, PlanFileStatus::Approved, PlanFileStatus::InProgress, PlanFileStatus::Done];

    /// The word that stands in the file.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            PlanFileStatus::Draft => "draft",
            PlanFileStatus::Approved => "approved",
            PlanFileStatus::InProgress => "in_progress",
            PlanFileStatus::Done => "done",
        }
    }

    /// The status a word stands for, in any case.
    #[must_use]
    pub fn of_word(word: &str) -> Option<PlanFileStatus> {
        PlanFileStatus::ALL.into_iter().find(|status| status.word().eq_ignore_ascii_case(word.trim()))
    }
}

/// A plan file, whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanDocument {
    pub plan: Plan,
    pub status: PlanFileStatus,
    pub chat: Option<String>,
    pub revision: u32,
    source: Option<Source>,
}

/// The file as it was read, and what was read from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Source {
    pub(super) text: String,
    pub(super) plan: Plan,
    /// What the frontmatter says; its goal is none where only the heading has one.
    pub(super) header: Header,
}

impl PlanDocument {
    /// A new file for a plan.
    #[must_use]
    pub fn new(plan: Plan, chat: Option<String>, revision: u32) -> PlanDocument {
        PlanDocument { plan, status: PlanFileStatus::Draft, chat, revision, source: None }
    }

    /// Reads a plan file, written by us or by hand. Steps are numbered by their order.
    ///
    /// # Errors
    /// What keeps the text from being a plan, each with its place. [`lint`](mod@super::lint) says more.
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

    /// The text of the file. A plan that passes [`Plan::check`] reads back as itself.
    #[must_use]
    pub fn render(&self) -> String {
        match &self.source {
            Some(source) => weave::weave(source, self),
            None => weave::write(self),
        }
    }

    /// Whether the file has a status to be kept up to date. One that has none is left so.
    #[must_use]
    pub fn has_status(&self) -> bool {
        let is_status = |line: &str| line.strip_prefix("status").is_some_and(|rest| rest.trim_start().starts_with(':'));
        let frontmatter = self.source.as_ref().and_then(|source| Outline::of(&source.text).frontmatter);
        self.source.is_none() || frontmatter.is_some_and(|raw| raw.yaml.lines().any(is_status))
    }

    /// Moves a step. The next [`render`](Self::render) differs in that step's line only.
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

    /// What an approval is bound to: the sha256, in hexadecimal digits, of the file without its progress. For a draft with
    /// nothing ticked that is the file's own.
    #[must_use]
    pub fn sha256(&self) -> String {
        // Twice, so that every box and the status are there to be put back, as they are in a file that was ticked.
        let ticked = self.at(StepStatus::Done, PlanFileStatus::Done);
        let open = PlanDocument::parse(&ticked.render()).map(|ticked| ticked.at(StepStatus::Pending, PlanFileStatus::Draft));
        plan_sha256(open.as_ref().unwrap_or(self).render().as_bytes())
    }

    /// The same plan at another point of its progress.
    fn at(&self, step_status: StepStatus, status: PlanFileStatus) -> PlanDocument {
        let mut document = PlanDocument { status, ..self.clone() };
        for step in &mut document.plan.steps {
            step.status = step_status;
        }
        document
    }

    /// What the frontmatter has to say now.
    pub(super) fn header(&self) -> Header {
        Header {
            goal: Some(self.plan.goal.clone()),
            status: self.status,
            chat: self.chat.clone(),
            revision: self.revision,
            estimated_total_time: self.plan.estimated_total_time.clone(),
        }
    }
}

/// The sha256 of some bytes, in hexadecimal digits.
#[must_use]
pub fn plan_sha256(bytes: &[u8]) -> String {
    let digits = b"0123456789abcdef";
    let digest = Sha256::digest(bytes);
    digest.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(|half| char::from(digits[usize::from(half)])).collect()
}
