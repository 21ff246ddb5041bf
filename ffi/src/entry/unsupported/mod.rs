//! Entry points of the table in [`super::refusals`]: the checks of their headers, then the refusal.

pub(super) mod allocations;
pub(super) mod dynamic;
pub(super) mod flows;
