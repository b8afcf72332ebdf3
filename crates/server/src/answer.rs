//! Errors and bodies as JSON, everywhere the same.

use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use planwright_protocol::error::Reader;
use planwright_protocol::{ErrorCode, Problem};
use serde::de::DeserializeOwned;
use serde_json::json;

/// A problem on its way to the client.
pub struct ApiError {
    status: StatusCode,
    problem: Problem,
}

pub type ApiResult<T> = Result<axum::Json<T>, ApiError>;

impl From<Problem> for ApiError {
    fn from(problem: Problem) -> Self {
        let status = match problem.code.reader() {
            Reader::Client(status) => StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
            // What a model gets as a result is, in a client's request, a value that doesn't fit.
            Reader::Model => StatusCode::UNPROCESSABLE_ENTITY,
            Reader::User | Reader::Operator => StatusCode::SERVICE_UNAVAILABLE,
        };
        Self { status, problem }
    }
}

impl ApiError {
    /// The request itself can't be read, or an answer doesn't fit its question.
    pub fn bad_request(problem: Problem) -> Self {
        Self { status: StatusCode::BAD_REQUEST, problem }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        (self.status, axum::Json(json!({ "error": self.problem }))).into_response()
    }
}

/// A JSON body. What can't be read is told in JSON as well.
pub struct Body<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        use axum::extract::rejection::JsonRejection;
        match axum::Json::<T>::from_request(request, state).await {
            Ok(axum::Json(body)) => Ok(Self(body)),
            Err(JsonRejection::JsonDataError(error)) => Err(Problem::new(ErrorCode::ValidationFailed, error.body_text()).into()),
            Err(JsonRejection::BytesRejection(error)) if error.status() == StatusCode::PAYLOAD_TOO_LARGE => {
                Err(Problem::new(ErrorCode::TooLarge, "The body is larger than the server takes. Send less at a time.").into())
            }
            Err(error) => Err(ApiError::bad_request(Problem::new(
                ErrorCode::ValidationFailed,
                format!("The body can't be read: {}", error.body_text()),
            ))),
        }
    }
}

/// Ids of a path. One that is malformed names nothing, so it is not found.
pub struct Ids<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Ids<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        match Path::<T>::from_request_parts(parts, state).await {
            Ok(Path(ids)) => Ok(Self(ids)),
            Err(_) => Err(Problem::new(ErrorCode::NotFound, "There is nothing at this address; an id in it is malformed.").into()),
        }
    }
}
