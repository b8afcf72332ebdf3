//! One tool of a server.

use crate::configured_server::McpServer;
use crate::connection::{CallFault, Connection, ServerTransport, failed};
use crate::redaction::Redaction;
use crate::running_server::RunningServer;
use crate::set::Trusting;
use crate::tool_catalog::{Definition, ToolCatalog, Unknown};
use crate::tool_pins::{Pin, Pins};
use planwright_protocol::json::parse_strict;
use planwright_protocol::{ErrorCode, Permission, Problem};
use planwright_tools::command::{Commands, Post, Reach};
use planwright_tools::tool::{Category, Output, Prepared, Risk, Spec, Tool, ToolContext};
use planwright_tools::workspace::Begun;
use planwright_tools::{RunEffect, Site};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use tokio::runtime::Handle;

/// A listed tool, with everything a call needs.
#[derive(Clone)]
pub struct ServerTool {
    pub server: Arc<McpServer>,
    pub running: Arc<RunningServer>,
    pub definition: Arc<Definition>,
    pub site: Site,
    pub pins: Arc<dyn Pins>,
    pub trusting: Trusting,
    pub runtime: Handle,
}

impl Tool for ServerTool {
    fn spec(&self) -> Spec<'_> {
        let name = &self.definition.model_name;
        if self.reads() {
            Spec { name, category: Category::Read, risk: Risk::Low, read_only: true, needs: &[&[Permission::Read]], examples: &[] }
        } else {
            Spec { name, category: Category::Write, risk: Risk::High, read_only: false, needs: &[&[Permission::Write]], examples: &[] }
        }
    }

    /// Without parts that wire formats don't need, and with those they require.
    fn schema(&self) -> Value {
        let mut schema = self.definition.schema.clone();
        if let Some(object) = schema.as_object_mut() {
            object.shift_remove("$schema");
            object.entry("type").or_insert_with(|| "object".into());
            object.entry("properties").or_insert_with(|| json!({}));
        }
        schema
    }

    fn description(&self) -> String {
        format!("(From the MCP server `{}`.) {}", self.server.name, self.definition.description.replace('\n', " "))
    }

    fn prepare(&self, args: &str, cx: &ToolContext) -> Result<Prepared, Problem> {
        let args = self.arguments(args)?;
        let (effect, tool, cx) = (self.effect(), self.clone(), cx.clone());
        Ok(Prepared::new(vec![effect.clone()], move |permit| {
            // The permit is not held during the call: a switch of role must not wait for a server; it ends the call.
            drop(permit.to_run().enter(std::slice::from_ref(&effect))?);
            let runtime = tool.runtime.clone();
            runtime.block_on(tool.call(args, &cx))
        }))
    }
}

impl ServerTool {
    fn reads(&self) -> bool {
        self.server.counts_as_read_only(self.definition.says_read_only)
    }

    fn effect(&self) -> RunEffect {
        let (server, tool) = (self.server.name.clone(), self.definition.name.clone());
        if self.reads() { RunEffect::Consult { server, tool } } else { RunEffect::Call { server, tool } }
    }

    fn arguments(&self, args: &str) -> Result<Map<String, Value>, Problem> {
        let invalid = |why: String| {
            let text =
                format!("The arguments of `{}` are invalid: {why}. Send them again, following its schema.", self.definition.model_name);
            Problem::new(ErrorCode::InvalidArguments, text)
        };
        match parse_strict(args).map_err(|error| invalid(error.to_string()))? {
            Value::Object(object) => Ok(object),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                Err(invalid("they are not an object".to_owned()))
            }
        }
    }

    async fn call(self, args: Map<String, Value>, cx: &ToolContext) -> Result<Output, Problem> {
        let may_change = cx.command.reach == Reach::Source && !self.reads() && !self.server.config.keep;
        match cx.command.commands.clone().filter(|_| may_change && self.server.config.url.is_none()) {
            Some(commands) => self.call_alone(args, cx, &commands).await,
            None => self.call_kept(args, cx).await,
        }
    }

    /// Calls the shared process.
    async fn call_kept(&self, args: Map<String, Value>, cx: &ToolContext) -> Result<Output, Problem> {
        let ready = self.running.ready(&self.server, &self.site, &*self.pins, self.trusting).await?;
        self.check(&ready.catalog)?;
        let (time, workspace) = (self.server.config.call_time(), self.site.workspace.host_path()?);
        let answered = ready.connection.call(&self.definition.name, args, &workspace, time, &cx.command.stop).await;
        match answered {
            Ok(text) => Ok(Output::text(text)),
            Err(CallFault { problem, is_unusable: false }) => Err(problem),
            Err(CallFault { problem, is_unusable: true }) => {
                // A stopped call that may change something must not finish later, even if others use the program too.
                if !self.reads() {
                    ready.connection.abort().await;
                }
                self.running.drop_connection(ready.connection).await;
                Err(problem)
            }
        }
    }

    /// Calls a process of its own, whose changes to the workspace the gate judges when it has ended.
    async fn call_alone(&self, args: Map<String, Value>, cx: &ToolContext, commands: &Commands) -> Result<Output, Problem> {
        let begun = tokio::task::spawn_blocking(Begun::now).await.unwrap_or_else(|_| Begun::now());
        let post = Arc::new(commands.stage_for(&self.server.program(&self.site)?, cx)?);
        let answer = self.converse(args, cx, post.clone()).await;
        if cx.command.stop.is_set() {
            post.forget(cx)?;
            return Err(Problem::new(ErrorCode::Cancelled, "The call was stopped. Nothing it changed in the workspace was kept."));
        }
        if let Some(problem) = post.overflow() {
            post.forget(cx)?;
            return Err(problem);
        }
        match answer {
            // Nothing was called.
            Err(problem) if matches!(problem.code, ErrorCode::TrustRequired | ErrorCode::SandboxUnavailable) => {
                post.forget(cx)?;
                Err(problem)
            }
            answer => {
                let handed_over = post.hand_over(&answer, begun, begun.moment.elapsed().unwrap_or_default());
                if handed_over.is_err() {
                    post.forget(cx)?;
                }
                handed_over
            }
        }
    }

    async fn converse(&self, args: Map<String, Value>, cx: &ToolContext, post: Arc<Post>) -> Result<String, Problem> {
        let (name, config) = (&self.server.name, &self.server.config);
        let connection =
            Connection::open(name, &ServerTransport::Program(post), Redaction::of(&self.server.config), config.start_time()).await?;
        let answer = async {
            let tools = connection.tools(config.start_time()).await?;
            let nothing = Pin { launch: String::new(), shown: Value::Null, tools: None };
            self.check(&ToolCatalog::sort(name, tools, nothing, Unknown::Taken).0)?;
            let workspace = self.site.workspace.host_path()?;
            let called = connection.call(&self.definition.name, args, &workspace, config.call_time(), &cx.command.stop).await;
            called.map_err(|fault| fault.problem)
        };
        let answer = answer.await;
        connection.end().await;
        answer
    }

    /// Whether the tool is still the one that was listed.
    fn check(&self, catalog: &ToolCatalog) -> Result<(), Problem> {
        match catalog.named(&self.definition.model_name) {
            Some(Ok(definition)) if definition.sha256 == self.definition.sha256 => Ok(()),
            Some(Ok(_)) => {
                let text = format!("The tool `{}` changed since it was listed, so it was not called.", self.definition.model_name);
                Err(Problem::new(ErrorCode::TrustRequired, text))
            }
            Some(Err(problem)) => Err(problem),
            None => Err(failed(&self.server.name, "it no longer has this tool.")),
        }
    }
}
