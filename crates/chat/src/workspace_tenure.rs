//! The lease of a workspace, for the fence.

use planwright_store::Tenure;

/// The lease of a workspace, as the fence of a chat knows it.
#[derive(Debug)]
pub struct WorkspaceTenure(pub Tenure);

impl planwright_tools::TenureCheck for WorkspaceTenure {
    fn is_over(&self) -> bool {
        self.0.is_over()
    }
}
