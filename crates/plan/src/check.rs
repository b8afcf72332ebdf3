//! Plans from JSON, and the checks that types can't express.

use planwright_protocol::{ErrorCode, Plan, Problem};
use serde_json::{Value, json};

/// Parses a plan from JSON and checks it.
///
/// # Errors
/// `PLAN_INVALID`, with a reason for each field that is wrong.
pub fn from_json(value: Value) -> Result<Plan, Problem> {
    let plan: Plan = serde_json::from_value(value).map_err(|error| invalid(&[("plan".to_owned(), error.to_string())]))?;
    check(&plan)?;
    Ok(plan)
}

/// Checks what the types can't express: a goal, at least one step, actions, step numbers 1, 2, 3, …
///
/// # Errors
/// `PLAN_INVALID`, with a reason for each field that is wrong.
pub fn check(plan: &Plan) -> Result<(), Problem> {
    let mut wrong = Vec::new();
    if plan.goal.trim().is_empty() {
        wrong.push(("goal".to_owned(), "must state the purpose of the plan".to_owned()));
    }
    if plan.steps.is_empty() {
        wrong.push(("steps".to_owned(), "must have at least one step".to_owned()));
    }
    for (index, step) in plan.steps.iter().enumerate() {
        if step.action.trim().is_empty() {
            wrong.push((format!("steps[{index}].action"), "must state what to do".to_owned()));
        }
        if step.step_number as usize != index + 1 {
            wrong.push((format!("steps[{index}].step_number"), format!("must be {}: steps are numbered 1, 2, 3 in order", index + 1)));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(invalid(&wrong)) }
}

/// A file name for the plan, derived from its goal.
#[must_use]
pub fn slug(plan: &Plan) -> String {
    let mut slug = String::new();
    for c in plan.goal.chars().flat_map(char::to_lowercase) {
        if c.is_alphanumeric() {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() >= 48 {
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "plan".to_owned() } else { slug.to_owned() }
}

fn invalid(wrong: &[(String, String)]) -> Problem {
    let fields: serde_json::Map<String, Value> = wrong.iter().map(|(field, reason)| (field.clone(), reason.clone().into())).collect();
    let reasons = wrong.iter().map(|(field, reason)| format!("`{field}` {reason}")).collect::<Vec<_>>().join("; ");
    Problem::new(ErrorCode::PlanInvalid, format!("The plan is invalid: {reasons}. Fix this and send the whole plan again."))
        .with_details(json!({ "fields": fields }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_needs_a_goal_and_a_step_and_each_fault_is_named() {
        let problem = from_json(json!({"goal": " ", "steps": [{"step_number": 2, "action": ""}]})).unwrap_err();
        assert_eq!(problem.code, ErrorCode::PlanInvalid);
        let fields = &problem.details.unwrap()["fields"];
        for field in ["goal", "steps[0].action", "steps[0].step_number"] {
            assert!(fields.get(field).is_some(), "{fields}");
        }
        assert!(from_json(json!({"goal": "x", "steps": []})).is_err());
    }

    #[test]
    fn the_json_of_the_source_document_is_a_plan() {
        let source = json!({
            "goal": "Clear objective statement",
            "steps": [{"step_number": 1, "action": "What will be done", "reason": "Why this is necessary", "tools_needed": ["read"], "estimated_time": "rough estimate"}],
            "estimated_total_time": "total estimate", "risks": ["potential issues"], "prerequisites": ["things user should prepare"]
        });
        let plan = from_json(source.clone()).unwrap();
        assert_eq!(serde_json::to_value(&plan).unwrap(), source);
    }

    #[test]
    fn a_slug_is_short_and_never_empty() {
        let slug = |goal: &str| super::slug(&Plan { goal: goal.to_owned(), ..Plan::default() });
        assert_eq!(slug("Add a farewell, please!"), "add-a-farewell-please");
        assert_eq!(slug("../../etc"), "etc");
        assert_eq!(slug("!!!"), "plan");
        assert_eq!(slug("添加告别"), "添加告别");
        assert!(slug(&"word ".repeat(100)).len() <= 52);
    }
}
