//! Providers from the configuration, and those that need only environment variables.

use planwright_config::unfit_address;
use planwright_protocol::settings::{ProviderKind, ProviderSettings, ReasoningEffort, ToolCalls};
use planwright_protocol::{ErrorCode, Problem};
use planwright_providers::catalog::{self, Vendor};
use planwright_providers::{Endpoint, SecretString, Timeouts};
use planwright_server::ProviderView;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A usable provider: a `[providers.NAME]`, or one that needs no configuration.
#[derive(Clone, Debug)]
pub enum ProviderConfig {
    Demo,
    /// Scripts in a folder; the model is the file's name.
    Script(PathBuf),
    Remote(Box<RemoteConfig>),
}

#[derive(Clone, Debug)]
pub struct RemoteConfig {
    kind: ProviderKind,
    base_url: Option<String>,
    api_key_env: Option<String>,
    vendor: Option<&'static Vendor>,
    tools: ToolCalls,
    reasoning: Option<ReasoningEffort>,
    context_tokens: Option<u64>,
    max_output_tokens: Option<u64>,
    images: Option<bool>,
    ca_file: Option<PathBuf>,
    timeouts: Timeouts,
}

impl From<&ProviderSettings> for ProviderConfig {
    fn from(settings: &ProviderSettings) -> Self {
        match settings.kind {
            ProviderKind::Demo => Self::Demo,
            ProviderKind::Script => Self::Script(settings.path.clone().unwrap_or_default()),
            ProviderKind::Openai
            | ProviderKind::OpenaiResponses
            | ProviderKind::Anthropic
            | ProviderKind::Gemini
            | ProviderKind::Ollama
            | ProviderKind::Openrouter => Self::Remote(Box::new(RemoteConfig::new(settings))),
        }
    }
}

impl RemoteConfig {
    fn new(settings: &ProviderSettings) -> Self {
        let usual = Timeouts::default();
        let seconds = |set: Option<u64>, usual: Duration| set.map_or(usual, |seconds| Duration::from_secs(seconds.max(1)));
        Self {
            kind: settings.kind,
            base_url: settings.base_url.clone(),
            api_key_env: settings.api_key_env.clone(),
            // The names in the configuration were checked against the catalog.
            vendor: settings.vendor.as_deref().and_then(catalog::vendor),
            tools: settings.tools.unwrap_or_default(),
            reasoning: settings.reasoning,
            context_tokens: settings.context_tokens,
            max_output_tokens: settings.max_output_tokens,
            images: settings.images,
            ca_file: settings.ca_file.clone(),
            timeouts: Timeouts {
                silence: seconds(settings.timeout_s, usual.silence),
                reply: seconds(settings.reply_timeout_s, usual.reply),
                ..usual
            },
        }
    }

    /// The provider's address and key, from the configuration, the catalog and the environment.
    pub fn endpoint(&self, name: &str) -> Result<Endpoint, Problem> {
        let own_name = catalog::vendor(name).filter(|vendor| vendor.kind.vendor_name() == self.kind.vendor_name());
        let home = self.vendor.or(own_name).or_else(|| self.kind.vendor_name().and_then(catalog::vendor));
        let from_env = match home.filter(|_| self.base_url.is_none()) {
            Some(vendor) => base_url_from_env(vendor)?,
            None => None,
        };
        let base_url = self.base_url.clone().or(from_env.clone()).or_else(|| home.map(|vendor| vendor.base_url.clone()));
        let Some(base_url) = base_url else {
            return Err(Problem::new(ErrorCode::ProviderRejected, format!("[providers.{name}] needs a base_url.")));
        };
        let at_home = catalog::vendors().iter().find(|vendor| vendor.base_url == base_url.trim_end_matches('/'));
        // A vendor's key is sent only to the vendor or to the address in its own variable, unless the configuration says otherwise.
        let usual_key = home.filter(|_| self.base_url.is_none()).and_then(|vendor| vendor.api_key_env.clone());
        let key_env = self.api_key_env.clone().or(usual_key);
        let key = key_env.as_deref().and_then(variable).map(SecretString::from);
        let optional = self.api_key_env.is_none() && from_env.is_some();
        Ok(Endpoint {
            name: name.to_owned(),
            kind: self.kind,
            key_env: key_env.filter(|_| key.is_some() || !optional),
            key,
            vendor: self.vendor.or(at_home).or(own_name),
            base_url,
            tools: self.tools,
            reasoning: self.reasoning,
            context_tokens: self.context_tokens,
            max_output_tokens: self.max_output_tokens,
            images: self.images,
            ca_file: self.ca_file.clone(),
            timeouts: self.timeouts,
            waits: None,
        })
    }
}

impl RemoteConfig {
    /// The description for users.
    pub fn view(&self, name: &str, configured: bool) -> ProviderView {
        let vendor = self.vendor.or_else(|| catalog::vendor(name));
        // A vendor's key is sent nowhere else unless the configuration says so.
        let at_home = vendor.filter(|_| self.base_url.is_none());
        let key_env = self.api_key_env.clone().or_else(|| at_home?.api_key_env.clone());
        ProviderView {
            name: name.to_owned(),
            title: vendor.filter(|vendor| vendor.name == name).map_or_else(|| name.to_owned(), |vendor| vendor.title.clone()),
            configured,
            has_key: key_env.as_deref().and_then(variable).is_some(),
            key_env,
            base_url_env: at_home.and_then(|vendor| vendor.base_url_env.clone()),
            default_model: vendor.and_then(|vendor| vendor.default_model.clone()),
            models: vendor.map(|vendor| vendor.models.keys().cloned().collect()).unwrap_or_default(),
        }
    }
}

/// A vendor of the catalog as a provider, without configuration.
pub fn of_vendor(vendor: &'static Vendor) -> ProviderConfig {
    ProviderConfig::Remote(Box::new(RemoteConfig {
        kind: vendor.kind,
        base_url: None,
        api_key_env: None,
        vendor: Some(vendor),
        tools: ToolCalls::default(),
        reasoning: None,
        context_tokens: None,
        max_output_tokens: None,
        images: None,
        ca_file: None,
        timeouts: Timeouts::default(),
    }))
}

/// The model of the first vendor whose key is in the environment, and the name of that variable.
pub fn model_from_env() -> Option<(String, String)> {
    catalog::vendors().iter().find_map(|vendor| {
        let key = vendor.api_key_env.as_deref()?;
        variable(key)?;
        Some((format!("{}/{}", vendor.name, vendor.default_model.as_ref()?), key.to_owned()))
    })
}

/// The vendor that needs no key and whose address is in the environment.
pub fn daemon_from_env() -> Option<&'static Vendor> {
    catalog::vendors().iter().find(|vendor| vendor.api_key_env.is_none() && vendor.base_url_env.as_deref().and_then(variable).is_some())
}

/// The names of the catalog's vendors.
pub fn vendor_names() -> Arc<[String]> {
    catalog::vendors().iter().map(|vendor| vendor.name.clone()).collect()
}

fn base_url_from_env(vendor: &Vendor) -> Result<Option<String>, Problem> {
    let Some((name, set)) = vendor.base_url_env.as_deref().and_then(|name| Some((name, variable(name)?))) else { return Ok(None) };
    let url = if vendor.kind == ProviderKind::Ollama { ollama_url(&set) } else { set };
    match unfit_address(&url) {
        Some(why) => Err(Problem::new(ErrorCode::ProviderRejected, format!("{name} {why}."))),
        None => Ok(Some(url)),
    }
}

/// `OLLAMA_HOST` has several forms, and may be the daemon's listening address instead of its reachable one.
fn ollama_url(host: &str) -> String {
    let host = host.trim_end_matches('/').replace("0.0.0.0", "127.0.0.1");
    match host.split_once("://") {
        Some(_) => host,
        None if host.rsplit(':').next().is_some_and(|port| port.parse::<u16>().is_ok()) => format!("http://{host}"),
        None => format!("http://{host}:11434"),
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ollama_is_found_however_its_host_is_written() {
        for (host, url) in [
            ("127.0.0.1:11434", "http://127.0.0.1:11434"),
            ("0.0.0.0", "http://127.0.0.1:11434"),
            ("gpu.lan", "http://gpu.lan:11434"),
            ("https://ollama.example.com/", "https://ollama.example.com"),
        ] {
            assert_eq!(ollama_url(host), url);
        }
    }

    fn endpoint(name: &str, text: &str) -> Endpoint {
        match ProviderConfig::from(&toml::from_str::<ProviderSettings>(text).unwrap()) {
            ProviderConfig::Remote(config) => config.endpoint(name).unwrap(),
            other @ (ProviderConfig::Demo | ProviderConfig::Script(_)) => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_vendors_key_goes_to_no_other_address_unless_told_to() {
        let local = endpoint("local", "kind = \"openai\"\nbase_url = \"http://127.0.0.1:8080/v1\"\n");
        assert_eq!((local.key_env, local.vendor.map(|vendor| &vendor.name)), (None, None));
        let told = endpoint("local", "kind = \"openai\"\nbase_url = \"http://127.0.0.1:8080/v1\"\napi_key_env = \"NOT_SET_ANYWHERE\"\n");
        assert_eq!(told.key_env.as_deref(), Some("NOT_SET_ANYWHERE"));
        let groq = endpoint("fast", "kind = \"openai\"\nvendor = \"groq\"\n");
        assert_eq!((groq.base_url.as_str(), groq.key_env.as_deref()), ("https://api.groq.com/openai/v1", Some("GROQ_API_KEY")));
    }
}
