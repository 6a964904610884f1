"""What made a silence of a drill last as long as it did: the timer, as far as the timeline shows it. No I/O.

A cause is proved where the timeline has each of its steps, supported where a step was not seen and the times agree, and
otherwise not known. The moments of events have the resolution of the readings (`DrillEvent.earliest_at`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from checks.model.drill_result import DrillEvent, InterfaceTimers, PathSilence
from checks.model.measurement import MeasuredPath


class TimelineKind(StrEnum):
    """The kinds of event on the timeline of a drill."""

    LINK_LOST = "link lost"
    LINK_BACK = "link back"
    LINK_BLINKED = "link blinked"
    """Lost and back between two readings."""
    ACTIVE_SLAVE = "active slave"
    """`detail` is the new one."""
    ADDRESS_MOVED = "address moved"
    """`interface` is the new one."""
    ADDRESS_GONE = "address gone"
    ADDRESS_BACK = "address back"
    NEIGHBOUR_DROPPED = "neighbour dropped"
    NEIGHBOUR_ASKED = "neighbour asked"
    """The kernel asks by ARP and has no answer."""
    NEIGHBOUR_LEARNED = "neighbour learned"
    """`detail` is its MAC address."""
    BLOCKS_LOST = "blocks lost"
    NO_BLOCK = "no block"
    FIRST_BLOCK = "first block"
    CSS_NOTICED = "CSS noticed"
    EVICTED = "evicted"
    RECONFIGURED = "reconfigured"
    INSTANCES = "instances"
    """A line of the alert log of an instance."""
    NODE_UNSEEN = "node unseen"
    NODE_SEEN = "node seen"
    SILENT = "silent"
    ANSWERED = "answered"


class Timer(StrEnum):
    """What a silence waited for in the end."""

    LINK = "link"
    """Nothing but the link: the first answer came with it."""
    ARP_RETRY = "ARP retry"
    STALE_ARP = "stale ARP"
    HAIP = "HAIP"
    MIIMON = "miimon"
    MIIMON_OFF = "miimon off"
    SPANNING_TREE = "spanning tree"


class CauseStanding(StrEnum):
    """How well the timeline shows a cause."""

    PROVED = "proved"
    SUPPORTED = "supported"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class SilenceCause:
    """The cause of one silence."""

    timer: Timer | None
    standing: CauseStanding
    sentence: str
    added_s: float | None = None
    """The part of the silence after the link was back; None where no link came back during it."""


USUAL_RETRANS_MS = 1000
"""The kernel's default of retrans_time_ms (arp(7))."""
_NEAR_S = 0.35
"""How far apart two moments may be that belong together, in addition to the resolution of the readings."""
_AT_ONCE_S = 0.06
"""The first answer comes with the link where it comes within this time: a few probes."""
_STP_S = (28.0, 36.0)
"""Listening and learning take 15 s each with the usual timers of spanning tree (IEEE 802.1D); a port without portfast
forwards nothing until then. Some switches take seconds more until the link is up."""


@dataclass(frozen=True, slots=True)
class _Link:
    """An interruption of a link at one end of the path."""

    node: str
    interface: str
    lost: DrillEvent
    back: DrillEvent | None
    is_first: bool
    """Whether it was lost at the start of the silence; else something else started the silence."""


def cause_of(
    silence: PathSilence, path: MeasuredPath, events: Iterable[DrillEvent], timers: Iterable[InterfaceTimers]
) -> SilenceCause:
    """Return what made a silence last."""
    if silence.began_at is None:
        return SilenceCause(None, CauseStanding.UNKNOWN, "")
    begin, end = silence.began_at, silence.began_at + silence.seconds
    known = tuple(timers)
    near = [e for e in events if e.at >= begin - _NEAR_S and _earliest(e) <= end + _NEAR_S]
    link = _link(near, path, known, begin, end)
    found = (
        _bond(near, path, known, link, begin, end)
        or _haip(near, path, link, begin, end)
        or (None if link is None or not silence.is_over else _after_link(near, path, known, link, begin, end))
    )
    if silence.is_from_start:
        text = "It was silent already at the start of the drill, so what started it was not seen."
        return replace(
            found or SilenceCause(None, CauseStanding.UNKNOWN, ""),
            standing=CauseStanding.UNKNOWN,
            timer=None,
            sentence=f"{text} {found.sentence}" if found is not None else text,
        )
    if found is not None:
        is_late = link is not None and not link.is_first and found.standing is CauseStanding.PROVED
        return replace(found, standing=CauseStanding.SUPPORTED) if is_late else found
    if not silence.is_over:
        where = f" {link.interface} of {link.node} had no link." if link is not None and link.back is None else ""
        return SilenceCause(None, CauseStanding.UNKNOWN, f"It was not over when the drill ended.{where}")
    return SilenceCause(
        None,
        CauseStanding.UNKNOWN,
        f"The cause of these {_s(silence.seconds)} is not known: neither node saw its link go, and no address moved. "
        "What lies between them was interrupted, such as a switch.",
    )


def _bond(
    events: Sequence[DrillEvent],
    path: MeasuredPath,
    timers: Sequence[InterfaceTimers],
    link: _Link | None,
    begin: float,
    end: float,
) -> SilenceCause | None:
    for node, interface in _ends(path):
        one = next((t for t in timers if (t.node, t.interface) == (node, interface) and t.is_bond), None)
        if one is None:
            continue
        setting = _bond_setting(one)
        change = next(
            (
                e
                for e in events
                if e.kind == TimelineKind.ACTIVE_SLAVE and (e.node, e.interface) == (node, interface) and e.at >= begin
            ),
            None,
        )
        if change is not None and _earliest(change) - _NEAR_S <= end <= change.at + _NEAR_S:
            if link is not None and link.node == node and link.interface in one.members:
                waited = max(0.0, change.at - _earliest(link.lost))
                return SilenceCause(
                    Timer.MIIMON,
                    CauseStanding.PROVED,
                    f"{link.interface} of {node} lost its link, {interface} took {change.detail} up to {_s(waited)} "
                    f"later ({setting}), and the first answer came with it.",
                )
            return SilenceCause(
                Timer.MIIMON,
                CauseStanding.SUPPORTED,
                f"{interface} of {node} took {change.detail} when the first answer came ({setting}); that a member "
                "lost its link was not seen.",
            )
        if change is None and one.miimon_ms == 0 and link is not None and link.node == node:
            return SilenceCause(
                Timer.MIIMON_OFF,
                CauseStanding.PROVED,
                f"{link.interface} of {node} lost its link, and {interface} kept it as its active slave: miimon is 0, "
                "so this bond does not look at the links of its members.",
            )
    return None


def _haip(
    events: Sequence[DrillEvent], path: MeasuredPath, link: _Link | None, begin: float, end: float
) -> SilenceCause | None:
    if not path.is_haip:
        return None
    moves = [e for e in events if e.kind == TimelineKind.ADDRESS_MOVED and e.address in (path.source, path.target)]
    during = [e for e in moves if e.at >= begin and _earliest(e) <= end]
    if not during:
        return None
    move = max(during, key=lambda e: e.at)
    what = f"The HAIP {move.address} of {move.node} moved to {move.interface}"
    since = "" if link is None else f" {_s(max(0.0, move.at - link.lost.at))} after {_name(link)} lost its link"
    if end - move.at <= _NEAR_S:
        return SilenceCause(
            Timer.HAIP,
            CauseStanding.SUPPORTED if link is None else CauseStanding.PROVED,
            f"{what}{since}, and the first answer came with it: the silence is the delay of HAIP.",
        )
    learned = next(
        (
            e
            for e in events
            if e.kind == TimelineKind.NEIGHBOUR_LEARNED
            and e.address == move.address
            and _near(e, end)
            and e.at > move.at
        ),
        None,
    )
    if learned is not None:
        return SilenceCause(
            Timer.STALE_ARP,
            CauseStanding.PROVED,
            f"{what}{since}, and {learned.node} learned its new MAC address by ARP {_s(end - move.at)} later: the "
            "first answer came with that.",
        )
    return SilenceCause(
        None,
        CauseStanding.UNKNOWN,
        f"{what}{since}; the first answer came {_s(end - move.at)} after that, and why so late is not known.",
    )


def _after_link(
    events: Sequence[DrillEvent],
    path: MeasuredPath,
    timers: Sequence[InterfaceTimers],
    link: _Link,
    begin: float,
    end: float,
) -> SilenceCause | None:
    back = link.back
    if back is None:
        return None
    least, most = end - back.at, end - max(_earliest(back), min(begin, back.at))
    added_s = max(0.0, (least + most) / 2)
    was_down = f"{_name(link)} was without its link for {_down(link, begin)}"
    if least <= _AT_ONCE_S and most <= _NEAR_S:
        return SilenceCause(
            Timer.LINK,
            CauseStanding.PROVED,
            f"{was_down}, and the first answer came with it: no timer added to that.",
            added_s,
        )
    asked = _resolution(events, path, end)
    if asked is not None and least > _AT_ONCE_S:
        node, interface, address = asked
        retrans = next((t.retrans_time_ms for t in timers if (t.node, t.interface) == (node, interface)), None)
        retry = retrans if retrans is not None else USUAL_RETRANS_MS
        setting = f"retrans_time_ms {retry}" if retrans is not None else "retrans_time_ms was not read"
        fits = most <= retry / 1000 + _NEAR_S
        known = retrans is not None and fits
        return SilenceCause(
            Timer.ARP_RETRY,
            CauseStanding.PROVED if known else CauseStanding.SUPPORTED,
            f"{was_down}. The kernel of {node} forgot the MAC address of {address} with it, and asks by ARP again "
            f"after {_s(retry / 1000)} ({setting}): the first answer came when it had learned it.",
            added_s,
        )
    if _STP_S[0] <= least <= _STP_S[1]:
        return SilenceCause(
            Timer.SPANNING_TREE,
            CauseStanding.SUPPORTED,
            f"{was_down}, and the first answer came {_s(least)} after it was back, as where spanning tree holds a port "
            "for 2 x 15 s (no portfast). racwire does not read the switch: ask the network team.",
            added_s,
        )
    if least <= _NEAR_S:
        return SilenceCause(
            Timer.LINK,
            CauseStanding.SUPPORTED,
            f"{was_down}, and the first answer came within {_s(most)} after it was back.",
            added_s,
        )
    return SilenceCause(
        None,
        CauseStanding.UNKNOWN,
        f"{was_down}, and the first answer came {_s(least)} to {_s(most)} after it was back; why so late is not known.",
        added_s,
    )


def _resolution(events: Sequence[DrillEvent], path: MeasuredPath, end: float) -> tuple[str, str, str] | None:
    """Return node, interface and address of the neighbour whose MAC address was learned when the first answer came."""
    wanted = {(path.source_node, path.target), (path.target_node, path.source)}
    learned = [
        e
        for e in events
        if e.kind == TimelineKind.NEIGHBOUR_LEARNED and (e.node, e.address) in wanted and _near(e, end)
    ]
    for one in learned:
        before = [
            e
            for e in events
            if e.kind in (TimelineKind.NEIGHBOUR_ASKED, TimelineKind.NEIGHBOUR_DROPPED)
            and (e.node, e.address, e.interface) == (one.node, one.address, one.interface)
            and e.at <= one.at
        ]
        if before:
            return one.node, one.interface, one.address
    return None


def _link(
    events: Sequence[DrillEvent], path: MeasuredPath, timers: Sequence[InterfaceTimers], begin: float, end: float
) -> _Link | None:
    """Return the interruption of a link at the beginning of the silence."""
    carriers = set(_ends(path))
    for one in timers:
        if (one.node, one.interface) in carriers:
            carriers |= {(one.node, member) for member in one.members}
    own = sorted((e for e in events if (e.node, e.interface) in carriers), key=lambda e: e.at)
    for lost in own:
        is_first = _earliest(lost) <= begin + _NEAR_S
        if lost.kind == TimelineKind.LINK_BLINKED and _earliest(lost) <= end:
            return _Link(lost.node, lost.interface, lost, lost, is_first)
        if lost.kind == TimelineKind.LINK_LOST and _earliest(lost) <= end:
            backs = [
                e
                for e in own
                if e.kind == TimelineKind.LINK_BACK
                and (e.node, e.interface) == (lost.node, lost.interface)
                and e.at >= lost.at
                and _earliest(e) <= end
            ]
            return _Link(lost.node, lost.interface, lost, backs[-1] if backs else None, is_first)
    return None


def _ends(path: MeasuredPath) -> Collection[tuple[str, str]]:
    return ((path.source_node, path.interface), (path.target_node, path.target_interface))


def _earliest(event: DrillEvent) -> float:
    return event.at if event.earliest_at is None else event.earliest_at


def _near(event: DrillEvent, moment: float) -> bool:
    return _earliest(event) - _NEAR_S <= moment <= event.at + _NEAR_S


def _down(link: _Link, begin: float) -> str:
    assert link.back is not None
    # Answers that came after the link was lost do not show when: they took another way.
    earliest = _earliest(link.lost)
    most = link.back.at - (earliest if link.lost.at < begin else max(earliest, begin))
    if link.back is link.lost:
        return f"at most {_s(most)}"
    least = _earliest(link.back) - link.lost.at
    return f"{_s(least)} to {_s(most)}" if least > 0.05 else f"at most {_s(most)}"


def _bond_setting(timers: InterfaceTimers) -> str:
    named = (("miimon", timers.miimon_ms), ("updelay", timers.updelay_ms), ("downdelay", timers.downdelay_ms))
    return ", ".join(f"{name} {value} ms" for name, value in named if value is not None) or "miimon was not read"


def _name(link: _Link) -> str:
    return f"{link.interface} of {link.node}"


def _s(seconds: float) -> str:
    """Return a time for reading aloud: `0.05 s`, `1.0 s`, `31 s`."""
    return f"{seconds:.2f} s" if seconds < 1 else f"{seconds:.1f} s" if seconds < 20 else f"{seconds:.0f} s"
