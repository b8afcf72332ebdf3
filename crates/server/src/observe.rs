//! Observes every request: an id, a log line, a measurement.
//!
//! Logs name a request by its matched route. Address, query and headers stay out: they may contain private data.

use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderName, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::Response;
use metrics::{counter, histogram};
use metrics_exporter_prometheus::{BuildError, Matcher, PrometheusBuilder, PrometheusHandle};
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;
use uuid::Uuid;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const LONGEST_ID: usize = 64;

/// Gives the request an id, passes it on, and records the outcome.
pub async fn observe(request: Request, next: Next) -> Response {
    let (began, id) = (Instant::now(), id_of(&request));
    let method = method_of(request.method());
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    // At error level, so that an error's line has the id whatever the log level is.
    let span = tracing::error_span!("request", id = %id.to_str().unwrap_or_default());
    let mut response = next.run(request).instrument(span.clone()).await;
    let (status, latency) = (response.status(), began.elapsed());
    let latency_us = u64::try_from(latency.as_micros()).unwrap_or(u64::MAX);
    span.in_scope(|| {
        if status.is_server_error() {
            tracing::error!(method, route, status = status.as_u16(), latency_us, "answered");
        } else {
            tracing::info!(method, route, status = status.as_u16(), latency_us, "answered");
        }
    });
    counter!("planwright_http_requests_total", "method" => method, "route" => route.clone(), "status" => status.as_str().to_owned())
        .increment(1);
    histogram!(LATENCY, "method" => method, "route" => route).record(latency.as_secs_f64());
    response.headers_mut().insert(REQUEST_ID, id);
    response
}

/// The id from the client or a proxy, if it is safe to log; otherwise a new one.
fn id_of(request: &Request) -> HeaderValue {
    let is_fit = |text: &str| {
        (1..=LONGEST_ID).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    let given = request.headers().get(REQUEST_ID).filter(|value| value.to_str().is_ok_and(is_fit));
    given.cloned().or_else(|| HeaderValue::from_str(&Uuid::now_v7().to_string()).ok()).unwrap_or_else(|| HeaderValue::from_static("none"))
}

/// Unknown methods share one label: clients must not be able to create labels.
fn method_of(method: &Method) -> &'static str {
    let known = [Method::GET, Method::HEAD, Method::POST, Method::PATCH, Method::PUT, Method::DELETE, Method::OPTIONS];
    let names = ["GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"];
    known.iter().zip(names).find(|(known, _)| *known == method).map_or("other", |(_, name)| name)
}

const LATENCY: &str = "planwright_http_request_duration_seconds";
/// In seconds: from a response out of memory to one that waits for a run to stop.
const BUCKETS: &[f64] = &[0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];
/// Interval for aggregating measurements, so that they don't pile up if nobody reads them.
const UPKEEP: Duration = Duration::from_secs(10);

static METRICS: OnceLock<PrometheusHandle> = OnceLock::new();

/// Starts counting.
pub fn start(closing: CancellationToken) {
    match counting() {
        Ok(handle) => {
            tokio::spawn(async move {
                while closing.run_until_cancelled(tokio::time::sleep(UPKEEP)).await.is_some() {
                    handle.run_upkeep();
                }
            });
        }
        Err(error) => tracing::warn!(%error, "metrics are unavailable"),
    }
}

fn counting() -> Result<PrometheusHandle, BuildError> {
    let builder = PrometheusBuilder::new().set_buckets_for_metric(Matcher::Full(LATENCY.to_owned()), BUCKETS)?;
    let recorder = builder.build_recorder();
    let handle = METRICS.get_or_init(|| recorder.handle()).clone();
    // A second server in the same process shares the recorder.
    let _ = metrics::set_global_recorder(recorder);
    Ok(handle)
}

/// The metrics, in the text format of Prometheus.
pub fn metrics() -> String {
    METRICS.get().map(PrometheusHandle::render).unwrap_or_default()
}
