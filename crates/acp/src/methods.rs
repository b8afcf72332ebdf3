//! The methods of the protocol, one function each.

use crate::editor_sessions::EditorSessions;
use crate::modes;
use crate::problem::to_client;
use crate::session::SessionCommand;
use crate::updates::Delivery;
use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, CancelNotification, CloseSessionRequest, CloseSessionResponse, Implementation, InitializeRequest,
    InitializeResponse, ListSessionsRequest, ListSessionsResponse, LoadSessionRequest, LoadSessionResponse, NewSessionRequest,
    NewSessionResponse, PromptCapabilities, PromptRequest, PromptResponse, ResumeSessionRequest, ResumeSessionResponse,
    SessionCapabilities, SessionCloseCapabilities, SessionListCapabilities, SessionResumeCapabilities, SetSessionModeRequest,
    SetSessionModeResponse,
};
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{Client, Error};

pub async fn initialize(
    editor: &EditorSessions,
    request: InitializeRequest,
    responder: Responder<InitializeResponse>,
) -> Result<(), Error> {
    editor.initialize(request.client_capabilities);
    match editor.server.me().await {
        Ok(me) => responder.respond(introduction(me.takes_images)),
        Err(error) => responder.respond_with_error(to_client(&error.into_problem())),
    }
}

pub async fn begin(
    editor: &EditorSessions,
    request: NewSessionRequest,
    responder: Responder<NewSessionResponse>,
    connection: &ConnectionTo<Client>,
) -> Result<(), Error> {
    match editor.begin(request.cwd, connection).await {
        Err(problem) => responder.respond_with_error(to_client(&problem)),
        Ok(opened) => {
            responder.respond(NewSessionResponse::new(opened.id.clone()).modes(modes::state(opened.role)))?;
            opened.introduce(&request.mcp_servers, connection)
        }
    }
}

pub async fn load(
    editor: &EditorSessions,
    request: LoadSessionRequest,
    responder: Responder<LoadSessionResponse>,
    connection: &ConnectionTo<Client>,
) -> Result<(), Error> {
    match editor.reopen(&request.session_id, request.cwd, Delivery::History, connection).await {
        Err(problem) => responder.respond_with_error(to_client(&problem)),
        Ok(opened) => {
            responder.respond(LoadSessionResponse::new().modes(modes::state(opened.role)))?;
            opened.introduce(&request.mcp_servers, connection)
        }
    }
}

pub async fn resume(
    editor: &EditorSessions,
    request: ResumeSessionRequest,
    responder: Responder<ResumeSessionResponse>,
    connection: &ConnectionTo<Client>,
) -> Result<(), Error> {
    match editor.reopen(&request.session_id, request.cwd, Delivery::News, connection).await {
        Err(problem) => responder.respond_with_error(to_client(&problem)),
        Ok(opened) => {
            responder.respond(ResumeSessionResponse::new().modes(modes::state(opened.role)))?;
            opened.introduce(&request.mcp_servers, connection)
        }
    }
}

pub async fn list(editor: &EditorSessions, request: ListSessionsRequest, responder: Responder<ListSessionsResponse>) -> Result<(), Error> {
    let listed = editor.list(request.cwd.as_deref()).await;
    responder.respond_with_result(listed.map(ListSessionsResponse::new).map_err(|problem| to_client(&problem)))
}

pub async fn close(editor: &EditorSessions, request: CloseSessionRequest, responder: Responder<CloseSessionResponse>) -> Result<(), Error> {
    editor.close(&request.session_id).await;
    responder.respond(CloseSessionResponse::new())
}

pub fn set_mode(
    editor: &EditorSessions,
    request: SetSessionModeRequest,
    responder: Responder<SetSessionModeResponse>,
) -> Result<(), Error> {
    let asked = modes::role(&request.mode_id.to_string());
    match asked.and_then(|role| Ok((role, editor.session(&request.session_id)?))) {
        Err(problem) => responder.respond_with_error(to_client(&problem)),
        // A session that has ended drops the responder, which replies with an error.
        Ok((role, session)) => {
            let _ = session.send(SessionCommand::SetMode(role, responder));
            Ok(())
        }
    }
}

pub fn prompt(editor: &EditorSessions, request: PromptRequest, responder: Responder<PromptResponse>) -> Result<(), Error> {
    match editor.session(&request.session_id) {
        Err(problem) => responder.respond_with_error(to_client(&problem)),
        Ok(session) => {
            let _ = session.send(SessionCommand::Prompt(request.prompt, responder));
            Ok(())
        }
    }
}

pub fn cancel(editor: &EditorSessions, request: &CancelNotification) {
    if let Ok(session) = editor.session(&request.session_id) {
        let _ = session.send(SessionCommand::Cancel);
    }
}

fn introduction(takes_images: bool) -> InitializeResponse {
    let sessions = SessionCapabilities::new()
        .list(SessionListCapabilities::new())
        .resume(SessionResumeCapabilities::new())
        .close(SessionCloseCapabilities::new());
    let capabilities = AgentCapabilities::new()
        .load_session(true)
        .prompt_capabilities(PromptCapabilities::new().embedded_context(true).image(takes_images))
        .session_capabilities(sessions);
    InitializeResponse::new(ProtocolVersion::V1)
        .agent_capabilities(capabilities)
        .agent_info(Implementation::new("planwright", env!("CARGO_PKG_VERSION")).title("Planwright".to_owned()))
}
