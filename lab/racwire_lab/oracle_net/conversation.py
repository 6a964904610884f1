"""Messages on a connection: read from one or more packets, and answered."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn, TypeVar

from racwire_lab.database.backend import OracleError
from racwire_lab.oracle_net.listener_faults import Faults
from racwire_lab.oracle_net.packets import Channel, Marker, PacketType
from racwire_lab.oracle_net.wire import NeedMoreError, ProtocolError, Reader, Writer

T = TypeVar("T")

_MAX_MESSAGE = 4 * 1024 * 1024
_REST_S = 30.0
"""Seconds for the rest of a message. A client sends a message at once: one that takes longer is malformed, or its
client has gone."""
_END_OF_RESPONSE = 29


class BrokenOffError(OracleError):
    """The client has cancelled its call."""

    def __init__(self) -> None:
        super().__init__(1013, "user requested cancel of current operation")


class Conversation:
    """Exchanges messages with a client."""

    def __init__(self, channel: Channel, faults: Faults) -> None:
        self.channel = channel
        self.faults = faults
        self.marks_ends = False
        """Whether the ends of responses are marked, as negotiated."""

    async def read(self, parse: Callable[[Reader], T]) -> T:
        """Read the next message. Raises EOFError when the client leaves, ProtocolError when the message is malformed,
        and the errors of `receive`.

        Raises BrokenOffError after a break, even if no call runs: the break may have crossed the answer.
        """
        data = bytearray()
        while True:
            packet = await self.channel.receive(_REST_S if data else None)
            if packet.type == PacketType.MARKER:
                if packet.marker != Marker.RESET:
                    await self.break_off()
                continue
            if packet.type != PacketType.DATA:
                raise ProtocolError(f"a packet of type {packet.type} in a session")
            if packet.is_last:
                raise EOFError
            data += packet.data
            if len(data) > _MAX_MESSAGE:
                raise ProtocolError(f"a message of more than {_MAX_MESSAGE} bytes")
            try:
                return parse(Reader(data))
            except NeedMoreError:
                continue

    async def respond(self, writer: Writer) -> None:
        """Send a response. Raises ConnectionResetError when a fault drops the session instead."""
        left = self.faults.drop_after
        if left is not None:
            if left <= 0:
                self.channel.abort()
                raise ConnectionResetError
            self.faults.drop_after = left - 1
        if self.marks_ends:
            writer.u8(_END_OF_RESPONSE)
        await self.channel.put_data(writer.data, end_of_response=self.marks_ends)

    async def break_off(self) -> NoReturn:
        """Answer a break: both sides drop the current call. Raises BrokenOffError, which the caller sends next."""
        self.channel.put_marker(Marker.BREAK)
        await self.channel.drain()
        while (await self.channel.receive(_REST_S)).marker != Marker.RESET:
            pass
        self.channel.put_marker(Marker.RESET)
        raise BrokenOffError
