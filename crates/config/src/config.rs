//! The user's configuration file.

use crate::{mcp, place, provider};
use anyhow::{Context, bail};
use planwright_protocol::settings::{
    Approvals, ClusterSettings, DefaultMode, GitSettings, IntentClassifier, IntentSwitch, McpSettings, ModelChoice, PlanPolicy,
    ProviderSettings, Retention, RunLimits, SandboxSettings, WebSettings,
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The model of each mode; `--model` and `PLANWRIGHT_MODEL` override all three.
    pub models: ModelChoice,
    /// Providers by a name that you choose; a model there is `NAME/MODEL`.
    pub providers: BTreeMap<String, ProviderSettings>,
    /// How chats start, and what counts as an order.
    pub chat: ChatDefaults,
    /// Which calls are allowed, which ask first, and which are denied.
    pub approvals: Approvals,
    /// The sandbox of the agent's commands.
    pub sandbox: SandboxSettings,
    /// Files that the model must not read without asking.
    pub files: FileSettings,
    /// Requirements for every change.
    pub policy: PlanPolicy,
    /// When a run ends automatically.
    pub limits: RunLimits,
    /// What Planwright does with your repository.
    pub git: GitSettings,
    pub mcp: McpSettings,
    /// Web pages and searches, for `web_fetch` and `web_search`.
    pub web: WebSettings,
    /// How long a server keeps data (default: for ever); only in your own file.
    pub retention: Retention,
    /// Servers that share a PostgreSQL database; only in your own file.
    pub cluster: ClusterSettings,
    /// The parsed file, as the base for a workspace's file.
    #[serde(skip)]
    pub(crate) table: toml::Table,
    /// Vendors that providers can name, and that need no configuration.
    #[serde(skip)]
    pub vendors: Arc<[String]>,
}

#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ChatDefaults {
    /// The mode of a new chat.
    pub default_mode: DefaultMode,
    /// The effect of a message that orders the plan to be executed, such as "go ahead".
    pub intent_switch: IntentSwitch,
    /// Who reads a message that the rules can't classify: `model` asks the plan mode's model, which may only suggest.
    pub intent_classifier: IntentClassifier,
}

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FileSettings {
    /// Patterns of files that look like secrets: reading them asks first, and commands see them as empty.
    pub secrets: Vec<String>,
}

/// Files that contain secrets in most projects.
pub const DEFAULT_SECRETS: [&str; 3] = [".env*", "*.pem", "id_*"];

impl Default for FileSettings {
    fn default() -> Self {
        Self { secrets: DEFAULT_SECRETS.map(str::to_owned).into() }
    }
}

impl Config {
    /// Reads the user's file, if there is one. `vendors` are the names in the catalog.
    ///
    /// # Errors
    /// What is wrong, with file, line and key.
    #[expect(clippy::disallowed_methods, reason = "the user's own configuration")]
    pub fn load(vendors: Arc<[String]>) -> anyhow::Result<Self> {
        let Some(file) = Self::file() else { return Ok(Self { vendors, ..Self::default() }) };
        match std::fs::read_to_string(&file) {
            Ok(text) => Self::parse(&text, &file, vendors),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self { vendors, ..Self::default() }),
            Err(error) => Err(error).with_context(|| format!("can't read {}", file.display())),
        }
    }

    /// The whole configuration as text, to compare it with that of others.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        self.table.to_string()
    }

    /// The path of the user's file, whether or not it exists.
    #[must_use]
    pub fn file() -> Option<PathBuf> {
        xdg("XDG_CONFIG_HOME", ".config").map(|folder| folder.join("planwright/config.toml"))
    }

    /// The user's configuration from the text of a file.
    ///
    /// # Errors
    /// The file, line and key that are wrong, and why.
    pub fn parse(text: &str, file: &Path, vendors: Arc<[String]>) -> anyhow::Result<Self> {
        let read = toml::from_str::<Self>(text).and_then(|config| Ok(Self { table: toml::from_str(text)?, vendors, ..config }));
        let config = read.map_err(|error| anyhow::anyhow!("{}:{}", file.display(), place::describe(text, &error)))?;
        if let Some((name, why)) = config.wrong_provider() {
            bail!("{}:{}", file.display(), place::of_key(text, &["providers", name], &why));
        }
        Ok(config)
    }

    pub(crate) fn of(table: toml::Table, vendors: Arc<[String]>) -> Result<Self, String> {
        let config: Self = table.clone().try_into().map_err(|error: toml::de::Error| error.message().to_owned())?;
        let config = Self { table, vendors, ..config };
        match config.wrong_provider() {
            Some((_, why)) => Err(why),
            None => Ok(config),
        }
    }

    /// Uses this model where neither the user nor a workspace names one.
    pub fn set_default_model(&mut self, model: String) {
        let models = self.table.entry("models").or_insert_with(|| toml::Value::Table(toml::Table::new()));
        if let toml::Value::Table(models) = models {
            models.insert("default".to_owned(), model.clone().into());
        }
        self.models.default = Some(model);
    }

    /// The first provider with conflicting keys, and why.
    fn wrong_provider(&self) -> Option<(&str, String)> {
        self.providers.iter().find_map(|(name, settings)| Some((name.as_str(), provider::check(settings, &self.vendors).err()?)))
    }

    /// Checks what the types can't express.
    ///
    /// # Errors
    /// The section and key that are wrong, and why.
    pub fn check(&self) -> anyhow::Result<()> {
        if self.limits.cost.is_nan() || self.limits.cost < 0.0 {
            bail!("[limits] cost is not an amount; use `inf` for no limit");
        }
        if let Some(index) = self.sandbox.writable.iter().position(|folder| !folder.is_absolute() || !folder.is_dir()) {
            bail!("[sandbox] writable: entry {} is not the absolute path of a folder", index + 1);
        }
        if let Err(error) = mcp::check(&self.mcp) {
            bail!("{error}");
        }
        Ok(())
    }
}

/// A folder of the user, by the XDG rules.
#[must_use]
pub fn xdg(variable: &str, below_home: &str) -> Option<PathBuf> {
    let set = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    set.or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(below_home)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroU32;

    fn error(text: &str) -> String {
        Config::parse(text, Path::new("config.toml"), ["openai".to_owned()].into()).unwrap_err().to_string()
    }

    #[test]
    fn an_unknown_key_is_named_with_file_and_line() {
        let message = error("[chat]\n\ndefault_mod = \"plan\"\n");
        assert!(message.starts_with("config.toml:3:1: chat.default_mod: unknown field `default_mod`"), "{message}");
        let message = error("[providers.local]\nkind = \"openai\"\nbase_ulr = \"http://127.0.0.1:1/v1\"\n");
        for part in ["config.toml:3:1: providers.local.base_ulr: ", "base_url"] {
            assert!(message.contains(part), "{message}");
        }
    }

    #[test]
    fn a_value_that_does_not_fit_is_told_by_its_place_and_never_quoted() {
        for (text, start) in [
            ("[approvals]\ndelete = \"CANARY\"\n", "config.toml:2:10: approvals.delete: unknown variant, expected one of"),
            ("[limits]\nturns = \"CANARY\"\n", "config.toml:2:9: limits.turns: invalid type, expected u32"),
            ("[providers.x]\nkind = \"CANARY\"\n", "config.toml:2:8: providers.x.kind: unknown variant, expected one of"),
            (
                "[providers.x]\nkind = \"openai\"\napi_key = \"CANARY\"\n",
                "config.toml:3:1: providers.x.api_key: unknown field `api_key`; keys",
            ),
            ("[providers.x]\nkind = \"openai\"\nvendor = \"CANARY\"\n", "config.toml:1:1: providers.x: vendor"),
            ("[providers.x]\nkind = \"openai\"\napi_key_env = sk-CANARY\n", "config.toml:3:"),
            ("CANARY", "config.toml:1:"),
        ] {
            let message = error(text);
            assert!(message.starts_with(start) && !message.contains("CANARY"), "{text:?}: {message}");
        }
    }

    #[test]
    fn every_documented_key_is_read() {
        let text = "[models]\nplan = \"a/b\"\nact = \"c/d\"\n[providers.a]\nkind = \"script\"\npath = \"/scripts\"\n[providers.c]\nkind = \"demo\"\n[providers.local]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:8080/v1\"\napi_key_env = \"LOCAL_API_KEY\"\nvendor = \"openai\"\ntools = \"json\"\nreasoning = \"high\"\ncontext_tokens = 32000\nmax_output_tokens = 4000\nimages = true\nca_file = \"/ca.pem\"\ntimeout_s = 300\nreply_timeout_s = 1200\n[chat]\ndefault_mode = \"auto\"\nintent_switch = \"suggest\"\nintent_classifier = \"model\"\n[policy]\nact_requires_plan = true\nplan_requires_files = true\n[approvals]\ndelete = \"deny\"\n[approvals.tools]\nwrite = \"ask\"\n[sandbox]\nmode = \"enforce\"\nnetwork = false\ninspect = true\nwritable = []\n[files]\nsecrets = [\"*.key\"]\n[limits]\nturns = 7\ncost = 0.5\n[git]\ncommit_steps = true\n[web]\nallow = [\"docs.rs\", \"*.python.org\"]\nsearch = { kind = \"brave\", url = \"https://search.example\", api_key_env = \"SEARCH_KEY\" }\n[cluster]\nshared = [\"/srv/shared\"]\n[retention]\nchats_days = 90\naudit_days = 365\n[mcp.servers.notes]\ncommand = \"notes\"\nargs = [\"-v\"]\nenv = { A = \"b\" }\nenv_from = [\"NOTES\"]\nnetwork = true\nreadable = [\"/srv/notes\"]\nkeep = true\ntrust_read_only = true\ntimeout_s = 5\nstart_timeout_s = 5\n[mcp.servers.far]\nurl = \"https://notes.example/mcp\"\napi_key_env = \"NOTES_KEY\"\n";
        let config = Config::parse(text, Path::new("config.toml"), ["openai".to_owned()].into()).unwrap();
        assert_eq!(config.models.act.as_deref(), Some("c/d"));
        assert_eq!(config.limits.turns, 7);
        assert!(config.policy.act_requires_plan && config.policy.plan_requires_files);
        assert_eq!(config.chat.intent_classifier, IntentClassifier::Model);
        assert!(config.web.allow.len() == 2 && config.web.search.is_some());
        assert!(config.git.commit_steps && config.mcp.servers.len() == 2);
        assert_eq!(config.retention.chats_days.map(NonZeroU32::get), Some(90));
        assert!(error("[retention]\nchats_days = 0\n").starts_with("config.toml:2:14: retention.chats_days: "));
        assert_eq!(config.limits.cost.to_string(), "0.5");
        for (cost, fine) in [("inf", true), ("-1.0", false), ("nan", false)] {
            let config =
                Config::parse(&format!("[limits]\ncost = {cost}\n"), Path::new("config.toml"), ["openai".to_owned()].into()).unwrap();
            assert_eq!(config.check().is_ok(), fine, "{cost}");
        }
    }

    /// The complete sample of the documentation.
    const SAMPLE: &str = r#"
[models]
plan = "anthropic/claude-sonnet-4-5"     # a model for each mode; `default` when only one is wanted
act  = "local/qwen3-coder"

[providers.local]                         # any number of named providers
kind = "openai"                           # openai (chat completions), openai-responses, anthropic, gemini, ollama, openrouter, script, demo
base_url = "http://127.0.0.1:8080/v1"
api_key_env = "LOCAL_API_KEY"

[chat]
default_mode = "plan"                     # plan | act | auto
intent_switch = "switch"                  # switch | suggest | off
intent_classifier = "off"                 # off | model: asked when the rules say unclear; may only suggest

[approvals]                               # allow | ask | deny
delete = "ask"
outside_plan = "ask"
execute = "allow"                         # inside the sandbox; leaving the sandbox always asks
mcp = "ask"
[approvals.tools]                         # by tool name; can only tighten
# run = "ask"

[sandbox]
mode = "enforce"                          # "off": user's own config only, Actor only, every command asks, shown loudly
network = false
inspect = false                           # read-only sandboxed commands for planners
writable = []                             # extra paths commands may write

[files]
secrets = [".env*", "*.pem", "id_*"]      # reading these asks first

[policy]
act_requires_plan = false                 # true: without an approved plan act mode changes nothing and runs no command but the Tester's (PLAN_REQUIRED), however it was entered; a workspace's file can set it
plan_requires_files = false               # true: a plan whose steps name no files can't be approved

[web]                                     # for web_fetch and web_search; in a workspace's file it needs trust
allow = []                                # hosts that need no approval, such as "docs.rs", "*.python.org"
search = { kind = "searxng", url = "…" }  # or brave, tavily, with api_key_env; none: web_search is not offered

[limits]
turns = 100                               # per run
cost = 5.0                                # in the catalog's currency, per chat

[mcp.servers.NAME]                        # command/args/env or url; trust_read_only = true accepts its readOnlyHint
command = "notes"
"#;

    #[test]
    fn the_sample_configuration_loads_and_says_what_holds_anyway() {
        let sample = Config::parse(SAMPLE, Path::new("config.toml"), ["openai".to_owned()].into()).unwrap();
        let usual = Config::default();
        sample.check().unwrap();
        assert_eq!((sample.chat.intent_switch, sample.chat.intent_classifier), (usual.chat.intent_switch, IntentClassifier::Off));
        assert_eq!((&sample.approvals, sample.policy, sample.limits.turns), (&usual.approvals, PlanPolicy::default(), usual.limits.turns));
        let message = error(&SAMPLE.replace("intent_classifier = \"off\"", "intent_classifier = \"always\""));
        assert!(message.contains("chat.intent_classifier: unknown variant, expected `off` or `model`"), "{message}");
    }
}
