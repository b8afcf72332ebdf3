//! A table of routes: axum serves the same rows that the description lists.

use crate::App;
use crate::change_rule::{ChangeRule, ChangedBy, KeyUse};
use crate::describe::{Described, Operation, Schemas};
use axum::Router;
use axum::handler::Handler;
use axum::http::Method;
use axum::routing::{MethodFilter, on};
use planwright_protocol::ErrorCode;

/// A row of the table.
pub struct Route {
    pub method: Method,
    /// From the root, with names in braces.
    pub path: String,
    /// `chats_list` for `routes::chats::list`.
    pub id: String,
    pub tag: &'static str,
    pub summary: &'static str,
    pub sign_in: SignInRule,
    /// Who may call it and what a key does, if it changes something.
    pub change: Option<ChangeRule>,
    /// Errors besides those that its types imply.
    pub errors: Vec<ErrorCode>,
    pub describe: fn(&mut Operation, &mut Schemas),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SignInRule {
    Needed,
    NotNeeded,
}

/// Routes with a common prefix.
pub struct Table {
    prefix: &'static str,
    sign_in: SignInRule,
    tag: &'static str,
    pub routes: Vec<Route>,
    pub router: Router<App>,
}

impl Table {
    pub fn new(prefix: &'static str, sign_in: SignInRule) -> Self {
        Self { prefix, sign_in, tag: "", routes: Vec::new(), router: Router::new() }
    }

    /// Starts a section.
    pub fn about(self, tag: &'static str) -> Self {
        Self { tag, ..self }
    }

    pub fn get<H: Handler<X, App> + Described<P>, X: 'static, P>(self, path: &str, handler: H, summary: &'static str) -> Self {
        self.row(Method::GET, MethodFilter::GET, path, handler, summary)
    }

    pub fn post<H: Handler<X, App> + Described<P>, X: 'static, P>(self, path: &str, handler: H, summary: &'static str) -> Self {
        self.row(Method::POST, MethodFilter::POST, path, handler, summary)
    }

    pub fn patch<H: Handler<X, App> + Described<P>, X: 'static, P>(self, path: &str, handler: H, summary: &'static str) -> Self {
        self.row(Method::PATCH, MethodFilter::PATCH, path, handler, summary)
    }

    pub fn put<H: Handler<X, App> + Described<P>, X: 'static, P>(self, path: &str, handler: H, summary: &'static str) -> Self {
        self.row(Method::PUT, MethodFilter::PUT, path, handler, summary)
    }

    pub fn delete<H: Handler<X, App> + Described<P>, X: 'static, P>(self, path: &str, handler: H, summary: &'static str) -> Self {
        self.row(Method::DELETE, MethodFilter::DELETE, path, handler, summary)
    }

    /// Adds errors to the row above; their status follows from the table of codes.
    pub fn fails<const N: usize>(mut self, errors: [ErrorCode; N]) -> Self {
        if let Some(route) = self.routes.last_mut() {
            route.errors.extend(errors);
        }
        self
    }

    /// Says for the row above, which changes something, who may call it and what a key does.
    pub fn by(mut self, by: ChangedBy, key: KeyUse) -> Self {
        if let Some(route) = self.routes.last_mut() {
            route.change = Some(ChangeRule { by, key });
        }
        self
    }

    fn row<H, X, P>(mut self, method: Method, filter: MethodFilter, path: &str, handler: H, summary: &'static str) -> Self
    where
        H: Handler<X, App> + Described<P>,
        X: 'static,
    {
        let id = std::any::type_name::<H>().rsplit("::").take(2).collect::<Vec<_>>();
        self.routes.push(Route {
            method,
            path: format!("{}{path}", self.prefix),
            id: id.into_iter().rev().collect::<Vec<_>>().join("_"),
            tag: self.tag,
            summary,
            sign_in: self.sign_in,
            change: None,
            errors: Vec::new(),
            describe: <H as Described<P>>::describe,
        });
        self.router = self.router.route(path, on(filter, handler));
        self
    }
}
