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
        let room = tokio::time::timeout(HASHING_TIMEOUT, self.hashing.clone().acquire_owned()).await;
        let Ok(Ok(room)) = room else { return Err(busy()) };
        // The work keeps its permit: it goes on if the client disconnects meanwhile.
        let done = tokio::task::spawn_blocking(move || (work(), drop(room)).0).await.ok().flatten();
        done.ok_or_else(|| Problem::new(ErrorCode::Internal, "The password could not be checked. Try again.").into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::{ExternalAccess, Folders, SignInMethod};
    use std::sync::mpsc;

    #[tokio::test(flavor = "multi_thread")]
    async fn clients_that_disconnect_do_not_get_more_passwords_checked_at_once() {
        let outside = ExternalAccess { public_url: None, proxies: Vec::new(), requests_per_minute: 1, folders: Folders::default() };
        let access = AccessControl::new(SignInMethod::Users, ([127, 0, 0, 1], 1).into(), outside);
        let places = access.hashing.available_permits();
        let (begun, begins) = mpsc::channel();
        let mut ends = Vec::new();
        for _ in 0..places {
            let (end, ended) = mpsc::channel::<()>();
            let begun = begun.clone();
            let mut check = Box::pin(access.run_hashing(move || {
                begun.send(()).ok()?;
                ended.recv().ok()
            }));
            assert!(futures::poll!(&mut check).is_pending());
            // The client is gone, and its check has begun or will.
            drop(check);
            ends.push(end);
        }
        for _ in 0..places {
            tokio::task::block_in_place(|| begins.recv()).unwrap();
        }
        assert_eq!(access.hashing.available_permits(), 0, "their checks are still running");
        for end in ends {
            end.send(()).unwrap();
        }
        let _all = access.hashing.acquire_many(u32::try_from(places).unwrap()).await.unwrap();
    }

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
