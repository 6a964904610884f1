"""The start of a connection: accept, refuse or redirect the client's request."""

from __future__ import annotations

import re
from dataclasses import dataclass

from racwire_lab.oracle_net.packets import SDU, Channel, PacketType
from racwire_lab.oracle_net.releases import ServerRelease
from racwire_lab.oracle_net.wire import NeedMoreError, ProtocolError, Reader, Writer

_HEADER = 8
_ACCEPTED_SIZE = 45
_MAX_DESCRIPTOR = 16_384
_LARGE_PACKETS = 315
_FLAGS = 318
_END_OF_RESPONSE = 319
_ENCRYPTION_REQUIRED = 0x10
_FLAG_FAST_AUTH = 0x10000000
_FLAG_END_OF_RESPONSE = 0x02000000


@dataclass(frozen=True)
class ConnectRequest:
    """A client's request to a listener."""

    version: int
    """The client's highest version of Oracle Net."""
    descriptor: str

    @property
    def service(self) -> str:
        """The name of the service; empty when the request names none."""
        return self._parameter("SERVICE_NAME")

    @property
    def sid(self) -> str:
        """The SID; empty when the request names none."""
        return self._parameter("SID")

    def _parameter(self, name: str) -> str:
        found = re.search(rf"\(\s*{name}\s*=\s*([^()\s]*)\s*\)", self.descriptor, re.IGNORECASE)
        return found[1] if found else ""


async def receive_request(channel: Channel, timeout_s: float) -> ConnectRequest:
    """Return the client's first request.

    Raises ProtocolError when it is malformed, and the errors of `Channel.receive`.
    """
    packet = await channel.receive(timeout_s)
    if packet.type != PacketType.CONNECT:
        raise ProtocolError(f"a packet of type {packet.type} instead of a connect request")
    reader = Reader(packet.body)
    try:
        version = reader.u16()
        reader.skip("b" * 14)
        size, offset = reader.u16(), reader.u16()
    except NeedMoreError:
        raise ProtocolError("a connect request that is too short") from None
    if size > _MAX_DESCRIPTOR:
        raise ProtocolError(f"a connect descriptor of {size} bytes")
    text = packet.body[max(offset - _HEADER, 0) :][:size]
    # A long descriptor does not fit into the connect packet: it comes after it.
    if len(text) < size:
        following = b""
        while len(following) < size:
            more = await channel.receive(timeout_s)
            if more.type != PacketType.DATA or not more.data:
                raise ProtocolError("a connect request without its descriptor")
            following += more.data
        text = following
    return ConnectRequest(version, text.decode(errors="replace"))


def accept(
    channel: Channel, request: ConnectRequest, profile: ServerRelease, *, requires_encryption: bool = False
) -> bool:
    """Accept the connection. Return whether the ends of responses are to be marked after the logon."""
    version = min(request.version, profile.tns_version)
    marks_ends = profile.end_of_response and version >= _END_OF_RESPONSE
    flags = (_FLAG_FAST_AUTH if profile.fast_auth else 0) | (_FLAG_END_OF_RESPONSE if marks_ends else 0)
    # The server offers no out-of-band breaks: breaks are sent as markers.
    body = Writer().u16(version).u16(1).u16(SDU).u16(SDU).u16(0x0100).u16(0).u16(_ACCEPTED_SIZE)
    body.u8(_ENCRYPTION_REQUIRED if requires_encryption else 0).raw(bytes(9))
    if version >= _LARGE_PACKETS:
        body.u32(SDU).u32(SDU)
        body.u8(0).u32(flags if version >= _FLAGS else 0)
    channel.put(PacketType.ACCEPT, body.data)
    channel.has_large_packets = version >= _LARGE_PACKETS
    return marks_ends


def refuse(channel: Channel, code: int) -> None:
    """Refuse the connection with this error of the listener, for example 12514: unknown service."""
    text = f"(DESCRIPTION=(TMP=)(VSNNUM=0)(ERR={code})(ERROR_STACK=(ERROR=(CODE={code})(EMFI=4))))"
    channel.put(PacketType.REFUSE, Writer().u8(0x22, 0).u16(len(text)).raw(text.encode()).data)


def redirect(channel: Channel, request: ConnectRequest, host: str, port: int) -> None:
    """Redirect the client to another listener, with the same request."""
    text = f"(ADDRESS=(PROTOCOL=TCP)(HOST={host})(PORT={port}))\0{request.descriptor}".encode()
    channel.put(PacketType.REDIRECT, len(text).to_bytes(2, "big"))
    channel.put(PacketType.DATA, bytes(2) + text)
