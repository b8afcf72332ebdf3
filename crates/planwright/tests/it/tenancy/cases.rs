//! The guard cases of the HTTP API, as they are written: a method, a path, headers and a body, sent by somebody.

use super::team::{Team, team};
use crate::sign_in::{Browser, CSRF};
use planwright_testkit::guard::{Case, CaseFinding, CaseReport, FolderTree, Harness, Suite, announce};
use planwright_testkit::operations::operations;
use planwright_testkit::team::BOBS_WORDS;
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

const CASES: &str = include_str!("../../../../testkit/data/guard-cases.json");
const GROUP: &str = "http-api-tenancy-browser";

/// Cases that are not carried out here, with the reason.
const LISTED: &[(&str, &str)] = &[
    ("HT-039", "a measurement with a thousand clients, which the bench of the event streams makes"),
    ("HT-042", "a measurement over a hundred thousand events, which the tests of the event streams make"),
];

/// Cases whose answer the contract words otherwise, with the reason: a refused tool call is answered with a 200.
const IN_THE_BODY: &[&str] = &["HT-010", "HT-011"];

#[tokio::test]
async fn every_guard_case_of_the_http_api_holds() {
    let suite = Suite::load();
    let file: Value = serde_json::from_str(CASES).unwrap();
    let written = |id: &str| file["cases"].as_array().unwrap().iter().find(|case| case["id"] == id).unwrap().clone();
    let stage = Stage::new().await;
    let mut findings: Vec<(&Case, CaseFinding)> = Vec::new();
    for case in suite.of(&[Harness::Server]).filter(|case| case.group == GROUP) {
        findings.push((case, stage.finding(&written(&case.id)).await));
    }
    for (id, reason) in LISTED {
        announce(&format_args!("{id} is not carried out here: {reason}"));
    }
    let report = CaseReport::new(&findings, LISTED);
    announce(&format_args!("\n{report}"));
    assert!(report.wrong().is_empty(), "{} wrong:\n{}", report.wrong().len(), report.wrong().join("\n\n"));
}

struct Stage {
    team: Team,
    ann: Browser,
    /// The number of an event of bob's.
    foreign_event: String,
}

impl Stage {
    async fn new() -> Self {
        let team = team(&[]).await;
        let ann = Browser::sign_in(&team.server, &json!({ "name": "ann", "password": "a long password" })).await;
        let path = format!("/workspaces/{}/chats/{}/snapshot", team.bobs.0, team.bobs.1);
        let (_, snapshot) = team.request(&team.bob, Method::GET, &path, json!({})).await;
        Self { foreign_event: snapshot["last_event_id"].to_string(), team, ann }
    }

    async fn finding(&self, case: &Value) -> CaseFinding {
        let args = &case["args"];
        let tree = FolderTree::of(&self.team.home.workspace());
        let wrong = if args["sweep"].is_string() {
            self.sweep().await
        } else if let Some(raw) = args["raw"].as_str() {
            self.raw(case, raw).await
        } else if args["method"].is_string() {
            self.http(case).await
        } else if let Some(many) = args["slowloris"]["n"].as_u64() {
            self.slow(case, many).await
        } else {
            vec!["it has no scenario".to_owned()]
        };
        let changed = case["expect"]["decision"] == "deny" && FolderTree::of(&self.team.home.workspace()) != tree;
        let wrong: Vec<String> = wrong.into_iter().chain(changed.then(|| "the workspace changed".to_owned())).collect();
        if wrong.is_empty() { CaseFinding::Holds } else { CaseFinding::Broken(wrong.join("; ")) }
    }

    /// Every route that says that it needs a sign-in; the others are the exceptions that the case allows, and the description.
    async fn sweep(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        for operation in operations(&self.team.server).await.into_iter().filter(|operation| operation.needs_sign_in) {
            let path = operation.path(|name| if name == "wid" { self.team.anns.0.clone() } else { self.team.anns.1.clone() });
            let request = self.team.client.request(operation.method.clone(), format!("{}{path}", self.team.server.base));
            let status = request.json(&operation.body).send().await.unwrap().status();
            if status != StatusCode::UNAUTHORIZED {
                wrong.push(format!("{} {path}: {status}", operation.method));
            }
        }
        wrong
    }

    async fn raw(&self, case: &Value, request: &str) -> Vec<String> {
        let mut stream = TcpStream::connect(self.team.server.base.strip_prefix("http://").unwrap()).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = vec![0; 12];
        stream.read_exact(&mut answer).await.unwrap();
        let status = String::from_utf8_lossy(&answer[9..]).parse().unwrap();
        expected(case, status).into_iter().collect()
    }

    /// Requests whose heads come a byte at a time; a thousand of the ten thousand, which is what a test may have open.
    async fn slow(&self, case: &Value, many: u64) -> Vec<String> {
        let address = self.team.server.base.strip_prefix("http://").unwrap();
        let mut slow = JoinSet::new();
        for _ in 0..many.min(1000) {
            let mut stream = TcpStream::connect(address).await.unwrap();
            // The server says nothing to one that makes room for others before it has sent anything.
            stream.write_all(b"G").await.unwrap();
            slow.spawn(async move {
                let mut answer = vec![0; 12];
                for byte in b"ET /healthz HTTP/1.1".iter().cycle() {
                    if stream.write_all(&[*byte]).await.is_err() {
                        break;
                    }
                    if let Ok(read) = tokio::time::timeout(Duration::from_secs(5), stream.read_exact(&mut answer)).await {
                        return read.map_or(0, |_| String::from_utf8_lossy(&answer[9..]).parse().unwrap());
                    }
                }
                0
            });
        }
        let (mut times, mut wrong) = (Vec::new(), Vec::new());
        while !slow.is_empty() {
            let begun = self.team.server.stopwatch();
            self.team.client.get(format!("{}/healthz", self.team.server.base)).send().await.unwrap();
            times.push(begun.elapsed());
            tokio::time::sleep(Duration::from_millis(50)).await;
            while let Some(status) = slow.try_join_next() {
                wrong.extend(expected(case, status.unwrap()));
            }
        }
        times.sort();
        // Not the slowest of a hundred, as the case has it: other tests share the machine.
        let usual = times[times.len() / 2];
        wrong.extend((usual > Duration::from_millis(250)).then(|| format!("others waited {usual:?}")));
        wrong
    }

    async fn http(&self, case: &Value) -> Vec<String> {
        let resident = self.team.server.resident();
        let response = self.request(case).send().await.unwrap();
        let grown = self.team.server.resident().saturating_sub(resident) >> 20;
        let mut wrong: Vec<String> = Vec::new();
        if IN_THE_BODY.contains(&case["id"].as_str().unwrap()) {
            let status = response.status();
            let body: Value = response.json().await.unwrap_or_default();
            let code = &body["error"]["code"];
            wrong.extend((status != 200 || body["success"] != false || code != "TOOL_BLOCKED_BY_MODE").then(|| format!("{status} {body}")));
            return wrong;
        }
        wrong.extend(expected(case, response.status().as_u16()));
        for invariant in case["expect"]["invariants"].as_array().unwrap() {
            let name = invariant["name"].as_str().unwrap_or_default();
            wrong.extend(match invariant["type"].as_str().unwrap() {
                "header_contains" => {
                    let value = response.headers().get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default();
                    (!value.contains(invariant["value"].as_str().unwrap())).then(|| format!("{name}: {value}"))
                }
                "rss_growth_mb" => (grown > invariant["max"].as_u64().unwrap()).then(|| format!("it grew by {grown} MiB")),
                "chat_mode" => {
                    let path = format!("/workspaces/{}/chats/{}", self.team.anns.0, self.team.anns.1);
                    let (_, chat) = self.ann.get(&path).await;
                    (chat["config"]["agent_mode"] != invariant["equals"])
                        .then(|| format!("the chat is in {}", chat["config"]["agent_mode"]))
                }
                _ => None,
            });
        }
        if case["title"].as_str().unwrap().contains("Last-Event-ID") {
            wrong.extend(self.replayed(response).await);
        }
        wrong
    }

    /// A stream after an id of another chat begins anew or says so, and contains no other chat's events.
    async fn replayed(&self, mut response: Response) -> Option<String> {
        let mut seen = String::new();
        while let Ok(Ok(Some(piece))) = tokio::time::timeout(Duration::from_secs(2), response.chunk()).await {
            seen.push_str(&String::from_utf8_lossy(&piece));
        }
        let foreign = seen.contains(&self.team.bobs.1) || seen.contains(BOBS_WORDS);
        (foreign || seen.contains("event: error")).then_some(seen)
    }

    fn request(&self, case: &Value) -> RequestBuilder {
        let (team, args) = (&self.team, &case["args"]);
        let port = team.server.base.rsplit(':').next().unwrap();
        let fill = |text: &str| {
            let known = [
                ("$W2", team.bobs.0.as_str()),
                ("$C2", &team.bobs.1),
                ("$W", &team.anns.0),
                ("$C", &team.anns.1),
                ("$TOKEN", &team.ann),
                ("$PORT", port),
                ("<id from chat B>", &self.foreign_event),
            ];
            known.into_iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
        };
        let path = fill(args["path"].as_str().unwrap());
        let mut request = team.client.request(args["method"].as_str().unwrap().parse().unwrap(), format!("{}{path}", team.server.base));
        request = match args.get("auth").map(|auth| auth.as_str()) {
            Some(Some("viewer")) => request.bearer_auth(&team.vic),
            // With all that a page of ours would send, so that nothing but what the case is about stands in the way.
            Some(Some("cookie")) => request.header("cookie", self.ann.cookie()).header(CSRF, "1"),
            Some(_) => request,
            None if path.contains("token=") => request,
            None => request.bearer_auth(&team.ann),
        };
        if args["json"].is_object() {
            request = request.json(&serde_json::from_str::<Value>(&fill(&args["json"].to_string())).unwrap());
        }
        if let Some(body) = args["body"].as_str() {
            request = request.body(body.to_owned());
        }
        if args["body_gen"]["kind"] == "gzip_zeros" {
            request = request.header("content-type", "application/json").body(bomb(args["body_gen"]["expanded"].as_u64().unwrap()));
        }
        for (name, value) in args["headers"].as_object().into_iter().flatten() {
            request = request.header(name, fill(value.as_str().unwrap()));
        }
        request
    }
}

fn expected(case: &Value, status: u16) -> Option<String> {
    let invariants = case["expect"]["invariants"].as_array().unwrap();
    let right = &invariants.iter().find(|invariant| invariant["type"] == "http_status").unwrap()["in"];
    (!right.as_array().unwrap().contains(&json!(status))).then(|| format!("{status}, expected {right}"))
}

/// So many zeros, compressed: one piece of a mebibyte, again and again, which is what the format allows.
fn bomb(expanded: u64) -> Vec<u8> {
    let mut child = Command::new("gzip").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::thread::spawn(move || stdin.write_all(&vec![0; 1 << 20]).unwrap());
    let piece = child.wait_with_output().unwrap().stdout;
    piece.repeat(usize::try_from(expanded >> 20).unwrap())
}
