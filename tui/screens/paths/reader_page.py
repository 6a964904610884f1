"""A path in detail: the packets sent in each direction, the answers, and the journal entries."""

from __future__ import annotations

from collections.abc import Iterator

from checks.model.facts import PathProbe, PingSeries, Unknown
from checks.model.finding import EvidenceRef
from checks.model.journal import Journal
from checks.model.packet_sizes import packet_of
from checks.model.report import Report
from checks.model.wording import counted
from checks.report.path_lines import LEGS, path_line
from checks.rules.path_matrix import MEANINGS, Cell, PathMatrix
from tui.text.evidence_lines import evidence_lines
from tui.text.line import Line, hanging, sanitize_line, wrapped

_HEADS = ("payload", "packet", "answered", "round trip ms", "ttl", "")


def reader_lines(report: Report, grid: PathMatrix, cell: Cell, width: int) -> Iterator[Line]:
    """Yield the path, the opposite path, and the journal entries of both."""
    back = grid.cells[cell.to_node, cell.from_node]
    for number, way in enumerate(dict.fromkeys((cell, back))):
        if number:
            yield []
        yield from _way(way, width)
    yield []
    for text in wrapped("Commands and packets, from the journal", width):
        yield [(text, "title")]
    yield from journal_lines(report, grid, cell, width)


def journal_lines(report: Report, grid: PathMatrix, cell: Cell, width: int) -> Iterator[Line]:
    """Yield the journal entries of the path and the opposite path."""
    ways = (cell.from_node, cell.to_node), (cell.to_node, cell.from_node)
    topics = [EvidenceRef(one, f"path {grid.network.name} {one} {other}") for one, other in ways]
    if entries := Journal(report.journal).matching(topics):
        yield from evidence_lines(entries, width)
    else:
        yield from hanging(
            [("  ", "")], "racwire sent nothing on this path, or the journal has no entry about it.", width
        )


def path_text(grid: PathMatrix, cell: Cell) -> str:
    """Return all that the screen says about a path, for a filter."""
    network = grid.network
    about = [network.name, network.interface, cell.from_node, cell.to_node, _verdict(cell), cell.figure, cell.reason]
    about += [f"{cell.from_node}→{cell.to_node}", path_line(cell)]
    if cell.probe is not None:
        about += _sentences(cell.probe)
        about += (text for series in cell.probe.series for text in _row(cell.probe, series))
    return " ".join(about)


def _way(cell: Cell, width: int) -> Iterator[Line]:
    head = f"{sanitize_line(cell.from_node)} → {sanitize_line(cell.to_node)}  "
    yield from hanging([(head, "title")] if len(head) < width // 2 else [], _verdict(cell), width, cell.role)
    probe = cell.probe
    for text in [cell.reason] if probe is None else _sentences(probe):
        if text:
            yield from hanging([("  ", "")], text, width)
    if probe is not None and probe.series:
        yield from series_lines(probe, width)


def _verdict(cell: Cell) -> str:
    return f"{cell.letter} {MEANINGS[cell.letter]}"


def _sentences(probe: PathProbe) -> Iterator[str]:
    by = f" by {probe.sent_by}" if probe.sent_by else ""
    sent = (
        f"{counted(probe.packets_sent, 'packet')} of {probe.bytes_sent:,} bytes in total" if probe.packets_sent else ""
    )
    what = f": {sent} in {probe.elapsed_ms:.0f} ms" if sent else ""
    yield f"From {probe.source_ip} to {probe.destination_ip}{by}{what}."
    if isinstance(probe.path_mtu, int):
        yield f"The largest packet that passes has {probe.path_mtu} bytes; {probe.expected_mtu} bytes should pass."
    elif isinstance(probe.path_mtu, Unknown):
        yield f"The largest packet that passes is not known: {probe.path_mtu.reason}"
    else:
        yield f"Packets of {probe.expected_mtu} bytes should pass."
    if where := LEGS[probe.lost_leg]:
        yield f"Full-size packets get {where}: the other node counted what arrived."
    if probe.hops is not None:
        yield f"{counted(probe.hops, 'router')} on the way back." if probe.hops else "No router on the way back."
    if probe.reason:
        yield probe.reason


def series_lines(probe: PathProbe, width: int) -> Iterator[Line]:
    """Yield the probes of a path: a line for each size of packet."""
    rows = [_HEADS, *(_row(probe, series) for series in probe.series)]
    wide = [max(len(row[c]) for row in rows) for c in range(len(_HEADS) - 1)]
    for number, row in enumerate(rows):
        figures = "  ".join(f"{row[c]:>{wide[c]}}" for c in range(len(wide)))
        start: Line = [("  ", ""), (figures, "" if number else "label")]
        if len(figures) + 24 <= width:
            yield from hanging([*start, ("  ", "")], row[-1], width)
            continue
        if len(figures) + 2 <= width:
            yield start
        else:
            yield from hanging([("  ", "")], figures, width, "" if number else "label")
        if row[-1]:
            yield from hanging([("    ", "")], row[-1], width)


def _row(probe: PathProbe, series: PingSeries) -> tuple[str, ...]:
    times = (series.rtt_ms_min, series.rtt_ms_median, series.rtt_ms_max)
    return (
        f"{series.payload:,}",
        f"{packet_of(series.payload, probe.version):,}",
        f"{series.received}/{series.sent}",
        "/".join("-" if t is None else f"{t:.2f}" for t in times) if any(t is not None for t in times) else "-",
        "-" if series.ttl is None else str(series.ttl),
        _odd(probe, series),
    )


def _odd(probe: PathProbe, series: PingSeries) -> str:
    """Return further facts about the packets of that size."""
    facts = ["one byte more than should pass"] if series.payload == probe.full_payload + 1 else []
    if series.refused_locally:
        mtu = f" (MTU {series.local_mtu})" if series.local_mtu else ""
        facts.append(f"{series.refused_locally} refused by {sanitize_line(probe.from_node)}'s own kernel{mtu}")
    if series.too_big_mtu is not None:
        router = sanitize_line(series.too_big_from) or "a router"
        facts.append(f"{router} reports fragmentation needed (MTU {series.too_big_mtu})")
    if series.unreachable_from:
        facts.append(f"{sanitize_line(series.unreachable_from)} reports unreachable")
    return "; ".join([*facts, *(sanitize_line(error) for error in series.errors)])
