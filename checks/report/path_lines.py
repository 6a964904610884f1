"""A path in one line: what was sent, what came back, the largest packet that passes."""

from __future__ import annotations

from collections.abc import Iterator

from checks.model.facts import Leg, PathProbe, PingSeries, Unknown
from checks.model.packet_sizes import SMALL_PAYLOAD, packet_of, payload_for
from checks.model.wording import counted
from checks.rules.path_matrix import MEANINGS, OWN, Cell

LEGS = {
    Leg.REQUEST: "lost on the way there",
    Leg.REPLY: "lost on the way back",
    Leg.BOTH: "lost both ways",
    Leg.UNKNOWN: "",
}
"""Where packets get lost, in words."""


def path_line(cell: Cell) -> str:
    """`rac1→rac2: 84 bytes 20/20 0.08 ms · 9000 bytes 0/20 · largest 1500 · 42 probes in 61 ms`: sizes of packets."""
    if cell.letter == OWN:
        return f"{cell.from_node} itself: nothing is sent to the own node."
    way = f"{cell.from_node}→{cell.to_node}"
    probe = cell.probe
    if probe is None:
        return f"{way}: {cell.reason or 'not known.'}"
    sizes = (SMALL_PAYLOAD, full_payload(probe))  # what the search tried besides stands in its evidence
    parts = [_series(probe, s) for s in probe.series if s.payload in sizes]
    if isinstance(probe.path_mtu, int) and cell.letter != "U":
        parts.append(f"largest {probe.path_mtu}")
    elif isinstance(probe.path_mtu, Unknown):
        parts.append("largest not known")
    if probe.packets_sent:
        parts.append(f"{counted(probe.packets_sent, 'probe')} in {probe.elapsed_ms:.0f} ms")
    if not parts:
        return f"{way}: {cell.reason or 'nothing was sent.'}"
    return f"{way}: {' · '.join(parts)}"


def meaning_of(cell: Cell) -> str:
    """`black hole, lost on the way there`."""
    return ", ".join(_meaning(cell))


def _meaning(cell: Cell) -> Iterator[str]:
    yield MEANINGS[cell.letter]
    if cell.probe:
        if leg := LEGS[cell.probe.lost_leg]:
            yield leg
        if cell.probe.hops:
            yield counted(cell.probe.hops, "router")


def full_payload(probe: PathProbe) -> int:
    """Bytes of ping payload that fill a packet of the network's MTU."""
    return payload_for(probe.expected_mtu, version_of(probe))


def version_of(probe: PathProbe) -> int:
    """4 or 6."""
    return 6 if ":" in probe.destination_ip else 4


def _series(probe: PathProbe, series: PingSeries) -> str:
    size = f"{packet_of(series.payload, version_of(probe))} bytes"
    if series.refused_locally:
        return f"{size} refused here"
    time = series.rtt_ms_median
    told = "" if time is None else " <0.01 ms" if 0 < time < 0.005 else f" {time:.2f} ms"
    return f"{size} {series.received}/{series.sent}{told}"
