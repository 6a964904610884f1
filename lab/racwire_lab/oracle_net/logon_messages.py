"""The messages of a logon, from the client and from the server."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from racwire_lab.oracle_net.releases import FAST_AUTH_FIELD_VERSION, ServerRelease
from racwire_lab.oracle_net.wire import ProtocolError, Reader, Writer, utf8

PROTOCOL, DATA_TYPES, CALL, PARAMETERS, FAST_AUTH = 1, 2, 3, 8, 34
_AUTH_CHALLENGE, _AUTH_ANSWER = 118, 115
_AL32UTF8, _AL16UTF16 = 873, 2000
_MODE_SYSDBA, _MODE_PASSWORD = 0x20, 0x100
_MAX_PAIRS = 100
_TOKENS = 18
"""The field version from which every call has a token."""
_CAPABILITY_FIELD_VERSION = 7
_HIGHEST_FIELD_VERSION = 24


@dataclass(frozen=True)
class ProtocolRequest:
    """The first message of the client's driver."""


@dataclass(frozen=True)
class DataTypesRequest:
    """The client's capabilities."""

    field_version: int


@dataclass(frozen=True)
class AuthRequest:
    """The first request for a session names the user; the second one answers the challenge."""

    is_answer: bool
    user: str
    mode: int
    pairs: dict[str, str] = field(repr=False)

    @property
    def as_sysdba(self) -> bool:
        """Whether the client requests a session AS SYSDBA."""
        return bool(self.mode & _MODE_SYSDBA)


@dataclass(frozen=True)
class FastRequest:
    """All requests above in one message, up to the first request for a session."""

    data_types: DataTypesRequest
    auth: AuthRequest


LogonRequest = ProtocolRequest | DataTypesRequest | AuthRequest | FastRequest


def read_request(reader: Reader, field_version: int) -> LogonRequest:
    """Read one message of a logon.

    Raises NeedMoreError when it is incomplete, and ProtocolError when it is malformed.
    """
    kind = reader.u8()
    if kind == PROTOCOL:
        return _protocol(reader)
    if kind == DATA_TYPES:
        return _data_types(reader)
    if kind == CALL:
        return _auth(reader, field_version)
    if kind == FAST_AUTH:
        reader.skip("bbb")
        _expect(reader, PROTOCOL)
        _protocol(reader)
        reader.skip("bbbbbb")
        _expect(reader, DATA_TYPES)
        data_types = _data_types(reader)
        _expect(reader, CALL)
        return FastRequest(data_types, _auth(reader, FAST_AUTH_FIELD_VERSION))
    raise ProtocolError(f"message {kind} before the logon")


def agreed_field_version(request: DataTypesRequest, profile: ServerRelease) -> int:
    """Return the lowest field version of the client, the server and this implementation."""
    return min(request.field_version, profile.field_version, _HIGHEST_FIELD_VERSION)


def has_tokens(field_version: int) -> bool:
    """Whether calls have a token after their sequence number."""
    return field_version >= _TOKENS


def protocol_answer(profile: ServerRelease) -> bytes:
    """Return the server's character sets and capabilities."""
    form = bytearray(11)
    form[9:11] = _AL16UTF16.to_bytes(2, "big")
    abilities = bytearray(46)
    abilities[0], abilities[4], abilities[_CAPABILITY_FIELD_VERSION] = 6, 0x6F, profile.field_version
    abilities[15], abilities[16], abilities[23] = 0x29, 0x90, 0x7F
    abilities[26], abilities[27], abilities[37] = 0x04, 0x01, 0x30
    at_run_time = bytearray(11)
    # The second value is that of MAX_STRING_SIZE=EXTENDED: VARCHAR2 of 32767 bytes.
    at_run_time[0], at_run_time[6] = 2, 0x04
    answer = Writer().u8(PROTOCOL, 6, 0).raw(b"x86_64/Linux 2.4.xx\0").u16le(_AL32UTF8).u8(1).u16le(0)
    answer.u16(len(form)).raw(form).counted(bytes(abilities)).counted(bytes(at_run_time))
    return bytes(answer.data)


def data_types_answer() -> bytes:
    """Return the answer that no type needs conversion."""
    return bytes(Writer().u8(DATA_TYPES).u16(0).data)


def parameters(pairs: Iterable[tuple[str, str, int]]) -> bytes:
    """Return keys, values and flags as a message."""
    listed = list(pairs)
    answer = Writer().u8(PARAMETERS).ub(len(listed))
    for key, value, flag in listed:
        answer.text(key).text(value).ub(flag)
    return bytes(answer.data)


def _expect(reader: Reader, kind: int) -> None:
    if (found := reader.u8()) != kind:
        raise ProtocolError(f"message {found} instead of {kind} in a fast logon")


def _protocol(reader: Reader) -> ProtocolRequest:
    # The versions that the client knows, and the name of its driver.
    reader.terminated()
    reader.terminated()
    return ProtocolRequest()


def _data_types(reader: Reader) -> DataTypesRequest:
    reader.skip("bbbbb")
    abilities = reader.counted() or b""
    reader.counted()
    while reader.u16():
        # A type without conversion has this field only.
        if reader.u16():
            reader.skip("bbbb")
    if len(abilities) <= _CAPABILITY_FIELD_VERSION:
        raise ProtocolError("a client without capabilities")
    return DataTypesRequest(abilities[_CAPABILITY_FIELD_VERSION])


def _auth(reader: Reader, field_version: int) -> AuthRequest:
    function = reader.u8()
    if function not in (_AUTH_CHALLENGE, _AUTH_ANSWER):
        raise ProtocolError(f"call {function} before the logon")
    reader.u8()
    if has_tokens(field_version):
        reader.ub()
    has_user = reader.u8()
    reader.ub()
    mode = reader.ub()
    reader.u8()
    count = reader.count(_MAX_PAIRS)
    reader.skip("bb")
    user = utf8(reader.counted() or b"") if has_user else ""
    pairs = {}
    for _ in range(count):
        key = reader.text()
        pairs[key] = reader.text()
        reader.ub()
    return AuthRequest(function == _AUTH_ANSWER, user, mode, pairs)
