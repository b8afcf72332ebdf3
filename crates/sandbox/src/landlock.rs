//! A second layer: if a mount is wider than intended, its files are still read-only.

use landlock::{ABI, Access, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr, RulesetCreatedAttr, Scope};
use std::path::PathBuf;

type Failure = Box<dyn std::error::Error>;

/// Makes everything except `writable` read-only for this process. Older kernels enforce less; the boundary does not depend on it.
pub fn apply(writable: &[PathBuf]) -> Result<(), Failure> {
    let abi = ABI::V6;
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(abi))?
        .scope(Scope::from_all(abi))?
        .create()?
        .add_rule(PathBeneath::new(PathFd::new("/")?, AccessFs::from_read(abi)))?;
    for path in writable.iter().filter(|path| path.exists()) {
        rules = rules.add_rule(PathBeneath::new(PathFd::new(path)?, AccessFs::from_all(abi)))?;
    }
    rules.restrict_self()?;
    Ok(())
}
