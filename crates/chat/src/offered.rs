//! What MCP servers offer to a run, and which of them can't be used.

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
pub struct Offered {
    /// The tools, as the model was last told of them.
    pub tools: Vec<Arc<dyn Tool>>,
}

impl Offered {
    /// Asks the servers, which are started if need be. Those that can't be used are told of once; the chat goes on without them.
    pub async fn ask(&mut self, chat: &Arc<Chat>) -> Result<Vec<Message>, Problem> {
        let (servers, site) = (chat.rules().servers, chat.site().await?);
        self.tools = servers.tools(&site).await;
        let missing: BTreeMap<String, ServerTrouble> = servers.reports(&site).await.into_iter().filter_map(trouble).collect();
        let told = std::mem::replace(&mut *chat.told_of_servers.lock().unwrap_or_else(PoisonError::into_inner), missing.clone());
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

    /// What is known of the servers, without asking them.
    pub async fn look(&mut self, chat: &Arc<Chat>) {
        if let Ok(site) = chat.site().await {
            self.tools = chat.rules().servers.known(&site).await;
        }
    }

    /// A call as the model made it, with what is known of its tool.
    pub fn call_message(&self, chat: &Chat, call: &ModelCall) -> Message {
        // Arguments that are not clean JSON are kept as they came, so that nobody reads them differently later.
        let args = planwright_protocol::json::parse_strict(&call.args).unwrap_or_else(|_| Value::String(call.args.clone()));
        let spec = self.spec(&call.tool);
        let body = ToolCall {
            category: spec.as_ref().map(|spec| spec.category),
            risk: spec.as_ref().map(|spec| spec.risk),
            ..ToolCall::new(CallId::generate(), call.tool.clone(), args)
        };
        Message::new(chat.id, body, format!("{}({})", call.tool, call.args))
    }

    /// What is known of a tool that a model calls.
    fn spec<'s>(&'s self, name: &'s str) -> Option<Spec<'s>> {
        let of_server = || self.tools.iter().map(|tool| tool.spec()).find(|spec| spec.name == name);
        tool_named(name).ok().map(Tool::spec).or_else(of_server)
    }
}

/// In words of ours: the model reads them as it reads the user's, so nothing that a server says may be among them.
fn why(trouble: ServerTrouble, server: &str) -> String {
    let accept = format!("look at it and accept it in the web UI, or by `planwright mcp accept {server}` in the workspace's folder");
    match trouble {
        ServerTrouble::Changed => format!("is not what you accepted; {accept}. What has changed is not used until then."),
        ServerTrouble::Untrusted => format!("waits for your trust, so its tools are left out; {accept}."),
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
