//! Streams: bytes in chunks, of which no more are in flight than a window, and a producer that never waits.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::guard_condition::GuardCondition;
use crate::message::{Encapsulation, Outgoing, CDR_LITTLE_ENDIAN};
use crate::outlet::{Offered, StreamState};
use crate::publisher::Publisher;

/// How long a CDR length is.
const LENGTH: usize = 4;

/// The producing side of a stream: a view of a reliable KEEP_ALL publisher. Each chunk is a sample of it.
///
/// Consumers are its reliable KEEP_ALL subscriptions: one that says so ([`Subscription::hold_credit`]) gives credit back
/// with [`Subscription::consumed`], any other as it takes. Of several consumers the slowest counts, and one whose process
/// died holds nobody. Before the first consumer has come there is no credit; when the last one has gone the stream is over.
///
/// [`Subscription::hold_credit`]: crate::Subscription::hold_credit
/// [`Subscription::consumed`]: crate::Subscription::consumed
pub struct Stream {
    publisher: Arc<Publisher>,
    credit: Arc<GuardCondition>,
    /// The body of a message before its bytes; the last four are their number. Empty: the bytes are the body.
    head: Box<[u8]>,
    chunk_bytes: usize,
}

impl Stream {
    /// Makes the publisher carry a stream of at most `window` chunks in flight, of at most `chunk_bytes` bytes each. Its
    /// shared memory is so bounded by one chunk more than that. `head` is what a message's body begins with, up to and
    /// with the length of its bytes; with an empty one the bytes are the body.
    ///
    /// # Errors
    /// The window is not 1 to 65,536, or `chunk_bytes` not 1 to about 4 GiB; the publisher is not reliable, KEEP_ALL and
    /// VOLATILE, or carries a stream already; its context was shut down or belongs to a parent process.
    pub fn new(publisher: &Arc<Publisher>, window: usize, chunk_bytes: usize, head: &[u8]) -> Result<Self> {
        let most = u32::MAX as usize - head.len();
        if !(1..=most).contains(&chunk_bytes) {
            return Err(Error::InvalidArgument(format!("chunks of {chunk_bytes} bytes; they have 1 to {most}")));
        }
        publisher.outlet().begin_stream(window)?;
        let credit = GuardCondition::credit(publisher.outlet().context(), publisher);
        Ok(Self { publisher: publisher.clone(), credit, head: head.into(), chunk_bytes })
    }

    /// Sends one chunk if there is credit for it. Never waits.
    ///
    /// # Errors
    /// It is longer than the stream's chunks, there is no shared memory for it, or the context was shut down: nothing was
    /// sent then.
    pub fn offer(&self, data: &[u8]) -> Result<Offered> {
        let (length, most) = (data.len(), self.chunk_bytes);
        if length > most {
            return Err(Error::InvalidArgument(format!("a chunk of {length} bytes in a stream of {most} bytes each")));
        }
        self.publisher.offer(&Chunk { head: &self.head, data })
    }

    /// Sends `data` from `at` on in chunks of `chunk` bytes (0: as long as the stream's), the last of which may be shorter,
    /// as many as there is credit for. The result is the byte that it got to: `at` where there is no credit or the stream
    /// is over, the length of `data` when all is on its way.
    ///
    /// # Errors
    /// `at` is beyond `data`, `chunk` more than the stream's, or what [`offer`](Self::offer) fails of happened to the first
    /// chunk: nothing was sent then.
    pub fn write(&self, data: &[u8], at: usize, chunk: usize) -> Result<usize> {
        let length = data.len();
        let most = self.chunk_bytes;
        let chunk = if chunk == 0 { most } else { chunk };
        if at > length || chunk > most {
            let what = format!("byte {at} of {length}, in chunks of {chunk} bytes where the stream's have {most}");
            return Err(Error::InvalidArgument(format!("cannot write from {what}")));
        }
        let mut reached = at;
        while reached < length {
            let piece = &data[reached..reached.saturating_add(chunk).min(length)];
            match self.offer(piece) {
                Ok(Offered::Sent) => reached += piece.len(),
                Ok(Offered::Full | Offered::Finished) => break,
                // The next call says it again; this one has to say how far it got.
                Err(_) if reached > at => break,
                Err(error) => return Err(error),
            }
        }
        Ok(reached)
    }

    /// Ends the stream, as [`Publisher::finish`] does: consumers find its end behind the last chunk.
    ///
    /// # Errors
    /// The context was shut down or belongs to a parent process.
    pub fn finish(&self) -> Result<()> {
        self.publisher.finish()
    }

    /// Credit, what is in flight, and whether it goes on.
    ///
    /// # Errors
    /// The context was shut down or belongs to a parent process.
    pub fn state(&self) -> Result<StreamState> {
        self.publisher.outlet().stream_state()
    }

    /// To be waited for: set as long as there is credit, and when the stream is over. It is not consumed by a wait, so wait
    /// for it only when there is something to send.
    pub fn credit(&self) -> &Arc<GuardCondition> {
        &self.credit
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.publisher.outlet().end_stream();
    }
}

/// Bytes as a message.
struct Chunk<'a> {
    head: &'a [u8],
    data: &'a [u8],
}

impl Outgoing for Chunk<'_> {
    fn size(&self) -> Result<usize> {
        Ok(self.head.len() + self.data.len())
    }

    fn encapsulation(&self) -> Encapsulation {
        CDR_LITTLE_ENDIAN
    }

    fn write(&self, out: &mut [u8]) -> Result<usize> {
        let (head, body) = out.split_at_mut(self.head.len());
        head.copy_from_slice(self.head);
        if let Some(length) = head.last_chunk_mut::<LENGTH>() {
            // It fits: `Stream::new` has seen to that.
            *length = (self.data.len() as u32).to_le_bytes();
        }
        body.copy_from_slice(self.data);
        Ok(out.len())
    }
}
