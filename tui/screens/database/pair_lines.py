"""The figures of pairs of instances: lost blocks, receive times, and pings."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from checks.model.facts import Activity, BlockTransfer, InstancePing, NotAsked, Unknown
from checks.model.finding import Status
from checks.model.wording import counted, few, span
from checks.rules.instance_pings import enough_pings
from checks.rules.lost_blocks import lost_of_sent
from tui.screens.database.figures import NONE, Value, count, ms, percent
from tui.screens.database.live_source import LiveFigures, by_the_checks
from tui.screens.database.statuses import RunStatuses, average_ms, sampled_pairs
from tui.screens.database.table import Cells, pairs_lines
from tui.text.line import Line, hanging
from tui.widgets.units import clock

Names = Mapping[int, str]
P = TypeVar("P", BlockTransfer, InstancePing)

_TRANSFERS, _PINGS = "GV$INSTANCE_CACHE_TRANSFER", "GV$INSTANCE_PING"


@dataclass(frozen=True)
class Pairs:
    """The figures of the pairs, and their time."""

    transfers: Sequence[BlockTransfer] | Unknown
    pings: Sequence[InstancePing] | Unknown
    when: str
    judged: Activity
    """The same figures in the form that the rules take."""
    doubts: Sequence[str] = ()
    """What is missing in the figures, in sentences."""


def known_pairs(activity: Activity | Unknown | NotAsked, live: LiveFigures) -> Pairs | None:
    """Return the pairs of the live samples of the last minute, otherwise those of the run; None where there are
    neither."""
    is_displayed = live.trouble or not live.pairs_trouble  # the reason for all instances is above them already
    doubts = [] if is_displayed else [f"No {live.word} figures: {live.pairs_trouble}"]
    if live.pairs is not None:
        when = f"{live.word}, {span(live.pairs.seconds)} to {clock(live.pairs.at, live.zone, has_zone=False)}"
        transfers = _or_unknown(live.pairs.transfers, live.pairs.unread.get(_TRANSFERS))
        pings = _or_unknown(live.pairs.pings, live.pairs.unread.get(_PINGS))
        doubts += [
            why
            for view, why in live.pairs.unread.items()
            if view in (_TRANSFERS, _PINGS) and Unknown(why) not in (transfers, pings)
        ]
        return Pairs(transfers, pings, when, sampled_pairs(live.pairs), doubts)
    if not isinstance(activity, Activity):
        return None
    doubts += [u.reason for u in activity.unread if u.view in (_TRANSFERS, _PINGS)]
    return Pairs(activity.transfers, activity.pings, by_the_checks(activity), activity, doubts)


def _or_unknown(pairs: Sequence[P], why: str | None) -> Sequence[P] | Unknown:
    """Return the pairs; Unknown where there is none because their view was not read."""
    return Unknown(why) if why and not pairs else pairs


def lost_lines(
    pairs: Pairs, names: Names, statuses: RunStatuses, width: int, silent: Collection[str] = ()
) -> Iterator[Line]:
    """Yield lost blocks of the sent ones, receiver by sender. `silent` are the instances without figures, whose
    received blocks are not known."""
    if isinstance(pairs.transfers, Unknown):
        yield from _why_not(pairs.transfers, width)
        return
    found = _by_pair(pairs.transfers)
    receivers = {receiver for receiver, _ in found}
    unknown = [names[n] for n in names if names[n] in silent and n not in receivers]
    if unknown:
        of = f"{len(unknown)} of {counted(len(names), 'instance')}"
        doubt = f"The blocks that {few(unknown)} received are not known: {of}."
        yield from hanging([(" ", ""), ("? ", "unknown")], doubt, width)
    if not found:
        if not unknown:
            yield from _nothing("No instance received blocks from another instance.", width)
        return
    lost, sent = lost_of_sent(pairs.judged)
    of_pairs = sum(t.lost for t in found.values())
    worst = max(found.values(), key=lambda t: t.lost)
    to = f" to {few(_name(names, n) for n in sorted(receivers))}" if unknown else ""
    text = f"{count(lost)} lost of {count(sent)} sent{to}."
    if of_pairs:
        text += (
            f" Most of them from {_name(names, worst.sender)} to {_name(names, worst.receiver)}: {count(worst.lost)}."
        )
    if of_pairs != lost:
        text += f" By pair, counted a moment apart: {count(of_pairs)}."
    losses = statuses.losses(pairs.judged)
    grave = {pair: losses.get(t.receiver, Status.UNKNOWN) if t.lost > 0 else None for pair, t in found.items()}
    status = min((each for each in grave.values() if each), key=lambda s: s.gravity, default=None)
    yield from hanging([(" ", "")], text, width, status.value.lower() if status else "")
    roomy = {
        pair: Value(f"{count(t.lost)} of {count(t.cr_blocks + t.current_blocks + t.lost)}", grave[pair])
        for pair, t in found.items()
    }
    tight = {pair: Value(count(t.lost), grave[pair]) for pair, t in found.items()}
    yield from pairs_lines(("to", "from"), _all(names, found), (Cells(roomy), Cells(tight)), width)


def time_lines(pairs: Pairs, names: Names, statuses: RunStatuses, width: int) -> Iterator[Line]:
    """Yield the average receive times of blocks, receiver by sender."""
    if isinstance(pairs.transfers, Unknown):
        yield from _why_not(pairs.transfers, width)
        return
    found = _by_pair(pairs.transfers)
    if not found:
        yield from _nothing("No instance received blocks from another instance.", width)
        return
    roomy = {pair: Value(f"{ms(_cr_ms(t))} / {ms(_current_ms(t))}", statuses.pair_time(t)) for pair, t in found.items()}
    tight = {pair: Value(ms(_both_ms(t)), statuses.pair_time(t)) for pair, t in found.items()}
    ways = (
        Cells(roomy, "average ms from the request to the block: CR / current"),
        Cells(tight, "average ms from the request to the block, both kinds"),
    )
    yield from pairs_lines(("to", "from"), _all(names, found), ways, width)


def ping_lines(pairs: Pairs, names: Names, statuses: RunStatuses, width: int) -> Iterator[Line]:
    """Yield the pings of the instances: 500 bytes, 8 KB, and the ratio of the two."""
    if isinstance(pairs.pings, Unknown):
        yield from _why_not(pairs.pings, width)
        return
    found = {(p.instance, p.target): p for p in pairs.pings if p.instance != p.target}
    if not found:
        yield from _nothing("No instance pinged another instance.", width)
        return
    if few := sum(map(statuses.too_few, found.values())):
        enough = enough_pings(statuses.cluster.thresholds)
        text = f"{few} of {len(found)} pairs had fewer than {enough} pings: their averages are not judged."
        yield from _nothing(text, width)
    full = {pair: Value(f"{_small(p)} {_large(p)} {_ratio(p)}", statuses.ping(p)) for pair, p in found.items()}
    both = {pair: Value(f"{_small(p)}/{_large(p)}", statuses.ping(p)) for pair, p in found.items()}
    large = {pair: Value(_large(p), statuses.ping(p)) for pair, p in found.items()}
    ways = (
        Cells(full, "average round trip in ms: 500 bytes, 8 KB, and 8 KB as a multiple of 500 bytes"),
        Cells(both, "average round trip in ms: 500 bytes/8 KB"),
        Cells(large, "average round trip in ms of 8 KB; the letters judge 500 bytes too"),
    )
    yield from pairs_lines(("from", "to"), _all(names, found), ways, width)


# --- figures ----------------------------------------------------------------------------------------------------------


def _by_pair(transfers: Sequence[BlockTransfer]) -> dict[tuple[int, int], BlockTransfer]:
    return {(t.receiver, t.sender): t for t in transfers if t.receiver != t.sender}


def _all(names: Names, found: Mapping[tuple[int, int], object]) -> dict[int, str]:
    """Return the name of every instance that is known or occurs in a pair."""
    others = sorted({n for pair in found for n in pair} - set(names))
    return {n: _name(names, n) for n in (*names, *others)}


def _name(names: Names, number: int) -> str:
    return names.get(number) or f"instance {number}"


def _cr_ms(t: BlockTransfer) -> float | None:
    return average_ms(t.cr_time_us, t.cr_blocks)


def _current_ms(t: BlockTransfer) -> float | None:
    return average_ms(t.current_time_us, t.current_blocks)


def _both_ms(t: BlockTransfer) -> float | None:
    return average_ms(t.cr_time_us + t.current_time_us, t.cr_blocks + t.current_blocks)


def _small(p: InstancePing) -> str:
    return NONE if p.average_500b_us is None else ms(p.average_500b_us / 1000)


def _large(p: InstancePing) -> str:
    return NONE if p.average_8k_us is None else ms(p.average_8k_us / 1000)


def _ratio(p: InstancePing) -> str:
    small, large = p.average_500b_us, p.average_8k_us
    return f"{percent(large / small)}x" if small and large else NONE


def _why_not(unknown: Unknown, width: int) -> Iterator[Line]:
    yield from hanging([(" ", ""), ("? ", "unknown")], unknown.reason or "Not known.", width)


def _nothing(text: str, width: int) -> Iterator[Line]:
    yield from hanging([(" ", "")], text, width, "faint")
