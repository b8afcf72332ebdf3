//! `--auth off`, and the addresses that a server may listen on and go by.

use super::{said, script};
use crate::home;
use reqwest::{Client, StatusCode};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

#[tokio::test]
async fn a_server_without_sign_in_listens_on_this_machine_only_and_says_what_to_do() {
    let home = home(&script());
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.7:0"] {
        let (code, stdout, stderr) = said(&home, &["serve", "--auth", "off", "--listen", address], "").await;
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{address}");
        for part in ["--auth token", "--auth users", "127.0.0.1"] {
            assert!(stderr.contains(part), "{stderr}");
        }
    }
    for outside in [["--public-url", "https://plan.example"], ["--trusted-proxy", "127.0.0.1"]] {
        let (code, _, stderr) = said(&home, &[&["serve", "--auth", "off", "--listen", "localhost:0"], &outside[..]].concat(), "").await;
        assert!(code == Some(2) && stderr.contains("--auth users"), "a proxy would let everyone in: {stderr}");
    }
    let (_, _, stderr) = said(&home, &["serve", "--listen", "7420"], "").await;
    assert!(stderr.contains("127.0.0.1:7420"), "{stderr}");
    let server = home.serve_without_token(&["--auth", "off"]).await;
    let (client, url) = (Client::new(), format!("{}/api/v1/me", server.base));
    let me: serde_json::Value = client.get(&url).send().await.unwrap().json().await.unwrap();
    assert_eq!(me["auth"], "off");
    for (name, value) in [("host", "evil.example"), ("origin", "http://evil.example"), ("origin", "null"), ("sec-fetch-site", "cross-site")]
    {
        assert_eq!(client.get(&url).header(name, value).send().await.unwrap().status(), StatusCode::FORBIDDEN, "{name}: {value}");
    }
    let token = client.post(format!("{}/api/v1/tokens", server.base)).json(&json!({ "name": "x" })).send().await.unwrap();
    assert_eq!(token.status(), StatusCode::CONFLICT, "nobody leaves a door open for later");
}

#[tokio::test]
async fn a_short_token_is_refused_where_other_machines_could_guess_it() {
    let home = home(&script());
    let mut command = home.command(&["serve", "--listen", "0.0.0.0:0"]);
    let output = command.env("PLANWRIGHT_TOKEN", "short-one").output().await.unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("PLANWRIGHT_TOKEN") && !stderr.contains("short-one"), "{stderr}");
}

#[tokio::test]
async fn a_server_on_all_addresses_goes_by_each_of_them_by_its_public_name_and_by_no_other() {
    let home = home(&script());
    let args = ["serve", "--listen", "0.0.0.0:0", "--public-url", "https://plan.example"];
    let server = home.serve_command(home.command(&args)).await;
    let port = server.base.rsplit(':').next().unwrap().to_owned();
    let url = format!("http://127.0.0.1:{port}/api/v1/auth/login");
    let login = async |host: &str, origin: Option<&str>| {
        let mut request = Client::new().post(&url).header("host", host).json(&json!({ "token": server.token }));
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        request.send().await.unwrap()
    };
    let cookie = async |host: &str, origin: Option<&str>| {
        let response = login(host, origin).await;
        assert_eq!(response.status(), StatusCode::OK, "{host}");
        response.headers()["set-cookie"].to_str().unwrap().to_owned()
    };
    assert!(!cookie(&format!("127.0.0.1:{port}"), None).await.contains("Secure"));
    assert!(cookie("plan.example", Some("https://plan.example")).await.contains("; Secure"), "over HTTPS only");
    for (host, origin) in [
        ("plan.example", Some("http://plan.example")),
        ("plan.example:8443", None),
        ("evil.plan.example", None),
        ("192.0.2.1", None),
        ("plan.example", Some("https://evil.example")),
    ] {
        assert_eq!(login(host, origin).await.status(), StatusCode::FORBIDDEN, "{host} {origin:?}");
    }
}

/// The status that a request in these very bytes is answered with.
async fn raw(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = vec![0; 12];
    stream.read_exact(&mut answer).await.unwrap();
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn a_request_names_one_host_wherever_it_does() {
    let home = home(&script());
    let server = home.serve().await;
    let address = server.base.strip_prefix("http://").unwrap();
    let get = |line: &str, hosts: &str| format!("GET {line} HTTP/1.1\r\n{hosts}Connection: close\r\n\r\n");
    let host = format!("Host: {address}\r\n");
    assert_eq!(raw(address, &get("/healthz", &host)).await, "HTTP/1.1 200");
    assert_eq!(raw(address, &get("/healthz", "")).await, "HTTP/1.1 400");
    assert_eq!(raw(address, &get("/healthz", &format!("{host}Host: evil\r\n"))).await, "HTTP/1.1 400");
    assert_eq!(raw(address, &get("http://evil.example/healthz", &host)).await, "HTTP/1.1 403");
}
