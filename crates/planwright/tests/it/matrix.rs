//! The guard cases of the role matrix that need a chat: who may ask, leave plan mode, delegate.

use crate::home;
use planwright_testkit::guard::{Case, CaseDecision, CaseFinding, CaseOutcome, CaseReport, Harness, Suite, announce, misfit};
use planwright_testkit::server::of_type;
use serde_json::{Value, json};

/// Cases that can't hold yet, with the reason. A case that does hold may not stand here.
const LISTED: &[(&str, &str)] = &[];

#[tokio::test]
async fn every_guard_case_of_the_role_matrix_holds_in_a_chat() {
    let suite = Suite::load();
    let mut findings: Vec<(&Case, CaseFinding)> = Vec::new();
    for case in suite.of(&[Harness::Server]).filter(|case| case.group == "role-mode-matrix") {
        let outcome = outcome(case).await;
        findings.push((case, misfit(case, &outcome).map_or(CaseFinding::Holds, CaseFinding::Broken)));
    }
    let report = CaseReport::new(&findings, LISTED);
    announce(&format_args!("\n{report}"));
    assert!(report.wrong().is_empty(), "{}", report.wrong().join("\n\n"));
}

/// What a scripted model sees that makes the case's call, in the case's role.
async fn outcome(case: &Case) -> CaseOutcome {
    let task = json!([{ "text": "Reported.", "told": ["You are operating in ACTOR role", "You are in ACT mode"] }]);
    let turns = json!([{ "calls": [{ "tool": case.tool, "args": case.args }] }, { "text": "Done." }]);
    let home = home(&json!({ "turns": turns, "tasks": { "t": task } }));
    home.put("plans/roadmap.plan", "# Plan\n- [ ] one\n- [ ] two\n");
    let server = home.serve().await;
    let chat = server.chat(json!({ "agent_role": case.role })).await;
    chat.say("Go").await;
    let events = chat.events(0, |event| event["type"] == "run_finished" || event["data"]["state"] == "awaiting_answer").await;
    let asked = of_type(&events, "question_pending").first().map(|question| question["kind"].clone());
    let code = of_type(&events, "tool_result").first().and_then(|result| result["error"]["code"].as_str()).map(str::to_owned);
    let decision = match (&asked, &code) {
        // The model's own question is what `ask_user` is for; any other is the server's, before it lets something happen.
        (Some(kind), _) if kind != "user" => CaseDecision::Ask,
        (_, Some(_)) => CaseDecision::Deny,
        (Some(_) | None, None) => CaseDecision::Allow,
    };
    let mode = chat.show().await["config"]["agent_mode"].as_str().unwrap_or_default().to_owned();
    CaseOutcome { decision, code, output: Value::from(events).to_string(), facts: serde_json::Map::new(), mode }
}
