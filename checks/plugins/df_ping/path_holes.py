"""The finding of df-ping about full-size packets that vanish between nodes: at a switch, or in a tunnel below NICs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.effect import Effect
from checks.model.facts import Cluster, Leg, LldpNeighbour, PathProbe, PrivateNetwork
from checks.model.finding import Finding, NextStep
from checks.model.networks import layers_below
from checks.model.shell_command import for_each
from checks.model.vendors import SwitchKind, known_kinds
from checks.model.wording import few, listed
from checks.plugins.df_ping.path_kinds import BLACK_HOLE, BLOCKS, TUNNELLED
from checks.plugins.df_ping.path_places import (
    ask_network_team,
    at_fault,
    end_lines,
    limit_text,
    neighbours_of,
    path_data,
    side_names,
    sides_of,
)
from checks.plugins.shared.path_text import (
    evidence_of,
    lost_pairs,
    pairs_of,
    pairs_text,
    ping_commands,
    result_lines,
    safe_change,
    short_name,
    size_text,
    where,
)
from checks.rules.below_nics import Below, below
from checks.rules.observed.pings import pings
from checks.rules.tunnels import STANDARD_MTU, header_bytes, mtu_below, tunnels_of


def hole_between(cluster: Cluster, network: PrivateNetwork, paths: list[PathProbe]) -> Finding:
    """Return the finding for full-size packets that vanish where the NICs at both ends carry them."""
    lost = lost_pairs(paths)
    direction_known = bool(lost) and all(p.lost_leg is not Leg.UNKNOWN for p in paths)
    pairs = lost if direction_known else pairs_of(paths)
    # Only requests that were counted at their target prove that the other direction works.
    arrived = pairs_of(p for p in paths if p.lost_leg is Leg.REPLY)
    one_way = direction_known and {(b, a) for a, b in lost} <= arrived
    place = where(cluster, network, pairs)
    if not direction_known:
        place += "; the direction of the loss is not known"
    elif one_way:
        place += "; they arrive in the other direction"
    centre = at_fault(cluster, network, pairs)
    groups = sides_of(cluster, network, pairs)
    small = _smaller_below(cluster, network, paths)
    nodes = [centre] if centre else sorted({n for pair in pairs for n in pair})
    culprit = (
        f"the switch port of {centre} or a link between it and the others"
        if centre
        else f"the link between the switches of {listed(listed(side) for side in groups)}"
        if groups
        else "a switch port on the path"
    )
    mtu, in_tunnel = paths[0].expected_mtu, not small and _is_tunnelled(paths)
    packets = f"Packets of {mtu} bytes" if in_tunnel or mtu <= STANDARD_MTU else "Jumbo frames"
    hole = _culprit_text(network) if in_tunnel else "black hole"
    return (TUNNELLED if in_tunnel else BLACK_HOLE).finding(
        f"{packets} vanish on {network.name} {place}.{(_short_text if in_tunnel else limit_text)(paths)}",
        subject=f"{short_name(network, centre)}: {side_names(groups) or hole}",
        data=path_data(paths),
        seen=(*result_lines(paths), *_counted_legs(paths), *small, *end_lines(cluster, network, nodes)),
        expected=(f"{size_text(paths[0])} pass: the NICs at both ends have MTU {paths[0].expected_mtu}",),
        why=f"A layer below a NIC has a smaller MTU: {listed(small)}. Check that layer before the switch. {BLOCKS}"
        if small
        else _tunnel_why(paths)
        if in_tunnel
        else f"The NICs at both ends have the same MTU, so the smaller MTU is between them, at {culprit}: larger "
        f"packets are dropped there silently. {BLOCKS}",
        next=_tunnel_steps(cluster, network, paths)
        if in_tunnel
        else [
            *([NextStep(f"Fix the finding of mtu-consistency: {listed(small)}.")] if small else []),
            ask_network_team(
                cluster,
                network,
                nodes,
                f"Ask the network team for the MTU and the giants or oversize counters of {culprit}, on the VLAN of "
                f"{network.name}.",
            ),
            NextStep("Reproduce the loss by hand.", ping_commands(paths), f"any user on {paths[0].from_node}"),
            _raise_switch(cluster, network, nodes),
        ],
        evidence=evidence_of(paths),
        observed=pings(cluster, paths),
        network=network.name,
        nodes=nodes,
        extent=(len(paths), "paths"),
    )


def _counted_legs(paths: list[PathProbe]) -> list[str]:
    """Return lines that prove the direction: the targets counted the requests that arrived."""
    legs = {
        "did not arrive": [p for p in paths if p.lost_leg in (Leg.REQUEST, Leg.BOTH)],
        "arrived, and their answers did not": [p for p in paths if p.lost_leg is Leg.REPLY],
    }
    return [f"counted at the target: requests {pairs_text(some)} {what}" for what, some in legs.items() if some]


def _smaller_below(cluster: Cluster, network: PrivateNetwork, paths: list[PathProbe]) -> list[str]:
    """Return the bond members, VLAN parents and bridge ports at the ends that cannot carry full-size packets."""
    ends = {name for p in paths for name in (p.from_node, p.to_node)}
    return [
        f"{lower.name}, {relation} on {node.name}, has MTU {lower.mtu}"
        for port in network.ports
        if port.node in ends and (node := cluster.node(port.node)) and (top := node.interface(port.interface))
        for relation, lower in layers_below(node, top)
        if lower.mtu < paths[0].expected_mtu
    ]


# --- the switch -------------------------------------------------------------------------------------------------------

_RAISE = (
    "Have the MTU of the switch raised to the maximum of its platform (about 9216), in a maintenance window. Two "
    "switches: one after the other, unless they are a pair that compares its MTUs. A larger MTU on the switch does not "
    "harm nodes at 1500. Do not lower the MTU of one node."
)
_NOT_KNOWN = (
    "Ask first for the kind of switch, and whether the change takes ports down, reloads the switch, or suspends member "
    "ports of a vPC or MLAG while its two switches differ."
)


def _raise_switch(cluster: Cluster, network: PrivateNetwork, nodes: Sequence[str]) -> NextStep:
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
    if kind.pair_compares == "yes":
        yield f"The two switches of a {kind.pair} compare the MTU of their ports, and suspend them while they differ."
    elif kind.pair and kind.pair_compares == "unknown":
        yield f"Ask whether the two switches of a {kind.pair} compare the MTU of their ports, and suspend them."
    yield from kind.hints


def _of_unknown(ends: Sequence[LldpNeighbour]) -> str:
    names = listed(dict.fromkeys(end.switch for end in ends if end.switch))
    return f"The kind of {names} is not known. {_NOT_KNOWN}" if names else _NOT_KNOWN


# --- tunnels ----------------------------------------------------------------------------------------------------------


def _is_tunnelled(paths: Sequence[PathProbe]) -> bool:
    """Return whether a tunnel explains how short the paths are."""
    return bool(tunnels_of(paths))


def _short_text(paths: Sequence[PathProbe]) -> str:
    """Return the sentence with the limit: ` At most 1458 bytes pass, 42 too few: the headers of NVGRE.`"""
    known = sorted({(p.path_mtu, header_bytes(p)) for p in paths if isinstance(p.path_mtu, int)})
    limits = listed([f"{mtu}" for mtu, _ in known], "or")
    missing = listed([f"{missing}" for _, missing in known], "or")
    than = "" if mtu_below(paths[0]) == paths[0].expected_mtu else f" than {mtu_below(paths[0])}"
    return f" At most {limits} bytes pass, {missing} fewer{than}, as behind {_named(paths)}."


def _tunnel_why(paths: Sequence[PathProbe]) -> str:
    """Return why packets of the NICs' MTU vanish in a tunnel."""
    mtu = paths[0].expected_mtu
    return (
        f"The NICs at both ends have MTU {mtu}, and the path carries less by the headers that {_named(paths)} puts "
        "before each packet. The network below the tunnel does not carry both together, and drops the packets "
        f"silently. {TUNNELLED.why}"
    )


def _tunnel_steps(cluster: Cluster, network: PrivateNetwork, paths: Sequence[PathProbe]) -> tuple[NextStep, ...]:
    """Return the steps: those who run the tunnel enlarge what is below it, or the nodes use what is left."""
    nodes = list(dict.fromkeys(name for p in paths for name in (p.from_node, p.to_node)))
    layers = {below(cluster, network, node) for node in nodes}
    if layers == {Below.CABLE}:
        who = "the network team"
    else:
        who = "those who run the hypervisor, the cloud or the container host"
    mtu, most = paths[0].expected_mtu, max(header_bytes(p) for p in paths)
    left = min(p.path_mtu for p in paths if isinstance(p.path_mtu, int))
    return (
        NextStep(
            f"Ask {who} which tunnel or overlay carries {network.name}, and for the MTU of the network below it: this "
            f"tunnel needs {mtu + most} bytes there.",
        ),
        NextStep("Reproduce the loss by hand.", ping_commands(paths), f"any user on {paths[0].from_node}"),
        NextStep(
            f"Have the MTU of the network below the tunnel raised to {mtu + most} or more. Where that is not possible, "
            f"set the private NICs of the nodes to MTU {left} with the safe-change procedure.",
            (safe_change(left),),
            is_change=True,
        ),
    )


def _culprit_text(network: PrivateNetwork) -> str:
    """Return the place for a subject."""
    return f"a tunnel below {network.interface}"


def _named(paths: Sequence[PathProbe]) -> str:
    return listed(tunnels_of(paths), "or")
