"""What a client sends ahead of a call, and what needs no answer of its own."""

from __future__ import annotations

from racwire_lab.oracle_net.wire import ProtocolError, Reader, utf8

_MAX_ENTRIES = 65_535


def read_piggyback(reader: Reader, function: int, closed: list[int], attributes: dict[str, str]) -> None:
    """Read one; closed cursors and what the client says of itself are added to what is known.

    ProtocolError for one that is not known here: where it ends cannot be told.
    """
    match function:
        case 105:  # close cursors
            reader.u8()
            closed += [reader.ub() for _ in range(reader.count(_MAX_ENTRIES))]
        case 135:  # end-to-end attributes
            _end_to_end(reader, attributes)
        case 152:  # the current schema
            reader.u8()
            attributes["current_schema"] = reader.text()
        case 154:  # an application context
            reader.skip("bub")
            count = reader.count(_MAX_ENTRIES)
            reader.skip("ub")
            reader.counted()
            _skip_pairs(reader, count)
        case 176:  # the state of the session
            reader.ub()
        case 96:  # temporary LOBs to be freed
            reader.u8()
            size = reader.count(_MAX_ENTRIES)
            reader.skip("buuubbbubuuubbububu")
            reader.raw(size)
        case 199:  # the beginning of a pipeline
            reader.skip("ubb")
        case 204:  # alter session
            reader.skip("ub")
            _skip_pairs(reader, reader.count(_MAX_ENTRIES))
        case _:
            raise ProtocolError(f"piggyback {function}, which is not known here")


def _end_to_end(reader: Reader, attributes: dict[str, str]) -> None:
    """Which attributes are told stands first, then the values; one that is told without a value is cleared."""
    reader.skip("bbu")
    fields = ("client_identifier", "module", "action", "", "", "client_info", "", "", "operation")
    told: list[tuple[str, int]] = []
    for name in fields:
        is_told, size = reader.u8(), reader.ub()
        if name and is_told:
            told.append((name, size))
    for name, size in told:
        attributes[name] = utf8(reader.counted() or b"") if size else ""


def _skip_pairs(reader: Reader, count: int) -> None:
    for _ in range(count):
        reader.bytes_()
        reader.bytes_()
        reader.ub()
