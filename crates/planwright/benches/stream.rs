//! What a streamed reply costs on its way through the whole of `planwright run`: 2,000 tokens over chat completions,
//! against a bare HTTP client that reads the same stream in the same run. Both are measured as what the long reply takes
//! over a short one, so that neither start nor commits count. Exits with 1 when the bar is missed.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a benchmark prints, and fails by panicking")]

use planwright_testkit::bench::median_ms;
use planwright_testkit::model_server::{MODEL, ModelServer, ScriptedReply, Wire};
use planwright_testkit::server::Home;
use serde_json::json;
use std::process::ExitCode;
use std::time::{Duration, Instant};

const BINARY: &str = env!("CARGO_BIN_EXE_planwright");
const TOKENS: usize = 2_000;
/// As the model server cuts a text into tokens.
const TOKEN: &str = "tok";
const ROUNDS: usize = 15;
const BAR: f64 = 2.0;

fn main() -> ExitCode {
    planwright_providers::install_cryptography();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(measure())
}

async fn measure() -> ExitCode {
    let models = ModelServer::start(Wire::Chat, []).await;
    let home = Home::new(BINARY, &json!({}));
    let base_url = models.base_url();
    home.put_config(&format!("[models]\ndefault = \"bench/{MODEL}\"\n[providers.bench]\nkind = \"openai\"\nbase_url = \"{base_url}\"\n"));
    let (short, long) = (TOKEN.to_owned(), TOKEN.repeat(TOKENS));
    let mut times: [Vec<Duration>; 4] = Default::default();
    // The first of each finds nothing in any cache. By turns, so that a busy moment strikes all alike.
    for round in 0..=ROUNDS {
        let round_times = [
            bare(&models, &short).await,
            bare(&models, &long).await,
            whole(&models, &home, &short).await,
            whole(&models, &home, &long).await,
        ];
        if round > 0 {
            times.iter_mut().zip(round_times).for_each(|(times, time)| times.push(time));
        }
    }
    let [bare_short, bare_long, whole_short, whole_long] = times.map(median_ms);
    let (bare, whole) = (bare_long - bare_short, whole_long - whole_short);
    println!("a short reply: a bare client, planwright run               {bare_short:>8.2}ms {whole_short:>8.2}ms");
    println!("{TOKENS} tokens over that: a bare client, planwright run       {bare:>8.2}ms {whole:>8.2}ms");
    let ratio = whole / bare;
    let within = ratio <= BAR;
    println!(
        "{:<58} {ratio:>8.2}    (at most {BAR:.2}) {}",
        "a streamed reply through the whole, against a bare client",
        if within { "ok" } else { "OVER" }
    );
    if within { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Reads the stream to its end and looks at nothing in it.
async fn bare(models: &ModelServer, text: &str) -> Duration {
    models.only(ScriptedReply::text(text));
    let client = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap();
    let request = client.post(format!("{}/chat/completions", models.base_url())).json(&json!({ "model": MODEL, "stream": true }));
    let start = Instant::now();
    let mut response = request.send().await.unwrap();
    let mut received = 0;
    while let Some(chunk) = response.chunk().await.unwrap() {
        received += chunk.len();
    }
    assert!(received > text.len());
    start.elapsed()
}

async fn whole(models: &ModelServer, home: &Home, text: &str) -> Duration {
    models.only(ScriptedReply::text(text));
    let mut command = home.command(&["run", "Go on"]);
    command.env_remove("PLANWRIGHT_MODEL");
    let start = Instant::now();
    let output = command.output().await.unwrap();
    let took = start.elapsed();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains(text), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    took
}
