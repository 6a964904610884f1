"""The sentences about a cause: what it does to packets, how losses show it, and what contradicts it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from checks.diagnosis.cause import At, Cause, Touch, Way
from checks.model.hypothesis import How
from checks.model.traffic import Traffic
from checks.model.wording import listed


def what_it_does(cause: Cause) -> tuple[str, ...]:
    """Return what the cause does to packets where it was found, a sentence each."""
    if cause.code in _DOES:
        return _DOES[cause.code]
    if cause.touches:
        return tuple(f"It {_does(touch)}." for touch in cause.touches)
    if cause.patterns or cause.other_platform:
        return ()
    return (_REPORTED if cause.is_late else _NOTHING,)


_OF_A_LINK = "Some source ports lose a share of their packets, and others far fewer; or too few are lost to show that."


def how_losses_show_it(cause: Cause) -> tuple[str, ...]:
    """Return the patterns of losses that show the cause where nothing states it, a sentence each."""
    if cause.is_link_of_aggregation:
        return (
            f"Some source ports of a path lose all {_kind(cause.patterns[0].packets)}, and others lose none.",
            *([_OF_A_LINK] if any(touch.how is How.SHARE for touch in cause.patterns) else []),
        )
    alike: dict[tuple[How, Traffic], list[Touch]] = {}
    for touch in cause.patterns:
        alike.setdefault((touch.how, touch.packets.of_any_size), []).append(touch)
    return tuple(_pattern(cause, touches) for touches in alike.values())


def what_contradicts_it(cause: Cause) -> tuple[str, ...]:
    """Return what shows that the cause is not there, or that a loss is not its effect, a sentence each."""
    if cause.is_link_of_aggregation:
        return ("Where more flows of pings are lost whole than one link carries, it does not explain these.",)
    return tuple(dict.fromkeys((*map(_against_pattern, cause.patterns), *_against_effect(cause))))


_NOTHING = "It touches no packet: its state alone shows it, and it explains no loss."
_REPORTED = "It is what the logs report of an earlier time: it explains no loss of now."
_DOES: Mapping[str, tuple[str, ...]] = {
    "CAUSE-05": (
        "A NIC with a smaller MTU than its network drops the larger packets that it receives.",
        "A NIC with a larger MTU than its network sends packets that the other nodes drop.",
        "A route with a smaller MTU makes its node send smaller packets, and loses none.",
    ),
    "CAUSE-06": ("It loses no packet by itself: where its load does, the private network is saturated (CAUSE-18).",),
    "CAUSE-08": (
        "It stops the packets that it refuses with an error.",
        "Where packets vanish on a node, it stops the kinds of which none passes: UDP, pings, or fragments.",
    ),
    "CAUSE-11": (
        "A bond without a usable member stops the packets to and from its node, on its network.",
        "Members that are not in one aggregation, or in a wrong mode, stop some flows.",
    ),
    "CAUSE-22": (
        "It stops all packets of a port for some seconds.",
        "Its switch alone shows when: no loss is attributed to it.",
    ),
    "CAUSE-26": ("It moves a counter, and loses no packet.",),
    "CAUSE-50": ("It makes a node send smaller packets to HAIP addresses, and loses none.",),
}
"""Where the data of the cause do not say it: what depends on the value read, or is no loss."""


# --- sentences --------------------------------------------------------------------------------------------------------

_VERBS = {
    How.STOPS: ("stops", "all"),
    How.SHARE: ("loses", "a share of the"),
    How.FLOWS: ("stops", "some flows of"),
    How.AT_TIMES: ("stops", "all"),
    How.DELAYS: ("delays", "the"),
}


def _does(touch: Touch) -> str:
    verb, amount = _VERBS[touch.how]
    comma = "," if touch.packets.addresses else ""
    where = "its node, on all private networks" if touch.every_network else "its node, on its network"
    times = ", for some time" if touch.how is How.AT_TIMES else ""
    return f"{verb} {amount} {_kind(touch.packets)}{comma} {touch.way} {where}{times}"


def _kind(packets: Traffic) -> str:
    """Return the packets without a place: `full-size UDP packets`."""
    return f"full-size {packets.of_any_size.text}" if packets.sizes[0] else packets.text


def _pattern(cause: Cause, touches: Sequence[Touch]) -> str:
    """Return the sentence for patterns that lose the same packets, to and from places and of sizes that differ."""
    sizes = {bool(touch.packets.sizes[0]) for touch in touches}
    kind = _kind(touches[0].packets) if len(sizes) == 1 else f"{touches[0].packets.of_any_size.text}"
    alone = ", or the full-size ones alone," if len(sizes) > 1 else ""
    places = {
        At.NODE: f"{_either(touch.way for touch in touches)} a node",
        At.PATH: "from one node to another",
        At.SIDES: "between two groups of nodes",
        At.NETWORK: "on a whole network",
    }
    where = listed((places[at] for at in cause.at), "or")
    beside = f", while {cause.beside.of_any_size.text} of the same size pass" if cause.beside else ""
    return f"{'All' if touches[0].how is How.STOPS else 'Some'} {kind}{alone} are lost {where}{beside}."


def _either(ways: Iterable[Way]) -> str:
    every = {*ways}
    return every.pop() if len(every) == 1 else "to or from"


def _against_pattern(touch: Touch) -> str:
    if touch.how is How.STOPS:
        return "At a place where one of these packets passes, it is not the cause."
    return (
        "Where such packets pass so often that its share of losses allows it once in a thousand, it is not the cause."
    )


def _against_effect(cause: Cause) -> Iterator[str]:
    if cause.patterns:
        return
    how = {touch.how for touch in cause.touches}
    if How.STOPS in how or cause.effects_of is not None:
        yield "Where one of these packets passes on a path, it does not explain the loss of others there."
    if How.FLOWS in how:
        yield "Where all packets of a flow pass, it does not explain the loss of others of that flow."
    if How.SHARE in how:
        yield "It does not explain that none of many packets passes on a path."
    if How.AT_TIMES in how:
        yield "Packets that pass do not contradict it: they may have been sent at another time."
    if how == {How.DELAYS}:
        yield "It explains late packets, and no lost ones."
