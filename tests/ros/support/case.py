"""What a case is, and the verdict on it."""
import os
import random
import shutil
import sys
import tempfile
import time
import traceback

from . import actor, system

SCALE = float(os.environ.get("SHOAL_TEST_SCALE") or 1)
TABLE = {}


class Skip(Exception):
    """This machine cannot show it."""


class Case:
    def __init__(self, body, limit, shm):
        self.body, self.name, self.limit, self.shm = body, body.__name__, limit, shm


def case(limit=60, shm=None):
    """Puts a function into the table. limit: seconds before the watchdog ends it; shm: size of a /dev/shm of its own."""
    def put(body):
        assert body.__name__ not in TABLE, body.__name__
        TABLE[body.__name__] = Case(body, limit, shm)
        return body
    return put


class Trial:
    """One run of a case: its processes, its checks, its notes."""

    def __init__(self, work):
        self.work, self.wrong, self.notes, self.actors = work, [], [], []
        self.random = random.Random(os.environ.get("SHOAL_TEST_SEED") or None)
        self.shm = os.environ["SHOAL_DIR"]

    def fork(self, role, *args, name=None, pid_namespace=False):
        """A process that runs role(me, *args); see support/actor.py."""
        label = f"{len(self.actors)}-{name or role.__name__}"
        a = actor.Actor(label, os.path.join(self.work, label + ".err"), role, args, pid_namespace)
        self.actors.append(a)
        return a

    def check(self, ok, otherwise):
        if not ok:
            self.wrong.append(otherwise)
        return ok

    def equal(self, got, want, what):
        return self.check(got == want, f"{what}: {brief(got)}, want {brief(want)}")

    def note(self, text):
        self.notes.append(text)

    def rounds(self, count, seconds, at_least=1):
        """Round numbers: count of them, scaled, or fewer when they take longer than so many seconds; stops at the first fault."""
        start, last = time.monotonic(), max(at_least, round(count * SCALE))
        for i in range(last):
            if self.wrong or (i >= at_least and time.monotonic() - start > seconds * max(1.0, SCALE)):
                return
            yield i

    def end(self):
        for a in self.actors:
            a.kill()


def brief(x, most=200):
    text = repr(x)
    return text if len(text) <= most else f"{text[:most]}… ({len(x) if hasattr(x, '__len__') else '?'} of them)"


def run(c):
    """Runs one case in this process and says the verdict in the last line."""

    work = tempfile.mkdtemp(prefix="shoal-case-")
    started = time.monotonic()
    try:
        surround(c, work)
        from . import ros
        ros.warm()
        trial = Trial(work)
        try:
            c.body(trial)
        except Skip:
            raise
        except Exception as e:
            trial.wrong.append(f"{type(e).__name__}: {e}")
            traceback.print_exc()
        finally:
            trial.end()
    except Skip as e:
        print(e)
        return 77
    finally:
        if os.environ["SHOAL_DIR"].startswith("/dev/shm/shoal-case-"):
            shutil.rmtree(os.environ["SHOAL_DIR"], ignore_errors=True)
    return verdict(trial, work, time.monotonic() - started)


def surround(c, work):
    """A shared-memory folder, a domain and a log folder of the case's own. As root the whole of /dev/shm is the
    case's own, so that nothing that any middleware leaves there outlives it."""
    os.environ.update(ROS_DOMAIN_ID=str(1 + os.getpid() % 100), ROS_LOG_DIR=os.path.join(work, "log"))
    os.environ.setdefault("RCUTILS_LOGGING_BUFFERED_STREAM", "1")
    system.die_with_parent()
    system.become_subreaper()
    if system.own_shm(c.shm or "4g"):
        os.environ["SHOAL_DIR"] = "/dev/shm"
    elif c.shm:
        raise Skip("a /dev/shm of its own size needs root")
    else:
        os.environ["SHOAL_DIR"] = tempfile.mkdtemp(prefix="shoal-case-", dir="/dev/shm")


def verdict(trial, work, seconds):
    for text in trial.wrong:
        print("wrong:", text)
    if trial.wrong:
        for a in trial.actors:
            tail = a.errors()
            if tail:
                print(f"-- {a.label}:\n{tail}")
        more = f" (+{len(trial.wrong) - 1} more)" if len(trial.wrong) > 1 else ""
        print(trial.wrong[0].replace("\n", " ")[:400] + more)
    else:
        shutil.rmtree(work, ignore_errors=True)
        print("; ".join(trial.notes) or f"{seconds:.1f} s")
    sys.stdout.flush()
    return 1 if trial.wrong else 0
