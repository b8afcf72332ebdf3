//! Content hashes.

use sha2::{Digest, Sha256};

/// The sha256 of `bytes`, in hexadecimal digits.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    let digits = b"0123456789abcdef";
    let digest = Sha256::digest(bytes);
    digest.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(|half| char::from(digits[usize::from(half)])).collect()
}
