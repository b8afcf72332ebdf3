use super::files;
use crate::effect::Effect;
use crate::path::WorkspacePath;
use crate::tool::{Category, Input, Prepared, Risk, Spec, ToolContext};
use planwright_protocol::{Permission, Problem};
use schemars::JsonSchema;
use serde::Deserialize;

/// Writes a whole file: a new one, or in place of what is there. Folders on the way are made.
/// To change a part of a file, use `edit`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Write {
    /// The file, such as /src/main.rs.
    path: String,
    /// All that is to be in it.
    content: String,
}

impl Input for Write {
    const SPEC: Spec = Spec {
        name: "write",
        category: Category::Write,
        risk: Risk::Medium,
        read_only: false,
        needs: &[&[Permission::Create]],
        examples: &[r#"{"path": "/notes.md", "content": "Notes\n"}"#],
    };

    fn prepare(self, cx: &ToolContext) -> Result<Prepared, Problem> {
        let path = WorkspacePath::parse_file(&self.path)?;
        files::check_size(&path, self.content.len())?;
        let before = files::present(cx, &path)?;
        let change = files::change(&path, before.as_ref(), Some(self.content.as_bytes()));
        let expected = before.map(|snapshot| snapshot.stamp);
        let (effects, what) = match expected {
            // The diff shows the old content, so it is read as well.
            Some(_) => (vec![Effect::Write(path.clone()), Effect::Read(path.clone())], "Replaced"),
            None => (vec![Effect::Create(path.clone())], "Created"),
        };
        let cx = cx.clone();
        let changes = vec![change.clone()];
        Ok(Prepared::new(effects, move |permit| {
            let stamp = cx.workspace.write(permit, &path, self.content.as_bytes(), expected)?;
            Ok(files::written(&cx, &path, stamp, &change, what))
        })
        .changing(changes))
    }
}
