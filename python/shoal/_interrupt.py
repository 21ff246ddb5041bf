import ctypes

from ._library import Error, call, make, truth


class Interrupt:
    """Interrupts the waits of this process, also when one of its signals arrives.

    While the object lives (a `with` block, or until close()), each of the signals interrupts; Python's own handlers
    of them are displaced and restored at the end. All objects see one flag."""

    def __init__(self, *signals):
        numbers = (ctypes.c_int * len(signals))(*signals)
        self._guard = make("shoal_interrupt_guard_create", numbers, ctypes.c_size_t(len(signals)))

    def _handle(self):
        if self._guard is None:
            raise Error(0, "this Interrupt was closed; make another one")
        return self._guard

    def interrupt(self):
        """Raises the flag and wakes every waiting thread of this process."""
        call("shoal_interrupt_guard_interrupt", self._handle())

    def interrupted(self):
        """Whether the flag is raised."""
        return truth("shoal_interrupt_guard_interrupted", self._handle())

    def resume(self):
        """Lowers the flag: waits wait again."""
        call("shoal_interrupt_guard_resume", self._handle())

    def close(self):
        """Gives the signals back. Does nothing the second time."""
        guard, self._guard = self._guard, None
        if guard is not None:
            call("shoal_interrupt_guard_destroy", guard)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
