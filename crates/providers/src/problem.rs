//! What went wrong, in our codes, with what to do about it, and never with a key in it.

use crate::retry::{TRIES, retry_after};
use crate::transport::{Fault, is_loopback};
use planwright_agent::compaction;
use planwright_protocol::settings::ProviderKind;
use planwright_protocol::{ErrorCode, Problem};
use rig_core::ProviderResponseError;
use rig_core::error::{ErrorKind, ProviderError};
use rig_core::http_client;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use std::time::Duration;

/// Of what a server says about its failure no more than this is passed on.
const LONGEST_WORDS: usize = 400;

/// After a silence no longer than this, one more try keeps nobody waiting for more than two minutes.
const SHORT_SILENCE: Duration = Duration::from_mins(1);

/// How servers say that a request is longer than the model can read.
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

/// Tells of failures of one model.
#[derive(Clone, Debug)]
pub(crate) struct Teller {
    pub reader: Reader,
    pub kind: ProviderKind,
    pub provider: String,
    pub model: String,
    pub base_url: String,
    pub key_env: Option<String>,
    pub key: Option<SecretString>,
}

/// Who is told, which decides what they can do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// In the middle of a chat.
    Chat,
    /// While the set-up is looked at.
    Doctor,
}

/// A failure, and what it means for trying again.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub problem: Problem,
    /// How often the same request is worth making, in all.
    pub tries: u32,
    pub retry_after: Option<Duration>,
}

/// Whether something of the reply had come before it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    Nothing,
    Something,
}

impl Teller {
    pub(crate) fn failure(&self, error: &ProviderError, heard: Heard) -> Failure {
        if let Some(reply) = error.provider_response() {
            return self.answered(reply);
        }
        if let ProviderError::Http(error) = error {
            self.broken(error, heard)
        } else if let ProviderError::Truncated = error {
            self.cut("the stream ended before the reply did", heard)
        } else if error.kind() == ErrorKind::Request || error.kind() == ErrorKind::Url {
            Failure::lasting(rejected(format!("{} can't be asked this: {}.", self.name(), self.words(&error.to_string()))))
        } else {
            Failure::lasting(self.garbled(&self.words(&error.to_string())))
        }
    }

    fn name(&self) -> String {
        if self.model.is_empty() { self.provider.clone() } else { format!("{}/{}", self.provider, self.model) }
    }

    pub(crate) fn garbled(&self, what: &str) -> Problem {
        let message = match self.reader {
            Reader::Chat => {
                format!("What {} answered can't be used: {what}. Nothing of it was carried out. Send a message to try again.", self.name())
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

    /// `mend` is what to do about the set-up.
    fn unavailable(&self, what: &str, mend: &str) -> Problem {
        let advice = match self.reader {
            Reader::Chat => "Nothing is lost; send a message to try again",
            Reader::Doctor => mend,
        };
        Problem::new(ErrorCode::ProviderUnavailable, format!("{} at {} {what}. {advice}.", self.name(), self.base_url))
    }

    fn unreachable(&self, why: &str) -> Problem {
        let mend = match self.kind {
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
        self.unavailable(&format!("can't be reached: {why}"), mend)
    }

    fn cut(&self, what: &str, heard: Heard) -> Failure {
        match heard {
            Heard::Nothing => Failure::passing(self.unavailable(&format!("gave no answer: {what}"), "Look at the server's own log")),
            // Asked again, the model would say something else than the user has already read.
            Heard::Something => Failure::lasting(self.garbled(what)),
        }
    }

    fn broken(&self, error: &http_client::Error, heard: Heard) -> Failure {
        let fault = if let http_client::Error::Instance(error) = error { error.downcast_ref::<Fault>().cloned() } else { None };
        match fault {
            Some(Fault::Unreachable(why)) => {
                let advice = if why.contains("certificate") {
                    "; if the server's certificate is your own, name the file of its authority as `ca_file` of the provider"
                } else {
                    ""
                };
                Failure::passing(self.unreachable(&self.words(&format!("{why}{advice}"))))
            }
            Some(fault @ Fault::Silent(waited)) => {
                let what = format!("does not answer: {fault}; `timeout_s` of the provider says how long to wait");
                let failure = Failure::lasting(self.unavailable(&what, "Is the server busy? Look at its log, or try later"));
                // Whoever waited long has waited enough.
                let worth_it = heard == Heard::Nothing && waited <= SHORT_SILENCE;
                Failure { tries: if worth_it { 2 } else { 1 }, ..failure }
            }
            Some(Fault::Cut(why)) => self.cut(&self.words(&why), heard),
            Some(fault @ Fault::TooLong(_)) => {
                Failure::lasting(self.limit(&format!("{fault}; `reply_timeout_s` of the provider is the limit")))
            }
            Some(fault @ (Fault::TooMuch(_) | Fault::LineTooLong(_))) => {
                Failure::lasting(self.limit(&format!("{fault}, which no answer needs")))
            }
            Some(Fault::Unreadable(what)) => Failure::lasting(self.garbled(what)),
            None => Failure::lasting(self.garbled(&self.words(&error.to_string()))),
        }
    }

    /// The server said no, by a status or in the middle of its answer.
    fn answered(&self, reply: &ProviderResponseError) -> Failure {
        let words = self.words(&said(&reply.body));
        let status = reply.status.filter(|status| !status.is_success()).map(|status| status.as_u16());
        let code = reply.machine_code().or_else(|| field(&reply.body, "code")).unwrap_or_default();
        let lower = reply.body.to_lowercase();
        let about = status.map_or_else(|| "an error in its answer".to_owned(), |status| format!("HTTP {status}"));
        let told = if words.is_empty() { about } else { format!("{about}: {words}") };
        if TOO_LONG.iter().any(|phrase| lower.contains(phrase)) && !matches!(status, Some(401 | 403 | 404 | 429 | 500..)) {
            let message =
                format!("The conversation is longer than {} can read ({told}). Compact the chat, or begin a new one.", self.name());
            return Failure::lasting(rejected(message).with_details(json!({ "reason": compaction::TOO_LONG })));
        }
        let spent = ["insufficient_quota", "billing", "credit balance"].iter().any(|word| lower.contains(word));
        match status {
            Some(401 | 403) => Failure::lasting(rejected(format!("{} refused the key ({told}). {}", self.name(), self.mend_key()))),
            Some(402) => Failure::lasting(rejected(self.unpaid(&told))),
            Some(429) if spent => Failure::lasting(rejected(self.unpaid(&told))),
            Some(404) => Failure::lasting(rejected(format!(
                "{} has no model {:?} ({told}). Check the name, and that base_url is {}.",
                self.provider, self.model, self.base_url
            ))),
            Some(429) => self.rate_limited(&told, reply),
            Some(407) => Failure::lasting(rejected(format!(
                "The proxy wants a sign-in ({told}). Put user and password into HTTPS_PROXY or HTTP_PROXY, or name the server's host in NO_PROXY."
            ))),
            Some(413) => Failure::lasting(rejected(format!(
                "The request is larger than {} takes ({told}). Compact the chat, or begin a new one.",
                self.name()
            ))),
            Some(408 | 425 | 500..) => {
                let mend = "The server itself fails: look at its log, or try later";
                Failure::passing(self.unavailable(&format!("answered with {told}"), mend)).after(reply)
            }
            Some(300..=399) => Failure::lasting(rejected(format!(
                "{} sends elsewhere ({told}), where the key is not taken. Set base_url to the address itself.",
                self.base_url
            ))),
            None if code.contains("rate_limit") || code == "RESOURCE_EXHAUSTED" => self.rate_limited(&told, reply),
            None if code.contains("authentication") || code.contains("permission") => {
                Failure::lasting(rejected(format!("{} refused the key ({told}). {}", self.name(), self.mend_key())))
            }
            // The request was taken, and then the server failed.
            None if !code.to_lowercase().contains("invalid") => {
                Failure::passing(self.unavailable(&format!("failed while it answered ({told})"), "Look at the server's own log"))
            }
            Some(_) | None => Failure::lasting(rejected(format!(
                "{} refused the request ({told}). Check that the model's name, `kind`, `tools`, `reasoning` and `max_output_tokens` of the provider fit that server.",
                self.name()
            ))),
        }
    }

    fn rate_limited(&self, told: &str, reply: &ProviderResponseError) -> Failure {
        let message = format!("{} has had too many requests ({told}). Wait a while, then send a message to go on.", self.name());
        Failure::passing(Problem::new(ErrorCode::ProviderRateLimited, message)).after(reply)
    }

    fn unpaid(&self, told: &str) -> String {
        format!("{} has nothing left to spend ({told}). Look at the account's billing.", self.provider)
    }

    fn mend_key(&self) -> String {
        match (&self.key_env, &self.key) {
            (Some(variable), Some(_)) => format!("Set {variable} to a key that is valid there."),
            (Some(variable), None) => format!("{variable} is not set: set it to a key that is valid there."),
            (None, _) => format!("Name the variable that holds the key as `api_key_env` under [providers.{}].", self.provider),
        }
    }

    /// A server's words, short and without the key.
    pub(crate) fn words(&self, text: &str) -> String {
        let text = match &self.key {
            Some(key) if !key.expose_secret().is_empty() => text.replace(key.expose_secret(), "[key]"),
            Some(_) | None => text.to_owned(),
        };
        if is_web_page(&text) {
            return "a web page came in place of an answer; is base_url the address of the API?".to_owned();
        }
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let end = line.char_indices().nth(LONGEST_WORDS).map_or(line.len(), |(end, _)| end);
        line[..end].trim_end_matches('.').to_owned()
    }
}

/// Nobody wants to read its source.
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

/// The message within an error's body, as the vendors have it; else the body.
fn said(body: &str) -> String {
    let parsed: Option<Value> = serde_json::from_str(body).ok();
    let error = parsed.as_ref().map(|value| value.get(0).unwrap_or(value)).and_then(|value| value.get("error").or(Some(value)));
    let message = error.and_then(|error| error.get("message").and_then(Value::as_str).or(error.as_str()));
    message.unwrap_or(body).to_owned()
}

impl Failure {
    fn lasting(problem: Problem) -> Self {
        Self { problem, tries: 1, retry_after: None }
    }

    fn passing(problem: Problem) -> Self {
        Self { problem, tries: TRIES, retry_after: None }
    }

    fn after(mut self, reply: &ProviderResponseError) -> Self {
        let header = |name: &str| reply.headers.as_ref()?.get(name)?.to_str().ok();
        let milliseconds = header("retry-after-ms").and_then(|value| value.parse().ok()).map(Duration::from_millis);
        self.retry_after = milliseconds.or_else(|| header("retry-after").and_then(retry_after));
        self
    }
}
