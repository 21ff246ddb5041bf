//! A work queue: an outlet whose samples are items, each claimed by one consumer and kept until it is acknowledged.

use std::time::Duration;

use shoal_registry::Durability;

use super::{progress, Outlet};
use crate::error::{Error, Result};
use crate::queue::Table;

impl Outlet {
    /// Makes the samples of this outlet, which has sent none, the items of a queue.
    pub(crate) fn begin_queue(&self, window: usize, lease: Duration) -> Result<()> {
        let qos = &self.qos;
        if !self.offer().is_lossless() || qos.durability != Durability::Volatile || qos.lifespan != i64::MAX {
            return Err(Error::InvalidArgument(format!(
                "a queue needs a publisher that is reliable, KEEP_ALL and VOLATILE, without a lifespan; this one is {:?}, \
                 {:?} and {:?}, with {} ns",
                qos.reliability, qos.history, qos.durability, qos.lifespan
            )));
        }
        let _using = self.context.using()?;
        let state = &mut *self.state.lock();
        let head = progress::head(state)?;
        let twice = state.queue.is_some() || state.flow.is_some();
        if head > 0 || twice {
            let what =
                if twice { "carries a queue or a stream already".into() } else { format!("has sent {head} samples") };
            return Err(Error::InvalidArgument(format!("this publisher {what}; create another one for the queue")));
        }
        let registry = self.context.registry();
        let (_, endpoint) = self.hot()?.owner();
        state.queue = Some(Table::create(registry.dir(), registry.context_id(), endpoint, window, lease)?);
        Ok(())
    }
}
