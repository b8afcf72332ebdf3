//! The API as a page in a browser uses it.

use crate::client::ApiClient;
use reqwest::header::{COOKIE, SET_COOKIE};
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde_json::Value;

/// What a page sends with every change.
pub const CSRF: &str = "x-planwright-csrf";

/// A browser: it has a cookie, and sends what a page sends.
pub struct Browser {
    server: ApiClient,
    /// As it was set, with all that the server says about it.
    pub set_cookie: String,
}

impl Browser {
    pub async fn sign_in(server: &ApiClient, offer: &Value) -> Self {
        let response = login(server, offer).await;
        assert_eq!(response.status(), StatusCode::OK);
        let set_cookie = response.headers()[SET_COOKIE].to_str().unwrap().to_owned();
        Self { server: server.clone(), set_cookie }
    }

    /// What a browser sends back of it.
    #[must_use]
    pub fn cookie(&self) -> &str {
        self.set_cookie.split(';').next().unwrap()
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.server.client().request(method, format!("{}/api/v1{path}", self.server.base)).header(COOKIE, self.cookie())
    }

    pub async fn get(&self, path: &str) -> (StatusCode, Value) {
        self.answer(self.request(Method::GET, path)).await
    }

    pub async fn change(&self, method: Method, path: &str, body: Value) -> (StatusCode, Value) {
        self.answer(self.request(method, path).header(CSRF, "1").json(&body)).await
    }

    async fn answer(&self, request: RequestBuilder) -> (StatusCode, Value) {
        let response = self.server.send(request).await;
        (response.status(), response.json().await.unwrap_or_default())
    }
}

pub async fn login(server: &ApiClient, offer: &Value) -> Response {
    server.send(server.client().post(format!("{}/api/v1/auth/login", server.base)).json(offer)).await
}
