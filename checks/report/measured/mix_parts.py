"""The parts of a result of `racwire measure mix`: completion times by class, alone and in company."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.measurement import FlowSummary, MeasuredMix
from checks.report.measured.parts import Grid, Part, Prose, figure, grid

_CLEAR = 0.05
"""The p below which a slowdown is more than chance, as in `racwire compare`."""


def mix_parts(result: MeasuredMix, path: int) -> Iterator[Part]:
    """Yield the parts of one path."""
    own = [one for one in result.summaries if one.path == path]
    if any(one.is_towards_here for one in result.rounds):
        yield Prose("The flows came from the peer to this node.", "faint")
    for title, rows in _tables(own):
        if rows:
            yield _grid(title, rows)
    if any(one.fullness for one in own):
        yield from _beside(own)
    if broken := sum(one.broken for one in own):
        yield Prose(f"{broken:,} of the flows did not complete.", "fail")


def _tables(own: Sequence[FlowSummary]) -> Iterator[tuple[str, list[FlowSummary]]]:
    for company, concurrency in dict.fromkeys((one.company, one.concurrency) for one in own):
        rows = [one for one in own if (one.company, one.concurrency) == (company, concurrency)]
        if company != "beside":
            yield f"{company}, {concurrency} at the same time: completion times of flows, in ms", rows
            continue
        for fullness in ("quiet", "middle", "busy"):
            third = [one for one in rows if one.fullness == fullness]
            share = next((one.link_share for one in third if one.link_share is not None), None)
            used = "" if share is None else f", the link {share * 100:.1f} % full"
            yield f"in the {fullness} third of the seconds{used}: completion times of flows, in ms", third


def _beside(own: Sequence[FlowSummary]) -> Iterator[Prose]:
    """Say whether small flows wait where the link is full."""
    for one in own:
        if one.fullness != "busy" or one.slowdown is None or one.slowdown_p is None:
            continue
        verdict = (
            f"take {one.slowdown:.2f} times as long in the busy third as in the quiet one (p {one.slowdown_p:.3f})"
            if one.slowdown_p < _CLEAR
            else f"show no difference between the busy third and the quiet one (p {one.slowdown_p:.2f})"
        )
        yield Prose(f"Flows of the class {one.flow_class} {verdict}.")


def _grid(title: str, rows: Sequence[FlowSummary]) -> Grid:
    heads = ("class", "bytes", "flows", "mean", "p50", "p95", "p99", "slowdown", "Mb/s", "broken")
    cells = (
        (
            one.flow_class,
            f"{one.size:,}",
            f"{one.completed:,}",
            figure(one.mean_ms, 2),
            figure(one.p50_ms, 2),
            figure(one.p95_ms, 2),
            figure(one.p99_ms, 2),
            _slowdown(one),
            figure(None if one.delivered_bps is None else one.delivered_bps / 1e6, 2),
            f"{one.broken:,}",
        )
        for one in rows
    )
    return grid(title, heads, cells, words=1, minor=("Mb/s", "p95", "bytes", "flows", "broken"))


def _slowdown(one: FlowSummary) -> str:
    if one.slowdown is None:
        return "-"
    clear = one.slowdown_p is not None and one.slowdown_p < _CLEAR
    return f"x {one.slowdown:.2f}" if clear else f"(x {one.slowdown:.2f})"
