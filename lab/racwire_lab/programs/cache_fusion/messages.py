"""The messages between the daemons: one UDP datagram each, a header and as many bytes more as the real one has."""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import NamedTuple

MESSAGE_PORT, BLOCK_PORT = 42424, 42425
"""Blocks come to a socket of their own, so that a small buffer loses blocks and not the questions about them."""
BLOCK_BYTES, SMALL_PING_BYTES, LARGE_PING_BYTES = 8192, 500, 8192
MESSAGE_BYTES = 200
"""Of one message of the global cache service: the constant of Oracle's estimate of interconnect traffic."""
MAX_BLOCKS = 8
"""Blocks of one request: their numbers are the bits of a byte."""

_HEADER = struct.Struct("!BBBBBBBBQQ4s")
HEADER_BYTES = _HEADER.size


class Type(IntEnum):
    """Types of messages."""

    REQUEST = 1
    """For blocks; one who is not their holder passes it on to the holder."""
    BLOCK = 2
    QUERY = 3
    """Whether the blocks of a request were sent."""
    STATUS = 4
    """The answer to that: `blocks` has the bits of those that were."""
    PING = 5
    PONG = 6


class Block(IntEnum):
    """Kinds of blocks: consistent read, or current."""

    CR = 0
    CURRENT = 1


class Message(NamedTuple):
    """A header."""

    type: Type
    origin: int
    """The instance that asked first."""
    holder: int
    """The instance that is to serve."""
    number: int
    """Of the request or ping, unique to its origin."""
    block: Block = Block.CR
    blocks: int = 0
    """REQUEST: the bits of the blocks wanted. BLOCK: the bit of this one. STATUS: the bits of those that were sent."""
    hops: int = 2
    """3 where the request was passed on."""
    large: bool = False
    """Of a ping."""
    waited_ns: int = 0
    """Time in which it waited at nodes on its way until their daemon got the processor."""
    answer_to: bytes = bytes(4)
    """The address of the origin."""


def encode(message: Message, size: int = 0) -> bytes:
    """The datagram, filled up to `size` bytes after the header."""
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
    """The header of a datagram; None for what is none of ours."""
    try:
        kind, origin, holder, block, blocks, hops, large, _, number, waited, answer_to = _HEADER.unpack_from(datagram)
        return Message(
            Type(kind), origin, holder, number, Block(block), blocks, hops, bool(large), waited, bytes(answer_to)
        )
    except (struct.error, ValueError):
        return None
