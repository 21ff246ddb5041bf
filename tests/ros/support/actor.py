"""A process of a case: forked from the case's own process, which has imported rclpy but made no call into it.

The role is a function role(me, *args) that runs in the child. `me.tell(value)` and `me.hear()` talk with the case; a
role that hears sits in a read and makes no call into the middleware. What the role returns is the actor's result."""
import os
import pickle
import select
import signal
import struct
import sys
import time
import traceback

from . import system


class ActorError(Exception):
    """A role raised, or its process ended when something was still expected of it."""


class Silence(Exception):
    """Nothing came in time."""


def readable(fd, seconds):
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return bool(poll.poll(None if seconds is None else seconds * 1e3))


class Line:
    """One end of a pair of pipes that carries pickled values."""

    def __init__(self, r, w):
        self.r, self.w, self.buffer = r, w, b""

    def close(self):
        for fd in (self.r, self.w):
            if fd >= 0:
                os.close(fd)
        self.r = self.w = -1

    def send(self, value):
        data = pickle.dumps(value)
        data = struct.pack("<I", len(data)) + data
        while data:
            data = data[os.write(self.w, data):]

    def receive(self, timeout=None):
        """The next value. Raises Silence after timeout seconds, EOFError at the other side's end."""
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            if len(self.buffer) >= 4:
                size = struct.unpack("<I", self.buffer[:4])[0]
                if len(self.buffer) >= 4 + size:
                    data, self.buffer = self.buffer[4:4 + size], self.buffer[4 + size:]
                    return pickle.loads(data)
            left = None if end is None else max(0.0, end - time.monotonic())
            if not readable(self.r, left):
                raise Silence()
            data = os.read(self.r, 1 << 16)
            if not data:
                raise EOFError
            self.buffer += data


class Me:
    """What a role has of the case."""

    def __init__(self, line):
        self._line = line

    def tell(self, value):
        self._line.send(("told", value))

    def hear(self):
        try:
            return self._line.receive()
        except EOFError:
            os._exit(0)

    def heard(self):
        """Whether the case has said something (does not wait)."""
        return bool(self._line.buffer) or readable(self._line.r, 0)


class Actor:
    def __init__(self, label, errors, role, args, pid_namespace):
        self.label, self._errors, self._code = label, errors, None
        r0, w0 = os.pipe()
        r1, w1 = os.pipe()
        self._line = Line(r1, w0)
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(r1)
            os.close(w0)
            if pid_namespace:
                system.enter_pid_namespace()
            _play(Line(r0, w1), errors, role, args)
        os.close(r0)
        os.close(w1)
        self._waited = self.pid
        if pid_namespace:
            self.pid = system.only_child(self.pid)

    # --- what it says
    def expect(self, timeout=15):
        """The next value it tells; its result, where the role has returned."""
        try:
            kind, value = self._line.receive(timeout)
        except Silence:
            raise Silence(f"{self.label} said nothing for {timeout:g} s") from None
        except EOFError:
            raise ActorError(f"{self.label} ended ({self.exit_code(5)}) when something was expected of it") from None
        if kind == "error":
            raise ActorError(f"{self.label}: {value}")
        return value

    result = expect

    def tell(self, value=None):
        try:
            self._line.send(value)
        except BrokenPipeError:
            raise ActorError(f"{self.label} has ended ({self.exit_code(5)})") from None

    def ask(self, value=None, timeout=15):
        self.tell(value)
        return self.expect(timeout)

    # --- its life
    def signal(self, number):
        try:
            os.kill(self.pid, number)
        except ProcessLookupError:
            pass

    def stop(self):
        """SIGSTOP, and it has stopped when this returns."""
        self.signal(signal.SIGSTOP)
        system.wait_for_state(self.pid, "T")

    def resume(self):
        self.signal(signal.SIGCONT)

    def kill(self):
        """SIGKILL; it is gone when this returns."""
        if self._code is None:
            self.signal(signal.SIGKILL)
            self.exit_code(10)
        self._line.close()

    def exit_code(self, timeout=10):
        """Its exit status (negative: the signal that ended it), or None when it still runs after that time."""
        end = time.monotonic() + timeout
        while self._code is None:
            pid, status = os.waitpid(self._waited, os.WNOHANG)
            if pid:
                self._code = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > end:
                return None
            else:
                time.sleep(0.001)
        return self._code

    def alive(self):
        return self.exit_code(0) is None

    def leave(self, timeout=10):
        """Lets a role that hears go to its end, and gives the exit status."""
        try:
            self._line.send(None)
        except BrokenPipeError:
            pass
        return self.exit_code(timeout)

    def errors(self, most=2000):
        try:
            with open(self._errors, errors="replace") as f:
                return f.read()[-most:].strip()
        except OSError:
            return ""


def _play(line, errors, role, args):
    """The child's whole life."""
    system.die_with_parent()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    f = os.open(errors, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    os.dup2(f, 1)
    os.dup2(f, 2)
    code = 0
    try:
        value = role(Me(line), *args)
        line.send(("told", value))
    except BaseException as e:
        traceback.print_exc()
        code = 1
        try:
            line.send(("error", f"{type(e).__name__}: {e}"))
        except OSError:
            pass
    try:
        from . import ros
        ros.finish()
    except BaseException:
        traceback.print_exc()
        code = code or 3
    sys.stderr.flush()
    os._exit(code)
