"""Numbers and texts as few bytes: what samples are made of in a recording.

Counts between two samples are small, and most of them are 0: a list of counts is a bitmap of those that are not, and
these in seven bits a byte (LEB128). Real numbers are hundredths where they are exactly that, as the kernel's processor
times and loads are, and their eight bytes otherwise: nothing is rounded.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

LARGEST = 2**64 - 1
"""The largest count that a kernel or a database keeps."""
_MOST_BYTES = 10
"""Of one number of 64 bits, seven in a byte."""
_DOUBLE = struct.Struct("<d")
_NONE, _EXACT, _HUNDREDTHS = 0, 1, 2
_MOST_HUNDREDTHS = 10**15


class Unpackable(ValueError):  # noqa: N818 - it says what the value is, as TypeError does not
    """A number that no kernel or database counts, or that is none: infinite, not a number, over 64 bits."""


class Damaged(ValueError):  # noqa: N818
    """Bytes that were never packed here."""


class Packer:
    """Puts values behind each other."""

    def __init__(self) -> None:
        self.data = bytearray()

    def number(self, value: int) -> None:
        """A number from 0 on. Raises Unpackable."""
        if not 0 <= value <= LARGEST:
            raise Unpackable(f"{value:.3g} is no count of 64 bits")
        while value > 0x7F:
            self.data.append(value & 0x7F | 0x80)
            value >>= 7
        self.data.append(value)

    def counts(self, values: Sequence[int]) -> None:
        """Numbers of which most are 0; how many there are is not kept. Raises Unpackable."""
        bitmap = 0
        for place, value in enumerate(values):
            if value:
                bitmap |= 1 << place
        self.data += bitmap.to_bytes((len(values) + 7) // 8, "little")
        for value in values:
            if value > 0:
                self.number(value)
            elif value:
                self.data.append(0)  # none of them is 0: the sign of a negative one
                self.number(-value)

    def real(self, value: float | None) -> None:
        """A finite number, or None. Raises Unpackable."""
        if value is None:
            self.data.append(_NONE)
            return
        if not math.isfinite(value):
            raise Unpackable(f"{value} is no measured value")
        hundredths = round(value * 100) if abs(value) < _MOST_HUNDREDTHS / 100 else -1
        if hundredths >= 0 and hundredths / 100 == value and math.copysign(1, value) > 0:
            self.number(hundredths + _HUNDREDTHS)
        else:
            self.data.append(_EXACT)
            self.data += _DOUBLE.pack(value)

    def blob(self, value: bytes | bytearray) -> None:
        """A run of bytes with its length."""
        self.number(len(value))
        self.data += value

    def text(self, value: str) -> None:
        """A text, also one that is no Unicode, as names of files and devices can be."""
        self.blob(value.encode("utf-8", errors="surrogatepass"))


class Unpacker:
    """Takes them apart again. Every method raises Damaged where the bytes are no such value, or end too early."""

    def __init__(self, data: bytes, place: int = 0) -> None:
        self._data = data
        self._place = place

    @property
    def at_end(self) -> bool:
        """Whether all is taken."""
        return self._place >= len(self._data)

    def number(self) -> int:
        """A number from 0 on."""
        data, place = self._data, self._place
        value = shift = 0
        for byte in data[place : place + _MOST_BYTES]:
            value |= (byte & 0x7F) << shift
            place += 1
            if byte < 0x80:
                self._place = place
                if value > LARGEST:
                    break
                return value
            shift += 7
        raise Damaged("a number has no end")

    def counts(self, how_many: int) -> list[int]:
        """So many numbers of which most are 0."""
        bitmap = int.from_bytes(self._take((how_many + 7) // 8), "little")
        values = [0] * how_many
        for place in range(how_many):
            if bitmap >> place & 1:
                values[place] = self.number() or -self.number()
        return values

    def real(self) -> float:
        """A finite number."""
        value = self.real_or_none()
        if value is None:
            raise Damaged("a number is missing")
        return value

    def real_or_none(self) -> float | None:
        """A finite number, or None."""
        form = self.number()
        if form == _NONE:
            return None
        if form >= _HUNDREDTHS:
            return (form - _HUNDREDTHS) / 100
        value: float = _DOUBLE.unpack(self._take(_DOUBLE.size))[0]
        if not math.isfinite(value):
            raise Damaged(f"{value} is no measured value")
        return value

    def blob(self) -> bytes:
        """A run of bytes."""
        return self._take(self.number())

    def text(self) -> str:
        """A text."""
        try:
            return self.blob().decode("utf-8", errors="surrogatepass")
        except UnicodeDecodeError as error:
            raise Damaged("a text is not UTF-8") from error

    def _take(self, size: int) -> bytes:
        taken = self._data[self._place : self._place + size]
        if len(taken) < size:
            raise Damaged("it ends too early")
        self._place += size
        return taken
