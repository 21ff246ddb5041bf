//! rmw/rmw.h: identities.

use crate::boundary::{exports, Failure, In, InOut};
use crate::handle::{check_ours, IDENTIFIER};
use crate::sys;

exports! {
    /// Whether two identities are the same.
    fn rmw_compare_gids_equal(
        gid1: *const sys::rmw_gid_t,
        gid2: *const sys::rmw_gid_t,
        result: *mut bool,
    ) -> sys::rmw_ret_t = compare;
}

/// An identity as C sees it.
pub(super) fn to_gid(data: [u8; 16]) -> sys::rmw_gid_t {
    sys::rmw_gid_t { implementation_identifier: IDENTIFIER.as_ptr(), data }
}

fn compare(gid1: In<sys::rmw_gid_t>, gid2: In<sys::rmw_gid_t>, result: InOut<bool>) -> Result<(), Failure> {
    let (one, other) = (gid1.get()?, gid2.get()?);
    result.pointer()?;
    for (gid, name) in [(one, gid1.name()), (other, gid2.name())] {
        check_ours(gid.implementation_identifier, name)?;
    }
    result.write(one.data == other.data)
}
