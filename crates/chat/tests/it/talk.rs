//! A chat with a model that a test writes, in this process.

use async_trait::async_trait;
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use planwright_agent::{Delta, ModelCall, ModelMessage, ModelRequest, Provider};
use planwright_chat::{Handle, Models, Sessions};
use planwright_feed::Follower;
use planwright_protocol::settings::ModelSettings;
use planwright_protocol::{Mode, Op, Problem, QuestionId, Role};
use planwright_store::Store;
use planwright_workspaces::Settings;
use serde_json::{Map, Value, json};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// What the model answers to a request.
pub type Script = Arc<dyn Fn(ModelRequest) -> BoxFuture<'static, Result<Vec<Delta>, Problem>> + Send + Sync>;

struct Scripted {
    script: Script,
    asked: Mutex<Vec<ModelRequest>>,
}

#[async_trait]
impl Provider for Scripted {
    fn name(&self) -> &'static str {
        "test/scripted"
    }

    async fn stream(&self, request: ModelRequest) -> Result<BoxStream<'static, Result<Delta, Problem>>, Problem> {
        self.asked.lock().unwrap().push(request.clone());
        let deltas = (self.script)(request).await?;
        Ok(futures::stream::iter(deltas.into_iter().map(Ok)).boxed())
    }
}

struct One(Arc<Scripted>);

#[async_trait]
impl Models for One {
    async fn model(&self, _: &ModelSettings, _: Mode) -> Result<Arc<dyn Provider>, Problem> {
        Ok(self.0.clone())
    }
}

pub fn said(text: &str) -> Delta {
    Delta::Text(text.to_owned())
}

pub fn called(tool: &str, args: &Value) -> Delta {
    Delta::Call(ModelCall { id: format!("{tool}-{args}"), tool: tool.to_owned(), args: args.to_string() })
}

/// What a model reads, without its own words.
pub fn read_by(request: &ModelRequest) -> Vec<String> {
    let text = |message: &ModelMessage| match message {
        ModelMessage::User(text) | ModelMessage::ToolResult { text, .. } => Some(text.clone()),
        ModelMessage::Image(_) | ModelMessage::Assistant { .. } => None,
    };
    request.messages.iter().filter_map(text).collect()
}

pub struct Talk {
    folder: tempfile::TempDir,
    model: Arc<Scripted>,
    pub handle: Handle,
    follower: Follower,
    _sessions: Sessions,
}

impl Talk {
    pub async fn new(role: Role, settings: Settings, files: &[(&str, &str)], script: Script) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path().join("workspace");
        std::fs::create_dir(&workspace).unwrap();
        for (path, content) in files {
            std::fs::write(workspace.join(path), content).unwrap();
        }
        let store = Store::open(&folder.path().join("planwright.db")).await.unwrap();
        let row = store.ensure_workspace("workspace", workspace.to_str().unwrap()).await.unwrap();
        let model = Arc::new(Scripted { script, asked: Mutex::default() });
        let sessions = Sessions::with_settings(store, settings, Arc::new(One(model.clone())));
        let handle = sessions.create(row.id, None, Some(role)).await.unwrap();
        let follower = Follower::after(handle.chat().clone(), 0).await.unwrap();
        Self { folder, model, handle, follower, _sessions: sessions }
    }

    pub fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    pub fn asked(&self) -> Vec<ModelRequest> {
        self.model.asked.lock().unwrap().clone()
    }

    pub async fn say(&self, text: &str) {
        let op = Op::UserMessage { content: text.to_owned(), metadata: Map::new(), images: Vec::new(), comments: Vec::new() };
        self.handle.submit(op).await.unwrap();
    }

    pub async fn answer(&self, question: &Value, decision: &str) {
        let question_id: QuestionId = question["question_id"].as_str().unwrap().parse().unwrap();
        let answers = json!({ "decision": decision }).as_object().unwrap().clone();
        self.handle.submit(Op::Answer { question_id, answers, comment: String::new(), metadata: Map::new() }).await.unwrap();
    }

    /// The events up to the first of this type, in pairs of type and data.
    pub async fn until(&mut self, wanted: &str) -> Vec<(String, Value)> {
        let mut seen = Vec::new();
        loop {
            let frame = self.follower.next().await.unwrap().unwrap();
            let event: Value = serde_json::from_str(frame.json()).unwrap();
            let kind = event["type"].as_str().unwrap().to_owned();
            seen.push((kind.clone(), event["data"].clone()));
            if kind == wanted {
                return seen;
            }
        }
    }
}

/// The data of the last event of a type.
pub fn last<'e>(events: &'e [(String, Value)], kind: &str) -> &'e Value {
    &events.iter().rfind(|(known, _)| known == kind).unwrap().1
}

/// The results of calls, in their order: the conversation they belong to, and the text.
pub fn results(events: &[(String, Value)]) -> Vec<(Value, String)> {
    let created = events.iter().filter(|(kind, _)| kind == "message_created").map(|(_, data)| &data["message"]);
    let results = created.filter(|message| message["message_type"] == "tool_result");
    results.map(|message| (message["metadata"]["delegation"].clone(), message["content"].as_str().unwrap().to_owned())).collect()
}
