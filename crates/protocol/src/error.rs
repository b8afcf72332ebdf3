//! Every error code in one table: its reader, its HTTP status, and whether a retry can help.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// Who reads an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// The caller of the HTTP API, with this status.
    Client(u16),
    /// The model, as the result of its tool call.
    Model,
    /// The user, as the end of a run.
    User,
    /// The person or program that started the process.
    Operator,
}

macro_rules! codes {
    ($($variant:ident $text:literal $reader:expr, $retryable:literal;)*) => {
        /// A code of the public contract. Its text never changes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        pub enum ErrorCode { $(#[serde(rename = $text)] $variant,)* }

        impl ErrorCode {
            pub const ALL: &[ErrorCode] = &[$(ErrorCode::$variant,)*];

            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(ErrorCode::$variant => $text,)* }
            }

            #[must_use]
            pub fn reader(self) -> Reader {
                match self { $(ErrorCode::$variant => $reader,)* }
            }

            /// Whether the same request, sent again unchanged, may succeed.
            #[must_use]
            pub fn retryable(self) -> bool {
                match self { $(ErrorCode::$variant => $retryable,)* }
            }
        }
    };
}

use Reader::{Client, Model, Operator, User};

codes! {
    ValidationFailed      "VALIDATION_FAILED"       Client(422), false;
    Unauthenticated       "UNAUTHENTICATED"         Client(401), false;
    Forbidden             "FORBIDDEN"               Client(403), false;
    NotFound              "NOT_FOUND"               Client(404), false;
    MethodNotAllowed      "METHOD_NOT_ALLOWED"      Client(405), false;
    ConfirmationRequired  "CONFIRMATION_REQUIRED"   Client(409), false;
    NoPlan                "NO_PLAN"                 Client(409), false;
    PlanRequired          "PLAN_REQUIRED"           Client(409), false;
    QuestionNotPending    "QUESTION_NOT_PENDING"    Client(409), false;
    Conflict              "CONFLICT"                Client(409), false;
    TooLarge              "TOO_LARGE"               Client(413), false;
    RateLimited           "RATE_LIMITED"            Client(429), true;
    UnsupportedMediaType  "UNSUPPORTED_MEDIA_TYPE"  Client(415), false;
    Internal              "INTERNAL"                Client(500), true;
    NotReady              "NOT_READY"               Client(503), true;
    NodeAway              "NODE_AWAY"               Client(503), true;
    ToolBlockedByMode     "TOOL_BLOCKED_BY_MODE"    Model, false;
    ToolNotPermitted      "TOOL_NOT_PERMITTED"      Model, false;
    ToolUnknown           "TOOL_UNKNOWN"            Model, false;
    InvalidArguments      "INVALID_ARGUMENTS"       Model, false;
    PathInvalid           "PATH_INVALID"            Model, false;
    PathOutsideWorkspace  "PATH_OUTSIDE_WORKSPACE"  Model, false;
    PathSymlinkRefused    "PATH_SYMLINK_REFUSED"    Model, false;
    PathHardlinkRefused   "PATH_HARDLINK_REFUSED"   Model, false;
    ProtectedPath         "PROTECTED_PATH"          Model, false;
    PathNotFound          "PATH_NOT_FOUND"          Model, false;
    PathExists            "PATH_EXISTS"             Model, false;
    NotRegularFile        "NOT_REGULAR_FILE"        Model, false;
    NotATextFile          "NOT_A_TEXT_FILE"         Model, false;
    NotAPlanFile          "NOT_A_PLAN_FILE"         Model, false;
    FileTooLarge          "FILE_TOO_LARGE"          Model, false;
    FileChanged           "FILE_CHANGED"            Model, true;
    StorageFull           "STORAGE_FULL"            Model, true;
    EditNotUnique         "EDIT_NOT_UNIQUE"         Model, false;
    EditNotFound          "EDIT_NOT_FOUND"          Model, false;
    ApprovalDenied        "APPROVAL_DENIED"         Model, false;
    ApprovalStale         "APPROVAL_STALE"          Model, false;
    PlanNotApproved       "PLAN_NOT_APPROVED"       Model, false;
    PlanNotOwned          "PLAN_NOT_OWNED"          Model, false;
    PlanInvalid           "PLAN_INVALID"            Model, false;
    NotInPlanMode         "NOT_IN_PLAN_MODE"        Model, false;
    ModeChanged           "MODE_CHANGED"            Model, false;
    LoopDetected          "LOOP_DETECTED"           Model, false;
    LimitReached          "LIMIT_REACHED"           Model, false;
    Cancelled             "CANCELLED"               Model, false;
    OutcomeUnknown        "OUTCOME_UNKNOWN"         Model, false;
    TrustRequired         "TRUST_REQUIRED"          Model, false;
    McpFailed             "MCP_FAILED"              Model, true;
    FetchRefused          "FETCH_REFUSED"           Model, false;
    FetchFailed           "FETCH_FAILED"            Model, true;
    CommandTimedOut       "COMMAND_TIMED_OUT"       Model, false;
    VerifyFailed          "VERIFY_FAILED"           Model, false;
    SandboxUnavailable    "SANDBOX_UNAVAILABLE"     Model, false;
    ProviderUnavailable   "PROVIDER_UNAVAILABLE"    User, true;
    ProviderRateLimited   "PROVIDER_RATE_LIMITED"   User, true;
    ProviderRejected      "PROVIDER_REJECTED"       User, false;
    ProviderGarbled       "PROVIDER_GARBLED"        User, true;
    DataDirLocked         "DATA_DIR_LOCKED"         Operator, false;
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An error in its public form: from the API, from a tool, or at the end of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error, JsonSchema)]
#[error("{message}")]
pub struct Problem {
    pub code: ErrorCode,
    /// What happened, and what to do about it.
    pub message: String,
    pub retryable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

impl Problem {
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), retryable: code.retryable(), details: None }
    }

    #[must_use]
    pub fn with_details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }
}
