"""The plugin that this process runs on, and librcl: functions by name, failures as exceptions."""
import ctypes
import functools
import os

OK, INVALID_ARGUMENT = 0, 11


class Error(RuntimeError):
    """A function of shoal.h failed; the text says what was wrong and what to do."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


class _ErrorString(ctypes.Structure):
    _fields_ = [("str", ctypes.c_char * 1024)]


def _loaded(name):
    """The path of a library that is mapped into this process."""
    with open("/proc/self/maps") as maps:
        for line in maps:
            path = line.rstrip("\n").partition("/")
            if name in os.path.basename(path[2]):
                return "/" + path[2]
    return None


@functools.lru_cache(maxsize=None)
def library(name):
    path = _loaded(name)
    if path is None:
        raise ImportError(
            f"{name} is not loaded: start the program with RMW_IMPLEMENTATION=rmw_shoal and import rclpy first")
    return ctypes.CDLL(path)


def _failure(code):
    utils = library("librcutils.so")
    utils.rcutils_get_error_string.restype = _ErrorString
    text = utils.rcutils_get_error_string().str.decode(errors="replace")
    utils.rcutils_reset_error()
    return Error(code, text)


def call(name, *arguments):
    """Calls a function of shoal.h, or of the RMW API, that returns rmw_ret_t."""
    code = getattr(library("librmw_shoal.so"), name)(*arguments)
    if code != OK:
        raise _failure(code)


def make(name, *arguments):
    """Calls one that returns a pointer, NULL on failure."""
    function = getattr(library("librmw_shoal.so"), name)
    function.restype = ctypes.c_void_p
    pointer = function(*arguments)
    if not pointer:
        raise _failure(INVALID_ARGUMENT)
    return ctypes.c_void_p(pointer)


def truth(name, *arguments):
    """Calls one that returns bool."""
    function = getattr(library("librmw_shoal.so"), name)
    function.restype = ctypes.c_bool
    return function(*arguments)


def rcl_handle(function, entity):
    """What rcl's `function` answers for the rcl handle of an entity of rclpy."""
    found = getattr(library("librcl.so"), function)
    found.restype = ctypes.c_void_p
    return ctypes.c_void_p(found(ctypes.c_void_p(entity.handle.pointer)))
