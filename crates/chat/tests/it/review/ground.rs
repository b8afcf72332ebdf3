//! A workspace with a plan of three steps, and a model that plays a script.

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::BoxStream;
use planwright_agent::{Delta, ModelCall, ModelRequest, Provider};
use planwright_chat::{Handle, Models, Reply, Sessions};
use planwright_feed::Follower;
use planwright_plan::PlanDocument;
use planwright_protocol::message::ReviewComment;
use planwright_protocol::op::ExpectedPlan;
use planwright_protocol::plan::StepChoice;
use planwright_protocol::settings::ModelSettings;
use planwright_protocol::{ChatId, Message, Mode, Op, Problem, QuestionKind, WorkspaceId};
use planwright_store::Store;
use planwright_workspaces::Settings;
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

pub const PLAN_FILE: &str = "/plans/greet.plan";
pub const PLAN: &str = "---\ngoal: Greet\nstatus: draft\nrevision: 1\n---\n\n# Greet\n\n## Steps\n\n- [ ] 1. Say hello\n  files: a.txt\n- [ ] 2. Say more\n  files: b.txt\n- [ ] 3. Say goodbye\n  files: c.txt\n";

/// Plays its replies one after the other, then says that it is over. Keeps the requests.
#[derive(Default)]
pub struct Script {
    replies: Mutex<VecDeque<Vec<(&'static str, Value)>>>,
    requests: Mutex<Vec<String>>,
}

#[async_trait]
impl Provider for Script {
    fn name(&self) -> &'static str {
        "test/script"
    }

    async fn stream(&self, request: ModelRequest) -> Result<BoxStream<'static, Result<Delta, Problem>>, Problem> {
        let mut requests = self.requests.lock().unwrap();
        requests.push(format!("{}\n{:?}", request.system, request.messages));
        let number = requests.len();
        let deltas: Vec<Result<Delta, Problem>> = match self.replies.lock().unwrap().pop_front() {
            None => vec![Ok(Delta::Text("Over.".to_owned()))],
            Some(calls) => {
                let call = |(index, (tool, args)): (usize, (&str, Value))| {
                    Ok(Delta::Call(ModelCall { id: format!("{number}-{index}"), tool: tool.to_owned(), args: args.to_string() }))
                };
                calls.into_iter().enumerate().map(call).collect()
            }
        };
        Ok(futures::stream::iter(deltas).boxed())
    }
}

struct OneModel(Arc<Script>);

#[async_trait]
impl Models for OneModel {
    async fn model(&self, _: &ModelSettings, _: Mode) -> Result<Arc<dyn Provider>, Problem> {
        Ok(self.0.clone())
    }
}

pub struct Ground {
    folder: tempfile::TempDir,
    pub script: Arc<Script>,
    sessions: Sessions,
    pub handle: Handle,
}

impl Ground {
    pub async fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("workspace");
        std::fs::create_dir_all(root.join("plans")).unwrap();
        std::fs::write(root.join("plans/greet.plan"), PLAN).unwrap();
        for (name, text) in files {
            std::fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            std::fs::write(root.join(name), text).unwrap();
        }
        let script = Arc::new(Script::default());
        let (sessions, workspace) = open(&folder, &script).await;
        let handle = sessions.create(workspace, None, Some(Mode::Plan.default_role())).await.unwrap();
        Self { folder, script, sessions, handle }
    }

    /// The same chat in a new process, as far as one process can play that.
    pub async fn restarted(self) -> Self {
        let Self { folder, script, sessions, handle, .. } = self;
        let id: ChatId = handle.chat().id;
        drop(handle);
        sessions.park_all().await;
        sessions.store().close().await;
        let (sessions, workspace) = open(&folder, &script).await;
        let handle = sessions.chat_in(workspace, id).await.unwrap();
        Self { folder, script, sessions, handle }
    }

    pub fn host(&self, name: &str) -> PathBuf {
        self.folder.path().join("workspace").join(name)
    }

    pub fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.host(name)).unwrap()
    }

    /// The model's next reply: these calls.
    pub fn reply(&self, calls: &[(&'static str, Value)]) -> &Self {
        self.script.replies.lock().unwrap().push_back(calls.to_vec());
        self
    }

    /// The text of the newest request to the model.
    pub fn told(&self) -> String {
        self.script.requests.lock().unwrap().last().unwrap().clone()
    }

    /// Submits an op and waits until the run it starts has ended or asks.
    pub async fn run(&self, op: Op) -> Reply {
        let mut follower = Follower::from_now(self.handle.chat().clone()).await.unwrap();
        let reply = self.handle.submit(op).await.unwrap();
        loop {
            let event = follower.next().await.unwrap().unwrap().json().to_owned();
            let is_over = event.contains(r#""type":"run_finished""#) || event.contains(r#""state":"awaiting_answer""#);
            if is_over && self.handle.chat().record().run.is_none() {
                return reply;
            }
        }
    }

    /// The hash of the plan file as it is now.
    pub fn plan_sha256(&self) -> String {
        PlanDocument::parse(&self.text("plans/greet.plan")).unwrap().sha256()
    }

    pub fn execute(&self, steps: Option<&[u32]>, stop_after: Option<u32>, comment: Option<&str>) -> Op {
        let choice = StepChoice { steps: steps.map(<[u32]>::to_vec), stop_after };
        let expected = ExpectedPlan { sha256: Some(self.plan_sha256()), choice };
        Op::Execute { plan_file: Some(PLAN_FILE.to_owned()), content: comment.map(str::to_owned), expected }
    }

    /// An answer to the pending question.
    pub fn answer(&self, decision: &str, comment: &str) -> Op {
        let question_id = self.handle.chat().pending().unwrap().question_id;
        let answers = Map::from_iter([("decision".to_owned(), json!(decision))]);
        Op::Answer { question_id, answers, comment: comment.to_owned(), metadata: Map::new() }
    }

    pub fn asked(&self) -> Option<QuestionKind> {
        self.handle.chat().pending().map(|pending| pending.kind)
    }

    pub async fn history(&self) -> Vec<Message> {
        self.handle.chat().store.messages(self.handle.chat().id).await.unwrap()
    }

    /// The errors of tool calls, oldest first.
    pub async fn errors(&self) -> Vec<Problem> {
        let history = self.history().await;
        history.iter().filter_map(|message| message.body.tool_result()?.outcome.error().cloned()).collect()
    }

    pub fn statuses(&self) -> Vec<String> {
        let progress = self.handle.chat().record().progress.clone().unwrap();
        progress.steps.iter().map(|step| step.status.label().to_owned()).collect()
    }
}

async fn open(folder: &tempfile::TempDir, script: &Arc<Script>) -> (Sessions, WorkspaceId) {
    let store = Store::open(&folder.path().join("planwright.db")).await.unwrap();
    let row = store.ensure_workspace("workspace", folder.path().join("workspace").to_str().unwrap()).await.unwrap();
    (Sessions::with_settings(store, Settings::default(), Arc::new(OneModel(script.clone()))), row.id)
}

pub fn say(content: &str, comments: Vec<ReviewComment>) -> Op {
    Op::UserMessage { content: content.to_owned(), metadata: Map::new(), images: Vec::new(), comments }
}

pub fn done(step_number: u32) -> (&'static str, Value) {
    ("update_step", json!({ "step_number": step_number, "status": "done" }))
}

pub fn write(path: &str, content: &str) -> (&'static str, Value) {
    ("write", json!({ "path": path, "content": content }))
}
