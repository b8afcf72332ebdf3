use super::files;
use crate::effect::FileEffect;
use crate::gate::Target;
use crate::path::WorkspacePath;
use crate::tool::{Input, Output, Prepared, Risk, Spec, ToolContext};
use crate::workspace::Entry;
use planwright_protocol::{ErrorCode, Permission, Problem};
use schemars::JsonSchema;
use serde::Deserialize;

/// Create an empty file, or set a file's times to now.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Touch {
    path: String,
}

impl Input for Touch {
    const SPEC: Spec<'static> = Spec::writing("touch", Risk::Low, &[&[Permission::Create]], &[r#"{"path": "/b.rs"}"#]);

    fn prepare(self, cx: &ToolContext) -> Result<Prepared, Problem> {
        let path = WorkspacePath::parse_file(&self.path)?;
        match files::regular(cx, &path)? {
            None => Ok(create(cx, path)),
            Some(entry) => refresh(cx, path, entry),
        }
    }
}

fn create(cx: &ToolContext, path: WorkspacePath) -> Prepared {
    let change = files::change(&path, None, Some(b""));
    let changes = vec![change.clone()];
    let cx = cx.clone();
    Prepared::new(vec![FileEffect::Create(path.clone())], move |permit| {
        let stamp = cx.workspace.write(&permit.to_write(&path, Target::New)?, &path, b"", None)?;
        Ok(files::written(&cx, &path, stamp, &change, "Created the empty file"))
    })
    .changing(changes)
}

fn refresh(cx: &ToolContext, path: WorkspacePath, entry: Entry) -> Result<Prepared, Problem> {
    // The times belong to the file and not to its name, so its other names would be touched too.
    if entry.links > 1 {
        return Err(Problem::new(
            ErrorCode::PathHardlinkRefused,
            format!("{path} is a hard link: the same file has another name, whose times would change too. Leave it unchanged."),
        ));
    }
    cx.seen.check(&path, &entry.stamp)?;
    let cx = cx.clone();
    Ok(Prepared::new(vec![FileEffect::Write(path.clone())], move |permit| {
        cx.workspace.touch(&permit.to_write(&path, Target::Existing)?, &path, entry.stamp)?;
        // The model still knows the content; only the times changed.
        if let Some(touched) = cx.workspace.entry(&path)? {
            cx.seen.note(&path, touched.stamp);
        }
        Ok(Output::text(format!("Set the times of {path} to now.")).with("path", path.to_string()))
    }))
}

#[cfg(test)]
mod tests {
    use super::super::trial::Trial;

    #[test]
    fn a_new_file_is_empty_and_an_old_one_keeps_its_content() {
        let trial = Trial::new(&[("a.txt", "kept\n")]);
        assert!(trial.act("touch", r#"{"path": "/new/b.txt"}"#).unwrap().text.starts_with("Created the empty file /new/b.txt"));
        assert_eq!(trial.content("new/b.txt"), "");
        trial.act("touch", r#"{"path": "/a.txt"}"#).unwrap();
        assert_eq!(trial.content("a.txt"), "kept\n");
    }

    #[test]
    fn a_touched_file_is_still_known_to_the_model() {
        let trial = Trial::new(&[("a.txt", "one\n")]);
        trial.act("read", r#"{"path": "/a.txt"}"#).unwrap();
        trial.act("touch", r#"{"path": "/a.txt"}"#).unwrap();
        trial.act("write", r#"{"path": "/a.txt", "content": "two\n"}"#).unwrap();
        assert_eq!(trial.content("a.txt"), "two\n");
    }

    #[test]
    fn links_folders_and_hard_links_are_refused() {
        let trial = Trial::new(&[("a.txt", "x\n"), ("src/b.txt", "x\n")]);
        std::os::unix::fs::symlink("a.txt", trial.host("link")).unwrap();
        std::fs::hard_link(trial.host("a.txt"), trial.host("hard")).unwrap();
        assert_eq!(trial.refusal("touch", r#"{"path": "/link"}"#), "PATH_SYMLINK_REFUSED");
        assert_eq!(trial.refusal("touch", r#"{"path": "/hard"}"#), "PATH_HARDLINK_REFUSED");
        assert_eq!(trial.refusal("touch", r#"{"path": "/src"}"#), "NOT_REGULAR_FILE");
    }
}
