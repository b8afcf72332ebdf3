//! The outcome of a case, and the expectations that failed.

use super::readings;
use super::stage::Stage;
use planwright_testkit::guard::invariant::ProcessUsage;
use planwright_testkit::guard::{CaseDecision, CaseFinding, CaseOutcome, FinishedCall, Invariant, misfit};
use planwright_testkit::server::{ChatClient, of_type};
use reqwest::StatusCode;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::time::Duration;

/// The outcome of the case's call, and whatever its scenario measured, by the names of the invariants.
#[derive(Debug)]
pub struct Seen {
    outcome: CaseOutcome,
    elapsed: Duration,
    events: Vec<Value>,
    facts: BTreeMap<&'static str, Value>,
    unavailable: Option<String>,
}

impl Seen {
    pub fn new(decision: CaseDecision, code: Option<&str>, output: &Value) -> Self {
        let code = code.map(str::to_owned);
        let outcome = CaseOutcome { decision, code, output: output.to_string(), facts: Map::new(), mode: String::new() };
        Self { outcome, elapsed: Duration::ZERO, events: Vec::new(), facts: BTreeMap::new(), unavailable: None }
    }

    /// What became of the last call of a reply.
    pub async fn last_call(chat: &ChatClient<'_>, events: Vec<Value>) -> Self {
        let asked = of_type(&events, "question_pending").last().is_some_and(|question| question["kind"] != "user");
        let result = of_type(&events, "tool_result").last().map(|result| (*result).clone()).unwrap_or_default();
        let code = result["error"]["code"].as_str();
        let decision = match code {
            _ if asked => CaseDecision::Ask,
            Some(_) => CaseDecision::Deny,
            None => CaseDecision::Allow,
        };
        Self::new(decision, code, &Value::from(events.clone())).with_events(events).in_chat(chat).await
    }

    /// For a call that was stopped, or overtaken by a switch: its result counts, and not what was asked meanwhile.
    pub fn refused_by_result(mut self) -> Self {
        if self.outcome.code.is_some() {
            self.outcome.decision = CaseDecision::Deny;
        }
        self
    }

    /// The answer that a client of the API gets.
    pub fn answer((status, body): &(StatusCode, Value)) -> Self {
        let decision = if status.is_success() { CaseDecision::Allow } else { CaseDecision::Error };
        Self::new(decision, body["error"]["code"].as_str(), body).fact("http_status", status.as_u16())
    }

    pub fn unavailable(why: impl Into<String>) -> Self {
        Self { unavailable: Some(why.into()), ..Self::new(CaseDecision::Error, None, &Value::Null) }
    }

    /// Looks at the chat as it is now.
    pub async fn in_chat(mut self, chat: &ChatClient<'_>) -> Self {
        let shown = chat.show().await;
        shown["config"]["agent_mode"].as_str().unwrap_or_default().clone_into(&mut self.outcome.mode);
        let role = shown["config"]["agent_role"].as_str().unwrap_or_default();
        let role: String =
            role.chars().enumerate().map(|(place, letter)| if place == 0 { letter.to_ascii_uppercase() } else { letter }).collect();
        let question = if shown["pending_question"].is_null() { "none" } else { "pending" };
        self.fact("chat_role", role).fact("question_state", question)
    }

    pub fn with_events(mut self, events: Vec<Value>) -> Self {
        self.events = events;
        self
    }

    pub fn within(mut self, elapsed: Duration) -> Self {
        self.elapsed = elapsed;
        self
    }

    pub fn fact(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.facts.insert(name, value.into());
        self
    }

    pub fn is_refused(&self) -> bool {
        self.outcome.decision.refuses()
    }

    pub fn has_event(&self, name: &str) -> bool {
        self.events.iter().any(|event| event["type"] == name)
    }

    pub fn is_refused_with(&self, code: &str) -> bool {
        self.outcome.decision.refuses() && self.outcome.code.as_deref() == Some(code)
    }

    /// Whether the case holds.
    pub fn finding(&self, stage: &Stage) -> CaseFinding {
        if let Some(why) = &self.unavailable {
            return CaseFinding::Unavailable(why.clone());
        }
        let case = &stage.case;
        let mut wrong: Vec<String> = misfit(case, &self.outcome).into_iter().collect();
        let run = FinishedCall { outcome: self.outcome.clone(), elapsed: self.elapsed, usage: ProcessUsage::default() };
        match stage.watch().as_ref() {
            Some(watch) => {
                let mut own = case.clone();
                own.expect.invariants.retain(|invariant| *invariant != Invariant::Elsewhere);
                wrong.extend(watch.broken(&stage.fixture, &own, &run));
            }
            None => wrong.push("the scenario did not say from when on nothing may change".to_owned()),
        }
        let written = stage.written["expect"]["invariants"].as_array().unwrap().iter();
        let known = written.zip(&case.expect.invariants).filter(|(_, known)| **known == Invariant::Elsewhere);
        let own = known.filter(|(written, _)| !readings::replaces(&case.id, written["type"].as_str().unwrap()));
        wrong.extend(own.filter_map(|(written, _)| self.breaks(written)));
        if wrong.is_empty() { CaseFinding::Holds } else { CaseFinding::Broken(wrong.join("\n")) }
    }

    /// What does not hold of an invariant that is about chats.
    fn breaks(&self, invariant: &Value) -> Option<String> {
        let name = invariant["type"].as_str().unwrap();
        let count = |name: &Value| self.events.iter().filter(|event| event["type"] == *name).count();
        let names = || invariant["names"].as_array().unwrap().iter();
        match name {
            "events_include" => return names().find(|name| count(name) == 0).map(|name| format!("there was no {name}")),
            "events_exclude" => return names().find(|name| count(name) > 0).map(|name| format!("there was a {name}")),
            "event_count" => {
                let found = count(&invariant["name"]);
                return (found != invariant["equals"]).then(|| format!("{found} times {}", invariant["name"]));
            }
            _ => {}
        }
        let Some(fact) = self.facts.get(name) else { return Some(format!("nobody looked at {name}")) };
        let within = |list: &Value| list.as_array().unwrap().contains(fact);
        let lacks =
            |needles: &Value| needles.as_array().unwrap().iter().all(|needle| !fact.as_str().unwrap().contains(needle.as_str().unwrap()));
        let demands: Vec<(&str, &Value)> = invariant.as_object().unwrap().iter().map(|(key, value)| (key.as_str(), value)).collect();
        let holds = |(key, wanted): &(&str, &Value)| match *key {
            "type" => true,
            "equals" | "times" => fact == *wanted,
            "value" => fact != *wanted,
            "max" => fact.as_u64() <= wanted.as_u64(),
            "in" | "values" => within(wanted),
            "needles" => lacks(wanted),
            "hosts" => *fact == true,
            other => panic!("{name} has {other}, which nobody reads"),
        };
        let plain = demands.len() == 1;
        let holds = if plain { *fact == true } else { demands.iter().all(holds) };
        (!holds).then(|| format!("{invariant} does not hold: {fact}"))
    }
}
