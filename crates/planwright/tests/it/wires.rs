//! Whole lives of chats over the wires of the vendors, against a scripted model server.

use crate::{BINARY, plan, write};
use planwright_testkit::model_server::{MODEL, ModelServer, ScriptedReply, Wire, authority};
use planwright_testkit::server::{Home, Server, last_id, of_type};
use serde_json::{Value, json};
use tokio::process::Command;

pub const KEY: &str = "sk-live-CANARY-7f3a";

/// A home whose only model is behind this server. `more` are further lines of the provider's configuration.
pub fn home_with(server: &ModelServer, more: &str) -> Home {
    let home = Home::new(BINARY, &json!({}));
    let (kind, base_url) = (server.wire.kind(), server.base_url());
    home.put_config(&format!(
        "[models]\ndefault = \"test/{MODEL}\"\n[providers.test]\nkind = \"{kind}\"\nbase_url = \"{base_url}\"\napi_key_env = \"TEST_API_KEY\"\n{more}\n"
    ));
    home
}

/// A command with the key in its environment and nothing else that names a model.
pub fn with_key(home: &Home, args: &[&str]) -> Command {
    let mut command = home.command(args);
    command.env_remove("PLANWRIGHT_MODEL").env("TEST_API_KEY", KEY);
    command
}

pub async fn serve(home: &Home) -> Server {
    home.serve_command(with_key(home, &["serve", "--listen", "127.0.0.1:0"])).await
}

fn call(reply: ScriptedReply, call: &Value) -> ScriptedReply {
    reply.call(call["tool"].as_str().unwrap(), &call["args"])
}

#[tokio::test]
async fn a_whole_life_of_a_chat_over_every_wire() {
    for wire in Wire::ALL {
        let replies = [
            ScriptedReply::text("Let me look.").thinking("What is there?", "c2ln").call("read", json!({"path": "/hello.txt"})),
            call(ScriptedReply::text("I will just do it."), &write("/bye.txt", "Goodbye\n")),
            call(ScriptedReply::text("Then I plan."), &json!({"tool": "write_plan", "args": plan("bye.txt")})),
            ScriptedReply::text("The plan is ready."),
            call(ScriptedReply::text("开始 🚀"), &write("/bye.txt", "Goodbye — 再见\n")),
            ScriptedReply::text("Done.").using(2000, 30, 1000),
        ];
        let models = ModelServer::start(wire, replies).await;
        let home = home_with(&models, "");
        home.put("hello.txt", "Hello\n");
        let server = serve(&home).await;
        let chat = server.chat(json!({})).await;

        chat.say("Say goodbye, please").await;
        let planning = chat.run_to_end(0).await;
        assert_eq!(of_type(&planning, "run_finished"), [&json!({"outcome": "done"})], "{wire:?}: {planning:#?}");
        let fates: Vec<bool> = of_type(&planning, "tool_result").iter().map(|result| result["success"] == true).collect();
        assert_eq!(fates, [true, false, true], "{wire:?}");
        let thought: String = of_type(&planning, "reasoning_delta").iter().map(|delta| delta["text"].as_str().unwrap()).collect();
        assert_eq!(thought, "What is there?", "{wire:?}");
        assert_eq!(home.file("bye.txt"), None, "plan mode changed a file");

        chat.post("execute").await;
        let acting = chat.run_to_end(last_id(&planning)).await;
        assert_eq!(of_type(&acting, "run_finished")[0]["outcome"], "done", "{wire:?}: {acting:#?}");
        assert_eq!(home.file("bye.txt").as_deref(), Some("Goodbye — 再见\n"), "{wire:?}");
        assert_eq!(chat.show().await["usage"]["output_tokens"], 5 * 10 + 30, "{wire:?}");
        let filled: Vec<u64> = of_type(&acting, "usage").iter().map(|usage| usage["context_tokens"].as_u64().unwrap()).collect();
        assert_eq!(filled, [110, 2030], "{wire:?}");

        let asked = models.asked();
        assert_eq!(asked.len(), 6, "{wire:?}");
        let last = asked[5].body.to_string();
        for part in ["Say goodbye, please", "Let me look.", "System is in Plan Mode", "The plan is ready.", "开始 🚀"] {
            assert!(last.contains(part), "{wire:?}: the last request lacks {part:?}");
        }
        let signed = matches!(wire, Wire::Responses | Wire::Anthropic | Wire::Gemini | Wire::Openrouter);
        assert_eq!(last.contains("c2ln"), signed, "{wire:?}: {last}");
    }
}

#[tokio::test]
async fn a_planners_prompt_and_tools_are_below_ten_kilobytes_of_the_request() {
    let models = ModelServer::start(Wire::Chat, [ScriptedReply::text("Hello.")]).await;
    let output = with_key(&home_with(&models, ""), &["run", "Hi"]).output().await.unwrap();
    assert!(output.status.success(), "{output:?}");
    let body = &models.asked()[0].body;
    assert_eq!(body["messages"][0]["role"], "system");
    let (prompt, tools) = (body["messages"][0].to_string().len(), body["tools"].to_string().len());
    assert!(prompt > 3_000 && tools > 3_000 && prompt + tools < 10_000, "{prompt} of prompt and {tools} of tools");
}

#[tokio::test]
async fn each_mode_asks_its_own_model_and_never_the_others() {
    let planner = ModelServer::start(
        Wire::Anthropic,
        [
            call(ScriptedReply::text("I plan."), &json!({"tool": "write_plan", "args": plan("bye.txt")})).thinking("Secretly.", "c2ln"),
            ScriptedReply::text("Ready."),
        ],
    )
    .await;
    let actor =
        ModelServer::start(Wire::Chat, [call(ScriptedReply::text("I act."), &write("/bye.txt", "x\n")), ScriptedReply::text("Done.")])
            .await;
    let home = home_with(&planner, "");
    home.put_config(&format!(
        "[models]\nplan = \"p/{MODEL}\"\nact = \"a/{MODEL}\"\n[providers.p]\nkind = \"anthropic\"\nbase_url = \"{}\"\n[providers.a]\nkind = \"openai\"\nbase_url = \"{}\"\n",
        planner.base_url(),
        actor.base_url()
    ));
    let server = serve(&home).await;
    let chat = server.chat(json!({})).await;
    chat.say("Plan it").await;
    let planning = chat.run_to_end(0).await;
    assert_eq!((planner.asked().len(), actor.asked().len()), (2, 0));
    chat.post("execute").await;
    chat.run_to_end(last_id(&planning)).await;
    assert_eq!((planner.asked().len(), actor.asked().len()), (2, 2));
    assert_eq!(home.file("bye.txt").as_deref(), Some("x\n"));
    let heard = actor.asked()[0].body.to_string();
    assert!(
        heard.contains("I plan.") && !heard.contains("c2ln") && !heard.contains("Secretly."),
        "what one model signed is not another's: {heard}"
    );
}

#[tokio::test]
async fn one_variable_is_enough_and_the_choice_is_said() {
    let models = ModelServer::start(Wire::Chat, [ScriptedReply::text("Hello from afar.")]).await;
    let home = Home::new(BINARY, &json!({}));
    let mut command = home.command(&["run", "Hi"]);
    command.env_remove("PLANWRIGHT_MODEL").env("OPENAI_API_KEY", KEY).env("OPENAI_BASE_URL", models.base_url());
    let output = command.output().await.unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout).into_owned(), String::from_utf8_lossy(&output.stderr).into_owned());
    assert!(out.contains("Hello from afar.") && err.contains("OPENAI_API_KEY is set, so openai/gpt-"), "{out}\n{err}");
    assert_eq!(models.asked()[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
}

#[tokio::test]
async fn the_address_of_a_daemon_is_enough_to_use_its_model() {
    let models = ModelServer::start(Wire::Ollama, [ScriptedReply::text("Hello from next door.")]).await;
    let home = Home::new(BINARY, &json!({}));
    home.put_config("");
    home.put(".planwright/config.toml", "[limits]\nturns = 9\n");
    let command = |host: &str| {
        let mut command = home.command(&["run", "Hi"]);
        for variable in ["PLANWRIGHT_MODEL", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"] {
            command.env_remove(variable);
        }
        command.env("OLLAMA_HOST", host);
        command
    };
    let output = command(&models.address).output().await.unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(out.contains("Hello from next door.") && err.contains(&format!("ollama/{MODEL}")), "{out}\n{err}");
    let output = command("127.0.0.1:1").output().await.unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && err.contains("OLLAMA_HOST is set, but"), "{err}");
}

#[tokio::test]
async fn the_doctor_asks_each_provider_and_says_how_to_mend_it() {
    let models = ModelServer::start(Wire::Anthropic, []).await;
    let cases = [
        (MODEL, KEY, "", "ok", "knows the model"),
        ("mistyped", KEY, "", "failed", "has no model \"mistyped\""),
        (MODEL, "", "", "failed", "set TEST_API_KEY"),
        (MODEL, KEY, "http://127.0.0.1:1", "failed", "can't be reached"),
    ];
    for (model, key, elsewhere, status, words) in cases {
        let home = home_with(&models, "");
        let base_url = if elsewhere.is_empty() { models.base_url() } else { elsewhere.to_owned() };
        home.put_config(&format!(
            "[models]\nplan = \"test/{model}\"\n[providers.test]\nkind = \"anthropic\"\nbase_url = \"{base_url}\"\napi_key_env = \"TEST_API_KEY\"\n"
        ));
        let output = with_key(&home, &["doctor", "--json"]).env("TEST_API_KEY", key).output().await.unwrap();
        let checks: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
        let check = checks.iter().find(|check| check["name"] == "plan model").unwrap();
        assert_eq!(check["status"], status, "{check}");
        assert!(check["detail"].as_str().unwrap().contains(words), "{check}");
        let act = checks.iter().find(|check| check["name"] == "act model").unwrap();
        assert_eq!(act["status"], "warning", "a model for plan mode is none for act mode: {act}");
    }
}

async fn run_at(home: &Home, base_url: &str, more: &str, environment: &[(&str, &str)]) -> String {
    home.put_config(&format!(
        "[models]\ndefault = \"test/{MODEL}\"\n[providers.test]\nkind = \"openai\"\nbase_url = \"{base_url}\"\n{more}\n"
    ));
    let output = with_key(home, &["run", "Hi"]).envs(environment.iter().copied()).output().await.unwrap();
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[tokio::test]
async fn a_proxy_is_used_for_the_world_and_never_for_this_machine() {
    let models = ModelServer::start(Wire::Chat, [ScriptedReply::text("Through the proxy."), ScriptedReply::text("Straight.")]).await;
    let home = home_with(&models, "");
    let said = run_at(&home, "http://models.invalid/v1", "", &[("HTTP_PROXY", &models.address)]).await;
    assert!(said.contains("Through the proxy."), "{said}");
    assert_eq!(models.asked()[0].path, "http://models.invalid/v1/chat/completions");
    let said = run_at(&home, &models.base_url(), "", &[("HTTP_PROXY", "http://127.0.0.1:1"), ("ALL_PROXY", "http://127.0.0.1:1")]).await;
    assert!(said.contains("Straight."), "{said}");
}

#[tokio::test]
async fn a_certificate_of_ones_own_is_trusted_when_its_authority_is_named_and_only_then() {
    let models = ModelServer::start(Wire::Chat, [ScriptedReply::text("Hello."), ScriptedReply::text("Hello.")]).await;
    let base_url = format!("{}/v1", models.behind_tls().await);
    let home = home_with(&models, "");
    let output = with_key(&home, &["doctor"]).output().await.unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("knows the model"));
    home.put_config(&format!("[models]\ndefault = \"test/{MODEL}\"\n[providers.test]\nkind = \"openai\"\nbase_url = \"{base_url}\"\n"));
    let output = with_key(&home, &["doctor"]).output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("certificate") && said.contains("ca_file"), "{said}");
    assert!(models.asked().is_empty());
    let said = run_at(&home, &base_url, &format!("ca_file = \"{}\"", authority()), &[]).await;
    assert!(said.contains("Hello."), "{said}");
    let said = run_at(&home, &base_url, "", &[("SSL_CERT_FILE", authority())]).await;
    assert!(said.contains("Hello."), "{said}");
}
