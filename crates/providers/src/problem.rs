//! Error messages: our codes, what to do, and never a key.

use crate::retry::{MAX_ATTEMPTS, retry_after};
use crate::transport::{TransportFault, is_loopback};
use planwright_agent::compaction;
use planwright_protocol::settings::ProviderKind;
use planwright_protocol::{ErrorCode, Problem};
use rig_core::ProviderResponseError;
use rig_core::error::{ErrorKind, ProviderError};
use rig_core::http_client;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use std::time::Duration;

/// Maximum bytes of a server's own error message.
const LONGEST_WORDS: usize = 400;

/// After a silence of at most this length, one retry delays nobody by more than two minutes.
const SHORT_SILENCE: Duration = Duration::from_mins(1);

/// How servers say that a request exceeds the model's context.
const TOO_LONG: &[&str] = &[
    "context_length",
    "context length",
    "context window",
    "maximum context",
    "prompt is too long",
    "too many tokens",
    "exceeds the maximum number of tokens",
    "exceed_context_size",
    "input is too long",
];

/// Describes failures of one model.
#[derive(Clone, Debug)]
pub(crate) struct ProblemReporter {
    pub reader: Reader,
    pub kind: ProviderKind,
    pub provider: String,
    pub model: String,
    pub base_url: String,
    pub key_env: Option<String>,
    pub key: Option<SecretString>,
}

/// Who reads the message, which decides what they can do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// A user in the middle of a chat.
    Chat,
    /// A user who checks the installation.
    Doctor,
}

/// A failure, and whether a retry makes sense.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub problem: Problem,
    /// Maximum number of attempts for the same request.
    pub tries: u32,
    pub retry_after: Option<Duration>,
}

/// Whether part of the reply had arrived before it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Received {
    Nothing,
    Something,
}

impl ProblemReporter {
    pub(crate) fn failure(&self, error: &ProviderError, received: Received) -> Failure {
        if let Some(reply) = error.provider_response() {
            return self.answered(reply);
        }
        if let ProviderError::Http(error) = error {
            self.broken(error, received)
        } else if let ProviderError::Truncated = error {
            self.cut("the stream ended before the reply was complete", received)
        } else if error.kind() == ErrorKind::Request || error.kind() == ErrorKind::Url {
            Failure::permanent(rejected(format!("{} can't be asked this: {}.", self.name(), self.words(&error.to_string()))))
        } else {
            Failure::permanent(self.unusable_reply(&self.words(&error.to_string())))
        }
    }

    fn name(&self) -> String {
        if self.model.is_empty() { self.provider.clone() } else { format!("{}/{}", self.provider, self.model) }
    }

    pub(crate) fn unusable_reply(&self, what: &str) -> Problem {
        let message = match self.reader {
            Reader::Chat => {
                format!("The reply of {} can't be used: {what}. Nothing of it was executed. Send a message to try again.", self.name())
            }
            Reader::Doctor => format!(
                "{} at {} does not answer like a server of the kind {}: {what}. Check `kind` and base_url under [providers.{}].",
                self.name(),
                self.base_url,
                self.kind,
                self.provider
            ),
        };
        Problem::new(ErrorCode::ProviderGarbled, message)
    }

    pub(crate) fn limit(&self, what: &str) -> Problem {
        Problem::new(ErrorCode::LimitReached, format!("The reply of {} was ended: {what}.", self.name()))
    }

    /// `fix` is what to do about the configuration.
    fn unavailable(&self, what: &str, fix: &str) -> Problem {
        let advice = match self.reader {
            Reader::Chat => "Nothing is lost; send a message to try again",
            Reader::Doctor => fix,
        };
        Problem::new(ErrorCode::ProviderUnavailable, format!("{} at {} {what}. {advice}.", self.name(), self.base_url))
    }

    fn unreachable(&self, why: &str) -> Problem {
        let fix = match self.kind {
            ProviderKind::Ollama => "Start it with `ollama serve`, or set OLLAMA_HOST or base_url to where it listens",
            ProviderKind::Openai
            | ProviderKind::OpenaiResponses
            | ProviderKind::Anthropic
            | ProviderKind::Gemini
            | ProviderKind::Openrouter
            | ProviderKind::Script
            | ProviderKind::Demo => {
                if is_loopback(&self.base_url) {
                    "Start the server, or set base_url to where it listens"
                } else {
                    "Check base_url, the network and the proxy variables (HTTPS_PROXY, NO_PROXY)"
                }
            }
        };
        self.unavailable(&format!("can't be reached: {why}"), fix)
    }

    fn cut(&self, what: &str, received: Received) -> Failure {
        match received {
            Received::Nothing => Failure::temporary(self.unavailable(&format!("gave no answer: {what}"), "Look at the server's own log")),
            // A retry would give a different answer than the part the user has already read.
            Received::Something => Failure::permanent(self.unusable_reply(what)),
        }
    }

    fn broken(&self, error: &http_client::Error, received: Received) -> Failure {
        let fault = if let http_client::Error::Instance(error) = error { error.downcast_ref::<TransportFault>().cloned() } else { None };
        match fault {
            Some(TransportFault::Unreachable(why)) => {
                let advice = if why.contains("certificate") {
                    "; if the server's certificate is your own, name the file of its authority as `ca_file` of the provider"
                } else {
                    ""
                };
                Failure::temporary(self.unreachable(&self.words(&format!("{why}{advice}"))))
            }
            Some(fault @ TransportFault::Silent(waited)) => {
                let what = format!("does not answer: {fault}; `timeout_s` of the provider says how long to wait");
                let failure = Failure::permanent(self.unavailable(&what, "Is the server busy? Check its log, or try later"));
                // After a long wait the user has waited enough.
                let worth_it = received == Received::Nothing && waited <= SHORT_SILENCE;
                Failure { tries: if worth_it { 2 } else { 1 }, ..failure }
            }
            Some(TransportFault::Cut(why)) => self.cut(&self.words(&why), received),
            Some(fault @ TransportFault::TooLong(_)) => {
                Failure::permanent(self.limit(&format!("{fault}; `reply_timeout_s` of the provider is the limit")))
            }
            Some(fault @ (TransportFault::TooMuch(_) | TransportFault::LineTooLong(_))) => {
                Failure::permanent(self.limit(&format!("{fault}, which no answer needs")))
            }
            Some(TransportFault::Unreadable(what)) => Failure::permanent(self.unusable_reply(what)),
            None => Failure::permanent(self.unusable_reply(&self.words(&error.to_string()))),
        }
    }

    /// The server refused, by a status or in the middle of its reply.
    fn answered(&self, reply: &ProviderResponseError) -> Failure {
        let words = self.words(&said(&reply.body));
        let status = reply.status.filter(|status| !status.is_success()).map(|status| status.as_u16());
        let code = reply.machine_code().or_else(|| field(&reply.body, "code")).unwrap_or_default();
        let lower = reply.body.to_lowercase();
        let about = status.map_or_else(|| "an error in its answer".to_owned(), |status| format!("HTTP {status}"));
        let told = if words.is_empty() { about } else { format!("{about}: {words}") };
        if TOO_LONG.iter().any(|phrase| lower.contains(phrase)) && !matches!(status, Some(401 | 403 | 404 | 429 | 500..)) {
            let message = format!("The conversation is too long for {} ({told}). Compact the chat, or start a new one.", self.name());
            return Failure::permanent(rejected(message).with_details(json!({ "reason": compaction::TOO_LONG })));
        }
        let spent = ["insufficient_quota", "billing", "credit balance"].iter().any(|word| lower.contains(word));
        match status {
            Some(401 | 403) => Failure::permanent(rejected(format!("{} refused the key ({told}). {}", self.name(), self.key_fix()))),
            Some(402) => Failure::permanent(rejected(self.out_of_credit(&told))),
            Some(429) if spent => Failure::permanent(rejected(self.out_of_credit(&told))),
            Some(404) => Failure::permanent(rejected(format!(
                "{} has no model {:?} ({told}). Check the name, and that base_url is {}.",
                self.provider, self.model, self.base_url
            ))),
            Some(429) => self.rate_limited(&told, reply),
            Some(407) => Failure::permanent(rejected(format!(
                "The proxy wants a sign-in ({told}). Put user and password into HTTPS_PROXY or HTTP_PROXY, or name the server's host in NO_PROXY."
            ))),
            Some(413) => Failure::permanent(rejected(format!(
                "The request is too large for {} ({told}). Compact the chat, or start a new one.",
                self.name()
            ))),
            Some(408 | 425 | 500..) => {
                let fix = "The server itself fails: check its log, or try later";
                Failure::temporary(self.unavailable(&format!("answered with {told}"), fix)).after(reply)
            }
            Some(300..=399) => Failure::permanent(rejected(format!(
                "{} redirects ({told}), and the key is not sent there. Set base_url to the final address.",
                self.base_url
            ))),
            None if code.contains("rate_limit") || code == "RESOURCE_EXHAUSTED" => self.rate_limited(&told, reply),
            None if code.contains("authentication") || code.contains("permission") => {
                Failure::permanent(rejected(format!("{} refused the key ({told}). {}", self.name(), self.key_fix())))
            }
            // The server accepted the request and then failed.
            None if !code.to_lowercase().contains("invalid") => {
                Failure::temporary(self.unavailable(&format!("failed while it answered ({told})"), "Look at the server's own log"))
            }
            Some(_) | None => Failure::permanent(rejected(format!(
                "{} refused the request ({told}). Check that the model's name, `kind`, `tools`, `reasoning` and `max_output_tokens` of the provider fit that server.",
                self.name()
            ))),
        }
    }

    fn rate_limited(&self, told: &str, reply: &ProviderResponseError) -> Failure {
        let message = format!("{} received too many requests ({told}). Wait a while, then send a message to continue.", self.name());
        Failure::temporary(Problem::new(ErrorCode::ProviderRateLimited, message)).after(reply)
    }

    fn out_of_credit(&self, told: &str) -> String {
        format!("{} has no credit left ({told}). Check the account's billing.", self.provider)
    }

    fn key_fix(&self) -> String {
        match (&self.key_env, &self.key) {
            (Some(variable), Some(_)) => format!("Set {variable} to a key that is valid there."),
            (Some(variable), None) => format!("{variable} is not set: set it to a key that is valid there."),
            (None, _) => format!("Name the variable that holds the key as `api_key_env` under [providers.{}].", self.provider),
        }
    }

    /// A server's message, short and without the key.
    pub(crate) fn words(&self, text: &str) -> String {
        let text = match &self.key {
            Some(key) if !key.expose_secret().is_empty() => text.replace(key.expose_secret(), "[key]"),
            Some(_) | None => text.to_owned(),
        };
        if is_web_page(&text) {
            return "the answer is a web page; check that base_url is the address of the API".to_owned();
        }
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let end = line.char_indices().nth(LONGEST_WORDS).map_or(line.len(), |(end, _)| end);
        line[..end].trim_end_matches('.').to_owned()
    }
}

/// The source of a web page is no useful message.
pub(crate) fn is_web_page(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    lower.contains("<!doctype html") || lower.contains("<html")
}

fn field(body: &str, name: &str) -> Option<String> {
    serde_json::from_str::<Value>(body).ok()?.get(name)?.as_str().map(str::to_owned)
}

pub(crate) fn rejected(message: String) -> Problem {
    Problem::new(ErrorCode::ProviderRejected, message)
}

/// The message in an error's body, in the form of the vendors; otherwise the body.
fn said(body: &str) -> String {
    let parsed: Option<Value> = serde_json::from_str(body).ok();
    let error = parsed.as_ref().map(|value| value.get(0).unwrap_or(value)).and_then(|value| value.get("error").or(Some(value)));
    let message = error.and_then(|error| error.get("message").and_then(Value::as_str).or(error.as_str()));
    message.unwrap_or(body).to_owned()
}

impl Failure {
    fn permanent(problem: Problem) -> Self {
        Self { problem, tries: 1, retry_after: None }
    }

    fn temporary(problem: Problem) -> Self {
        Self { problem, tries: MAX_ATTEMPTS, retry_after: None }
    }

    fn after(mut self, reply: &ProviderResponseError) -> Self {
        let header = |name: &str| reply.headers.as_ref()?.get(name)?.to_str().ok();
        let milliseconds = header("retry-after-ms").and_then(|value| value.parse().ok()).map(Duration::from_millis);
        self.retry_after = milliseconds.or_else(|| header("retry-after").and_then(retry_after));
        self
    }
}
