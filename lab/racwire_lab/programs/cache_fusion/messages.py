"""The messages between the daemons: one UDP datagram each, a header padded to the size of Oracle's message."""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import NamedTuple

MESSAGE_PORT, BLOCK_PORT = 42424, 42425
"""Blocks have a socket of their own, so that a small buffer loses blocks and not the queries about them."""
BLOCK_BYTES, SMALL_PING_BYTES, LARGE_PING_BYTES = 8192, 500, 8192
MESSAGE_BYTES = 200
"""Size of one message of the global cache service: the constant of Oracle's estimate of interconnect traffic."""
MAX_BLOCKS = 8
"""Maximum of blocks in one request: their numbers are the bits of a byte."""

_HEADER = struct.Struct("!BBBBBBBBQQ4s")
HEADER_BYTES = _HEADER.size


class Type(IntEnum):
    """Types of messages."""

    REQUEST = 1
    """A request for blocks; an instance that is not their holder passes it on to the holder."""
    BLOCK = 2
    QUERY = 3
    """A query whether the blocks of a request were sent."""
    STATUS = 4
    """The answer to a QUERY: `blocks` has the bits of the sent blocks."""
    PING = 5
    PONG = 6
    ROWS_REQUEST = 7
    """A request for the rows of a GV$ view: `blocks` has the number of slaves, `waited_ns` the bytes of the rows."""
    ROWS = 8
    """Rows of a GV$ view: `blocks` has the number of the part."""


class Block(IntEnum):
    """Kinds of blocks: consistent read, or current."""

    CR = 0
    CURRENT = 1


class Message(NamedTuple):
    """The header of a message."""

    type: Type
    origin: int
    """The instance that sent the request."""
    holder: int
    """The instance that serves the request."""
    number: int
    """The number of the request or ping, unique in its origin."""
    block: Block = Block.CR
    blocks: int = 0
    """REQUEST: the bits of the requested blocks. BLOCK: the bit of this block. STATUS: the bits of the sent blocks."""
    hops: int = 2
    """The number of hops: 3 when the request was passed on."""
    large: bool = False
    """Whether a ping has 8 KB."""
    waited_ns: int = 0
    """Time for which the message waited at nodes until their daemon got the CPU."""
    answer_to: bytes = bytes(4)
    """The address of the origin."""


def encode(message: Message, size: int = 0) -> bytes:
    """Return the datagram, padded with `size` bytes after the header."""
    header = _HEADER.pack(
        message.type,
        message.origin,
        message.holder,
        message.block,
        message.blocks,
        message.hops,
        message.large,
        0,
        message.number,
        message.waited_ns,
        message.answer_to,
    )
    return header + bytes(size)


def decode(datagram: bytes | bytearray | memoryview) -> Message | None:
    """Return the header of a datagram; None when it is not from a daemon."""
    try:
        kind, origin, holder, block, blocks, hops, large, _, number, waited, answer_to = _HEADER.unpack_from(datagram)
        return Message(
            Type(kind), origin, holder, number, Block(block), blocks, hops, bool(large), waited, bytes(answer_to)
        )
    except (struct.error, ValueError):
        return None
