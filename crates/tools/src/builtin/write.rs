use super::files;
use crate::effect::FileEffect;
use crate::gate::Target;
use crate::path::WorkspacePath;
use crate::tool::{Input, Prepared, Risk, Spec, ToolContext};
use planwright_protocol::{Permission, Problem};
use schemars::JsonSchema;
use serde::Deserialize;

/// Write a whole file; creates missing folders. Use `edit` to change a part.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Write {
    path: String,
    content: String,
}

impl Input for Write {
    const SPEC: Spec<'static> = Spec::writing("write", Risk::Medium, &[&[Permission::Create]], &[r#"{"path": "/a.md", "content": "A\n"}"#]);

    fn prepare(self, cx: &ToolContext) -> Result<Prepared, Problem> {
        let path = WorkspacePath::parse_file(&self.path)?;
        files::check_size(&path, self.content.len())?;
        let before = files::present(cx, &path)?;
        let content = files::revised(cx, &path, before.as_ref(), self.content.into_bytes());
        let change = files::change(&path, before.as_ref(), Some(&content));
        let expected = before.map(|snapshot| snapshot.stamp);
        let (effects, what) = match expected {
            // The diff shows the old content, so the call also reads it.
            Some(_) => (vec![FileEffect::Write(path.clone()), FileEffect::Read(path.clone())], "Replaced"),
            None => (vec![FileEffect::Create(path.clone())], "Created"),
        };
        let cx = cx.clone();
        let changes = vec![change.clone()];
        Ok(Prepared::new(effects, move |permit| {
            let stamp = cx.workspace.write(&permit.to_write(&path, Target::of(expected.as_ref()))?, &path, &content, expected)?;
            Ok(files::written(&cx, &path, stamp, &change, what))
        })
        .changing(changes))
    }
}

#[cfg(test)]
mod tests {
    use super::super::trial::Trial;
    use crate::path::WorkspacePath;
    use planwright_plan::PlanDocument;
    use planwright_protocol::{ChatId, Role, StepStatus};
    use serde_json::json;

    const PLAN: &str = "---\ngoal: Greet\nstatus: in_progress\nrevision: 4\n---\n# Greet\n\n## Steps\n\n- [x] 1. Say hello\n- [ ] 2. Say goodbye\n\n## Notes\n\nMine.\n";

    fn own_plan() -> Trial {
        let mut trial = Trial::new(&[("plans/greet.plan", PLAN)]);
        trial.cx.config.chat = Some(ChatId::generate());
        trial.cx.config.active_plan_path = Some(WorkspacePath::parse("/plans/greet.plan").unwrap());
        trial
    }

    fn plan_of(trial: &Trial) -> PlanDocument {
        PlanDocument::parse(&trial.content("plans/greet.plan")).unwrap()
    }

    #[test]
    fn what_the_model_makes_of_its_plan_is_the_next_revision_and_a_draft_and_ticks_nothing() {
        let content = PLAN.replace("[ ] 2. Say goodbye", "[x] 2. Say goodbye twice").replace("revision: 4", "revision: 1");
        let statuses = |plan: &PlanDocument| plan.plan.steps.iter().map(|step| step.status).collect::<Vec<_>>();
        for (tool, args) in [
            ("write", json!({ "path": "/plans/greet.plan", "content": content })),
            ("edit", json!({ "path": "/plans/greet.plan", "old_string": "[ ] 2. Say goodbye", "new_string": "[x] 2. Say goodbye twice" })),
        ] {
            let trial = own_plan();
            trial.call(Role::Planner, tool, &args.to_string()).unwrap();
            let plan = plan_of(&trial);
            assert_eq!((plan.revision, plan.status.as_str()), (5, "draft"), "{tool}");
            assert_eq!(statuses(&plan), [StepStatus::Done, StepStatus::Pending], "{tool}");
            assert!(trial.content("plans/greet.plan").ends_with("## Notes\n\nMine.\n"));
        }
        let trial = own_plan();
        trial.call(Role::Planner, "write", &json!({ "path": "/plans/greet.plan", "content": PLAN }).to_string()).unwrap();
        assert_eq!(plan_of(&trial).revision, 4, "the same again is no revision");
    }

    #[test]
    fn a_first_plan_begins_with_nothing_done() {
        let mut trial = Trial::new(&[]);
        trial.cx.config.chat = Some(ChatId::generate());
        trial.call(Role::Planner, "write", &json!({ "path": "/plans/greet.plan", "content": PLAN }).to_string()).unwrap();
        let plan = plan_of(&trial);
        assert_eq!((plan.revision, plan.status.as_str()), (1, "draft"));
        assert!(plan.plan.steps.iter().all(|step| step.status == StepStatus::Pending));
    }
}
