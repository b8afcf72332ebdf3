//! Recognises files in build output and in git's own folder that only have the name of a secret.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;

/// A longer file with certificates counts as a secret.
const LARGEST: u64 = 4 << 20;
/// Signatures of programs: ELF, scripts, Mach-O, Windows.
const PROGRAMS: &[&[u8]] = &[b"\x7fELF", b"#!", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"MZ"];
const CERTIFICATE: &[u8] = b"-----BEGIN CERTIFICATE-----";
const KEY: &[u8] = b"PRIVATE KEY";
/// The shortest commit id.
const ID: usize = 40;

/// Whether a file with the name of a secret is a built program, or has certificates and no key.
pub fn is_product(path: &[u8], file: OwnedFd) -> bool {
    let mut bytes = Vec::new();
    if File::from(file).take(LARGEST + 1).read_to_end(&mut bytes).is_err() || bytes.len() as u64 > LARGEST {
        return PROGRAMS.iter().any(|program| bytes.starts_with(program));
    }
    let has = |what: &[u8]| memchr::memmem::find(&bytes, what).is_some();
    PROGRAMS.iter().any(|program| bytes.starts_with(program)) || (path.ends_with(b".pem") && has(CERTIFICATE) && !has(KEY))
}

/// Whether a file is a git ref or log, which is named after its branch.
pub fn is_record(path: &[u8], file: OwnedFd) -> bool {
    let is_placed = path.split(|&byte| byte == b'/').any(|name| name == b"refs" || name == b"logs");
    let mut begin = Vec::new();
    let is_read = File::from(file).take(ID as u64).read_to_end(&mut begin).is_ok();
    let is_id = || begin.len() == ID && begin.iter().all(u8::is_ascii_hexdigit);
    is_placed && is_read && (begin.is_empty() || begin.starts_with(b"ref: ") || is_id())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Seek, Write};

    fn file(bytes: &[u8]) -> OwnedFd {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file.rewind().unwrap();
        file.into()
    }

    #[test]
    fn programs_and_certificates_are_no_secrets_and_keys_are() {
        assert!(is_product(b"target/debug/id_tool", file(b"\x7fELF\x02\x01")));
        assert!(is_product(b"a/cacert.pem", file(b"# CA\n-----BEGIN CERTIFICATE-----\nMII\n")));
        assert!(!is_product(b"a/both.pem", file(b"-----BEGIN CERTIFICATE-----\n-----BEGIN EC PRIVATE KEY-----\n")));
        assert!(!is_product(b"a/.env", file(b"KEY=-----BEGIN CERTIFICATE-----")));
        assert!(!is_product(b"a/id_rsa", file(b"-----BEGIN OPENSSH PRIVATE KEY-----")));
    }

    #[test]
    fn a_branch_with_the_name_of_a_key_is_no_secret() {
        let id = b"0123456789012345678901234567890123456789\n";
        assert!(is_record(b".git/refs/heads/id_map", file(id)) && is_record(b".git/logs/refs/heads/id_map", file(id)));
        assert!(!is_record(b".git/refs/id_rsa", file(b"-----BEGIN")) && !is_record(b".git/id_rsa", file(id)));
    }
}
