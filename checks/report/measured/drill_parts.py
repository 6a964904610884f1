"""The parts of a drill: what was done, the longest silence of each path, and the timeline."""

from __future__ import annotations

from collections.abc import Iterator

from checks.model.facts import Unknown
from checks.model.measurement import DrillOf, PathSilence
from checks.model.wording import continued
from checks.report.measured.parts import Part, Prose, figure, grid
from checks.report.measurement_headline import silence_text


def drill_parts(result: DrillOf) -> Iterator[Part]:
    """Yield what the drill was, what it found for the whole cluster, and its events."""
    planned = f" ({result.transition})" if result.transition else ""
    yield Prose(f"The drill was of {result.subject}{planned}.", is_of_all=True)
    if isinstance(result.misscount_s, Unknown):
        text = f"How much of the misscount a silence takes is not known: {continued(result.misscount_s.reason)}"
        yield Prose(text, "unknown", is_of_all=True)
    if result.cause:
        yield Prose(result.cause, is_of_all=True)
    for seconds, what in (
        (result.css_noticed_s, "CSS noticed"),
        (result.reconfigured_s, "the cluster was reconfigured"),
        (result.first_block_s, "the instances exchanged blocks again"),
    ):
        if seconds is not None:
            yield Prose(f"After {silence_text(seconds)} {what}.", is_of_all=True)
    if result.events:
        start = begin_of(result)
        rows = [(f"{one.at - start:+.3f} s", one.node, one.what) for one in sorted(result.events, key=lambda e: e.at)]
        yield grid(
            "events, in seconds from the beginning of the first silence", ("after", "node", "what"), rows, words=3
        )


def silence_parts(result: DrillOf, path: int) -> Iterator[Part]:
    """Yield the longest silences of one path."""
    own = [one for one in result.silences if one.path == path]
    if not own:
        return
    start = begin_of(result)
    rows = [
        (
            one.protocol.upper(),
            _length(one),
            share_of_misscount(one, result),
            "-" if one.began_at is None else f"{one.began_at - start:+.3f} s",
            f"{one.answered:,} of {one.sent:,}",
            f"{one.interval_s * 1000:,.3g} ms",
            figure(one.lateness_p99_us),
        )
        for one in own
    ]
    heads = ("probes", "silence", "of misscount", "began", "answered", "every", "late p99 us")
    yield grid("the longest time without an answer", heads, rows, words=1)


def begin_of(result: DrillOf) -> float:
    """Return the beginning of the first silence, else of the first event, in seconds since 1970."""
    known = [one.began_at for one in result.silences if one.began_at is not None]
    return min(known or [one.at for one in result.events], default=0.0)


def share_of_misscount(one: PathSilence, result: DrillOf) -> str:
    """Return the length of a silence in percent of the misscount; `-` where that is not known."""
    if isinstance(result.misscount_s, Unknown) or result.misscount_s <= 0:
        return "-"
    return f"{100 * one.seconds / result.misscount_s:,.3g} %"


def _length(one: PathSilence) -> str:
    if one.began_at is None:
        return "none"
    return f"{'' if one.is_over else 'at least '}{silence_text(one.seconds)}"
