"""Message bodies that say whether they are whole."""
import array
import random
import struct
import zlib

_HEAD = struct.Struct("<IIII")  # tag, number, size, CRC-32 of the rest
HEAD_SIZE = _HEAD.size


def make(tag, number, size):
    """`size` bytes (at least the head) that depend on tag and number."""
    size = max(size, HEAD_SIZE)
    rest = size - HEAD_SIZE
    block = random.Random(tag << 32 | number).randbytes(min(rest, 64007) or 1)
    body = (block * (rest // len(block) + 1))[:rest]
    return array.array("B", _HEAD.pack(tag, number, size, zlib.crc32(body)) + body)


def read(data):
    """(tag, number, size) of a whole body, or a text that says what is wrong with it."""
    data = memoryview(data).cast("B")
    if len(data) < HEAD_SIZE:
        return f"only {len(data)} bytes"
    tag, number, size, crc = _HEAD.unpack(data[:HEAD_SIZE])
    if size != len(data):
        return f"{len(data)} bytes of {size}"
    if zlib.crc32(data[HEAD_SIZE:]) != crc:
        return f"torn: {tag}/{number} of {size} bytes"
    return tag, number, size
