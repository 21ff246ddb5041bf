//! Counters that a whole domain shares.

use std::sync::Arc;

use shoal_registry::COUNTER_COUNT;

use crate::context::Context;
use crate::error::{Error, Result};

impl Context {
    /// Adds to the domain's counter `index`, wrapping around, and answers its value after that.
    ///
    /// # Errors
    /// There is no such counter, or the context was shut down or belongs to a parent process.
    pub fn tick(self: &Arc<Self>, index: usize, inc: u64) -> Result<u64> {
        let _using = self.using()?;
        self.registry().tick(index, inc).ok_or_else(|| no_counter(index))
    }

    /// Sets the domain's counter `index`, and answers its value before that.
    ///
    /// # Errors
    /// As [`tick`](Self::tick).
    pub fn tock(self: &Arc<Self>, index: usize, value: u64) -> Result<u64> {
        let _using = self.using()?;
        self.registry().tock(index, value).ok_or_else(|| no_counter(index))
    }
}

fn no_counter(index: usize) -> Error {
    Error::InvalidArgument(format!("there is no counter {index}; a domain has {COUNTER_COUNT}, from 0"))
}
