//! What the model is told of the plan it carries out, on each request.

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::BoxStream;
use planwright_agent::{Delta, ModelCall, ModelRequest, Provider};
use planwright_chat::{Models, Sessions};
use planwright_feed::Follower;
use planwright_protocol::op::ExpectedPlan;
use planwright_protocol::settings::ModelSettings;
use planwright_protocol::{Mode, Op, Problem};
use planwright_store::Store;
use planwright_workspaces::Settings;
use std::sync::{Arc, Mutex};

const PLAN: &str = "---\ngoal: Greet\n---\n\n# Greet\n\n## Steps\n\n- [ ] 1. Say hello\n- [ ] 2. Say goodbye\n";

/// Reports one step after the other, and keeps what it was told.
#[derive(Default)]
struct Told(Mutex<Vec<String>>);

#[async_trait]
impl Provider for Told {
    fn name(&self) -> &'static str {
        "test/told"
    }

    async fn stream(&self, request: ModelRequest) -> Result<BoxStream<'static, Result<Delta, Problem>>, Problem> {
        let mut told = self.0.lock().unwrap();
        told.push(request.system);
        let report =
            |args: &str| Delta::Call(ModelCall { id: told.len().to_string(), tool: "update_step".to_owned(), args: args.to_owned() });
        let reply = match told.len() {
            1 => report(r#"{"step_number": 1, "status": "done"}"#),
            2 => report(r#"{"step_number": 2, "status": "in_progress"}"#),
            _ => Delta::Text("Over.".to_owned()),
        };
        Ok(futures::stream::iter([Ok(reply)]).boxed())
    }
}

struct One(Arc<Told>);

#[async_trait]
impl Models for One {
    async fn model(&self, _: &ModelSettings, _: Mode) -> Result<Arc<dyn Provider>, Problem> {
        Ok(self.0.clone())
    }
}

#[tokio::test]
async fn each_request_has_the_approved_plan_with_the_present_status_of_its_steps() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = folder.path().join("workspace");
    std::fs::create_dir_all(workspace.join("plans")).unwrap();
    std::fs::write(workspace.join("plans/greet.plan"), PLAN).unwrap();
    let store = Store::open(&folder.path().join("planwright.db")).await.unwrap();
    let row = store.ensure_workspace("workspace", workspace.to_str().unwrap()).await.unwrap();
    let told = Arc::new(Told::default());
    let sessions = Sessions::with_settings(store, Settings::default(), Arc::new(One(told.clone())));
    let handle = sessions.create(row.id, None, Some(Mode::Plan.default_role())).await.unwrap();
    let mut follower = Follower::after(handle.chat().clone(), 0).await.unwrap();
    handle
        .submit(Op::Execute { plan_file: Some("/plans/greet.plan".to_owned()), content: None, expected: ExpectedPlan::default() })
        .await
        .unwrap();
    while !follower.next().await.unwrap().unwrap().json().contains(r#""type":"run_finished""#) {}

    let told = told.0.lock().unwrap();
    let plans: Vec<&str> = told.iter().map(|system| system.split_once("## APPROVED EXECUTION PLAN").unwrap().1).collect();
    let expected = [("approved", "[ ] 1.", "[ ] 2."), ("in_progress", "[x] 1.", "[ ] 2."), ("in_progress", "[x] 1.", "[~] 2.")];
    assert_eq!(plans.len(), expected.len());
    for (plan, (status, one, two)) in plans.iter().zip(expected) {
        assert!(plan.contains(&format!("status: {status}\n")) && plan.contains(one) && plan.contains(two), "{plan}");
    }
}
