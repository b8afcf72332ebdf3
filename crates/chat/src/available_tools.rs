//! The tools of MCP servers that a run can use, and servers that can't be used.

use crate::chat::{Change, Chat};
use planwright_agent::ModelCall;
use planwright_protocol::message::{ServerNotice, ServerTrouble, ToolCall};
use planwright_protocol::{CallId, Message, Notice, Problem};
use planwright_tools::Tool;
use planwright_tools::servers::{ServerReport, ServerStatus};
use planwright_tools::tool::{Spec, tool_named};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

#[derive(Default)]
pub struct AvailableTools {
    /// The tools that the model last got.
    pub tools: Vec<Arc<dyn Tool>>,
}

impl AvailableTools {
    /// Lists the servers' tools, starting servers if necessary. Reports unusable servers once; the chat continues without them.
    pub async fn ask(&mut self, chat: &Arc<Chat>) -> Result<Vec<Message>, Problem> {
        let (servers, site) = (chat.rules().servers, chat.site().await?);
        self.tools = servers.tools(&site).await;
        let missing: BTreeMap<String, ServerTrouble> = servers.reports(&site).await.into_iter().filter_map(trouble).collect();
        let told = std::mem::replace(&mut *chat.reported_servers.lock().unwrap_or_else(PoisonError::into_inner), missing.clone());
        let news = missing.iter().filter(|(name, why)| told.get(*name) != Some(why));
        let news: Vec<Message> = news
            .map(|(name, trouble)| {
                let text = format!("The MCP server `{name}` {}", why(*trouble, name));
                let notice = ServerNotice { server: name.clone(), trouble: Some(*trouble) };
                Message::notice(chat.id, Notice::Server(notice), text)
            })
            .collect();
        if !news.is_empty() {
            chat.publish(Change::messages(news.clone()), |_| {}).await?;
        }
        Ok(news)
    }

    /// Lists the tools that are known without starting servers.
    pub async fn look(&mut self, chat: &Arc<Chat>) {
        if let Ok(site) = chat.site().await {
            self.tools = chat.rules().servers.known(&site).await;
        }
    }

    /// A call as the model made it, with the properties of its tool.
    pub fn call_message(&self, chat: &Chat, call: &ModelCall) -> Message {
        // Arguments that are not valid JSON are stored unchanged, so that nobody parses them differently later.
        let args = planwright_protocol::json::parse_strict(&call.args).unwrap_or_else(|_| Value::String(call.args.clone()));
        let spec = self.spec(&call.tool);
        let body = ToolCall {
            category: spec.as_ref().map(|spec| spec.category),
            risk: spec.as_ref().map(|spec| spec.risk),
            ..ToolCall::new(CallId::generate(), call.tool.clone(), args)
        };
        Message::new(chat.id, body, format!("{}({})", call.tool, call.args))
    }

    /// The description of a tool that a model calls.
    fn spec<'s>(&'s self, name: &'s str) -> Option<Spec<'s>> {
        let of_server = || self.tools.iter().map(|tool| tool.spec()).find(|spec| spec.name == name);
        tool_named(name).ok().map(Tool::spec).or_else(of_server)
    }
}

/// Our own text: the model reads it like the user's, so it must not contain anything from a server.
fn why(trouble: ServerTrouble, server: &str) -> String {
    let accept = format!("look at it and accept it in the web UI, or by `planwright mcp accept {server}` in the workspace's folder");
    match trouble {
        ServerTrouble::Changed => format!("has changed since you accepted it; {accept}. The changed parts are not used until then."),
        ServerTrouble::Untrusted => format!("is not trusted yet, so its tools are left out; {accept}."),
        ServerTrouble::Failed => {
            "can't be used, so its tools are left out. The workspace's list of MCP servers says why, and so does `planwright doctor`."
                .to_owned()
        }
    }
}

fn trouble(report: ServerReport) -> Option<(String, ServerTrouble)> {
    let trouble = match (report.changed, report.status) {
        (Some(_), _) => ServerTrouble::Changed,
        (None, ServerStatus::Untrusted) => ServerTrouble::Untrusted,
        (None, ServerStatus::Failed) => ServerTrouble::Failed,
        (None, ServerStatus::Idle | ServerStatus::Ready) => return None,
    };
    Some((report.name, trouble))
}
