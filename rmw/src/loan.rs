//! What a subscription has out on loan: messages read where their publisher wrote them.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use shoal_shm::hazard::HazardTicket;
use shoal_shm::segment::View;

use crate::context::Context;
use crate::error::{Error, Result};
use crate::message::{Incoming, TypeInfo};

/// Makes a private message out of a sample that cannot be lent where it lies. The words are the message in memory.
pub type Copier<'a> = &'a mut dyn FnMut(Incoming) -> Result<Box<[u64]>>;

/// One message on loan. Dropping it gives it back.
pub(crate) struct Loan {
    at: *const u8,
    kept: Kept,
}

/// What keeps a message on loan as it is.
enum Kept {
    /// It lies in its publisher's memory, under a hazard word of this context.
    InPlace(#[expect(dead_code, reason = "dropped to give the loan back")] Held),
    /// It belongs to this process alone.
    Private(#[expect(dead_code, reason = "dropped to free the message")] Box<[u64]>),
}

/// What keeps a publisher's memory as it is and where it is.
pub(crate) struct Held {
    context: Arc<Context>,
    /// Taken only by the drop.
    ticket: Option<HazardTicket>,
    /// The pages stay for as long as they are mapped, whatever becomes of the file and of its owner.
    _view: Arc<View>,
}

impl Held {
    pub(crate) fn new(context: &Arc<Context>, ticket: HazardTicket, view: Arc<View>) -> Self {
        Self { context: context.clone(), ticket: Some(ticket), _view: view }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let registry = self.context.registry();
        // A forked child shares the words with its parent, whose loan this is.
        if let Some(ticket) = self.ticket.take().filter(|_| !registry.is_forked()) {
            registry.hazards().end(ticket);
        }
    }
}

impl Loan {
    pub(crate) fn in_place(at: *const u8, held: Held) -> Self {
        Self { at, kept: Kept::InPlace(held) }
    }

    pub(crate) fn private(words: Box<[u64]>) -> Self {
        Self { at: words.as_ptr().cast(), kept: Kept::Private(words) }
    }
}

/// The loans of one subscription, by address, each with how often it is on loan: a broken publisher may name one chunk in
/// several samples.
#[derive(Default)]
pub(crate) struct Loans(Mutex<HashMap<usize, (Kept, usize)>>);

impl Loans {
    pub(crate) fn add(&self, loan: Loan) -> *const u8 {
        let Loan { at, kept } = loan;
        // What keeps the first of several at one address keeps them all.
        self.0.lock().entry(at.addr()).and_modify(|(_, times)| *times += 1).or_insert((kept, 1));
        at
    }

    /// Gives one back.
    pub(crate) fn end(&self, at: *const u8) -> Result<()> {
        let mut loans = self.0.lock();
        let (_, times) = loans.get_mut(&at.addr()).ok_or_else(|| not_on_loan(at, "subscription"))?;
        *times -= 1;
        if *times == 0 {
            loans.remove(&at.addr());
        }
        Ok(())
    }
}

pub(crate) fn not_on_loan(at: *const u8, whose: &str) -> Error {
    Error::Other(format!(
        "the message at {at:p} is not on loan from this {whose}: it comes from elsewhere, or was given back already"
    ))
}

/// Whether messages of a type can be loaned, and how long they are.
pub(crate) struct Loanable {
    size: Option<usize>,
    type_name: String,
}

impl Loanable {
    pub(crate) fn of(ty: &TypeInfo) -> Self {
        Self { size: ty.loanable_size, type_name: ty.name.clone() }
    }

    /// Bytes of a message.
    ///
    /// # Errors
    /// The type cannot be loaned.
    pub(crate) fn size(&self) -> Result<usize> {
        self.size.ok_or_else(|| {
            Error::Unsupported(format!(
                "a message can be loaned only if it lies in memory as it is sent, which those of '{}' do not (they have a \
                 string, a sequence, or padding behind the last field); publish and take copies",
                self.type_name
            ))
        })
    }
}
