#!/usr/bin/env python3
"""The demo: a talker latches samples and is stopped; a listener that starts afterwards reads them all the same.

Every step says what is seen. The exit status is 0 only when all of it was seen. Run it by `cargo xtask demo`."""
import os
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

LIMIT = 30  # seconds that any single step may take

awaited = "anything"


class Missing(Exception):
    """Something that the demo promises was not seen."""


class Process:
    """One of the two rclpy processes. It prints one line for each thing it does; everything else goes to stderr."""

    def __init__(self, role):
        self.role = role
        self.popen = subprocess.Popen([sys.executable, os.path.join(HERE, "demo_nodes.py"), role], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, text=True, bufsize=1)

    def line(self, begins):
        """The next line, which must begin so; the rest of it."""
        global awaited
        awaited = f'"{begins}…" of the {self.role}'
        signal.alarm(LIMIT)
        try:
            text = self.popen.stdout.readline().rstrip("\n")
        finally:
            signal.alarm(0)
        if not text.startswith(begins):
            ended = "" if text else f" (the process ended: {self.popen.wait()})"
            raise Missing(f"the {self.role} should have said \"{begins}…\", not \"{text}\"{ended}")
        return text[len(begins):].strip()

    def tell(self, word):
        self.popen.stdin.write(word + "\n")
        self.popen.stdin.flush()

    def stop(self):
        os.kill(self.popen.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, self.popen.pid, os.WSTOPPED | os.WNOWAIT)

    def end(self, number=signal.SIGKILL):
        if self.popen.poll() is None:
            os.kill(self.popen.pid, number)
        return self.popen.wait()


def say(text):
    print(text, flush=True)


def must_be(what, seen, wanted):
    if seen != wanted:
        raise Missing(f"{what}: saw {seen!r}, wanted {wanted!r}")


def show(talker):
    wanted = os.environ.get("RMW_IMPLEMENTATION") or "rmw_fastrtps_cpp"
    name = talker.line("running on")
    must_be("rclpy.get_rmw_implementation_identifier()", name, wanted)
    say(f"1. A talker (process {talker.popen.pid}) runs on {name}: that is what rclpy.get_rmw_implementation_identifier() says.")
    retained = talker.line("latched")
    say(f"2. It publishes 12 words, of which it keeps 5, a point cloud of 3 MB and 4 poses. Kept: {retained}")
    talker.stop()
    say("3. It is stopped now (SIGSTOP): it cannot run a single instruction.")
    listener = Process("listener")
    try:
        join(talker, listener)
        must_be("exit status of the listener", listener.popen.wait(LIMIT), 0)
    finally:
        listener.end()


def join(talker, listener):
    listener.line("running on")
    pulled = listener.line("pulled")
    took = listener.line("within")
    say(f"4. A listener starts (process {listener.popen.pid}) and reads from the stopped talker, with no wait anywhere: {pulled}")
    must_be("what the listener pulled", pulled, WANTED)
    say(f"   From creating the three subscriptions to the last sample it took {took}.")
    os.kill(talker.popen.pid, signal.SIGCONT)
    talker.tell("go on")
    live = listener.line("live")
    must_be("the live samples", live, "live 0, live 1, live 2, live 3, live 4")
    say(f"5. The talker goes on (SIGCONT), and what it publishes now follows, each once: {live}")
    listener.line("sees the talker")
    say("6. The listener's graph holds the talker.")
    talker.end(signal.SIGKILL)
    killed = time.monotonic()
    listener.line("lost the talker")
    say(f"7. The talker is killed (SIGKILL). The listener's graph lost it {(time.monotonic() - killed) * 1e3:.0f} ms later.")


WANTED = ("word 7, word 8, word 9, word 10, word 11; a whole cloud of 3145728 bytes; "
          "poses base->arm0 base->arm1 base->arm2 base->arm3")


def main():
    def too_late(*_):
        raise Missing(f"{awaited}, waited for {LIMIT} s")
    signal.signal(signal.SIGALRM, too_late)
    os.environ.setdefault("ROS_DOMAIN_ID", str(60 + os.getpid() % 40))  # nobody else's talker
    talker = Process("talker")
    try:
        show(talker)
    except (Missing, OSError, subprocess.TimeoutExpired) as e:
        say(f"NOT SEEN: {e}")
        return 1
    finally:
        talker.end()
    say("All of it was seen.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
