//! Password hashes that cost an attacker with a stolen database 19 MiB and two rounds per guess.

use super::AccessControl;
use crate::answer::ApiError;
use argon2::password_hash::phc::PasswordHash;
use argon2::{Argon2, PasswordHasher, PasswordVerifier};
use planwright_protocol::{ErrorCode, Problem};
use std::time::Duration;

/// The hash to check for an unknown name, so that the check takes equally long. No password matches it.
const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5bm9ib2R5bm9ibw$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
/// Longer names and passwords are rejected without a check.
pub const LONGEST_PASSWORD: usize = 1024;
/// How long a request waits while other passwords are checked.
const HASHING_TIMEOUT: Duration = Duration::from_secs(10);

/// The hash to store for a password. Slow: never call it on a thread that serves requests.
///
/// # Errors
/// The kernel provides no random numbers, or the password is too long.
pub fn hash_password(password: &str) -> std::io::Result<String> {
    let hash: Result<PasswordHash, _> = Argon2::default().hash_password(password.as_bytes());
    Ok(hash.map_err(std::io::Error::other)?.to_string())
}

impl AccessControl {
    /// Whether the password matches the hash. Without a hash it never does, and takes equally long.
    pub(super) async fn fits(&self, password: String, hash: Option<String>) -> Result<bool, ApiError> {
        let check = move || {
            let hash = PasswordHash::new(hash.as_deref().unwrap_or(NOBODY));
            Some(hash.is_ok_and(|hash| Argon2::default().verify_password(password.as_bytes(), &hash).is_ok()))
        };
        self.run_hashing(check).await
    }

    /// The hash to store for a password.
    pub(super) async fn hashed(&self, password: String) -> Result<String, ApiError> {
        self.run_hashing(move || hash_password(&password).ok()).await
    }

    /// Runs password work on its own thread, for a limited number of requests at once.
    async fn run_hashing<T: Send + 'static>(&self, work: impl FnOnce() -> Option<T> + Send + 'static) -> Result<T, ApiError> {
        let busy = || ApiError::too_many("Too many users are signing in at this moment.", HASHING_TIMEOUT);
        let Ok(Ok(_room)) = tokio::time::timeout(HASHING_TIMEOUT, self.hashing.acquire()).await else { return Err(busy()) };
        let done = tokio::task::spawn_blocking(work).await.ok().flatten();
        done.ok_or_else(|| Problem::new(ErrorCode::Internal, "The password could not be checked. Try again.").into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_password_names_its_cost_and_the_check_of_nobody_costs_the_same() {
        let stored = hash_password("correct horse").unwrap();
        let cost = |hash: &str| hash.rsplitn(3, '$').nth(2).unwrap().to_owned();
        assert_eq!(cost(&stored), "$argon2id$v=19$m=19456,t=2,p=1");
        assert_eq!(cost(NOBODY), cost(&stored));
        let (stored, nobody) = (PasswordHash::new(&stored).unwrap(), PasswordHash::new(NOBODY).unwrap());
        assert_eq!(nobody.hash.unwrap().len(), stored.hash.unwrap().len());
        assert!(Argon2::default().verify_password(b"correct horse", &stored).is_ok());
        assert!(Argon2::default().verify_password(b"correct horse", &nobody).is_err());
        assert!(Argon2::default().verify_password(b"", &nobody).is_err());
    }
}
