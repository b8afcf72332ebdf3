//! The optional intent classifier: runs beside the run if the rules are undecided, and can only suggest.

use crate::chat::Chat;
use crate::models::{Models, check_cost};
use futures::StreamExt;
use planwright_agent::intent::{Intent, classifier};
use planwright_agent::{Delta, Provider};
use planwright_protocol::event::Usage;
use planwright_protocol::settings::{IntentClassifier, ModelSettings};
use planwright_protocol::{Message, MessageId, Mode, Problem};
use std::time::Duration;
use tokio_util::task::AbortOnDropHandle;

/// A later answer is useless.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// The classifier's result for a message.
pub struct Classified {
    pub message_id: MessageId,
    pub intent: Intent,
    /// The model that was asked.
    pub model: String,
    pub usage: Usage,
}

/// A running request. Dropping it cancels it.
pub type Classifying = AbortOnDropHandle<Classified>;

/// Waits for the answer; forever if no request is running.
pub async fn answer_of(classifying: &mut Option<Classifying>) -> Option<Classified> {
    match classifying {
        Some(task) => task.await.ok(),
        None => std::future::pending().await,
    }
}

/// Classifies a message, if that is enabled and the chat's cost limit is not reached.
pub fn ask(chat: &Chat, message: &Message) -> Option<Classifying> {
    let (settings, usage) = (chat.settings(), chat.record().usage);
    if settings.intent_classifier == IntentClassifier::Off || check_cost(settings.limits, &usage).is_err() {
        return None;
    }
    let (models, message_id, content) = (chat.models.clone(), message.id, message.content.clone());
    Some(AbortOnDropHandle::new(tokio::spawn(async move {
        let mut classified = Classified { message_id, intent: Intent::Unclear, model: String::new(), usage: Usage::default() };
        match tokio::time::timeout(LONGEST_WAIT, classify(&*models, &settings.models, &content, &mut classified)).await {
            Ok(Ok(())) => {}
            Ok(Err(problem)) => tracing::info!(message = %message_id, %problem, "the intent classifier failed"),
            Err(_) => tracing::info!(message = %message_id, "the intent classifier took too long"),
        }
        classified
    })))
}

async fn classify(models: &dyn Models, settings: &ModelSettings, content: &str, classified: &mut Classified) -> Result<(), Problem> {
    let provider = models.model(settings, Mode::Plan).await?;
    provider.name().clone_into(&mut classified.model);
    let answer = answer(&*provider, content, &mut classified.usage).await?;
    classified.intent = classifier::read(&answer);
    Ok(())
}

/// The model's answer, read to its end, where the usage is reported.
async fn answer(provider: &dyn Provider, content: &str, usage: &mut Usage) -> Result<String, Problem> {
    let mut text = String::new();
    let mut stream = provider.stream(classifier::request(content)).await?;
    while let Some(delta) = stream.next().await {
        match delta? {
            Delta::Text(more) if text.len() <= classifier::LONGEST_ANSWER => text.push_str(&more),
            Delta::Usage(used) => *usage = used,
            Delta::Text(_) | Delta::Call(_) | Delta::Reasoning(_) | Delta::Native(_) => {}
        }
    }
    Ok(text)
}
