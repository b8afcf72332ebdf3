//! Describes the change of a git ref as text.

use crate::chat::Chat;
use planwright_protocol::{Image, Problem};
use planwright_tools::WorkspacePath;
use planwright_tools::git_name::ref_change;

impl Chat {
    /// The change of a ref by the change of its file; `None` for other paths.
    pub(crate) async fn ref_change(&self, path: &str, before: &Image, after: &Image) -> Result<Option<String>, Problem> {
        let Some(path) = WorkspacePath::parse(path).ok().filter(|path| path.relative().starts_with(".git/")) else { return Ok(None) };
        let is_value = |image: &Image| matches!(image, Image::File { .. } | Image::Absent);
        if !is_value(before) || !is_value(after) {
            return Ok(None);
        }
        let (before, after) = (self.version(before).await?, self.version(after).await?);
        Ok(ref_change(&path, before.bytes.as_deref(), after.bytes.as_deref()))
    }
}
