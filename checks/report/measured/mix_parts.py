"""The parts of a result of `racwire measure mix`: completion times by class, alone and in company, how full the flows
made the link, and what priorities of the switch change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.flow_bound import FlowBound
from checks.model.measurement import FlowSummary, LinkFill, MeasuredMix, PriorityEffect
from checks.report.measured.parts import Grid, Part, Prose, figure, grid
from checks.report.quantities import bits
from checks.rules.link_fill_text import NOT_MORE, part_text

_CLEAR = 0.05
"""The p below which a slowdown is more than chance, as in `racwire compare`."""
PRIORITIES = {None: "", False: " without priorities", True: " with priorities"}
"""By whether the switch prioritised; None without turns of both."""
_CHANGES = {"less": "less time", "more": "more time"}
"""By the verdict of an effect."""


def mix_of_all_paths(result: MeasuredMix) -> Iterator[Part]:
    """Yield the parts that are about several paths: how full their link was, and what priorities change."""
    if result.gap_ms is not None:
        yield Prose(f"After each flow its connection paused for {result.gap_ms:g} ms or more.", "faint", is_of_all=True)
    for one in result.fills:
        yield Prose(_fill_sentence(one), "warn" if one.bound else "", is_of_all=True)
    for key in dict.fromkeys((one.paths, one.concurrency) for one in result.effects):
        yield _effect_grid([one for one in result.effects if (one.paths, one.concurrency) == key], result)
    yield from (Prose(_effect_sentence(one), is_of_all=True) for one in result.effects)


def _fill_sentence(one: LinkFill) -> str:
    reason = (
        f"The limits allow {part_text(one.mean_bps, one)} on average: {NOT_MORE[FlowBound(one.bound)]}."
        if one.bound
        else f"This is what the limit of {part_text(one.most_bps, one)} in any second allows on average."
    )
    together = f"Together{PRIORITIES[one.prioritised]}, {one.concurrency} at the same time, the flows used "
    return f"{together}{part_text(one.delivered_bps, one)} ({bits(one.delivered_bps)}). {reason}"


def _effect_grid(rows: Sequence[PriorityEffect], result: MeasuredMix) -> Grid:
    heads = ("class", "bytes", "rounds", "flows", "without", "with", "change", "95 % interval", "p", "verdict")
    cells = (
        (
            one.flow_class,
            f"{one.size:,}",
            f"{one.rounds_without} / {one.rounds_with}",
            f"{one.flows_without:,} / {one.flows_with:,}",
            figure(one.without_ms, 2),
            figure(one.with_ms, 2),
            percent_text(one.change),
            interval_text(one),
            "< 0.001" if one.p is not None and one.p < 0.001 else figure(one.p, 3),
            one.verdict,
        )
        for one in rows
    )
    title = (
        f"without and with priorities of the switch, {rows[0].concurrency} flows at the same time: completion times in "
        "ms, medians of rounds"
    )
    return grid(title, heads, cells, words=1, minor=("bytes", "p", "flows", "rounds"))


def _effect_sentence(one: PriorityEffect) -> str:
    if one.verdict in _CHANGES and one.change is not None:
        change = f"{abs(one.change) * 100:.0f} % {_CHANGES[one.verdict]}"
        return f"With priorities, flows of the class {one.flow_class} take {change} ({interval_text(one)})."
    if one.verdict == "no difference":
        return f"Priorities make no difference to flows of the class {one.flow_class} ({interval_text(one)})."
    return (
        f"Whether priorities change flows of the class {one.flow_class} is not known ({interval_text(one)}; "
        f"{one.noise * 100:.0f} % is noise): choose more --rounds."
    )


def percent_text(share: float | None) -> str:
    """Return a change such as `-32 %`."""
    return "-" if share is None else f"{share * 100:+.0f} %"


def interval_text(one: PriorityEffect) -> str:
    """Return the interval of a change, such as `-41 to -20 %`."""
    if one.change_low is None or one.change_high is None:
        return "too few"
    return f"{one.change_low * 100:+.0f} to {one.change_high * 100:+.0f} %"


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
    for key in dict.fromkeys((one.company, one.concurrency, one.prioritised) for one in own):
        rows = [one for one in own if (one.company, one.concurrency, one.prioritised) == key]
        company, concurrency, prioritised = key
        if company != "beside":
            yield (
                f"{company}{PRIORITIES[prioritised]}, {concurrency} at the same time: completion times of flows, in ms",
                rows,
            )
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
