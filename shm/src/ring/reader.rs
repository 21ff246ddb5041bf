//! The reader's side: every function takes memory of another process and believes nothing in it.

use super::desc::{ChunkRef, RingDesc};
use super::payload::{InlineBuf, Keep, Loan, Payload};
use super::segments::Segments;
use super::slot::{classify, committed, Finding, Header, Place, Slot, SlotMeta, HEADER, MAX_SEQUENCE};
use super::strength::{Full, Strength};
use crate::crash_point;
use crate::hazard::{Announcement, HazardSlot};
use crate::sync::{AtomicU64, Ordering};

/// More moves than a ring can make: each one doubles its capacity, which is at most 2^31.
const MAX_MOVES: usize = 32;

/// Why a sample was not read.
#[derive(Copy, Clone, Eq, PartialEq, Debug, thiserror::Error)]
pub enum ReadError {
    /// The writer has retired or overwritten it: KEEP_LAST allows that; go on with the next one.
    #[error("the sample was overwritten before it was read; read the next one, or use a deeper history")]
    Lapped,
    /// It has not been committed. An honest writer never gives this for a sequence number up to its (acquired) head;
    /// keep the watermark where it is.
    #[error("the sample has not been committed yet; read up to the ring's head only")]
    NotYet,
    /// The owner's memory says something impossible. Skip the sample.
    #[error("the sample is unreadable: {0}; skip it")]
    Invalid(&'static str),
}

/// Why one look at the ring gave nothing.
enum Miss {
    /// The ring has moved to another region: look again there.
    Moved,
    Final(ReadError),
}

impl Miss {
    fn invalid(why: &'static str) -> Miss {
        Miss::Final(ReadError::Invalid(why))
    }
}

/// A slot that held the wanted sample when it was looked at.
struct Look<'a> {
    desc: &'a AtomicU64,
    word: u64,
    slot: Slot<'a>,
    seq: u64,
    inline: usize,
}

impl<'a> Look<'a> {
    #[inline]
    fn open<S: Strength>(segs: &'a (impl Segments + ?Sized), desc: &'a AtomicU64, seq: u64) -> Result<Look<'a>, Miss> {
        if seq == 0 || seq >= MAX_SEQUENCE {
            return Err(Miss::invalid("the sequence number is out of range"));
        }
        // ORDERING(ring.move): Acquire: the copied slots of a new region come before its descriptor. Meets `Writer::grow`.
        let word = desc.load(Ordering::Acquire);
        let Some(ring) = RingDesc::checked(word) else {
            return Err(Miss::Final(ReadError::NotYet));
        };
        let at = segs.words(ring.segment(), ring.slot_offset(seq), ring.stride() / 8);
        let Some(slot) = at.and_then(Slot::new) else {
            return Err(still::<S>(desc, word, ReadError::Invalid("the ring lies outside of its owner's memory")));
        };
        // ORDERING(ring.slot): Acquire: the words of the sample come before its even state. Meets `Slot::write`.
        match classify(slot.state().load(Ordering::Acquire), seq) {
            Finding::Ready => Ok(Look { desc, word, slot, seq, inline: ring.stride() - HEADER }),
            Finding::Lapped => Err(still::<S>(desc, word, ReadError::Lapped)),
            Finding::NotYet => Err(still::<S>(desc, word, ReadError::NotYet)),
        }
    }

    /// Whether everything read so far belongs to the wanted sample. A fence must stand before this.
    #[inline]
    fn unchanged(&self) -> Result<(), Miss> {
        if self.desc.load(Ordering::Relaxed) != self.word {
            return Err(Miss::Moved);
        }
        if self.slot.state().load(Ordering::Relaxed) != committed(self.seq) {
            return Err(Miss::Final(ReadError::Lapped));
        }
        Ok(())
    }

    /// Header and place of the payload; the words of an inline payload are in `buf`. Validated unless it is a chunk.
    #[inline]
    fn copy<S: Strength>(&self, buf: &mut InlineBuf) -> Result<(SlotMeta, Place), Miss> {
        let header = Header::load(self.slot.header);
        let place = header.place(self.inline);
        match place {
            Ok(Place::Chunk(..)) => {}
            Ok(Place::Inline(len)) => {
                let words = len.div_ceil(8);
                for (to, from) in buf.words.iter_mut().zip(&self.slot.body[..words.min(self.slot.body.len())]) {
                    *to = from.load(Ordering::Relaxed);
                }
                self.validate::<S>()?;
            }
            // Torn words or a lie: only validation tells.
            Err(_) => self.validate::<S>()?,
        }
        Ok((header.meta, place.map_err(Miss::invalid)?))
    }

    #[inline]
    fn validate<S: Strength>(&self) -> Result<(), Miss> {
        S::slot_read();
        self.unchanged()
    }

    /// The address of a chunk whose hazard stands.
    #[inline]
    fn announced<S: Strength>(
        &self,
        segs: &(impl Segments + ?Sized),
        chunk: ChunkRef,
        len: usize,
    ) -> Result<Payload, Miss> {
        S::announced();
        self.unchanged()?;
        let ptr = segs.bytes(chunk.segment(), chunk.offset(), len);
        ptr.map(|ptr| Payload { ptr, len })
            .ok_or_else(|| Miss::invalid("the payload lies outside of its owner's memory"))
    }
}

/// An answer that counts only if the ring has not moved meanwhile: an old region may hold anything.
#[cold]
fn still<S: Strength>(desc: &AtomicU64, word: u64, answer: ReadError) -> Miss {
    S::slot_read();
    match desc.load(Ordering::Relaxed) == word {
        true => Miss::Final(answer),
        false => Miss::Moved,
    }
}

#[inline]
fn retrying<T>(mut look: impl FnMut() -> Result<T, Miss>) -> Result<T, ReadError> {
    for _ in 0..MAX_MOVES {
        match look() {
            Ok(found) => return Ok(found),
            Err(Miss::Final(why)) => return Err(why),
            Err(Miss::Moved) => {}
        }
    }
    Err(ReadError::Invalid("its descriptor does not come to rest"))
}

/// What travels with sample `seq`, without its body; `None` when the sample is not to be had.
pub fn read_meta(segs: &(impl Segments + ?Sized), desc: &AtomicU64, seq: u64) -> Option<SlotMeta> {
    read_header(segs, desc, seq).map(|header| header.meta)
}

/// Bytes of the body of sample `seq`; `None` when the sample is not to be had. Announces nothing, touches no body.
pub fn read_size(segs: &(impl Segments + ?Sized), desc: &AtomicU64, seq: u64) -> Option<u32> {
    read_header(segs, desc, seq).map(|header| header.size)
}

fn read_header(segs: &(impl Segments + ?Sized), desc: &AtomicU64, seq: u64) -> Option<Header> {
    let found = retrying(|| {
        let look = Look::open::<Full>(segs, desc, seq)?;
        let header = Header::load(look.slot.header);
        look.validate::<Full>()?;
        Ok(header)
    });
    found.ok()
}

/// Reads sample `seq` of the ring that `desc` (in its owner's hot cell) describes. `owner_ctx` is the owner's context
/// index; `buf` takes an inline payload; a chunk is announced in `hazard` while `f` runs.
///
/// `f` runs at most once, on validated words, before the hazard is cleared. A registry slot that holds `desc` may have
/// changed hands: re-check its directory word in `f`, before the payload is used.
#[inline]
pub fn read<R>(
    segs: &(impl Segments + ?Sized),
    desc: &AtomicU64,
    owner_ctx: u16,
    seq: u64,
    hazard: &HazardSlot<'_>,
    buf: &mut InlineBuf,
    f: impl FnOnce(SlotMeta, Payload) -> R,
) -> Result<R, ReadError> {
    read_with::<Full, R>(segs, desc, owner_ctx, seq, hazard, buf, f)
}

#[inline]
pub(super) fn read_with<S: Strength, R>(
    segs: &(impl Segments + ?Sized),
    desc: &AtomicU64,
    owner_ctx: u16,
    seq: u64,
    hazard: &HazardSlot<'_>,
    buf: &mut InlineBuf,
    f: impl FnOnce(SlotMeta, Payload) -> R,
) -> Result<R, ReadError> {
    let (meta, payload, held) = retrying(|| locate::<S>(segs, desc, owner_ctx, seq, hazard, buf))?;
    let payload = payload.unwrap_or_else(|len| Payload { ptr: buf.words.as_ptr().cast(), len });
    let result = f(meta, payload);
    drop(held);
    Ok(result)
}

/// A found sample: its payload in a chunk that the announcement holds, or the length of the one in the buffer.
type Located<'h> = (SlotMeta, Result<Payload, usize>, Option<Announcement<'h>>);

#[inline]
fn locate<'h, S: Strength>(
    segs: &(impl Segments + ?Sized),
    desc: &AtomicU64,
    owner_ctx: u16,
    seq: u64,
    hazard: &'h HazardSlot<'_>,
    buf: &mut InlineBuf,
) -> Result<Located<'h>, Miss> {
    let look = Look::open::<S>(segs, desc, seq)?;
    match look.copy::<S>(buf)? {
        (meta, Place::Inline(len)) => Ok((meta, Err(len), None)),
        (meta, Place::Chunk(chunk, len)) => {
            let held =
                hazard.announce(chunk.id(owner_ctx)).ok_or_else(|| Miss::invalid("the hazard slot is in use"))?;
            crash_point!("reader.announced");
            Ok((meta, Ok(look.announced::<S>(segs, chunk, len)?), Some(held)))
        }
    }
}

/// Like [`read`], but the sample stays readable for as long as the loan lives. A payload that was inline is copied.
pub fn read_loan<'a>(
    segs: &(impl Segments + ?Sized),
    desc: &AtomicU64,
    owner_ctx: u16,
    seq: u64,
    hazard: HazardSlot<'a>,
) -> Result<Loan<'a>, ReadError> {
    let mut buf = InlineBuf::new();
    let (meta, payload, held) = retrying(|| locate::<Full>(segs, desc, owner_ctx, seq, &hazard, &mut buf))?;
    // The hazard slot clears the word when it is dropped.
    std::mem::forget(held);
    Ok(match payload {
        Ok(payload) => Loan::new(meta, payload, Keep::Hazard(hazard)),
        Err(len) => {
            let copy = buf.words[..len.div_ceil(8)].to_vec();
            Loan::new(meta, Payload { ptr: copy.as_ptr().cast(), len }, Keep::Copy(copy))
        }
    })
}
