//! Messages that are longer than a model accepts: it gets their beginning and end.

use crate::chat::Change;
use crate::run::{Received, Run};
use planwright_agent::render::{QuestionsByCard, message_text};
use planwright_agent::{Provider, Turn, compaction, fit};
use planwright_protocol::Agent;
use planwright_protocol::message::CutMessage;
use planwright_protocol::{Author, Message, MessageId, Notice, Problem};

impl Run {
    /// Stores notes for the user and the model about messages that are too long.
    pub(crate) async fn note_cuts(&self, agent: Agent, turn: &Turn, context_tokens: u64) -> Result<Vec<Message>, Problem> {
        let notes: Vec<Message> = notes(turn.history(), context_tokens).into_iter().map(|note| agent.place(note)).collect();
        if !notes.is_empty() {
            self.chat.publish(Change::messages(notes.clone()), |_| {}).await?;
        }
        Ok(notes)
    }

    /// Calls the model. If it accepts less than its stated context and there is nothing to compact, it is asked again with less
    /// of each message.
    pub(crate) async fn ask(
        &mut self,
        provider: &dyn Provider,
        agent: Agent,
        turn: &Turn,
        text_id: MessageId,
    ) -> Result<Received, Problem> {
        let mut context = provider.context_tokens();
        loop {
            let mut request = self.request(agent, turn, context).await?;
            request.images = self.chat.shown_images(provider, &request.messages).await?;
            context = match self.receive(provider, agent, request, text_id).await {
                Err(problem) if compaction::is_too_long(&problem) && !turn.conversation().has_grown() => {
                    fit::next_smaller_context(&turn.conversation().entries(), context).ok_or(problem)?
                }
                received => return received,
            };
        }
    }
}

/// The notes about such messages that have no answer yet. One for each.
fn notes(history: &[Message], context_tokens: u64) -> Vec<Message> {
    let most = fit::max_message_bytes(context_tokens);
    let unanswered = history.iter().rposition(|message| message.author == Author::Assistant).map_or(0, |place| place + 1);
    let is_noted = |message: &Message| history.iter().any(|note| note.body.notice() == Some(&mark(message)));
    let long = history[unanswered..].iter().filter(|message| message.author == Author::User);
    let long = long.map(|message| (message, message_text(message, &QuestionsByCard::default()))).filter(|(_, text)| text.len() > most);
    long.filter(|(message, _)| !is_noted(message)).map(|(message, text)| note(message, text.chars().count())).collect()
}

fn mark(message: &Message) -> Notice {
    Notice::Cut(CutMessage { message_id: message.id })
}

fn note(message: &Message, characters: usize) -> Message {
    let text = format!(
        "A message of {characters} characters is too long for the model. The model reads its beginning and its end; the middle is left out. To let it read everything, put the text into a file of the workspace and name the file."
    );
    Message::notice(message.chat_id, mark(message), text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use planwright_protocol::ChatId;
    use planwright_protocol::message::{AssistantText, UserText};

    fn said(content: &str) -> Message {
        Message::new(ChatId::generate(), UserText::default(), content)
    }

    #[test]
    fn each_long_message_that_nobody_has_answered_is_noted_once() {
        let long = "x".repeat(10_000);
        let reply = Message::new(ChatId::generate(), AssistantText::default(), "Yes.");
        let mut history = vec![said(&long), reply, said(&long), said("a")];
        let noted = notes(&history, 2_000);
        assert_eq!(noted.len(), 1);
        assert!(noted[0].content.contains("10000 characters"), "{}", noted[0].content);
        history.extend(noted);
        assert!(notes(&history, 2_000).is_empty());
        history.push(said(&long));
        assert_eq!(notes(&history, 2_000).len(), 1);
        assert!(notes(&history, 128_000).is_empty());
    }
}
