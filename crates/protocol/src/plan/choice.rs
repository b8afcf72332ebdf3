//! The part of a plan that the user approved.

use super::{Plan, Progress};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The approved steps of a plan. Default: all of them, without a stop.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StepChoice {
    /// The numbers of the approved steps; absent for all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<Vec<u32>>,
    /// The agent stops after this step and asks the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_after: Option<u32>,
}

impl StepChoice {
    #[must_use]
    pub fn is_everything(&self) -> bool {
        *self == Self::default()
    }

    /// Whether the user approved this step, now or after the stop.
    #[must_use]
    pub fn includes(&self, step_number: u32) -> bool {
        self.steps.as_ref().is_none_or(|steps| steps.contains(&step_number))
    }

    /// Whether the agent may work on this step now: it is approved and not behind the stop.
    #[must_use]
    pub fn allows(&self, step_number: u32) -> bool {
        self.includes(step_number) && self.stop_after.is_none_or(|stop| step_number <= stop)
    }

    /// The numbers of the steps that the agent may work on now.
    #[must_use]
    pub fn allowed(&self, plan: &Plan) -> Vec<u32> {
        plan.steps.iter().map(|step| step.step_number).filter(|number| self.allows(*number)).collect()
    }

    /// The allowed steps that are neither done nor skipped.
    #[must_use]
    pub fn open_steps(&self, progress: &Progress) -> Vec<u32> {
        progress.open_steps().into_iter().filter(|number| self.allows(*number)).collect()
    }

    /// The same choice without its stop.
    #[must_use]
    pub fn past_stop(&self) -> Self {
        Self { stop_after: None, ..self.clone() }
    }

    /// The limits for people and models; `None` if there are none.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        let only = self.steps.as_ref().map(|steps| format!("Only these steps are approved: {}.", numbers(steps)));
        let stop = self.stop_after.map(|stop| format!("Execution stops after step {stop} and asks the user."));
        let parts: Vec<String> = only.into_iter().chain(stop).collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    }
}

/// Step numbers as a list for people.
#[must_use]
pub fn numbers(steps: &[u32]) -> String {
    steps.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_allows_its_steps_up_to_the_stop() {
        let all = StepChoice::default();
        assert!(all.allows(1) && all.includes(99) && all.is_everything() && all.text().is_none());
        let some = StepChoice { steps: Some(vec![1, 2, 5]), stop_after: Some(2) };
        let allowed: Vec<u32> = (1..=6).filter(|step| some.allows(*step)).collect();
        assert_eq!(allowed, [1, 2]);
        assert!(some.includes(5) && some.past_stop().allows(5) && !some.past_stop().allows(3));
        assert_eq!(some.text().unwrap(), "Only these steps are approved: 1, 2, 5. Execution stops after step 2 and asks the user.");
    }
}
