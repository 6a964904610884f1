"""Text for one path: packets sent, packets answered, and the largest packet that passes."""

from __future__ import annotations

from collections.abc import Iterator

from checks.model.facts import Leg, PathProbe, PingSeries, Unknown, Verdict
from checks.model.packet_sizes import SMALL_PAYLOAD, packet_of
from checks.model.wording import counted
from checks.rules.path_matrix import MEANINGS, OWN, PLANNED, Cell

LEGS = {
    Leg.REQUEST: "lost on the way there",
    Leg.REPLY: "lost on the way back",
    Leg.BOTH: "lost both ways",
    Leg.UNKNOWN: "",
}
"""The text for the direction in which packets get lost."""


def path_line(cell: Cell) -> str:
    """Return a line such as `rac1→rac2: 84 bytes 20/20 0.08 ms · 9000 bytes 0/20 · largest 1500 · 42 probes in 61 ms`.
    The sizes are those of packets."""
    if cell.letter == OWN:
        return f"{cell.from_node} itself: racwire sends no pings from a node to itself."
    way = f"{cell.from_node}→{cell.to_node}"
    probe = cell.probe
    if probe is None:
        return f"{way}: {cell.reason or 'not known.'}"
    sizes = (SMALL_PAYLOAD, probe.full_payload)  # the evidence has the other sizes that the search tried
    parts = [_series(probe, s) for s in probe.series if s.payload in sizes]
    if isinstance(probe.path_mtu, int) and cell.letter != "U":
        parts.append(f"largest {probe.path_mtu}")
    elif isinstance(probe.path_mtu, Unknown):
        parts.append("largest not known")
    if probe.packets_sent:
        parts.append(f"{counted(probe.packets_sent, 'probe')} in {probe.elapsed_ms:.0f} ms")
    if not parts:
        return f"{way}: {cell.reason or 'no packet was sent.'}"
    return f"{way}: {' · '.join(parts)}"


def meaning_of(cell: Cell) -> str:
    """Return the meaning of a cell's letter, such as `black hole, lost on the way there`."""
    return ", ".join(_meaning(cell))


def _meaning(cell: Cell) -> Iterator[str]:
    yield MEANINGS[cell.letter]
    if cell.probe and cell.letter not in (PLANNED, Verdict.UNKNOWN.letter):
        if leg := LEGS[cell.probe.lost_leg]:
            yield leg
        if cell.probe.hops:
            yield counted(cell.probe.hops, "router")


def _series(probe: PathProbe, series: PingSeries) -> str:
    size = f"{packet_of(series.payload, probe.version)} bytes"
    if series.refused_locally:
        return f"{size} refused here"
    time = series.rtt_ms_median
    round_trip = "" if time is None else " <0.01 ms" if 0 < time < 0.005 else f" {time:.2f} ms"
    return f"{size} {series.received}/{series.sent}{round_trip}"
