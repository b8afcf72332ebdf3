//! Images uploaded to a chat.

use crate::arg::args;
use crate::error::StoreError;
use crate::ownership::Scope;
use crate::store::Store;
use crate::versions::{Content, Versions, version_writes};
use planwright_protocol::ChatId;
use std::sync::Arc;

const IMAGE: &str = "select bytes from contents join images on images.sha256 = contents.sha256 where chat_id = $1 and images.sha256 = $2";
const COUNT: &str = "select count(*) as images from images where chat_id = $1";

impl Store {
    /// Stores an image in a chat, so that messages can refer to it.
    ///
    /// # Errors
    /// The database failed.
    pub async fn put_image(&self, chat: ChatId, image: Content) -> Result<(), StoreError> {
        let versions = Versions { images: vec![image.sha256.clone()], contents: vec![image], ..Versions::default() };
        let mut transaction = self.db.begin_in(Scope::Chat(chat)).await?;
        for write in version_writes(chat, &versions)?.iter().filter(|write| !write.rows.is_empty()) {
            transaction.write(write).await?;
        }
        transaction.commit().await
    }

    /// The bytes of an image of the chat.
    ///
    /// # Errors
    /// The database failed.
    pub async fn image(&self, chat: ChatId, sha256: &str) -> Result<Option<Arc<[u8]>>, StoreError> {
        let row = self.db.row(IMAGE, args![chat.0, sha256]).await?;
        row.map(|row| Ok(row.get::<Vec<u8>>("bytes")?.into())).transpose()
    }

    /// # Errors
    /// The database failed.
    pub async fn count_images(&self, chat: ChatId) -> Result<u64, StoreError> {
        self.db.row(COUNT, args![chat.0]).await?.map_or(Ok(0), |row| row.number("images"))
    }
}
