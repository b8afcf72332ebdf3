//! Images in user messages: validated, stored with the chat, shown to models that can read them.

use crate::chat::Chat;
use planwright_agent::{ModelMessage, Provider};
use planwright_protocol::op::SentImage;
use planwright_protocol::sha256_hex;
use planwright_protocol::{AttachedImage, ErrorCode, MessageId, Mode, Problem};
use planwright_store::{Content, Versions};
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum number of images in one message.
const MOST: usize = 8;
/// Maximum size of an image, which every vendor accepts.
const LARGEST: usize = 5 << 20;
/// Maximum number of images of a conversation that a model gets; older ones are only mentioned.
const MOST_SHOWN: usize = 20;

/// Maximum number of images in a chat.
const MOST_OF_CHAT: u64 = 500;

/// The media type of an image, by its first bytes; `None` for anything but the four kinds that every vendor accepts.
#[must_use]
pub fn image_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// The images' entries in the message, and their stored contents.
///
/// # Errors
/// There are too many, or one is too large or of another kind.
pub fn attach(images: Vec<SentImage>) -> Result<(Vec<AttachedImage>, Versions), Problem> {
    if images.len() > MOST {
        return Err(unfit(&format!("This message has {} images; at most {MOST} are allowed. Send it in parts.", images.len())));
    }
    let (mut attached, mut versions) = (Vec::new(), Versions::default());
    for (place, SentImage(bytes)) in images.into_iter().enumerate() {
        let number = place + 1;
        let Some(kind) = image_type(&bytes) else {
            return Err(unfit(&format!("Image {number} is neither PNG, JPEG, GIF nor WebP. Convert it, then send it again.")));
        };
        if bytes.len() > LARGEST {
            let size = bytes.len() >> 20;
            return Err(unfit(&format!(
                "Image {number} has {size} MiB; at most {} MiB are allowed. Make it smaller, then send it again.",
                LARGEST >> 20
            )));
        }
        let sha256 = sha256_hex(&bytes);
        attached.push(AttachedImage { sha256: sha256.clone(), mime_type: kind.to_owned(), size: bytes.len() as u64 });
        versions.images.push(sha256.clone());
        versions.contents.push(Content { sha256, bytes });
    }
    Ok((attached, versions))
}

fn unfit(text: &str) -> Problem {
    Problem::new(ErrorCode::ValidationFailed, text).with_details(json!({ "fields": { "images": text } }))
}

impl Chat {
    /// # Errors
    /// The model of this mode can't read images.
    pub async fn check_images(&self, images: &[SentImage], mode: Mode) -> Result<(), Problem> {
        if images.is_empty() {
            return Ok(());
        }
        let model = self.model(mode).await?;
        if model.takes_images() {
            return Ok(());
        }
        let name = model.name();
        Err(unfit(&format!(
            "{name} is not known to look at images. Send the message without, or choose another model; `images` under [providers] says it of models that the catalog doesn't know."
        )))
    }

    /// Stores an image. Messages refer to it by the returned id.
    ///
    /// # Errors
    /// It is not an image, is too large, or the chat has too many.
    pub async fn put_image(&self, bytes: Arc<[u8]>) -> Result<String, Problem> {
        let (_, Versions { contents, .. }) = attach(vec![SentImage(bytes)])?;
        let Some(image) = contents.into_iter().next() else { return Err(unfit("The image is missing.")) };
        if self.store.count_images(self.id).await? >= MOST_OF_CHAT {
            return Err(unfit(&format!("This chat has {MOST_OF_CHAT} images, which is the limit. Continue in a new chat.")));
        }
        let id = image.sha256.clone();
        self.store.put_image(self.id, image).await?;
        Ok(id)
    }

    /// The images with these ids, in order.
    ///
    /// # Errors
    /// There are too many, or one was not uploaded to this chat.
    pub async fn uploaded_images(&self, ids: &[String]) -> Result<Vec<SentImage>, Problem> {
        if ids.len() > MOST {
            return Err(unfit(&format!("A message can have at most {MOST} images, and this one has {}.", ids.len())));
        }
        let mut images = Vec::new();
        for id in ids {
            let found = self.store.image(self.id, id).await?;
            images.push(SentImage(found.ok_or_else(|| unfit(&format!("This chat has no image {id}. Upload it first.")))?));
        }
        Ok(images)
    }

    /// The newest images of a conversation, if the model can read images.
    pub(crate) async fn shown_images(
        &self,
        provider: &dyn Provider,
        conversation: &[ModelMessage],
    ) -> Result<HashMap<String, Arc<[u8]>>, Problem> {
        let mut shown = HashMap::new();
        if !provider.takes_images() {
            return Ok(shown);
        }
        for message in conversation.iter().rev() {
            if let ModelMessage::Image(image) = message
                && shown.len() < MOST_SHOWN
                && let Some(bytes) = self.store.content(&image.sha256).await?
            {
                shown.insert(image.sha256.clone(), bytes);
            }
        }
        Ok(shown)
    }

    /// The images of a message, in order.
    ///
    /// # Errors
    /// There is no such message, or the database failed.
    pub async fn images(&self, message: MessageId) -> Result<Vec<(AttachedImage, Arc<[u8]>)>, Problem> {
        let found = self.store.message(self.id, message).await?;
        let found = found.ok_or_else(|| Problem::new(ErrorCode::NotFound, format!("There is no message {message} in this chat.")))?;
        let mut images = Vec::new();
        for image in found.images() {
            if let Some(bytes) = self.store.content(&image.sha256).await? {
                images.push((image.clone(), bytes));
            }
        }
        Ok(images)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(bytes: &[u8]) -> SentImage {
        SentImage(bytes.into())
    }

    #[test]
    fn images_are_known_by_what_they_begin_with_and_others_are_refused() {
        let (attached, versions) =
            attach(vec![sent(b"\x89PNG\r\n\x1a\nrest"), sent(b"\xff\xd8\xffrest"), sent(b"RIFF1234WEBPrest")]).unwrap();
        assert_eq!(attached.iter().map(|image| image.mime_type.as_str()).collect::<Vec<_>>(), ["image/png", "image/jpeg", "image/webp"]);
        assert_eq!(versions.images, attached.iter().map(|image| image.sha256.clone()).collect::<Vec<_>>());
        let refused = attach(vec![sent(b"GIF89a"), sent(b"<svg/>")]).unwrap_err();
        assert!(refused.message.contains("Image 2 is neither"), "{}", refused.message);
    }

    #[test]
    fn too_many_and_too_large_images_are_refused() {
        assert!(attach(vec![sent(b"GIF87a"); 9]).unwrap_err().message.contains("at most 8"));
        let large = [b"GIF87a".as_slice(), &vec![0; LARGEST]].concat();
        assert!(attach(vec![sent(&large)]).unwrap_err().message.contains("at most 5 MiB"));
    }
}
