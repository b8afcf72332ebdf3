//! Passwords, hashed so that whoever steals the database has to spend 19 MiB and two rounds on each guess.

use super::Access;
use crate::answer::ApiError;
use argon2::password_hash::phc::PasswordHash;
use argon2::{Argon2, PasswordHasher, PasswordVerifier};
use planwright_protocol::{ErrorCode, Problem};
use std::time::Duration;

/// What is checked when there is nobody of that name, so that it takes as long as when there is. No password fits.
const NOBODY: &str = "$argon2id$v=19$m=19456,t=2,p=1$bm9ib2R5bm9ib2R5bm9ibw$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
/// No name or password is longer; a longer one is not worth checking.
pub const LONGEST_PASSWORD: usize = 1024;
/// How long somebody waits while others' passwords are checked.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is stored of a password. Takes a while; not for a thread that serves others.
///
/// # Errors
/// The kernel gives no random numbers, or the password is too long.
pub fn hash_password(password: &str) -> std::io::Result<String> {
    let hash: Result<PasswordHash, _> = Argon2::default().hash_password(password.as_bytes());
    Ok(hash.map_err(std::io::Error::other)?.to_string())
}

impl Access {
    /// Whether it is the password that the hash is of; without a hash it never is, and takes as long.
    pub(super) async fn fits(&self, password: String, hash: Option<String>) -> Result<bool, ApiError> {
        let check = move || {
            let hash = PasswordHash::new(hash.as_deref().unwrap_or(NOBODY));
            Some(hash.is_ok_and(|hash| Argon2::default().verify_password(password.as_bytes(), &hash).is_ok()))
        };
        self.worked_out(check).await
    }

    /// What is stored of a password.
    pub(super) async fn hashed(&self, password: String) -> Result<String, ApiError> {
        self.worked_out(move || hash_password(&password).ok()).await
    }

    /// Work on a password: on a thread of its own, and not for too many people at once.
    async fn worked_out<T: Send + 'static>(&self, work: impl FnOnce() -> Option<T> + Send + 'static) -> Result<T, ApiError> {
        let busy = || ApiError::too_many("Many people are signing in at this moment. Try again shortly.", PATIENCE);
        let Ok(Ok(_room)) = tokio::time::timeout(PATIENCE, self.hashing.acquire()).await else { return Err(busy()) };
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
