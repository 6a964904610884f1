"""The primitives of TTC messages: fixed and compressed integers, and bytes with their length."""

from __future__ import annotations

_CHUNK = 32767
_LONGEST_SHORT = 252
_IN_CHUNKS = 254
_NO_VALUE = (0, 255)


class ProtocolError(Exception):
    """A malformed message; the session cannot continue."""


class NeedMoreError(Exception):
    """The message continues in a packet that has not arrived yet."""


class Writer:
    """Builds one message. Each method returns the writer, so that calls can be chained in the order of the fields."""

    def __init__(self) -> None:
        self.data = bytearray()

    def u8(self, *values: int) -> Writer:
        """Write bytes; negative values as two's complement."""
        self.data += bytes(value & 0xFF for value in values)
        return self

    def u16(self, value: int) -> Writer:
        """Write two bytes, big-endian."""
        self.data += value.to_bytes(2, "big")
        return self

    def u16le(self, value: int) -> Writer:
        """Write two bytes, little-endian."""
        self.data += value.to_bytes(2, "little")
        return self

    def u32(self, value: int) -> Writer:
        """Write four bytes, big-endian."""
        self.data += value.to_bytes(4, "big")
        return self

    def ub(self, *values: int) -> Writer:
        """Write compressed integers: a byte with the number of bytes and the sign in its top bit, then these bytes."""
        for value in values:
            size = (value.bit_length() + 7) // 8
            self.data.append(size if value >= 0 else size | 0x80)
            self.data += abs(value).to_bytes(size, "big")
        return self

    def raw(self, data: bytes | bytearray) -> Writer:
        """Write bytes unchanged."""
        self.data += data
        return self

    def counted(self, data: bytes | None) -> Writer:
        """Write bytes with their length, long ones in chunks; None and empty bytes are both NULL."""
        if not data:
            self.data.append(0)
        elif len(data) <= _LONGEST_SHORT:
            self.data.append(len(data))
            self.data += data
        else:
            self.data.append(_IN_CHUNKS)
            for start in range(0, len(data), _CHUNK):
                chunk = data[start : start + _CHUNK]
                self.ub(len(chunk)).raw(chunk)
            self.data.append(0)
        return self

    def text(self, value: str | bytes) -> Writer:
        """Write a compressed length and, if it is not 0, the value as `counted` bytes."""
        data = value.encode() if isinstance(value, str) else value
        self.ub(len(data))
        return self.counted(data) if data else self


class Reader:
    """Reads one message. Every method raises NeedMoreError when the bytes run out."""

    def __init__(self, data: bytes | bytearray) -> None:
        self._data = data
        self._position = 0

    def raw(self, size: int) -> bytes:
        """Read so many bytes. Raises NeedMoreError when there are fewer."""
        end = self._position + size
        if end > len(self._data):
            raise NeedMoreError
        data = self._data[self._position : end]
        self._position = end
        return bytes(data)

    def u8(self) -> int:
        """Read one byte."""
        return self.raw(1)[0]

    def u16(self) -> int:
        """Read two bytes, big-endian."""
        return int.from_bytes(self.raw(2), "big")

    def u16le(self) -> int:
        """Read two bytes, little-endian."""
        return int.from_bytes(self.raw(2), "little")

    def ub(self) -> int:
        """Read a compressed integer. Raises ProtocolError when it claims more than 8 bytes."""
        size = self.u8()
        negative, size = size & 0x80, size & 0x7F
        if size > 8:
            raise ProtocolError("an integer of more than 8 bytes")
        value = int.from_bytes(self.raw(size), "big")
        return -value if negative else value

    def count(self, limit: int) -> int:
        """Read a compressed count. Raises ProtocolError when it is negative or above the limit."""
        value = self.ub()
        if not 0 <= value <= limit:
            raise ProtocolError(f"a count of {value}, above the limit of {limit}")
        return value

    def counted(self) -> bytes | None:
        """Read bytes with their length; None for NULL. Raises ProtocolError for a chunk of negative length."""
        size = self.u8()
        if size in _NO_VALUE:
            return None
        if size != _IN_CHUNKS:
            return self.raw(size)
        chunks = []
        while size := self.ub():
            if size < 0:
                raise ProtocolError("a chunk of negative length")
            chunks.append(self.raw(size))
        return b"".join(chunks) or None

    def bytes_(self) -> bytes:
        """Read a compressed length and, if it is not 0, `counted` bytes."""
        return (self.counted() or b"") if self.ub() else b""

    def text(self) -> str:
        """Read `bytes_` as text. Raises ProtocolError when they are not UTF-8."""
        return utf8(self.bytes_())

    def terminated(self) -> bytes:
        """Read bytes up to a zero byte, and the zero byte. Raises NeedMoreError when there is none."""
        end = self._data.find(0, self._position)
        if end < 0:
            raise NeedMoreError
        data = self._data[self._position : end]
        self._position = end + 1
        return bytes(data)

    def skip(self, layout: str) -> None:
        """Skip unused fields: `b` is one byte, `u` a compressed integer."""
        for field in layout:
            if field == "b":
                self.u8()
            else:
                self.ub()


def utf8(data: bytes) -> str:
    """Return the bytes as text. Raises ProtocolError when they are not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ProtocolError("text that is not UTF-8") from None
