//! A workspace in a temporary folder, and tool calls in it as a chat makes them.

use crate::command::CommandContext;
use crate::effect::Effect;
use crate::gate::{AgentKind, Consent, Epoch, Fence, Situation, Verdict, decide};
use crate::tool::{Output, Prepared, Seen, ToolConfig, ToolContext, tool_named};
use crate::workspace::Workspace;
use planwright_protocol::{Problem, Role};
use std::path::PathBuf;
use std::sync::Arc;

pub struct Trial {
    folder: tempfile::TempDir,
    pub cx: ToolContext,
}

impl Trial {
    pub fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Arc::new(Workspace::open(folder.path()).unwrap());
        let trial = Self {
            folder,
            cx: ToolContext {
                workspace,
                seen: Arc::new(Seen::default()),
                config: ToolConfig::default(),
                command: CommandContext::default(),
            },
        };
        for (path, content) in files {
            trial.put(path, content.as_bytes());
        }
        trial
    }

    /// Uses an existing folder instead.
    pub fn at(mut self, folder: &std::path::Path) -> Self {
        self.cx.workspace = Arc::new(Workspace::open(folder).unwrap());
        self
    }

    pub fn host(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    #[expect(clippy::disallowed_methods, reason = "the test is the user's hand")]
    pub fn put(&self, path: &str, content: &[u8]) {
        std::fs::create_dir_all(self.host(path).parent().unwrap()).unwrap();
        std::fs::write(self.host(path), content).unwrap();
    }

    pub fn content(&self, path: &str) -> String {
        String::from_utf8(self.bytes(path)).unwrap()
    }

    #[expect(clippy::disallowed_methods, reason = "the test is the user's eye")]
    pub fn bytes(&self, path: &str) -> Vec<u8> {
        std::fs::read(self.host(path)).unwrap()
    }

    pub fn prepare(&self, tool: &str, args: &str) -> Result<Prepared, Problem> {
        tool_named(tool).unwrap().prepare(args, &self.cx)
    }

    /// A call of a role; the user allows everything that it asks.
    pub fn call(&self, role: Role, tool: &str, args: &str) -> Result<Output, Problem> {
        let prepared = self.prepare(tool, args)?;
        match self.verdict(role, tool, &prepared.effects, Consent::Given) {
            Verdict::Allow(permit) => prepared.commit(&permit),
            Verdict::Ask(approval) => panic!("asks although the user agreed: {}", approval.reason),
            Verdict::Deny(problem) => Err(problem),
        }
    }

    pub fn verdict(&self, role: Role, tool: &str, effects: &[Effect], consent: Consent) -> Verdict {
        let fence = Fence::new(Epoch(1));
        let situation = Situation {
            role,
            tool: tool.to_owned(),
            epoch: fence.epoch(),
            fence,
            own_plan: self.cx.config.active_plan_path.clone(),
            foreign_plans: Arc::default(),
            scope: None,
            missing_plan: None,
            approvals: Arc::default(),
            secrets: self.cx.config.secrets.clone(),
            grants: Arc::default(),
            hosts: Arc::default(),
            agent: AgentKind::default(),
            consent,
        };
        decide(&situation, effects)
    }

    pub fn act(&self, tool: &str, args: &str) -> Result<Output, Problem> {
        self.call(Role::Actor, tool, args)
    }

    pub fn plan(&self, tool: &str, args: &str) -> Result<Output, Problem> {
        self.call(Role::Planner, tool, args)
    }

    /// The error code with which an Actor's call is refused.
    pub fn refusal(&self, tool: &str, args: &str) -> &'static str {
        self.act(tool, args).unwrap_err().code.as_str()
    }
}
