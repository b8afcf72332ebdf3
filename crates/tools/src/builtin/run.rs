use crate::command::CommandRequest;
use crate::path::WorkspacePath;
use crate::tool::{Category, Input, Prepared, Risk, Spec, ToolContext};
use crate::workspace::Kind;
use planwright_protocol::{ErrorCode, Permission, Problem};
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

/// Run a shell command in a sandbox, without input and network.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunCommand {
    command: String,
    cwd: Option<String>,
    /// Default 120, at most 1800.
    timeout_s: Option<u64>,
    /// Asks the user.
    network: Option<bool>,
}

const LONGEST_COMMAND: usize = 64 << 10;
const USUAL_TIME: u64 = 120;
const LONGEST_TIME: u64 = 1800;

impl Input for RunCommand {
    const SPEC: Spec<'static> = Spec {
        name: "run",
        category: Category::Execute,
        risk: Risk::High,
        read_only: false,
        needs: &[&[Permission::Execute]],
        examples: &[r#"{"command": "make test"}"#, r#"{"command": "npm test", "cwd": "/web", "timeout_s": 600}"#],
    };

    fn prepare(self, cx: &ToolContext) -> Result<Prepared, Problem> {
        let request = self.checked(cx)?;
        let effects = cx.command.effects(&request);
        let cx = cx.clone();
        Ok(Prepared::new(effects, move |permit| cx.command.clone().run(&cx, &request, &permit.to_run())))
    }
}

impl RunCommand {
    fn checked(self, cx: &ToolContext) -> Result<CommandRequest, Problem> {
        let invalid = |text: String| Err(Problem::new(ErrorCode::InvalidArguments, text));
        if self.command.trim().is_empty() {
            return invalid("The command is empty. Give a command.".to_owned());
        }
        if self.command.len() > LONGEST_COMMAND || self.command.contains('\0') {
            return invalid(format!("A command has at most {LONGEST_COMMAND} bytes and no NUL. Write a script file, and run it."));
        }
        let seconds = self.timeout_s.unwrap_or(USUAL_TIME);
        if !(1..=LONGEST_TIME).contains(&seconds) {
            return invalid(format!("`timeout_s` must be between 1 and {LONGEST_TIME}."));
        }
        let folder = WorkspacePath::parse(self.cwd.as_deref().unwrap_or("/"))?;
        match cx.workspace.entry(&folder)?.map(|entry| entry.kind) {
            Some(Kind::Folder) => {}
            Some(Kind::Link) => return Err(super::files::is_link(&folder)),
            Some(Kind::File | Kind::Other) => {
                return Err(Problem::new(ErrorCode::PathInvalid, format!("{folder} is not a folder, so no command can run in it.")));
            }
            None => return Err(super::files::is_missing(&folder)),
        }
        Ok(CommandRequest { command: self.command, folder, time: Duration::from_secs(seconds), network: self.network.unwrap_or_default() })
    }
}
