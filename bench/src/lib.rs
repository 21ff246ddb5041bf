//! Load for any RMW, through its C API.
//!
//! [`rmw_api`] loads an RMW by path; [`node`] is one process of load; [`scale`] starts many of them and measures.

pub mod node;
#[allow(unsafe_code)]
pub mod rmw_api;
pub mod scale;
