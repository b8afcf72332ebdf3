use super::{bare, quiet_home};

#[tokio::test]
async fn every_answer_has_the_headers_that_keep_browsers_safe() {
    let home = quiet_home();
    let server = home.serve().await;
    for (method, path) in
        [("get", "/"), ("get", "/docs"), ("get", "/docs/docs.js"), ("get", "/api/v1/me"), ("get", "/nowhere"), ("put", "/healthz")]
    {
        for host in ["", "evil.example"] {
            let mut request = bare(&server, method, path).bearer_auth(&server.token);
            if !host.is_empty() {
                request = request.header("host", host);
            }
            let response = server.send(request).await;
            let header = |name: &str| response.headers().get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default();
            let policy = header("content-security-policy");
            for part in [
                "default-src 'none'",
                "script-src 'self'",
                "frame-ancestors 'none'",
                "require-trusted-types-for 'script'",
                "base-uri 'none'",
            ] {
                assert!(policy.contains(part), "{path}: {policy}");
            }
            assert!(!policy.contains("unsafe"), "{path}: {policy}");
            for (name, value) in [
                ("x-content-type-options", "nosniff"),
                ("referrer-policy", "no-referrer"),
                ("cross-origin-opener-policy", "same-origin"),
                ("cross-origin-resource-policy", "same-origin"),
            ] {
                assert_eq!(header(name), value, "{path}");
            }
            if path.starts_with("/api/") {
                assert_eq!(header("cache-control"), "no-store");
            }
            assert!(header("x-request-id").len() > 10, "{path}");
        }
    }
}
