//! What the screen asks of the server, and what comes back.

use planwright_protocol::api::changes::{Changes, FileDiff, RevertAnswer};
use planwright_protocol::api::chat::{ChatView, Snapshot};
use planwright_protocol::api::inbox::InboxView;
use planwright_protocol::api::plan::PlanFileView;
use planwright_protocol::api::requests::{ChatUpdate, CommentBody, ExecuteBody, RevertBody};
use planwright_protocol::api::server::Me;
use planwright_protocol::api::workspace::{FoundExcerpt, GrantView, ModelOptions, Trust, WorkspaceRow};
use planwright_protocol::{ChatId, Envelope, Message, MessageId, Problem, QuestionId, Role, WorkspaceId};
use serde_json::{Map, Value};

/// A chat by its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChatPlace {
    pub workspace: WorkspaceId,
    pub chat: ChatId,
}

/// One call of the server.
#[derive(Clone, Debug)]
pub enum ServerRequest {
    Chats,
    Open(ChatPlace),
    /// A new chat that begins with this message. Without a role it has the workspace's default mode.
    Start {
        role: Option<Role>,
        content: String,
    },
    /// A change that has no result of its own.
    Change {
        place: ChatPlace,
        change: Box<ChatChange>,
    },
    Older {
        place: ChatPlace,
        before: MessageId,
    },
    Body {
        place: ChatPlace,
        message: MessageId,
    },
    Plan(ChatPlace),
    Changes(ChatPlace),
    FileDiff {
        place: ChatPlace,
        path: String,
    },
    Revert {
        place: ChatPlace,
        body: RevertBody,
    },
    Grants(ChatPlace),
    Inbox,
    Search(String),
    Models,
    FindFiles(String),
    Trust,
    AcceptTrust(String),
}

/// A change of a chat.
#[derive(Clone, Debug)]
pub enum ChatChange {
    Send { content: String, comments: Vec<CommentBody> },
    Answer { question_id: QuestionId, answers: Map<String, Value>, comment: String },
    Execute(ExecuteBody),
    Stop,
    Retry,
    Compact,
    Update(ChatUpdate),
    Delete,
    Withdraw(MessageId),
    EditPlan { content: String, base_sha256: String },
    RevokeGrant(String),
}

impl ChatChange {
    /// The call that makes this change.
    #[must_use]
    pub fn of(self, place: ChatPlace) -> ServerRequest {
        ServerRequest::Change { place, change: Box::new(self) }
    }
}

/// What the loop tells the screen.
#[derive(Clone, Debug)]
pub enum AppReport {
    Started(Box<Start>),
    Connected(ConnectionState),
    Event {
        chat: ChatId,
        envelope: Box<Envelope>,
    },
    Chats(Vec<ChatView>),
    Opened(Box<Snapshot>),
    Older {
        chat: ChatId,
        messages: Vec<Message>,
    },
    Body(Box<Message>),
    Plan(Box<PlanFileView>),
    Changes(Box<Changes>),
    FileDiff(Box<FileDiff>),
    Reverted {
        body: RevertBody,
        answer: Box<RevertAnswer>,
    },
    Grants(Vec<GrantView>),
    Inbox(Box<InboxView>),
    Found {
        query: String,
        found: Vec<FoundExcerpt>,
    },
    Models(ModelOptions),
    Files {
        query: String,
        paths: Vec<String>,
    },
    Trust(Trust),
    /// A change was made.
    Done {
        place: ChatPlace,
        change: Box<ChatChange>,
    },
    Failed {
        request: Box<ServerRequest>,
        problem: Problem,
    },
    /// The external editor has ended.
    Edited {
        purpose: EditPurpose,
        text: Result<String, String>,
    },
}

/// What is known when the screen begins.
#[derive(Clone, Debug)]
pub struct Start {
    pub me: Me,
    pub workspace: WorkspaceRow,
    pub chats: Vec<ChatView>,
    pub models: ModelOptions,
    pub trust: Trust,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectionState {
    Live,
    /// Why not; it is tried again.
    Lost(String),
}

/// What the text in the external editor is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditPurpose {
    Message,
    /// The plan of this hash.
    Plan {
        base_sha256: String,
    },
}

/// What the loop does for the screen.
#[derive(Clone, Debug)]
pub enum AppCommand {
    Ask(ServerRequest),
    Edit { purpose: EditPurpose, text: String },
    Suspend,
    Quit,
}

impl From<ServerRequest> for AppCommand {
    fn from(request: ServerRequest) -> Self {
        AppCommand::Ask(request)
    }
}
