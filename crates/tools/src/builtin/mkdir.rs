use crate::effect::FileEffect;
use crate::path::WorkspacePath;
use crate::tool::{Input, Output, Prepared, Risk, Spec, ToolContext};
use crate::version::{FileChange, Version};
use crate::workspace::Parents;
use planwright_protocol::{ErrorCode, Image, Permission, Problem};
use schemars::JsonSchema;
use serde::Deserialize;

/// Create an empty folder; `write` creates folders by itself.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mkdir {
    path: String,
    parents: Option<bool>,
}

impl Input for Mkdir {
    const SPEC: Spec<'static> = Spec::writing(
        "mkdir",
        Risk::Low,
        &[&[Permission::Create]],
        &[r#"{"path": "/src/b"}"#, r#"{"path": "/docs/guide/images", "parents": true}"#],
    );

    /// The kernel checks whether it exists, in the same step that creates the folder.
    fn prepare(self, cx: &ToolContext) -> Result<Prepared, Problem> {
        let path = WorkspacePath::parse(&self.path)?;
        let parents = if self.parents.unwrap_or_default() { Parents::Make } else { Parents::MustExist };
        let is_new = matches!(cx.workspace.entry(&path), Ok(None));
        let made = FileChange { path: path.clone(), before: Version::absent(), after: Image::Folder { mode: None }.into() };
        let cx = cx.clone();
        Ok(Prepared::new(vec![FileEffect::CreateFolder(path.clone())], move |permit| {
            let permit = permit.to_make_folder(&path)?;
            cx.workspace.make_folder(&permit, &path, parents).map_err(|problem| advise(problem, &path, parents))?;
            Ok(Output::text(format!("Made the folder {path}.")).with("path", path.to_string()))
        })
        .changing(is_new.then_some(made).into_iter().collect()))
    }
}

fn advise(problem: Problem, path: &WorkspacePath, parents: Parents) -> Problem {
    if problem.code == ErrorCode::PathNotFound && parents == Parents::MustExist {
        return Problem::new(
            ErrorCode::PathNotFound,
            format!("Can't create {path}: a parent folder is missing. Set `parents: true` to create it too."),
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
    fn a_repository_under_another_name_can_t_be_put_together_one_entry_at_a_time() {
        let head = |path: &str| format!(r#"{{"path": {path:?}, "content": "ref: refs/heads/main\n"}}"#);
        let make = |path: &str| format!(r#"{{"path": {path:?}, "parents": true}}"#);
        let trial = Trial::new(&[("ref", "ref: refs/heads/main\n"), ("parts/objects/x", "x"), ("parts/refs/y", "y")]);
        trial.act("mkdir", &make("/a/objects")).unwrap();
        trial.act("mkdir", &make("/a/refs")).unwrap();
        assert_eq!(trial.refusal("write", &head("/a/HEAD")), "PROTECTED_PATH");
        assert_eq!(trial.refusal("touch", r#"{"path": "/a/HEAD"}"#), "PROTECTED_PATH");
        assert_eq!(trial.refusal("mv", r#"{"from": "/ref", "to": "/a/HEAD"}"#), "PROTECTED_PATH");
        assert_eq!(trial.refusal("write", &head("/a/HEAD/x")), "PROTECTED_PATH");
        trial.act("write", &head("/b/c/HEAD")).unwrap();
        trial.act("mv", r#"{"from": "/parts/objects", "to": "/b/c/objects"}"#).unwrap();
        assert_eq!(trial.refusal("mv", r#"{"from": "/parts/refs", "to": "/b/c/refs"}"#), "PROTECTED_PATH");
        assert_eq!(trial.refusal("mkdir", &make("/b/c/refs")), "PROTECTED_PATH");
        assert_eq!(trial.refusal("write", &head("/b/c/refs/heads/main")), "PROTECTED_PATH");
        assert_eq!(trial.refusal("write", r#"{"path": "/b/c/commondir", "content": "../../.git\n"}"#), "PROTECTED_PATH");
        let refused = trial.act("mkdir", &make("/b/c/refs/heads")).unwrap_err();
        assert!(refused.message.starts_with("/b/c belongs to a git repository") && refused.message.contains("/tmp"), "{}", refused.message);
        assert!(!trial.host("b/c/refs").exists() && !trial.host("a/HEAD").exists());
        trial.act("write", &head("/HEAD")).unwrap();
        trial.act("mkdir", &make("/refs")).unwrap();
        assert_eq!(trial.refusal("mkdir", &make("/objects")), "PROTECTED_PATH", "the workspace itself");
        trial.act("write", r#"{"path": "/config", "content": "x"}"#).unwrap();
    }

    #[test]
    fn a_repository_under_another_name_that_is_there_is_neither_changed_nor_moved_nor_deleted() {
        let trial =
            Trial::new(&[("d/x.git/HEAD", "h"), ("d/x.git/objects/o", "o"), ("d/x.git/refs/r", "r"), ("d/x.git/config", "c"), ("a", "a")]);
        for (tool, args) in [
            ("write", r#"{"path": "/d/x.git/config", "content": "evil"}"#),
            ("edit", r#"{"path": "/d/x.git/config", "old_string": "c", "new_string": "evil"}"#),
            ("write", r#"{"path": "/d/x.git/hooks/post-checkout", "content": "evil"}"#),
            ("touch", r#"{"path": "/d/x.git/config"}"#),
            ("rm", r#"{"path": "/d/x.git/config"}"#),
            ("rm", r#"{"path": "/d/x.git", "recursive": true}"#),
            ("rm", r#"{"path": "/d", "recursive": true}"#),
            ("mv", r#"{"from": "/d/x.git", "to": "/y.git"}"#),
            ("mv", r#"{"from": "/d", "to": "/e"}"#),
            ("mv", r#"{"from": "/d/x.git/HEAD", "to": "/HEAD"}"#),
            ("mv", r#"{"from": "/a", "to": "/d/x.git/config"}"#),
            ("mkdir", r#"{"path": "/d/x.git/hooks"}"#),
        ] {
            assert_eq!(trial.refusal(tool, args), "PROTECTED_PATH", "{tool} {args}");
        }
        assert_eq!((trial.content("d/x.git/config"), trial.content("d/x.git/HEAD")), ("c".to_owned(), "h".to_owned()));
        trial.act("write", r#"{"path": "/d/beside", "content": "x"}"#).unwrap();
    }

    #[test]
    fn two_calls_that_were_both_allowed_don_t_make_the_two_halves_of_a_repository() {
        use crate::gate::{Consent, Verdict};
        use planwright_protocol::Role;
        let trial = Trial::new(&[("x/refs/r", "r")]);
        let calls = [("mkdir", r#"{"path": "/x/objects"}"#), ("write", r#"{"path": "/x/HEAD", "content": "ref: refs/heads/main"}"#)];
        let done = calls.map(|(tool, args)| {
            let prepared = trial.prepare(tool, args).unwrap();
            let Verdict::Allow(permit) = trial.verdict(Role::Actor, tool, &prepared.effects, Consent::Given) else { panic!("{args}") };
            (prepared, permit)
        });
        let codes = done.map(|(prepared, permit)| prepared.commit(&permit).map_err(|problem| problem.code.as_str()).map(drop));
        assert_eq!(codes, [Ok(()), Err("PROTECTED_PATH")]);
        assert!(!trial.host("x/HEAD").exists());
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
