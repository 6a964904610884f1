"""Messages on a connection: read over as many packets as they take, and answered."""

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
"""How long the rest of a message may take. What a client sends in one go arrives so; one that is waited for longer
than this is no message, or its client is gone."""
_END_OF_RESPONSE = 29


class BrokenOffError(OracleError):
    """The client has broken off what it asked."""

    def __init__(self) -> None:
        super().__init__(1013, "user requested cancel of current operation")


class Conversation:
    """Exchanges messages with a client."""

    def __init__(self, channel: Channel, faults: Faults) -> None:
        self.channel = channel
        self.faults = faults
        self.marks_ends = False
        """Whether the ends of responses are marked, as agreed."""

    async def read(self, parse: Callable[[Reader], T]) -> T:
        """The next message. EOFError when the client leaves, ProtocolError when it is no message; as `receive`.

        BrokenOffError after a break, though nothing runs that it could break off: it may have crossed the answer.
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
        """Send a response, unless the session is to be dropped in place of it (ConnectionResetError)."""
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
        """Answer a break: both sides drop the call under way. Raises BrokenOffError, which is sent next."""
        self.channel.put_marker(Marker.BREAK)
        await self.channel.drain()
        while (await self.channel.receive(_REST_S)).marker != Marker.RESET:
            pass
        self.channel.put_marker(Marker.RESET)
        raise BrokenOffError
