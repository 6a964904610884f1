"""Do the private NICs of one network run at the same speed and full duplex on every node?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from checks.model.check import FailKind, InfoKind, PassKind, check
from checks.model.condition import ConditionKind
from checks.model.facts import Cluster, PrivateNetwork, Unknown
from checks.model.finding import Finding, NextStep, Status
from checks.model.networks import nics_of
from checks.model.observation import Observation
from checks.model.shell_command import for_each
from checks.model.wording import listed
from checks.plugins.shared.grouping import briefly, nics_named, some
from checks.plugins.shared.path_text import short_name
from checks.rules.link_states import is_slower
from checks.rules.observed.states import read_on, state

_SLOW_SIDE = (
    "Packets that arrive faster than the slow side takes them wait in the queue of the switch port, and are dropped "
    "when it is full. Blocks can be lost there while the counters of the nodes do not grow."
)
SAME = PassKind("IC-SPEED-001", "The private NICs of a network have the same speed and full duplex")
HALF = FailKind(
    "IC-SPEED-002",
    "A private NIC runs at half duplex",
    "The NIC and the switch port did not negotiate: both sides send at the same time and drop packets. Large packets "
    "suffer most.",
    ("MOS 563566.1, cause 13",),
)
SLOWER = FailKind(
    "IC-SPEED-003",
    "A private NIC is slower than those of the other nodes",
    _SLOW_SIDE,
    ("MOS 563566.1, causes 1 and 13",),
)
NOT_KNOWN = InfoKind("IC-SPEED-004", "The speed of a private NIC is not known")


@dataclass(frozen=True)
class _Nic:
    """A NIC that carries a private network on a node."""

    node: str
    name: str
    speed_mbps: int | None
    duplex: str
    reason: str
    """Why the speed is not known; empty where it is known."""

    @property
    def line(self) -> str:
        speed = f"{self.speed_mbps:,} Mbit/s" if self.speed_mbps else self.reason
        return f"{self.node}: {self.name} {speed}{f', {self.duplex} duplex' if self.duplex else ''}"


@check(
    "link-speed",
    question="Do the private NICs have the same speed and full duplex on every node?",
    needs=("nodes", "networks"),
    shows=(ConditionKind.SPEED,),
    kinds=(SAME, HALF, SLOWER, NOT_KNOWN),
)
def link_speed(cluster: Cluster) -> Iterator[Finding]:
    """Compares the negotiated speed and duplex of the NICs of each private network.

    Half duplex is a failure, and so is a NIC that is slower than the fastest NIC of the same network on another node.
    For a bond, a VLAN or a bridge the check judges the NICs below it. NICs that are down have no speed and are left to
    the check interfaces. Many virtual NICs report no speed: that is INFO.
    """
    if isinstance(cluster.networks, Unknown):
        return
    judged = False
    for network in cluster.networks:
        nics = _nics(cluster, network)
        half = [nic for nic in nics if nic.duplex == "half"]
        fastest = max((nic.speed_mbps or 0 for nic in nics), default=0)
        slower = [nic for nic in nics if is_slower(nic.speed_mbps, [fastest])]
        silent = [nic for nic in nics if not nic.speed_mbps]
        if half:
            yield _half(network, half)
        if slower:
            yield _slower(network, slower, [nic for nic in nics if nic.speed_mbps == fastest])
        if silent:
            yield _not_known(network, silent)
        elif nics and not half and not slower:
            yield _same(network, nics)
        judged = judged or bool(nics)
    if not judged:
        yield NOT_KNOWN.finding(
            "No node that could be read has a NIC that is up on a private network, so there is no speed to compare.",
            status=Status.SKIPPED,
            subject="no NICs",
            evidence=[(node.name, "interfaces") for node in cluster.read_nodes()],
        )


def _nics(cluster: Cluster, network: PrivateNetwork) -> list[_Nic]:
    found = []
    for port in network.ports:
        node = cluster.node(port.node)
        for name in dict.fromkeys(nics_of(cluster, port)) if node else ():
            interface = node.interface(name) if node else None
            if interface is None or not interface.is_up:
                continue
            speed = interface.speed_mbps if isinstance(interface.speed_mbps, int) and interface.speed_mbps > 0 else None
            duplex = interface.duplex if isinstance(interface.duplex, str) else ""
            reason = interface.speed_mbps.reason if isinstance(interface.speed_mbps, Unknown) else "no speed reported"
            found.append(_Nic(port.node, name, speed, duplex, "" if speed else reason))
    return found


def _half(network: PrivateNetwork, nics: Sequence[_Nic]) -> Finding:
    return HALF.finding(
        f"{_where(nics)} {'runs' if len(nics) == 1 else 'run'} at half duplex on {network.name}.",
        subject=f"{_brief(nics)}: half duplex",
        data={"interfaces": len(nics)},
        seen=some([nic.line for nic in nics]),
        expected=("Full duplex",),
        next=[_display(nics), _negotiate(nics)],
        evidence=_evidence(nics),
        network=network.name,
        nodes=_nodes(nics),
        extent=(len(nics), "interfaces"),
        observed=[state("duplex", nic.node, network.name, nic.name, nic.duplex) for nic in nics],
    )


def _slower(network: PrivateNetwork, slow: Sequence[_Nic], fast: Sequence[_Nic]) -> Finding:
    slowest = min(nic.speed_mbps or 0 for nic in slow)
    fastest = fast[0].speed_mbps or 0
    return SLOWER.finding(
        f"{_where(slow)} {'runs' if len(slow) == 1 else 'run'} at {slowest:,} Mbit/s on {network.name}, and "
        f"{_where(fast)} at {fastest:,} Mbit/s.",
        subject=f"{_brief(slow)}: {slowest:,} Mbit/s",
        data={"interfaces": len(slow), "speed_mbps": slowest, "fastest_mbps": fastest},
        seen=some([nic.line for nic in (*slow, *fast)]),
        expected=(f"{fastest:,} Mbit/s on every node",),
        next=[_display(slow), _negotiate(slow)],
        evidence=_evidence([*slow, *fast]),
        network=network.name,
        nodes=_nodes(slow),
        extent=(len(slow), "interfaces"),
        observed=_speeds(network, slow, ConditionKind.SPEED),
    )


def _not_known(network: PrivateNetwork, silent: Sequence[_Nic]) -> Finding:
    return NOT_KNOWN.finding(
        f"The speed of {_where(silent)} on {network.name} is not known.",
        subject=f"{_brief(silent)}: speed not known",
        data={"interfaces": len(silent)},
        seen=some([nic.line for nic in silent]),
        evidence=_evidence(silent),
        network=network.name,
        nodes=_nodes(silent),
        observed=_speeds(network, silent),
    )


def _same(network: PrivateNetwork, nics: Sequence[_Nic]) -> Finding:
    speed = nics[0].speed_mbps or 0
    duplex = " at full duplex" if all(nic.duplex == "full" for nic in nics) else ""
    return SAME.finding(
        f"{_where(nics)} {'runs' if len(nics) == 1 else 'run'} at {speed:,} Mbit/s{duplex} on {network.name}.",
        subject=f"{short_name(network)} {speed:,} Mbit/s",
        data={"speed_mbps": speed},
        seen=some([nic.line for nic in nics]),
        evidence=_evidence(nics),
        network=network.name,
        observed=read_on(SAME.code, _nodes(nics), network.name, speed),
    )


def _speeds(network: PrivateNetwork, nics: Sequence[_Nic], condition: ConditionKind | None = None) -> list[Observation]:
    return [state("speed", nic.node, network.name, nic.name, nic.speed_mbps, condition=condition) for nic in nics]


def _display(nics: Sequence[_Nic]) -> NextStep:
    commands = for_each("ethtool {nic}", nic=(nic.name for nic in nics))
    return NextStep("Display what the NIC negotiated.", commands, f"any user on {listed(_nodes(nics))}")


def _negotiate(nics: Sequence[_Nic]) -> NextStep:
    where = listed(f"{nic.name} of {nic.node}" for nic in nics[:2])
    return NextStep(
        f"Ask the network team for the speed, the duplex and the cable of the switch port of {where}: both sides must "
        "negotiate. Copper from 1 Gbit/s on needs that; where a link cannot, both have the same fixed values."
    )


def _where(nics: Sequence[_Nic]) -> str:
    return nics_named([(nic.node, nic.name) for nic in nics], "NIC")


def _brief(nics: Sequence[_Nic]) -> str:
    return f"{briefly(dict.fromkeys(nic.name for nic in nics), 'NIC')} {briefly(_nodes(nics), 'node')}"


def _nodes(nics: Sequence[_Nic]) -> list[str]:
    return list(dict.fromkeys(nic.node for nic in nics))


def _evidence(nics: Sequence[_Nic]) -> list[tuple[str, str]]:
    return [(node, "interfaces") for node in _nodes(nics)]
