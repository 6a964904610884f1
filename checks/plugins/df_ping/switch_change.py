"""The step that raises the MTU of a switch, with what its vendor says of the change, where LLDP shows the kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.effect import Effect
from checks.model.facts import Cluster, LldpNeighbour, PrivateNetwork
from checks.model.finding import NextStep
from checks.model.shell_command import for_each
from checks.model.vendors import SwitchKind, known_kinds
from checks.model.wording import few, listed
from checks.plugins.df_ping.path_places import neighbours_of

_RAISE = (
    "Have the MTU of the switch raised to the maximum of its platform (about 9216), in a maintenance window. Two "
    "switches: one after the other, unless they are a pair that compares its MTUs. A larger MTU on the switch does not "
    "harm nodes at 1500. Do not lower the MTU of one node."
)
_NOT_KNOWN = (
    "Ask first for the kind of switch, and whether the change takes ports down, reloads the switch, or suspends member "
    "ports of a vPC or MLAG while its two switches differ."
)


def raise_switch(cluster: Cluster, network: PrivateNetwork, nodes: Sequence[str]) -> NextStep:
    """Return the step that raises the switch ports of these nodes."""
    ends = neighbours_of(cluster, network, nodes)
    kinds = known_kinds()
    by_kind: dict[str, list[LldpNeighbour]] = {}
    for neighbour in ends:
        by_kind.setdefault(kinds.of_neighbour(neighbour), []).append(neighbour)
    known = {key: kinds.switches[key] for key in by_kind if key}
    reloads = any(kind.reloads for kind in known.values())
    texts = [_RAISE, *(_warnings(kind, by_kind[key]) for key, kind in known.items())]
    if not known or "" in by_kind:
        texts.append(_of_unknown(by_kind.get("", ())))
    return NextStep(
        " ".join(texts),
        for_each("racwire explain {kind}", kind=known) or ("racwire explain switches",),
        "the network team",
        is_change=True,
        effect=Effect.CLUSTER_DOWN_FIRST if reloads else Effect.NODE_OUT_FIRST,
    )


def _warnings(kind: SwitchKind, ends: Sequence[LldpNeighbour]) -> str:
    """Return what the vendor says of the change of these switches."""
    names = few(dict.fromkeys(end.switch for end in ends if end.switch))
    return " ".join((f"{names or 'The switch'}, {kind.name}:", *_sentences(kind)))


def _sentences(kind: SwitchKind) -> Iterator[str]:
    yield kind.scope
    if kind.reloads:
        yield "The change reloads the switch, or restarts servers, which cuts every port."
    if kind.pair_compares == "yes":
        yield f"The two switches of a {kind.pair} compare the MTU of their ports, and suspend them while they differ."
    elif kind.pair and kind.pair_compares == "unknown":
        yield f"Ask whether the two switches of a {kind.pair} compare the MTU of their ports, and suspend them."
    yield from kind.hints


def _of_unknown(ends: Sequence[LldpNeighbour]) -> str:
    names = listed(dict.fromkeys(end.switch for end in ends if end.switch))
    return f"The kind of {names} is not known. {_NOT_KNOWN}" if names else _NOT_KNOWN
