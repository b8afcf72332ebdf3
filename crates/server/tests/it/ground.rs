//! A server in this process: its database in memory, a scripted model, and requests that need no connection.

use async_trait::async_trait;
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderValue, header};
use futures::future::BoxFuture;
use planwright_agent::Provider;
use planwright_chat::{Models, Sessions, named_models};
use planwright_config::Config;
use planwright_protocol::api::server::ModelNames;
use planwright_protocol::settings::{McpSettings, ModelSettings, SandboxSettings, ServerConfig};
use planwright_protocol::{ErrorCode, Mode, Problem};
use planwright_providers::{Script, catalog};
use planwright_server::{
    AccessControl, App, ExternalAccess, Folders, ModelDirectory, ModelSources, SignInMethod, Storage, hash_password, new_token,
};
use planwright_store::{Account, Rank, Store};
use planwright_testkit::PATIENCE;
use planwright_testkit::client::{ApiClient, RequestTransport};
use planwright_testkit::home::HomeFolder;
use planwright_tools::{Commands, NoServers, Servers};
use planwright_workspaces::{Layers, Overrides, ReservedFolders, ServerFactory, Workspaces};
use reqwest::{Request, Response};
use serde_json::Value;
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::sync::Arc;
use tempfile::TempDir;
use tokio::runtime::{Handle, Runtime};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

/// The token of servers that have one.
const TOKEN: &str = "the-token-of-this-test";
/// Nobody listens there: requests are carried past the network.
const ADDRESS: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 4);

/// A home for servers of this process.
pub struct Home {
    folder: HomeFolder,
    /// The database, in memory where there is a file system for that. (No workspace can be there.)
    database: TempDir,
}

impl Deref for Home {
    type Target = HomeFolder;

    fn deref(&self) -> &HomeFolder {
        &self.folder
    }
}

impl Home {
    /// `script` is what the model will say.
    pub fn new(script: &Value) -> Self {
        let database = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap();
        Self { folder: HomeFolder::new(TempDir::new().unwrap(), script), database }
    }

    /// A server that everyone with its token may use.
    pub async fn serve(&self) -> Server {
        self.serve_as(SignInMethod::Token(TOKEN.to_owned()), &[], &[]).await.0
    }

    /// A server for these people, with their passwords, and with these workspaces besides the usual one; and a token of each.
    pub async fn serve_users(&self, accounts: &[(&str, &str)], folders: &[PathBuf]) -> (Server, Vec<String>) {
        self.serve_as(SignInMethod::Users, accounts, folders).await
    }

    async fn serve_as(&self, sign_in: SignInMethod, accounts: &[(&str, &str)], folders: &[PathBuf]) -> (Server, Vec<String>) {
        let runtime = Runtime::new().unwrap();
        let team = matches!(sign_in, SignInMethod::Users).then(Vec::new);
        let folders = [&[self.workspace()], folders].concat();
        let layers = self.layers(team);
        let accounts: Vec<(String, String)> = accounts.iter().map(|(name, word)| ((*name).to_owned(), (*word).to_owned())).collect();
        let (reserved, models, database) = (self.reserved(), self.model(), self.database.path().join("planwright.db"));
        let started = runtime.spawn(async move {
            let store = Store::open(&database).await.unwrap();
            let mut tokens = Vec::new();
            for (name, password) in accounts {
                tokens.push(new_account(&store, &name, &password).await);
            }
            let workspaces = Workspaces::new(store, Arc::new(layers));
            workspaces.reserve(reserved);
            let sessions = Sessions::new(workspaces, Arc::new(ScriptedModels));
            for folder in folders {
                sessions.workspaces().ensure(folder).await.unwrap();
            }
            sessions.resume_all().await.unwrap();
            let folders = Folders { roots: Vec::new() };
            let outside = ExternalAccess { public_url: None, proxies: Vec::new(), requests_per_minute: 60_000, folders };
            let app = App {
                sessions,
                access: Arc::new(AccessControl::new(sign_in, ADDRESS, outside)),
                models: Arc::new(OneModel(models)),
                storage: Arc::new(RoomEnough),
                closing: CancellationToken::new(),
                successor: None,
            };
            (app, tokens)
        });
        let (app, tokens) = started.await.unwrap();
        let router = InProcess { router: planwright_server::in_process(app.clone()), runtime: runtime.handle().clone() };
        let api = ApiClient::over(Arc::new(router), format!("http://{ADDRESS}"), TOKEN.to_owned());
        (Server { api, app, runtime: Some(runtime) }, tokens)
    }

    fn reserved(&self) -> ReservedFolders {
        ReservedFolders::new(&self.data(), Some(&self.config()), Some(self.path()))
    }

    fn model(&self) -> String {
        format!("script/{}", self.script().display())
    }

    fn layers(&self, team: Option<Vec<PathBuf>>) -> Layers {
        let vendors = catalog::vendors().iter().map(|vendor| vendor.name.clone()).collect();
        let text = std::fs::read_to_string(self.config()).unwrap_or_default();
        let config = Config::parse(&text, &self.config(), vendors).unwrap();
        let overrides = Overrides { model: Some(self.model()), ..Overrides::default() };
        let commands = Commands {
            place: self.data().join("commands"),
            sandbox: SandboxSettings::default(),
            own: self.reserved().private(),
            team,
            roots: Vec::new(),
        };
        Layers::new(config, overrides, commands, Arc::new(WithoutServers)).unwrap()
    }
}

/// A running server, with threads of its own.
pub struct Server {
    api: ApiClient,
    app: App,
    runtime: Option<Runtime>,
}

impl Deref for Server {
    type Target = ApiClient;

    fn deref(&self) -> &ApiClient {
        &self.api
    }
}

impl DerefMut for Server {
    fn deref_mut(&mut self) -> &mut ApiClient {
        &mut self.api
    }
}

impl Server {
    /// Ends it as the program does: runs in progress resume with the next server of the same home.
    pub async fn terminate(mut self) -> bool {
        self.app.closing.cancel();
        self.app.sessions.park_all().await;
        self.app.sessions.store().close().await;
        self.end().await;
        true
    }

    /// Ends it wherever it is, without a word to its tasks, as far as that is possible within a process.
    pub async fn kill(mut self) {
        self.end().await;
    }

    /// Returns when no task of the server runs any more.
    async fn end(&mut self) {
        let runtime = self.runtime.take().unwrap();
        tokio::task::spawn_blocking(|| runtime.shutdown_timeout(PATIENCE)).await.unwrap();
    }

    /// The database, for what people do at the command line.
    pub fn store(&self) -> &Store {
        self.app.sessions.store()
    }
}

/// Creates an account; returns a token of it.
async fn new_account(store: &Store, name: &str, password: &str) -> String {
    let account = store.add_user(name, &hash_password(password).unwrap(), Rank::Ordinary).await.unwrap().unwrap();
    new_token_of(store, &account).await
}

pub async fn new_token_of(store: &Store, account: &Account) -> String {
    let (token, digest) = new_token().unwrap();
    store.add_token(digest, Some(account.id), "test").await.unwrap();
    token
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Carries requests to the router, as the listener does after it accepted a connection of this machine.
struct InProcess {
    router: Router,
    runtime: Handle,
}

impl RequestTransport for InProcess {
    fn carry(&self, request: Request) -> BoxFuture<'static, Result<Response, String>> {
        let host = HeaderValue::from_str(request.url().authority()).unwrap();
        let mut request = axum::http::Request::<reqwest::Body>::try_from(request).unwrap().map(Body::new);
        // Clients send the path alone, and the host as a header.
        *request.uri_mut() = request.uri().path_and_query().unwrap().as_str().parse().unwrap();
        request.headers_mut().entry(header::HOST).or_insert(host);
        let response = self.runtime.spawn(self.router.clone().oneshot(request));
        Box::pin(async {
            let Ok(response) = response.await.map_err(|error| error.to_string())?;
            Ok(Response::from(response.map(|body| reqwest::Body::wrap_stream(body.into_data_stream()))))
        })
    }
}

/// The scripts that settings name; each is read anew for each run.
struct ScriptedModels;

#[async_trait]
impl Models for ScriptedModels {
    async fn model(&self, settings: &ModelSettings, mode: Mode) -> Result<Arc<dyn Provider>, Problem> {
        let unusable = |why: String| Problem::new(ErrorCode::ProviderRejected, why);
        let name = settings.choice.name(mode).ok_or_else(|| unusable("There is no model.".to_owned()))?;
        let file = name.strip_prefix("script/").ok_or_else(|| unusable(format!("{name} is no script.")))?;
        let text = std::fs::read_to_string(file).map_err(|error| unusable(error.to_string()))?;
        Ok(Arc::new(Script::parse(name, &text).map_err(unusable)?))
    }

    fn available(&self, settings: &ModelSettings) -> Vec<String> {
        named_models(settings)
    }
}

struct OneModel(String);

impl ModelDirectory for OneModel {
    fn names(&self) -> ModelNames {
        ModelNames { plan: Some(self.0.clone()), act: Some(self.0.clone()) }
    }

    fn sources(&self) -> ModelSources {
        ModelSources { config_file: None, providers: Vec::new() }
    }

    fn test<'a>(&'a self, model: &'a str) -> BoxFuture<'a, Result<String, Problem>> {
        Box::pin(async move { Ok(model.to_owned()) })
    }
}

struct RoomEnough;

impl Storage for RoomEnough {
    fn try_to_write(&self) -> std::io::Result<()> {
        Ok(())
    }

    fn make_sample(&self, _: &str) -> std::io::Result<PathBuf> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
}

struct WithoutServers;

impl ServerFactory for WithoutServers {
    fn servers(&self, _: &McpSettings, _: &McpSettings, _: BTreeMap<String, ServerConfig>) -> Arc<dyn Servers> {
        Arc::new(NoServers)
    }
}
