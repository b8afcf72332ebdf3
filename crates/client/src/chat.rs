//! One chat.

use crate::calls::query;
use crate::client::{Body, Client};
use crate::error::ClientError;
use crate::events::EventFollower;
use hyper::Method;
use planwright_protocol::api::changes::{Changes, FileDiff, RevertAnswer};
use planwright_protocol::api::chat::{ChatView, Snapshot};
use planwright_protocol::api::plan::{PlanEditAnswer, PlanFileView};
use planwright_protocol::api::requests::{ChatUpdate, ExecuteBody, ForkBody, NewMessageBody, PlanEditBody, RevertBody};
use planwright_protocol::api::server::{ImageContent, MessageAnswer};
use planwright_protocol::api::workspace::GrantView;
use planwright_protocol::{ChatId, Message, MessageId, QuestionId, WireMessage, WorkspaceId};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The calls of one chat.
#[derive(Clone)]
pub struct RemoteChat {
    client: Client,
    pub workspace: WorkspaceId,
    pub id: ChatId,
    path: String,
}

/// Which of a chat's changes.
#[derive(Clone, Debug, Default)]
pub struct ChangesFilter {
    /// Only those of this message.
    pub message: Option<MessageId>,
    /// Only the list of files, without diffs.
    pub summary: bool,
    /// The `next_cursor` of the page before.
    pub cursor: Option<String>,
}

/// How one changed file is shown.
#[derive(Clone, Debug, Default)]
pub struct FileDiffFilter {
    pub message: Option<MessageId>,
    /// Lines around each change (default 3).
    pub context: Option<usize>,
}

impl RemoteChat {
    pub(crate) fn new(client: Client, workspace: WorkspaceId, id: ChatId) -> Self {
        Self { client, workspace, id, path: format!("/workspaces/{workspace}/chats/{id}") }
    }

    /// The client that this chat is reached by.
    #[must_use]
    pub fn client(&self) -> &Client {
        &self.client
    }

    fn at(&self, rest: &str) -> String {
        format!("{}{rest}", self.path)
    }

    pub async fn show(&self) -> Result<ChatView, ClientError> {
        self.client.get(&self.path).await
    }

    pub async fn snapshot(&self) -> Result<Snapshot, ClientError> {
        self.client.get(&self.at("/snapshot")).await
    }

    /// The events after this number, until the chat is deleted.
    #[must_use]
    pub fn events(&self, after: u64) -> EventFollower {
        EventFollower::of_chat(self.client.clone(), self.at("/events"), after)
    }

    pub async fn update(&self, change: &ChatUpdate) -> Result<ChatView, ClientError> {
        self.client.read(Method::PATCH, &self.path, Body::json(change)?).await
    }

    pub async fn delete(&self) -> Result<(), ClientError> {
        self.client.run(Method::DELETE, &self.path, Body::Empty).await
    }

    /// A page of messages, the newest first.
    pub async fn messages(&self, before: Option<MessageId>, limit: u32) -> Result<Vec<Message>, ClientError> {
        let query = query(&[("before", before.map(|id| id.to_string())), ("limit", Some(limit.to_string()))]);
        self.client.get(&self.at(&format!("/messages{query}"))).await
    }

    /// A message with its whole content.
    pub async fn message(&self, id: MessageId) -> Result<Message, ClientError> {
        self.client.get(&self.at(&format!("/messages/{id}/body"))).await
    }

    /// The images of a message.
    pub async fn images(&self, id: MessageId) -> Result<Vec<ImageContent>, ClientError> {
        self.client.get(&self.at(&format!("/messages/{id}/images"))).await
    }

    /// Messages that contain the text, newest first.
    pub async fn search(&self, text: &str, limit: u32) -> Result<Vec<WireMessage>, ClientError> {
        let query = query(&[("q", Some(text.to_owned())), ("limit", Some(limit.to_string()))]);
        self.client.get(&self.at(&format!("/search{query}"))).await
    }

    pub async fn send(&self, message: &NewMessageBody) -> Result<Option<Message>, ClientError> {
        let answer: MessageAnswer = self.client.post(&self.at("/messages"), message).await?;
        Ok(answer.message)
    }

    /// Sends plain text.
    pub async fn say(&self, text: &str) -> Result<Option<Message>, ClientError> {
        self.send(&NewMessageBody { content: text.to_owned(), ..NewMessageBody::default() }).await
    }

    /// Answers the pending question. The comment of a denial reaches the model.
    pub async fn answer(
        &self,
        question_id: QuestionId,
        answers: &Map<String, Value>,
        comment: &str,
    ) -> Result<Option<Message>, ClientError> {
        let answer = json!({ "question_id": question_id, "answers": answers });
        let metadata = Map::from_iter([("question_answer".to_owned(), answer)]);
        self.send(&NewMessageBody { content: comment.to_owned(), metadata, ..NewMessageBody::default() }).await
    }

    /// Uploads an image; its id then goes with a message.
    pub async fn upload_image(&self, mime_type: &str, bytes: Vec<u8>) -> Result<String, ClientError> {
        #[derive(Deserialize)]
        struct Uploaded {
            id: String,
        }
        let body = Body::Image { mime_type: mime_type.to_owned(), bytes };
        let uploaded: Uploaded = self.client.read(Method::POST, &self.at("/images"), body).await?;
        Ok(uploaded.id)
    }

    pub async fn execute(&self, what: &ExecuteBody) -> Result<ChatView, ClientError> {
        self.client.post(&self.at("/execute"), what).await
    }

    /// Stops the run; returns when nothing of it can take effect any more.
    pub async fn stop(&self) -> Result<ChatView, ClientError> {
        self.client.read(Method::POST, &self.at("/stop"), Body::Empty).await
    }

    pub async fn retry(&self) -> Result<ChatView, ClientError> {
        self.client.read(Method::POST, &self.at("/retry"), Body::Empty).await
    }

    pub async fn compact(&self) -> Result<ChatView, ClientError> {
        self.client.read(Method::POST, &self.at("/compact"), Body::Empty).await
    }

    /// A new chat with the messages before this one.
    pub async fn fork(&self, message_id: MessageId) -> Result<ChatView, ClientError> {
        self.client.post(&self.at("/fork"), &ForkBody { message_id }).await
    }

    /// Withdraws a queued message.
    pub async fn withdraw(&self, message: MessageId) -> Result<(), ClientError> {
        self.client.run(Method::DELETE, &self.at(&format!("/queue/{message}")), Body::Empty).await
    }

    /// Maximum tokens of a request to the model; `None` without a model.
    pub async fn context_limit(&self) -> Result<Option<u64>, ClientError> {
        #[derive(Deserialize)]
        struct Context {
            limit: Option<u64>,
        }
        let context: Context = self.client.get(&self.at("/context")).await?;
        Ok(context.limit)
    }

    pub async fn plan(&self) -> Result<PlanFileView, ClientError> {
        self.client.get(&self.at("/plan")).await
    }

    pub async fn edit_plan(&self, edit: &PlanEditBody) -> Result<PlanEditAnswer, ClientError> {
        self.client.read(Method::PUT, &self.at("/plan"), Body::json(edit)?).await
    }

    pub async fn changes(&self, of: &ChangesFilter) -> Result<Changes, ClientError> {
        let query = query(&[
            ("message", of.message.map(|id| id.to_string())),
            ("summary", of.summary.then(|| true.to_string())),
            ("cursor", of.cursor.clone()),
        ]);
        self.client.get(&self.at(&format!("/changes{query}"))).await
    }

    pub async fn changed_file(&self, path: &str, of: &FileDiffFilter) -> Result<FileDiff, ClientError> {
        let query = query(&[
            ("path", Some(path.to_owned())),
            ("context", of.context.map(|lines| lines.to_string())),
            ("message", of.message.map(|id| id.to_string())),
        ]);
        self.client.get(&self.at(&format!("/changes/file{query}"))).await
    }

    pub async fn revert(&self, what: &RevertBody) -> Result<RevertAnswer, ClientError> {
        self.client.post(&self.at("/revert"), what).await
    }

    pub async fn grants(&self) -> Result<Vec<GrantView>, ClientError> {
        self.client.get(&self.at("/grants")).await
    }

    pub async fn revoke_grant(&self, id: &str) -> Result<(), ClientError> {
        self.client.run(Method::DELETE, &self.at(&format!("/grants/{id}")), Body::Empty).await
    }
}
