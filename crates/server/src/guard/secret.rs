//! Random secrets, and their stored digests.

use planwright_store::Digest;
use sha2::{Digest as _, Sha256};

/// A token for a script, and its stored digest. Its prefix lets secret scanners recognise it.
///
/// # Errors
/// The kernel provides no random numbers.
pub fn new_token() -> std::io::Result<(String, Digest)> {
    let token = format!("pwt_{}", random()?);
    let digest = token_digest(&token);
    Ok((token, digest))
}

pub(super) fn token_digest(token: &str) -> Digest {
    digest("", token)
}

/// A session id, and its stored digest. `key` is the server's own token, if it has one: a new token ends all sessions.
pub(super) fn new_session(key: &str) -> std::io::Result<(String, Digest)> {
    let id = random()?;
    let digest = session_digest(key, &id);
    Ok((id, digest))
}

pub(super) fn session_digest(key: &str, id: &str) -> Digest {
    digest(key, id)
}

/// Compares in constant time.
pub(super) fn same(given: &str, secret: &str) -> bool {
    let (given, secret) = (token_digest(given), token_digest(secret));
    given.iter().zip(secret).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}

fn random() -> std::io::Result<String> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(bytes.iter().fold(String::new(), |word, byte| format!("{word}{byte:02x}")))
}

fn digest(key: &str, secret: &str) -> Digest {
    let length = u64::try_from(key.len()).unwrap_or(u64::MAX);
    Sha256::new().chain_update(length.to_le_bytes()).chain_update(key).chain_update(secret).finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_very_token_is_the_same() {
        assert!(same("abc", "abc"));
        for other in ["abd", "ab", "abcd", ""] {
            assert!(!same(other, "abc"));
        }
    }

    #[test]
    fn no_two_secrets_are_alike_and_a_session_is_known_under_its_token_only() {
        assert_ne!(new_token().unwrap().0, new_token().unwrap().0);
        let (id, stored) = new_session("token").unwrap();
        assert_eq!((id.len(), session_digest("token", &id)), (64, stored));
        assert_ne!(session_digest("toke", &format!("n{id}")), stored, "where the one ends and the other begins is part of it");
        assert_ne!(session_digest("", &id), stored);
    }
}
