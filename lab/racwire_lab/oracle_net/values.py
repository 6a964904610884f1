"""Encoders and decoders for values of Oracle's types in the protocol."""

from __future__ import annotations

import struct
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Context, Decimal, InvalidOperation
from typing import Any

from racwire_lab.database.backend import OracleError, OracleType
from racwire_lab.oracle_net.wire import ProtocolError, utf8

LONG, INTEGER, ROWID, LONG_RAW, FLOAT, BLOB, TIMESTAMP_LTZ, LONG_ROWID, BOOLEAN = 8, 3, 11, 24, 100, 113, 231, 208, 252
"""Types that clients bind or define, and that results do not have."""

_NATIONAL = 2
_PRECISION = Context(prec=38)
_BIAS = 0x80000000

Encoder = Callable[[Any], bytes | None]


def encode_number(value: int | float | Decimal) -> bytes:
    """Encode a NUMBER, rounded to 38 digits. Raises OracleError 1426 for NaN and for a value out of range.

    A byte with the sign and the exponent of 100, then the digits of base 100, most significant first.
    """
    exact = value if isinstance(value, Decimal) else Decimal(value if isinstance(value, int) else repr(value))
    if not exact.is_finite():
        raise OracleError(1426, "numeric overflow")
    rounded = _PRECISION.plus(exact)
    sign, digits, exponent = rounded.as_tuple()
    text = "".join(map(str, digits)).rstrip("0")
    point = len(digits) + int(exponent)
    if point > 126:
        raise OracleError(1426, "numeric overflow")
    if not text or point < -129:
        return b"\x80"
    if point % 2:
        text, point = "0" + text, point + 1
    if len(text) % 2:
        text += "0"
    pairs = [int(text[i : i + 2]) for i in range(0, len(text), 2)]
    head = 192 + point // 2
    if not sign:
        return bytes([head, *(pair + 1 for pair in pairs)])
    end = [102] if len(pairs) < 20 else []
    return bytes([255 - head, *(101 - pair for pair in pairs), *end])


def decode_number(data: bytes) -> int | Decimal:
    """Decode a NUMBER; a whole one is an int. Raises ProtocolError for invalid bytes."""
    if data == b"\x80":
        return 0
    positive = data[0] >= 0x80
    body = data[1:] if positive or data[-1] != 102 else data[1:-1]
    head = data[0] if positive else 255 - data[0]
    pairs = [byte - 1 if positive else 101 - byte for byte in body]
    if not 1 <= len(pairs) <= 20 or any(not 0 <= pair <= 99 for pair in pairs):
        raise ProtocolError("a NUMBER with invalid digits")
    digits = [digit for pair in pairs for digit in divmod(pair, 10)]
    exponent = (head - 192 - len(pairs)) * 2
    while digits and not digits[-1]:
        digits.pop()
        exponent += 1
    number = Decimal((0 if positive else 1, digits, exponent))
    return int(number) if exponent >= 0 else number


def encode_date(value: date) -> bytes:
    """Encode a DATE: century and year from 100, month, day, and the time from 1."""
    year = bytes([value.year // 100 + 100, value.year % 100 + 100, value.month, value.day])
    if isinstance(value, datetime):
        return year + bytes([value.hour + 1, value.minute + 1, value.second + 1])
    return year + b"\1\1\1"


def encode_timestamp(value: date) -> bytes:
    """Encode a TIMESTAMP: a DATE with nanoseconds."""
    microsecond = value.microsecond if isinstance(value, datetime) else 0
    return encode_date(value) + (microsecond * 1000).to_bytes(4, "big")


def encode_timestamp_tz(value: datetime) -> bytes:
    """Encode a TIMESTAMP WITH TIME ZONE: the time in UTC, and the offset. A time without a zone is in UTC."""
    offset = value.utcoffset() or timedelta(0)
    minutes = int(offset.total_seconds()) // 60
    sign = -1 if minutes < 0 else 1
    hours, minutes = divmod(abs(minutes), 60)
    in_utc = value.astimezone(UTC) if value.tzinfo else value
    return encode_timestamp(in_utc) + bytes([sign * hours + 20, sign * minutes + 60])


def decode_date(data: bytes) -> datetime:
    """Decode a DATE or TIMESTAMP; one WITH TIME ZONE has its zone. Raises ProtocolError for invalid bytes."""
    try:
        nanoseconds = int.from_bytes(data[7:11], "big")
        year = (data[0] - 100) * 100 + data[1] - 100
        value = datetime(year, data[2], data[3], data[4] - 1, data[5] - 1, data[6] - 1, nanoseconds // 1000)
        if len(data) < 13:
            return value
        zone = timezone(timedelta(hours=data[11] - 20, minutes=data[12] - 60))
        return value.replace(tzinfo=UTC).astimezone(zone)
    except (IndexError, ValueError, OverflowError):
        raise ProtocolError("an invalid date") from None


def encode_interval(value: timedelta) -> bytes:
    """Encode an INTERVAL DAY TO SECOND: days, hours, minutes, seconds, nanoseconds, all with the interval's sign."""
    sign = -1 if value < timedelta(0) else 1
    size = abs(value)
    hours, rest = divmod(size.seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    parts = bytes(sign * part + 60 for part in (hours, minutes, seconds))
    nanoseconds = sign * size.microseconds * 1000 + _BIAS
    return (sign * size.days + _BIAS).to_bytes(4, "big") + parts + nanoseconds.to_bytes(4, "big")


def decode_interval(data: bytes) -> timedelta:
    """Decode an INTERVAL DAY TO SECOND. Raises ProtocolError for invalid bytes."""
    if len(data) != 11:
        raise ProtocolError("an invalid interval")
    days, hours, minutes, seconds, nanoseconds = struct.unpack(">IBBBI", data)
    try:
        return timedelta(
            days=days - _BIAS,
            hours=hours - 60,
            minutes=minutes - 60,
            seconds=seconds - 60,
            microseconds=(nanoseconds - _BIAS) // 1000,
        )
    except OverflowError:
        raise ProtocolError("an invalid interval") from None


def encode_double(value: float) -> bytes:
    """Encode a BINARY_DOUBLE: IEEE 754 with bits changed so that the bytes sort like the numbers."""
    data = bytearray(struct.pack(">d", value))
    if data[0] & 0x80:
        return bytes(byte ^ 0xFF for byte in data)
    data[0] |= 0x80
    return bytes(data)


def decode_float(data: bytes) -> float:
    """Decode a BINARY_DOUBLE or, from four bytes, a BINARY_FLOAT. Raises ProtocolError for another size."""
    if len(data) not in (4, 8):
        raise ProtocolError("an invalid floating-point number")
    bits = bytes([data[0] & 0x7F]) + data[1:] if data[0] & 0x80 else bytes(byte ^ 0xFF for byte in data)
    return float(struct.unpack(">d" if len(data) == 8 else ">f", bits)[0])


def encode_text(value: object) -> bytes | None:
    """Encode text. Empty text is NULL, as always in Oracle."""
    return str(value).encode() or None


_ENCODERS: dict[OracleType, Encoder] = {
    OracleType.VARCHAR2: encode_text,
    OracleType.CHAR: encode_text,
    OracleType.CLOB: encode_text,
    OracleType.NUMBER: encode_number,
    OracleType.DATE: encode_date,
    OracleType.TIMESTAMP: encode_timestamp,
    OracleType.TIMESTAMP_TZ: encode_timestamp_tz,
    OracleType.INTERVAL_DS: encode_interval,
    OracleType.BINARY_DOUBLE: encode_double,
    OracleType.RAW: bytes,
}


def encoder(type_: OracleType) -> Encoder:
    """Return the encoder for the values of a column of this type; it encodes None as NULL.

    Raises OracleError 600 when a value has another type.
    """
    encode = _ENCODERS[type_]

    def encode_or_null(value: Any) -> bytes | None:
        try:
            return None if value is None else encode(value)
        except (TypeError, ValueError, AttributeError, OverflowError, struct.error, InvalidOperation):
            reason = f"a {type(value).__name__} cannot be sent as {type_.name}"
            raise OracleError(600, f"internal error code, arguments: [{reason}]") from None

    return encode_or_null


_TEXT = {OracleType.VARCHAR2.value, OracleType.CHAR.value, LONG, ROWID, LONG_ROWID}
_DECODERS: dict[int, Callable[[bytes], Any]] = {
    OracleType.NUMBER.value: decode_number,
    INTEGER: decode_number,
    OracleType.DATE.value: decode_date,
    OracleType.TIMESTAMP.value: decode_date,
    OracleType.TIMESTAMP_TZ.value: decode_date,
    TIMESTAMP_LTZ: decode_date,
    OracleType.INTERVAL_DS.value: decode_interval,
    OracleType.BINARY_DOUBLE.value: decode_float,
    FLOAT: decode_float,
    BOOLEAN: lambda data: data[-1] == 1,
}


def decode(data: bytes | None, type_: int, character_form: int = 1) -> Any:
    """Decode a bound value of this type; a value of an unknown type stays bytes.

    Raises ProtocolError when malformed.
    """
    if data is None:
        return None
    if type_ in _TEXT:
        return data.decode("utf-16-be", errors="replace") if character_form == _NATIONAL else utf8(data)
    read = _DECODERS.get(type_)
    return read(data) if read else data
