"""How an event reads, for the console, the command line and reports: headline, place, peak, sentence."""

from __future__ import annotations

from collections.abc import Sequence

from checks.model.cluster_event import ClusterEvent, EventKind, EventPlace
from checks.model.wording import counted, few, lasting, span
from checks.rules.live_events import goes_on

_COUNTED = {
    EventKind.LOST_BLOCKS: ("blocks lost", "block", "lost"),
    EventKind.REASSEMBLY: ("reassembly failed", "packet", "not reassembled"),
    EventKind.RECEIVE_BUFFERS: ("receive buffers full", "datagram", "dropped at full receive buffers"),
    EventKind.CHECKSUMS: ("wrong checksums", "datagram", "dropped for a wrong checksum"),
    EventKind.BACKLOG: ("packets dropped before a CPU took them", "packet", "dropped before a CPU took them"),
    EventKind.NIC_DROPS: ("packets dropped", "packet", "dropped"),
    EventKind.NIC_ERRORS: ("NIC errors", "error", "counted"),
}
"""What is counted: the words of a list, the noun for one, and the verb."""
_STANDING = {
    EventKind.NODE_SILENT: ("no answer", "does not answer", "did not answer"),
    EventKind.INSTANCE_SILENT: ("no answer", "does not answer", "did not answer"),
    EventKind.INSTANCE_DOWN: ("down", "is down", "was down"),
    EventKind.DATABASE_SILENT: ("no answer", "does not answer", "did not answer"),
    EventKind.LINK_DOWN: ("no link", "has no link", "had no link"),
}
_RESTARTS = (EventKind.NODE_RESTART, EventKind.INSTANCE_RESTART)
_OF_INSTANCES = frozenset(
    {EventKind.INSTANCE_SILENT, EventKind.INSTANCE_DOWN, EventKind.INSTANCE_RESTART, EventKind.RECONFIGURATION}
)
"""The events of which an instance is the place."""
_RECONFIGURED = {-1: "without {}", 0: "for the restart of {}", 1: "with {}"}
"""By whether instances left, both left and joined, or joined."""
"""What lasts: for a list, in the present, in the past."""
_PLURAL = {"does": "do", "is": "are", "was": "were", "has": "have"}
_MOST = 4
"""Most names in a line."""


def what(event: ClusterEvent) -> str:
    """Return what happened, without the place: `blocks lost`, `MTU 9000 → 1400`."""
    if event.kind in _COUNTED:
        return _COUNTED[event.kind][0]
    if event.kind in _STANDING:
        return _STANDING[event.kind][0]
    if event.kind is EventKind.MTU:
        return f"MTU {_value(event.former)} → {_value(event.peak)}"
    if event.kind is EventKind.LINK_SPEED:
        return f"speed {_value(event.former)} → {_value(event.peak)} Mbit/s"
    if event.kind is EventKind.RECONFIGURATION:
        changed = f", {_value(event.former)} → {_value(event.peak)} instances" if event.former != event.peak else ""
        return f"reconfiguration{changed}"
    if event.kind in _RESTARTS:
        return "restart"
    if event.kind is EventKind.LINK_FLAP:
        return "link flap"
    return "clock jump" if event.kind is EventKind.CLOCK_JUMP else "no samples"


def where(event: ClusterEvent) -> str:
    """Return the places: `rac1, rac2`, `eth2 of rac2`, `prac2`; of a state that lasts, those where it does."""
    if event.kind is EventKind.DATABASE_SILENT:
        return "GV$"
    places = _places(event)
    if not any(place.interface for place in places):
        is_of_instance = event.kind in _OF_INSTANCES
        return _names(dict.fromkeys((p.instance if is_of_instance else "") or p.node for p in places))
    nodes: dict[str, dict[str, None]] = {}
    for place in places:
        nodes.setdefault(place.node, {})[place.interface] = None
    if len({tuple(sorted(interfaces)) for interfaces in nodes.values()}) == 1:
        return f"{_names(next(iter(nodes.values())))} of {_names(nodes)}"
    return _names(f"{interface} of {node}" for node, interfaces in nodes.items() for interface in interfaces)


def _places(event: ClusterEvent) -> Sequence[EventPlace]:
    """Return the places that a sentence about an event names: one of the present leaves out where it is over."""
    lasting = [place for place in event.places if place.until is None]
    return lasting if event.kind in _STANDING and lasting and not event.is_over else event.places


def headline(event: ClusterEvent) -> str:
    """Return what happened and where, for one line after the time: `blocks lost on rac1, rac2, rac3`."""
    at = where(event)
    if event.kind in _COUNTED:
        return f"{what(event)} {'at' if any(p.interface for p in event.places) else 'on'} {at}"
    if event.kind in _STANDING:
        _, now, then = _STANDING[event.kind]
        return f"{at} {_verb(then if event.is_over else now, event)}"
    if event.kind in (EventKind.MTU, EventKind.LINK_SPEED):
        noun, unit = ("MTU", "") if event.kind is EventKind.MTU else ("speed", " Mbit/s")
        return f"{noun} of {at} changed from {_value(event.former)} to {_value(event.peak)}{unit}"
    if event.kind is EventKind.RECONFIGURATION:
        before, after = event.former or 0, event.peak
        return f"the instances reconfigured {_RECONFIGURED[(after > before) - (after < before)].format(at)}"
    if event.kind in _RESTARTS:
        return f"{at} {_verb('was restarted', event)}"
    if event.kind is EventKind.LINK_FLAP:
        times = f"{event.count} times" if event.count > 1 else "for a moment"
        return f"{at} {_verb('was without a link', event)} {times}"
    if event.kind is EventKind.CLOCK_JUMP:
        return f"the clock of {at} jumped {_jump(event.peak)}"
    return f"{at} took no samples for {span(event.peak)}"


def brief(event: ClusterEvent) -> str:
    """Return what happened and where, with how many were counted: `73 blocks lost on rac1 and rac2`."""
    if event.kind not in _COUNTED:
        return headline(event)
    _, noun, verb = _COUNTED[event.kind]
    at = "at" if any(place.interface for place in event.places) else "on"
    return f"{counted(event.count, noun)} {verb} {at} {where(event)}"


def peak(event: ClusterEvent, now: float) -> str:
    """Return the worst value, short: `13.1/s`, `22 s`, `1400`; for what lasts, the time until now."""
    if event.kind in _COUNTED:
        return f"{_rate(event.peak)}/s"
    if event.kind in (EventKind.MTU, EventKind.LINK_SPEED):
        return _value(event.peak)
    if event.kind is EventKind.CLOCK_JUMP:
        return f"{event.peak:+.3g} s"
    if event.is_moment:
        return f"{event.count} x" if event.count else ""
    return lasting(event.duration_s(now))


def extent(event: ClusterEvent, now: float) -> str:
    """Return the worst value as part of a sentence: `at most 13.1/s`, `for 22 s`; empty where the headline has it."""
    if event.kind in _COUNTED:
        return f"at most {_rate(event.peak)}/s"
    return f"for {lasting(event.duration_s(now))}" if event.kind in _STANDING else ""


def outcome(event: ClusterEvent, now: float) -> str:
    """Return the extent of an event: `4,123 blocks lost in 11 min 57 s, at most 13.1/s`, `for 22 s`; of one that lasts,
    until now. Empty where the headline has it."""
    if event.is_moment or event.kind in (EventKind.CLOCK_JUMP, EventKind.NO_SAMPLES):
        return ""
    took = lasting(event.duration_s(now))
    if event.kind in _COUNTED:
        _, noun, verb = _COUNTED[event.kind]
        return f"{counted(event.count, noun)} {verb} in {took}, at most {_rate(event.peak)}/s"
    return f"for {took}"


def change(state: str, event: ClusterEvent, now: float) -> str:
    """Return an event that starts, continues, ends, was once, or lasts at the end of a watch, for one line."""
    text = headline(event)
    if state in ("starts", "continues") and not event.is_moment:
        text += f", {peak(event, now)}" if event.count else ""
    elif extent := outcome(event, now):
        text += f", {extent}"
    return text + (f": {event.reason}" if state in ("starts", "once") and event.reason else "")


def pauses(event: ClusterEvent, now: float) -> bool:
    """Return whether an event that is counted has no sign in the newest samples, and is not over."""
    return event.kind in _COUNTED and not event.is_over and not goes_on(now - event.last_sign, event.sample_s)


def sentence(event: ClusterEvent) -> str:
    """Return an event as a sentence that can be read aloud, with its senders and its reason where they are known."""
    text = headline(event)
    if event.kind in _COUNTED:
        _, noun, verb = _COUNTED[event.kind]
        was = "were" if event.count != 1 else "was"
        known = f" ({_pairs(event)})" if event.pairs else ""
        at = "at" if any(p.interface for p in event.places) else "on"
        text = f"{counted(event.count, noun)} {was} {verb} {at} {where(event)}{known}, at most {_rate(event.peak)}/s"
    reason = f" {event.reason}" if event.reason else ""
    # names keep their letters
    is_name = event.kind not in (EventKind.LINK_SPEED, EventKind.CLOCK_JUMP, EventKind.RECONFIGURATION)
    return f"{text if is_name else text[:1].upper() + text[1:]}.{reason}"


def came_back(event: ClusterEvent, place: EventPlace) -> str:
    """Return the sentence for a place that is well again: `rac2 answers again`."""
    if event.kind is EventKind.DATABASE_SILENT:
        return "GV$ answers again"
    name = place.instance or (f"{place.interface} of {place.node}" if place.interface else place.node)
    again = {
        EventKind.NODE_SILENT: "answers again",
        EventKind.INSTANCE_SILENT: "answers again",
        EventKind.INSTANCE_DOWN: "is up again",
        EventKind.NODE_RESTART: "was restarted",
        EventKind.INSTANCE_RESTART: "was restarted",
        EventKind.LINK_DOWN: "has a link again",
        EventKind.LINK_FLAP: "has a link again",
    }
    return f"{name} {again.get(event.kind, 'is well again')}"


def _names(names: object) -> str:
    return few(names, _MOST)  # type: ignore[arg-type]


def _verb(text: str, event: ClusterEvent) -> str:
    verb, _, rest = text.partition(" ")
    return f"{_PLURAL.get(verb, verb) if len(_places(event)) > 1 else verb} {rest}"


def _pairs(event: ClusterEvent) -> str:
    return few((f"{a} → {b}" for a, b in event.pairs), _MOST)


def _rate(value: float) -> str:
    return f"{value:,.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 0.05 else "<0.1"


def _value(value: float | None) -> str:
    return "?" if value is None else f"{value:.0f}"


def _jump(seconds: float) -> str:
    return f"{span(abs(seconds))} {'ahead' if seconds > 0 else 'back'}"
