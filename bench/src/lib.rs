//! Load for any RMW, through its C API: [`rmw_api`] loads an RMW by path.

#[allow(unsafe_code)]
pub mod rmw_api;
