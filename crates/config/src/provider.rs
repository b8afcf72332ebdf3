//! Validates a provider of the configuration.

use planwright_protocol::settings::{ProviderKind, ProviderSettings};

/// # Errors
/// A key that this kind does not support, a missing key, or an unusable address.
pub(crate) fn check(settings: &ProviderSettings, vendors: &[String]) -> Result<(), String> {
    let misplaced = |key: &str| Err(format!("the kind {} does not support `{key}`", settings.kind));
    match settings.kind {
        ProviderKind::Demo | ProviderKind::Script => match (remote_key(settings), &settings.path) {
            (Some(key), _) => misplaced(key),
            (None, Some(_)) if settings.kind == ProviderKind::Demo => misplaced("path"),
            (None, None) if settings.kind == ProviderKind::Script => {
                Err("the kind script needs `path`, the folder with the scripts".to_owned())
            }
            (None, Some(_) | None) => Ok(()),
        },
        ProviderKind::Openai
        | ProviderKind::OpenaiResponses
        | ProviderKind::Anthropic
        | ProviderKind::Gemini
        | ProviderKind::Ollama
        | ProviderKind::Openrouter => {
            if settings.path.is_some() {
                return misplaced("path");
            }
            if settings.vendor.as_ref().is_some_and(|vendor| !vendors.contains(vendor)) {
                return Err(format!("vendor is not in the catalog, which has: {}", vendors.join(", ")));
            }
            match settings.base_url.as_deref().and_then(unfit_address) {
                Some(why) => Err(format!("base_url {why}")),
                None => Ok(()),
            }
        }
    }
}

/// The first key that requires an address.
fn remote_key(settings: &ProviderSettings) -> Option<&'static str> {
    let set = [
        ("base_url", settings.base_url.is_some()),
        ("api_key_env", settings.api_key_env.is_some()),
        ("vendor", settings.vendor.is_some()),
        ("tools", settings.tools.is_some()),
        ("reasoning", settings.reasoning.is_some()),
        ("context_tokens", settings.context_tokens.is_some()),
        ("max_output_tokens", settings.max_output_tokens.is_some()),
        ("images", settings.images.is_some()),
        ("ca_file", settings.ca_file.is_some()),
        ("timeout_s", settings.timeout_s.is_some()),
        ("reply_timeout_s", settings.reply_timeout_s.is_some()),
    ];
    set.iter().find(|(_, set)| *set).map(|(key, _)| *key)
}

/// Why an address is unusable, if it is. The message does not contain the address, which may contain a secret.
#[must_use]
pub fn unfit_address(base_url: &str) -> Option<&'static str> {
    if !base_url.starts_with("http://") && !base_url.starts_with("https://") {
        return Some("must begin with http:// or https://");
    }
    let Ok(url) = url::Url::parse(base_url) else { return Some("is not an address") };
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() || url.fragment().is_some() {
        return Some(
            "must be an address without user, password, `?` or `#`, because it is shown and logged. Put the key into an environment variable and name that in `api_key_env`",
        );
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_do_not_fit_the_kind_are_refused() {
        for (text, words) in [
            ("kind = \"demo\"\nbase_url = \"http://x\"\n", "base_url"),
            ("kind = \"demo\"\npath = \"/x\"\n", "path"),
            ("kind = \"script\"\n", "path"),
            ("kind = \"openai\"\npath = \"/x\"\n", "path"),
            ("kind = \"openai\"\nbase_url = \"127.0.0.1:8080\"\n", "http://"),
            ("kind = \"openai\"\nbase_url = \"http://ann:pw@host/v1\"\n", "api_key_env"),
            ("kind = \"openai\"\nvendor = \"nobody\"\n", "groq"),
        ] {
            let error = check(&toml::from_str(text).unwrap(), &["groq".to_owned()]).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
        assert_eq!(check(&toml::from_str("kind = \"script\"\npath = \"/x\"\n").unwrap(), &[]), Ok(()));
        let error = toml::from_str::<ProviderSettings>("kind = \"opanai\"\n").unwrap_err().to_string();
        assert!(error.contains("openai-responses"), "{error}");
    }

    #[test]
    fn an_address_with_a_secret_in_it_is_unfit_and_the_secret_is_not_told() {
        for url in ["http://ann:CANARY@h/v1", "https://CANARY@h", "http:///\\CANARY:x@h", "https://h/v1?token=CANARY", "https://h/#CANARY"]
        {
            assert!(unfit_address(url).is_some_and(|why| why.contains("api_key_env") && !why.contains("CANARY")), "{url}");
        }
        assert!(unfit_address("ftp://CANARY").is_some() && unfit_address("http://").is_some());
        assert_eq!(unfit_address("https://h:8080/at@home/v1"), None);
    }
}
