//! The methods of the protocol, one function each.

use crate::desk::Desk;
use crate::modes;
use crate::problem::to_client;
use crate::session::Command;
use crate::teller::Telling;
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

pub async fn meet(desk: &Desk, request: InitializeRequest, responder: Responder<InitializeResponse>) -> Result<(), Error> {
    desk.meet(request.client_capabilities);
    responder.respond(introduction(desk.sessions.takes_images().await))
}

pub async fn begin(
    desk: &Desk,
    request: NewSessionRequest,
    responder: Responder<NewSessionResponse>,
    connection: &ConnectionTo<Client>,
) -> Result<(), Error> {
    match desk.begin(request.cwd, connection).await {
        Err(problem) => responder.respond_with_error(to_client(&problem)),
        Ok(opened) => {
            responder.respond(NewSessionResponse::new(opened.id.clone()).modes(modes::state(opened.role)))?;
            opened.introduce(&request.mcp_servers, connection)
        }
    }
}

pub async fn load(
    desk: &Desk,
    request: LoadSessionRequest,
    responder: Responder<LoadSessionResponse>,
    connection: &ConnectionTo<Client>,
) -> Result<(), Error> {
    match desk.reopen(&request.session_id, request.cwd, Telling::History, connection).await {
        Err(problem) => responder.respond_with_error(to_client(&problem)),
        Ok(opened) => {
            responder.respond(LoadSessionResponse::new().modes(modes::state(opened.role)))?;
            opened.introduce(&request.mcp_servers, connection)
        }
    }
}

pub async fn resume(
    desk: &Desk,
    request: ResumeSessionRequest,
    responder: Responder<ResumeSessionResponse>,
    connection: &ConnectionTo<Client>,
) -> Result<(), Error> {
    match desk.reopen(&request.session_id, request.cwd, Telling::News, connection).await {
        Err(problem) => responder.respond_with_error(to_client(&problem)),
        Ok(opened) => {
            responder.respond(ResumeSessionResponse::new().modes(modes::state(opened.role)))?;
            opened.introduce(&request.mcp_servers, connection)
        }
    }
}

pub async fn list(desk: &Desk, request: ListSessionsRequest, responder: Responder<ListSessionsResponse>) -> Result<(), Error> {
    let listed = desk.list(request.cwd.as_deref()).await;
    responder.respond_with_result(listed.map(ListSessionsResponse::new).map_err(|problem| to_client(&problem)))
}

pub async fn close(desk: &Desk, request: CloseSessionRequest, responder: Responder<CloseSessionResponse>) -> Result<(), Error> {
    desk.close(&request.session_id).await;
    responder.respond(CloseSessionResponse::new())
}

pub fn set_mode(desk: &Desk, request: SetSessionModeRequest, responder: Responder<SetSessionModeResponse>) -> Result<(), Error> {
    let asked = modes::role(&request.mode_id.to_string());
    match asked.and_then(|role| Ok((role, desk.session(&request.session_id)?))) {
        Err(problem) => responder.respond_with_error(to_client(&problem)),
        // A session that has ended drops the responder, which answers with an error.
        Ok((role, session)) => {
            let _ = session.send(Command::SetMode(role, responder));
            Ok(())
        }
    }
}

pub fn prompt(desk: &Desk, request: PromptRequest, responder: Responder<PromptResponse>) -> Result<(), Error> {
    match desk.session(&request.session_id) {
        Err(problem) => responder.respond_with_error(to_client(&problem)),
        Ok(session) => {
            let _ = session.send(Command::Prompt(request.prompt, responder));
            Ok(())
        }
    }
}

pub fn cancel(desk: &Desk, request: &CancelNotification) {
    if let Ok(session) = desk.session(&request.session_id) {
        let _ = session.send(Command::Cancel);
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
