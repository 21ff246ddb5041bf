"""Linux: namespaces, /proc accounting, /dev/shm."""
import ctypes
import os
import platform
import resource
import signal
import time

_libc = ctypes.CDLL(None, use_errno=True)
_CLONE_NEWNS, _CLONE_NEWPID = 0x00020000, 0x20000000
_MS_REC, _MS_PRIVATE = 16384, 1 << 18
# futex and futex_waitv, as /proc/PID/syscall numbers them.
_FUTEX_WAITS = {"x86_64": ("202", "449"), "aarch64": ("98", "449")}[platform.machine()]
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


def become_subreaper():
    """Orphans of our children become our children, so that none outlives the case."""
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with_parent():
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def is_root():
    return os.geteuid() == 0


def _mount(target, kind, flags=0, data=None):
    raw = [None if x is None else x.encode() for x in (kind, target, kind, data)]
    if _libc.mount(raw[0], raw[1], raw[2], ctypes.c_ulong(flags), raw[3]) != 0:
        raise OSError(ctypes.get_errno(), f"mount {kind} on {target}")


def own_shm(size):
    """An empty /dev/shm of that size (e.g. '64m') for this process and its children. False without the right to."""
    if not is_root() or _libc.unshare(_CLONE_NEWNS) != 0:
        return False
    try:
        _mount("/", None, _MS_REC | _MS_PRIVATE)
        _mount("/dev/shm", "tmpfs", 0, f"size={size},mode=1777")
    except OSError:
        return False
    return True


def resize_shm(size):
    return os.system(f"mount -o remount,size={size} /dev/shm") == 0


def enter_pid_namespace():
    """Goes on as PID 1 of a PID namespace of its own with a /proc of its own; the caller stays behind and waits for it."""
    if _libc.unshare(_CLONE_NEWPID | _CLONE_NEWNS) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    child = os.fork()
    if child:
        os.closerange(3, 256)
        die_with_parent()
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        os._exit(code if code >= 0 else 128 - code)
    _mount("/", None, _MS_REC | _MS_PRIVATE)
    _mount("/proc", "proc")


def only_child(pid, timeout=10):
    """The PID (as seen here) of a process's one child."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        with open(f"/proc/{pid}/task/{pid}/children") as f:
            children = f.read().split()
        if children:
            return int(children[0])
        time.sleep(0.001)
    raise TimeoutError(f"process {pid} has no child")


def wait_for_state(pid, state, timeout=10):
    """Until the process is in that state of /proc/PID/stat ('T' stopped)."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        with open(f"/proc/{pid}/stat") as f:
            if f.read().rsplit(")", 1)[1].split()[0] == state:
                return
        time.sleep(0.001)
    raise TimeoutError(f"process {pid} did not reach state {state}")


def cost(pid):
    """(CPU seconds, voluntary context switches) of all threads of a process so far."""
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    cpu = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    switches = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{task}/status") as f:
                switches += sum(int(line.split()[1]) for line in f if line.startswith("voluntary_ctxt"))
        except OSError:
            pass
    return cpu, switches


def sleeps():
    """How often the calling thread has gone to sleep so far."""
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw


def until_asleep(pid, timeout=10):
    """Until the main thread of the process sleeps on a futex, as a wait does that finds nothing."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        with open(f"/proc/{pid}/stat") as f:
            asleep = f.read().rsplit(")", 1)[1].split()[0] == "S"
        with open(f"/proc/{pid}/syscall") as f:
            if asleep and f.read().split()[0] in _FUTEX_WAITS:
                return
        time.sleep(0.001)
    raise TimeoutError(f"process {pid} does not wait")


def threads(pid):
    return len(os.listdir(f"/proc/{pid}/task"))


def mappings(pid):
    with open(f"/proc/{pid}/maps") as f:
        return sum(1 for _ in f)


def used(folder):
    """(files, bytes on disk) below a folder."""
    files = size = 0
    for top, _, names in os.walk(folder):
        for name in names:
            try:
                size += os.lstat(os.path.join(top, name)).st_blocks * 512
                files += 1
            except OSError:
                pass
    return files, size


def fill(path):
    """A file that takes the last byte of its file system."""
    with open(path, "wb", buffering=0) as f:
        for step in (1 << 20, 1 << 12, 1 << 8):
            try:
                while True:
                    if f.write(bytes(step)) < step:
                        break
            except OSError:
                pass
