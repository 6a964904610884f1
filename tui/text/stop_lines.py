"""What a started step stops, as text: until when, and what was read right before."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from checks.change.plan.step_stops import StopKind
from checks.change.progress.change_events import ObservedState
from checks.change.progress.change_text import minute, read_nodes
from checks.change.progress.planned_stops import PlannedStop, planned_stops
from checks.change.progress.state import Change
from checks.model.wording import listed
from tui.text.line import Line, hanging

_WORDS = {
    StopKind.STACK: "Clusterware down",
    StopKind.INSTANCE: "instances down",
    StopKind.LINK: "links down",
    StopKind.MTU: "another MTU",
    StopKind.NODE: "a boot",
}


def stop_text(stop: PlannedStop) -> str:
    """Return what is planned: `Clusterware down on rac1 and rac2, until other nodes, at most 60 min`."""
    most = f", at most {stop.most_s // 60} min" if stop.most_s else ""
    return f"{kinds_text(stop.kinds, stop.nodes)}, until {stop.until}{most}"


def kinds_text(kinds: Collection[StopKind], nodes: Iterable[str]) -> str:
    """Return what is stopped where: `links down and another MTU on rac1 and rac2`."""
    words = listed(word for kind, word in _WORDS.items() if kind in kinds)
    return f"{words} on {listed(sorted(nodes))}"


def read_text(look: ObservedState, nodes: Iterable[str]) -> str:
    """Return what was read of these nodes: `rac1 (up, prod1), rac2 (down); not read: rac3`."""
    read = [node for node in nodes if node in read_nodes(look)]
    unread = [node for node in nodes if node not in read]
    states = {True: "up", False: "down", None: "not known whether it is up"}
    seen = (f"{node} ({', '.join((states[look.running.get(node)], *look.instances.get(node, ())))})" for node in read)
    return "; ".join(filter(None, (", ".join(seen), f"not read: {listed(unread)}" if unread else "")))


def start_lines(change: Change, at: str, look: ObservedState, width: int) -> Iterator[Line]:
    """Yield a start of a step: when, what was read, and what is planned from then on."""
    yield from hanging([(f"Started {minute(at)}: ", "")], read_text(look, change.plan.nodes), width)
    stops = [stop for stop in planned_stops(change) if stop.began == at]
    for stop in stops:
        yield from hanging([("  planned: ", "")], f"{stop_text(stop)}.", width)
    if not stops:
        yield from hanging([("  ", "")], "The step was started before: that reading counts.", width)
