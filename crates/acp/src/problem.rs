//! Errors in the protocol's form; `data` has our code.

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema::ErrorCode as Number;
use planwright_protocol::error::Reader;
use planwright_protocol::{ErrorCode, Problem};
use serde_json::{Value, json};

pub fn to_client(problem: &Problem) -> Error {
    let number = match (problem.code, problem.code.reader()) {
        (ErrorCode::NotFound, _) => Number::ResourceNotFound,
        (_, Reader::Client(400..500)) => Number::InvalidParams,
        (_, Reader::Client(_) | Reader::Model | Reader::User | Reader::Operator) => Number::InternalError,
    };
    let data = json!({ "code": problem.code, "retryable": problem.retryable, "details": problem.details });
    Error::new(i32::from(number), problem.message.clone()).data(data)
}

pub fn no_session(id: &str) -> Problem {
    Problem::new(
        ErrorCode::NotFound,
        format!("There is no session {id} here. Start one with session/new, or open a chat of this folder with session/load."),
    )
}

/// A chat belongs to the folder that it was created in.
pub fn elsewhere(id: &str, folder: &str) -> Problem {
    let text = format!("The session {id} is a chat of the folder {folder}. Open that folder in the editor to continue it.");
    Problem::new(ErrorCode::NotFound, text)
}

/// Why an answer is invalid.
pub fn invalid_answer(problem: &Problem) -> String {
    let fields = problem.details.as_ref().and_then(|details| details.get("fields")).and_then(Value::as_object);
    let untold = fields.into_iter().flatten().filter_map(|(name, why)| Some(format!(" {name} {}.", why.as_str()?)));
    let untold = untold.filter(|sentence| !problem.message.contains(sentence.trim().trim_end_matches('.')));
    format!("{}{}", problem.message, untold.collect::<String>())
}
