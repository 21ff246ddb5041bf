import enum


class Outcome(enum.IntEnum):
    """Why a wait, or a stream, ended: shoal_outcome_t."""

    #: At least one item is ready.
    READY = 0
    #: The producer said that nothing follows, and everything before that has been taken.
    END_OF_STREAM = 1
    #: The time is over, or the context was shut down, and nothing is ready.
    TIMED_OUT = 2
    #: The process was interrupted, see Interrupt.
    INTERRUPTED = 3
    #: The producer died without ending its stream; what it had published has been taken.
    BROKEN = 4
    #: The producer said that a session is over; everything before that has been taken, and the stream goes on.
    END_OF_DAY = 5
    #: The subscription was further behind the producer than its bounds allow, and gets no more of it until it joins again.
    SHED = 6
