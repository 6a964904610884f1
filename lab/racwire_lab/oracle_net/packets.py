"""TNS packets on one connection. The next packet is read ahead, so that a break is noticed while a statement runs."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from enum import IntEnum

from racwire_lab.oracle_net.wire import ProtocolError

SDU = 8192
"""The largest packet that the server sends, in bytes."""
_MAX_PACKET = 65_535
_HIGHEST_TYPE = 19
_HEADER = 8
_DATA_FLAGS = 2
_END_OF_RESPONSE = 0x2000
_END_OF_FILE = 0x0040


class PacketType(IntEnum):
    """The packet types that the server sends or reads."""

    CONNECT = 1
    ACCEPT = 2
    REFUSE = 4
    REDIRECT = 5
    DATA = 6
    MARKER = 12


class Marker(IntEnum):
    """Kinds of marker packets."""

    BREAK = 1
    RESET = 2
    INTERRUPT = 3


@dataclass(frozen=True)
class Packet:
    """A packet without its header."""

    type: int
    body: bytes

    @property
    def data(self) -> bytes:
        """The content of a data packet."""
        return self.body[_DATA_FLAGS:]

    @property
    def is_last(self) -> bool:
        """Whether the client announces its end with this data packet."""
        return bool(int.from_bytes(self.body[:_DATA_FLAGS], "big") & _END_OF_FILE)

    @property
    def marker(self) -> Marker | None:
        """The kind of a marker; None for any other packet. Raises ProtocolError for an unknown marker."""
        if self.type != PacketType.MARKER:
            return None
        try:
            return Marker(self.body[2])
        except (IndexError, ValueError):
            raise ProtocolError("an unknown marker") from None


class Channel:
    """One connection to a client."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._ahead: asyncio.Task[Packet] | None = None
        self.has_large_packets = False
        """Whether packet lengths have 4 bytes, as negotiated with ACCEPT."""

    @property
    def peer(self) -> str:
        """The client's address and port."""
        address = self._writer.get_extra_info("peername") or ("?", 0)
        return f"{address[0]}:{address[1]}"

    def ahead(self) -> asyncio.Task[Packet]:
        """Return the task that reads the next packet, to be awaited with others; `receive` returns its result."""
        if self._ahead is None:
            self._ahead = asyncio.create_task(self._read())
        return self._ahead

    async def receive(self, timeout_s: float | None = None) -> Packet:
        """Return the next packet.

        Raises EOFError, OSError or ProtocolError when there is none, and TimeoutError when it does not arrive in time.
        """
        async with asyncio.timeout(timeout_s):
            packet = await asyncio.shield(self.ahead())
        self._ahead = None
        return packet

    async def _read(self) -> Packet:
        header = await self._reader.readexactly(_HEADER)
        size = int.from_bytes(header[:4] if self.has_large_packets else header[:2], "big")
        if header[4] > _HIGHEST_TYPE:
            raise ProtocolError("data of another protocol than Oracle Net")
        if not _HEADER <= size <= _MAX_PACKET:
            raise ProtocolError(f"a packet of {size} bytes")
        packet = Packet(header[4], await self._reader.readexactly(size - _HEADER))
        if packet.type == PacketType.DATA and len(packet.body) < _DATA_FLAGS:
            raise ProtocolError("a data packet without flags")
        return packet

    def put(self, type_: PacketType, body: bytes | bytearray) -> None:
        """Queue a packet to be sent."""
        size = len(body) + _HEADER
        length = size.to_bytes(4, "big") if self.has_large_packets else size.to_bytes(2, "big") + bytes(2)
        self._writer.write(length + bytes([type_, 0, 0, 0]) + body)

    def put_marker(self, marker: Marker) -> None:
        """Queue a marker to be sent."""
        self.put(PacketType.MARKER, bytes([1, 0, marker]))

    async def put_data(self, data: bytes | bytearray, *, end_of_response: bool = False) -> None:
        """Send a message in as many data packets as it needs; end_of_response marks the last one.

        Wait until the client has received most bytes.
        """
        step = SDU - _HEADER - _DATA_FLAGS
        view = memoryview(data)
        for start in range(0, len(data) or 1, step):
            is_last = start + step >= len(data)
            flags = _END_OF_RESPONSE if is_last and end_of_response else 0
            self.put(PacketType.DATA, flags.to_bytes(_DATA_FLAGS, "big") + bytes(view[start : start + step]))
            await self._writer.drain()

    async def drain(self) -> None:
        """Wait until most of the queued data is sent."""
        await self._writer.drain()

    def abort(self) -> None:
        """Drop the connection at once, as a crash would."""
        self._writer.transport.abort()

    def close(self) -> None:
        """Close the connection after the queued data is sent; read no more."""
        if self._ahead is not None:
            self._ahead.cancel()
            if self._ahead.done() and not self._ahead.cancelled():
                self._ahead.exception()
        self._writer.close()
