use crate::effect::Effect;
use crate::path::WorkspacePath;
use crate::tool::{Category, Input, Output, Prepared, Risk, Spec, ToolContext};
use crate::version::{FileChange, Version};
use crate::workspace::Parents;
use planwright_protocol::{ErrorCode, Image, Permission, Problem};
use schemars::JsonSchema;
use serde::Deserialize;

/// Make an empty folder. `write` makes the folders of a new file by itself.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mkdir {
    path: String,
    /// Also make missing folders above it.
    parents: Option<bool>,
}

impl Input for Mkdir {
    const SPEC: Spec<'static> = Spec {
        name: "mkdir",
        category: Category::Write,
        risk: Risk::Low,
        read_only: false,
        needs: &[&[Permission::Create]],
        examples: &[r#"{"path": "/src/parser"}"#, r#"{"path": "/docs/guide/images", "parents": true}"#],
    };

    /// What is there already is the kernel's to say, in the one step that makes the folder.
    fn prepare(self, cx: &ToolContext) -> Result<Prepared, Problem> {
        let path = WorkspacePath::parse(&self.path)?;
        let parents = if self.parents.unwrap_or_default() { Parents::Make } else { Parents::MustExist };
        let is_new = matches!(cx.workspace.entry(&path), Ok(None));
        let made = FileChange { path: path.clone(), before: Version::absent(), after: Image::Folder { mode: None }.into() };
        let cx = cx.clone();
        Ok(Prepared::new(vec![Effect::CreateFolder(path.clone())], move |permit| {
            cx.workspace.make_folder(permit, &path, parents).map_err(|problem| advise(problem, &path, parents))?;
            Ok(Output::text(format!("Made the folder {path}.")).with("path", path.to_string()))
        })
        .changing(is_new.then_some(made).into_iter().collect()))
    }
}

fn advise(problem: Problem, path: &WorkspacePath, parents: Parents) -> Problem {
    if problem.code == ErrorCode::PathNotFound && parents == Parents::MustExist {
        return Problem::new(
            ErrorCode::PathNotFound,
            format!("{path} can't be made: a folder on the way to it is missing. Say `parents: true` to make that too."),
        );
    }
    problem
}

#[cfg(test)]
mod tests {
    use super::super::trial::Trial;

    #[test]
    fn folders_on_the_way_are_made_only_when_asked_for() {
        let trial = Trial::new(&[]);
        assert_eq!(trial.refusal("mkdir", r#"{"path": "/a/b"}"#), "PATH_NOT_FOUND");
        trial.act("mkdir", r#"{"path": "/a/b/", "parents": true}"#).unwrap();
        assert!(trial.host("a/b").is_dir());
    }

    #[test]
    fn what_exists_is_not_made_again_and_links_are_not_followed() {
        let trial = Trial::new(&[("a.txt", "x\n")]);
        std::os::unix::fs::symlink("..", trial.host("out")).unwrap();
        for path in ["/a.txt", "/", "/out"] {
            assert_eq!(trial.refusal("mkdir", &format!(r#"{{"path": {path:?}}}"#)), "PATH_EXISTS", "{path}");
        }
        assert_eq!(trial.refusal("mkdir", r#"{"path": "/out/new", "parents": true}"#), "PATH_SYMLINK_REFUSED");
        assert_eq!(trial.refusal("mkdir", r#"{"path": "/z", "mode": "0777"}"#), "INVALID_ARGUMENTS");
    }
}
