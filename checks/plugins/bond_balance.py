"""Do the bonds of the private networks send and receive through the same members?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from checks.model.check import InfoKind, Kind, PassKind, UnknownKind, check
from checks.model.condition import ConditionKind
from checks.model.facts import Bond, Cluster, CounterGroup, Unknown, Unread
from checks.model.finding import Finding, NextStep, Status
from checks.model.networks import layers_of
from checks.model.shell_command import for_each, shell
from checks.plugins.shared.counter_text import TOPIC
from checks.plugins.shared.grouping import briefly, named, some, topics_of
from checks.plugins.shared.host_facts import HOST_TOPIC, hosts_of, not_known_findings
from checks.rules.member_shares import Balance, judge_balance
from checks.rules.observed.states import read_at, state

_DRIVER = "Linux kernel documentation, bonding"
EVEN = PassKind("IC-BALANCE-001", "The bonds of the private networks send and receive through the same members")
ONE_SIDED = Kind(
    "IC-BALANCE-002",
    "A bond sends through one member and receives through another",
    "Each direction has the speed of one link. With active-backup the switch sends to a member that the node does not "
    "use: the kernel drops these packets. With an aggregation the node and the switch choose members by different "
    "rules, or the switch has no aggregation.",
    (_DRIVER, "MOS 563566.1, cause 11"),
)
ONE_MEMBER = InfoKind(
    "IC-BALANCE-003",
    "A bond that spreads its packets uses one member",
    "Few connections have few hashes: the bond has the speed of one link for them.",
    (f"{_DRIVER}, xmit_hash_policy",),
)
NOT_KNOWN = UnknownKind("IC-BALANCE-004", "The division of packets among the members of a bond is not known")


@dataclass(frozen=True)
class _Judged:
    node: str
    network: str
    bond: Bond
    balance: Balance

    @property
    def name(self) -> str:
        return f"{self.bond.name} of {self.node}"

    @property
    def lines(self) -> tuple[str, ...]:
        return tuple(
            f"{self.node}: {member} sent {self.balance.sent[member]:,} and received {self.balance.received[member]:,} "
            "packets"
            for member in self.balance.sent
        )


@check(
    "bond-balance",
    question="Do the bonds of the private networks send and receive through the same members?",
    needs=("nodes", "networks", "setups", "counters"),
    about=(ConditionKind.LINK,),
    kinds=(EVEN, ONE_SIDED, ONE_MEMBER, NOT_KNOWN),
)
def bond_balance(cluster: Cluster) -> Iterator[Finding]:
    """Compares the packets that each member of a bond sent and received while the kernels counted.

    Nine of ten packets out through one member and in through another are a warning. With balance-tlb, which receives
    through one member by design, they are reported for information, and so is a bond with an aggregation that used one
    member in both directions. A bond with fewer than 1,000 packets in a direction is not judged.
    """
    judged, quiet, unknown = _bonds(cluster)
    for one in judged:
        if one.balance.is_one_sided:
            yield _one_sided(one)
        elif one.balance.status is Status.INFO:
            yield _one_member(one)
    even = [one for one in judged if one.balance.status is Status.PASS]
    if even:
        yield EVEN.finding(
            f"The members through which {named((one.name for one in even), 'bond')} sent and received are the same.",
            subject=f"{briefly((one.name for one in even), 'bond')}: same members",
            seen=some([line for one in even for line in one.lines]),
            evidence=topics_of((one.node for one in even), HOST_TOPIC, TOPIC),
            observed=read_at(EVEN.code, [(one.node, one.network) for one in even]),
        )
    title = "The packets of the bonds' members on {} are"
    yield from not_known_findings(NOT_KNOWN, title, unknown, "bond-balance", TOPIC)
    if not judged and not unknown:
        reason = (
            f"{named(quiet, 'bond')} had too few packets to compare."
            if quiet
            else "No private network of the nodes that were read is on a bond with two members that are up."
        )
        yield EVEN.finding(
            reason,
            status=Status.SKIPPED,
            subject="too few packets" if quiet else "no bond",
            evidence=topics_of(hosts_of(cluster), HOST_TOPIC),
        )


def _bonds(cluster: Cluster) -> tuple[list[_Judged], list[str], dict[str, Unread]]:
    """Return the bonds that can be judged, those with too few packets, and the nodes whose counters are not known."""
    judged: list[_Judged] = []
    quiet: list[str] = []
    unknown: dict[str, Unread] = {}
    for node, network, bond in _places(cluster):
        found = _counters(cluster, node)
        if isinstance(found, Unknown):
            unknown[node] = found
        elif balance := judge_balance(bond, found):
            judged.append(_Judged(node, network, bond, balance))
        else:
            quiet.append(f"{bond.name} of {node}")
    return judged, quiet, unknown


def _places(cluster: Cluster) -> list[tuple[str, str, Bond]]:
    found: dict[tuple[str, str], tuple[str, str, Bond]] = {}
    for network in cluster.read_networks():
        for port in network.ports:
            host, node, top = hosts_of(cluster).get(port.node), cluster.node(port.node), cluster.interface(port)
            if host is None or node is None or top is None or isinstance(host.bonds, Unknown):
                continue
            below = {layer.name for layer in layers_of(node, top)}
            for bond in host.bonds:
                if bond.name in below and sum(m.mii_status == "up" for m in bond.members) > 1:
                    found.setdefault((port.node, bond.name), (port.node, network.name, bond))
    return list(found.values())


def _counters(cluster: Cluster, node: str) -> dict[str, CounterGroup] | Unknown:
    if isinstance(cluster.counters, Unknown):
        return cluster.counters
    change = cluster.counters.of(node)
    if change is None:
        return cluster.counters.unread.get(node, Unknown(f"the counters of {node} were not read"))
    if isinstance(change.machine.nics, Unknown):
        return change.machine.nics
    return {group.name: group for group in change.machine.nics}


def _one_sided(one: _Judged) -> Finding:
    balance = one.balance
    sent, received = (
        f"{balance.share(member, is_sent=is_sent):.0f} %"
        for member, is_sent in ((balance.sends_on, True), (balance.receives_on, False))
    )
    return ONE_SIDED.finding(
        f"{one.name} sends {sent} of its packets through {balance.sends_on} and receives {received} through "
        f"{balance.receives_on}.",
        status=balance.status,
        subject=f"{one.node} {one.bond.name}: out {balance.sends_on}, in {balance.receives_on}",
        data={"bond": one.bond.name, "sends_on": balance.sends_on, "receives_on": balance.receives_on},
        seen=(f"{one.node}: {one.bond.name} {one.bond.mode}", *one.lines),
        expected=("The same member in both directions, or several members in each",),
        next=[
            NextStep(
                "Display the mode, the active member and the aggregators.",
                (
                    shell("cat /proc/net/bonding/{bond}", bond=one.bond.name),
                    *for_each("ip -s link show {nic}", nic=balance.sent),
                ),
                f"any user on {one.node}",
            ),
            NextStep(
                "Ask the network team for the port channel of these switch ports, its hash, and the port that learned "
                "the MAC address of the bond."
            ),
        ],
        evidence=topics_of([one.node], HOST_TOPIC, TOPIC),
        network=one.network,
        nodes=[one.node],
        extent=(1, "bonds") if balance.status is Status.WARN else None,
        observed=[state(ONE_SIDED.code, one.node, one.network, one.bond.name, balance.receives_on)],
    )


def _one_member(one: _Judged) -> Finding:
    return ONE_MEMBER.finding(
        f"{one.name} sent and received its packets through {one.balance.sends_on}.",
        subject=f"{one.node} {one.bond.name}: {one.balance.sends_on}",
        data={"bond": one.bond.name, "member": one.balance.sends_on},
        seen=one.lines,
        evidence=topics_of([one.node], HOST_TOPIC, TOPIC),
        network=one.network,
        nodes=[one.node],
    )
