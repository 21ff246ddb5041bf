//! Files of a domain and their mappings.
//!
//! A [`Segment`] is the owner's: read and write. A [`View`] is a peer's: read only. Both live in a [`DomainDir`], whose
//! owner and permission bits were checked when it was opened. No function here follows a symlink, trusts a length that
//! somebody wrote, or lets memory be touched whose pages are not reserved (a full file system must be an error value,
//! never SIGBUS). Where a page is gone all the same, it reads as zeros ([`fault`]).

mod dir;
mod error;
mod fault;
mod level;
mod map;
mod owned;
pub(crate) mod sys;
#[cfg(test)]
pub(crate) mod tests;
mod view;

pub use dir::{Access, DomainDir};
pub use error::{CreateError, DirError, OpenError};
pub use owned::Segment;
pub use view::View;
