//! `rmw_time_t` as nanoseconds.

use shoal_rmw::Qos;

use crate::sys;

const SECOND: u64 = 1_000_000_000;

/// RMW_DURATION_INFINITE: `i64::MAX` nanoseconds.
pub(super) const INFINITE: sys::rmw_time_t = sys::rmw_time_t { sec: 9_223_372_036, nsec: 854_775_807 };

/// Nanoseconds; unspecified (zero), infinite and what does not fit are [`Qos::INFINITE`].
pub(super) fn nanoseconds(time: sys::rmw_time_t) -> i64 {
    let total = time.sec.checked_mul(SECOND).and_then(|s| s.checked_add(time.nsec));
    match total.and_then(|t| i64::try_from(t).ok()) {
        None | Some(0) => Qos::INFINITE,
        Some(ns) => ns,
    }
}

/// The same as C sees it.
pub(super) fn to_rmw(ns: i64) -> sys::rmw_time_t {
    match u64::try_from(ns) {
        Ok(ns) if ns != i64::MAX as u64 => sys::rmw_time_t { sec: ns / SECOND, nsec: ns % SECOND },
        _ => INFINITE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn none_and_endless_are_the_same_and_nothing_overflows() {
        for endless in [
            sys::rmw_time_t { sec: 0, nsec: 0 },
            INFINITE,
            sys::rmw_time_t { sec: u64::MAX, nsec: u64::MAX },
            sys::rmw_time_t { sec: 0, nsec: u64::MAX },
        ] {
            assert_eq!(nanoseconds(endless), Qos::INFINITE);
        }
        assert_eq!(nanoseconds(sys::rmw_time_t { sec: 1, nsec: 2_500_000_000 }), 3_500_000_000);
        let back = to_rmw(3_500_000_000);
        assert_eq!((back.sec, back.nsec), (3, 500_000_000));
        let infinite = to_rmw(Qos::INFINITE);
        assert_eq!((infinite.sec, infinite.nsec), (INFINITE.sec, INFINITE.nsec));
    }
}
